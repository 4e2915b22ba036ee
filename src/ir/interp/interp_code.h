/* interp_code.h - what the interpreter runs: a kernel decoded once, for any number of threads.
 *
 * A thread's values are one array of words, initialised from `init`, which holds constants, arguments and zeroed
 * slots: these cost no instruction.  Operands are offsets into the array.  A pointer's word is an address.
 */
#ifndef TD_IR_INTERP_CODE_H
#define TD_IR_INTERP_CODE_H
#include "ir/interp/interp_ops.h"
#include "ir/core/ir.h"

typedef enum td_code_kind {
    CODE_RUN,     /* run(out, a, b, c) */
    CODE_COPY,    /* out = a */
    CODE_TRACE,   /* one of RUN, COPY, AT whose value becomes part of an address: interp_check.c */
    CODE_FLOAT,   /* RUN or COPY of floats that are watched: interp_float.c */
    CODE_SPLAT,   /* lanes of out = a[0] */
    CODE_ROTATE,  /* imm: k in [0, lanes) */
    CODE_ZIP,     /* alternate lanes of a and b */
    CODE_UNZIP,   /* every second lane of a; imm: 0 or 1, the first of them */
    CODE_BITCAST,
    CODE_PERMUTE, /* a: lanes; b: their indices */
    CODE_ANY,     /* of imm lanes of a, as the next two */
    CODE_ALL,
    CODE_BITS,
    CODE_UNBITS,
    CODE_RELEASE, /* of the heap at a, the c words at b */
    CODE_LOAD,    /* a: pointer; b: index; d: mask */
    CODE_STORE,   /* as load; c: value */
    CODE_ATOMIC,  /* as store; run gives what memory becomes */
    CODE_CAS,     /* as atomic; c: expected, e: new */
    CODE_AT,      /* out = a + b bytes */
    CODE_INDEX,   /* imm: 3 * (tid, bid, bdim, gdim as 0..3) + axis; INDEX_LANE */
    CODE_JUMP,
    CODE_AGAIN,   /* jumps back; from time to time the thread stops here so that others can run */
    CODE_UNLESS,  /* jumps when a is false */
    CODE_BREAK,   /* jumps when a is true */
    CODE_FOR,     /* a, b, c: lo, hi, step; jumps when there is no iteration */
    CODE_NEXT,    /* as for; jumps back when there is another iteration */
    CODE_PIECES,  /* a, b: lo, hi; imm: most; d, e: the region's words; jumps when there is no piece.  out: first,
                     end, number */
    CODE_PIECE,   /* like pieces; jumps back if there is another piece */
    CODE_CALL,    /* a: the frame's address; out: where it goes; [d, e): the function's words; jumps */
    CODE_RETURN,
    CODE_FENCE,
    CODE_EXIT,    /* the thread ends when a is true */
    CODE_WAIT,    /* a barrier or an exchange in a warp: the thread stops */
    CODE_DONE,
} td_code_kind;

enum { INDEX_LANE = 12 };

typedef struct td_code {
    td_elt      *run;
    td_code_kind kind;
    uint32_t     out, a, b, c, d, e; /* UINT32_MAX: none, except for `run`, which gets a valid offset */
    uint32_t     ptr;             /* index in td_prog.ptr of the entry that the pointer was made from */
    uint32_t     jump;            /* index of the code to go on with */
    uint32_t     at;              /* index of the instruction */
    uint32_t     lanes, step;     /* step: 1, or 0 for an index of one lane */
    int64_t      imm;
    td_dtype     dt;
} td_code;

/* td_code_ptr - where a pointer comes from: an instruction param, shared, dynamic, local or pointer. */
typedef struct td_code_ptr {
    uintptr_t base;   /* param: its address */
    size_t    nbytes; /* param: bytes from base to the end, 0: not known; else bytes of the array */
    size_t    offset; /* shared, dynamic, local: offset in the block's or thread's memory */
    td_op     op;
    uint32_t  at, word; /* the instruction; its value */
} td_code_ptr;

typedef struct td_prog {
    const td_fn *fn;
    td_code     *code;
    td_word     *init;
    td_code_ptr *ptr;
    uint32_t     ncode, nptr;
    uint32_t    *word; /* of each instruction: offset of its value */
    size_t       nwords;
    size_t       nshared, nlocal; /* bytes of a block and of a thread */
    bool         waits; /* it has a barrier or an exchange in a warp */
    bool         meets; /* it has a barrier of the grid */
    bool         spins; /* it has a loop that waits for another thread's write */
} td_prog;

td_word td_interp_constant(const td_inst *s); /* the word of an OP_const */

/* Decodes f into mem; ndynamic: bytes of dynamic shared memory; params have nbytes 0.
 * TD_ERR_TYPE: complex values; TD_ERR_JIT: a composite operation that was not expanded. */
td_status td_prog_new(const td_fn *f, const uint64_t *args, size_t ndynamic, td_arena *mem, td_prog *out);

#endif
