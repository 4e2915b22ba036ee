/* interp_code.h - what the interpreter runs: a kernel decoded once, for any number of threads.
 *
 * A thread's values stand in one array of words, `init` copied when the thread starts: constants,
 * arguments and zero slots are in it, so they cost no instruction.  Operands are offsets into it.
 */
#ifndef TD_IR_INTERP_CODE_H
#define TD_IR_INTERP_CODE_H
#include "ir/interp_ops.h"
#include "ir/ir.h"

typedef enum td_code_kind {
    CODE_RUN,     /* run(out, a, b, c) */
    CODE_COPY,    /* out = a */
    CODE_SPLAT,   /* lanes of out = a[0] */
    CODE_ROTATE,  /* imm: k in [0, lanes) */
    CODE_ZIP,     /* lanes of a and b in turn */
    CODE_UNZIP,   /* imm: 0 or 1, the first of every second lane */
    CODE_BITCAST,
    CODE_LOAD,    /* a: index of the pointer in td_prog.ptr; b: index; d: mask */
    CODE_STORE,   /* as load; c: value */
    CODE_ATOMIC,  /* as store; run gives what memory becomes */
    CODE_INDEX,   /* imm: 3 * (tid, bid, bdim, gdim as 0..3) + axis */
    CODE_JUMP,
    CODE_UNLESS,  /* jumps when a is false */
    CODE_BREAK,   /* jumps when a is true */
    CODE_FOR,     /* a, b, c: lo, hi, step; jumps when there is no iteration */
    CODE_NEXT,    /* as for; jumps back when there is another iteration */
    CODE_WAIT,    /* a barrier or shuffle: the thread stops */
    CODE_DONE,
} td_code_kind;

typedef struct td_code {
    td_elt      *run;
    td_code_kind kind;
    uint32_t     out, a, b, c, d; /* UINT32_MAX: none, but not for `run` */
    uint32_t     jump;            /* index of the code to go on with */
    uint32_t     at;              /* the instruction */
    uint32_t     lanes, step;     /* step: 1, or 0 for an index of one lane */
    int64_t      imm;
    td_dtype     dt;
} td_code;

typedef struct td_code_ptr {
    uintptr_t base;
    size_t    nbytes; /* from base to the end; shared: of the array */
    bool      shared;
    uint32_t  at;     /* the param or shared instruction */
} td_code_ptr;

typedef struct td_prog {
    const td_fn *fn;
    td_code     *code;
    td_word     *init;
    td_code_ptr *ptr;
    uint32_t     ncode, nptr;
    size_t       nwords;
    bool         waits; /* holds a barrier or a shuffle */
} td_prog;

/* Decodes f into mem; shared arrays are allocated there, pointers to global memory have nbytes 0.
 * TD_ERR_TYPE: complex values; TD_ERR_JIT: a composite operation that was not expanded. */
td_status td_prog_new(const td_fn *f, const uint64_t *args, td_arena *mem, td_prog *out);

#endif
