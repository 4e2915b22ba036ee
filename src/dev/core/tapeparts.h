/* tapeparts.h - the parts of a tape, for tape.c, which records, and tapeplay.c, which replays. */
#ifndef TD_DEV_TAPEPARTS_H
#define TD_DEV_TAPEPARTS_H
#include "dev/core/tape.h"
#include "dev/core/work.h"

enum { TD_TAPE_WORDS = TD_TAPE_CALLS * 2 }; /* of a piece of work's arguments */

/* op - one recorded piece of work.  Its arguments and addresses are words of the tape. */
typedef struct op {
    td_trace_kind kind;
    const char *name; /* of the work, for people */
    size_t moved;     /* bytes it reads and writes; 0: not known */
    td_func *func;
    td_dims dims;
    union {
        td_gemm gemm;
        td_fourier fourier;
        size_t call; /* a collective's first */
    };
    int byte;
    size_t nbytes;
    size_t word;
    int nword;
    int narg;      /* a kernel's */
    size_t offset; /* index of the first of narg offsets, if its arguments are packed */
    size_t patch;  /* index of the first of its npatch patches */
    int npatch;
    td_stream *s;
} op;

typedef enum patch_kind { PATCH_SLOT, PATCH_KEY, PATCH_OFFSET } patch_kind;

/* patch - a word that a replay changes: a slot's address plus `add`, or a generator's key or offset. */
typedef struct patch {
    patch_kind kind;
    int word; /* index among its op's words */
    int of;   /* slot or generator */
    uint64_t add;
} patch;

typedef struct slot {
    td_buf *buf; /* one reference */
    td_slotkind kind;
    int touches; /* ops that use it */
    bool copied; /* a replay copies it instead of patching those ops */
} slot;

typedef struct draw {
    int rng;
    uint64_t key, offset;
} draw;

/* run - consecutive ops: a single one that is patched or a collective, or several others, with or without a
 * graph. */
typedef struct run {
    size_t first, n, nbytes;
    void *exec; /* NULL: launched piece by piece */
} run;

/* A growing array; `cap` in items. */
#define LIST(type)                                                                                 \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, cap;                                                                             \
    }

struct td_tape {
    td_dev *dev;
    bool recording;
    pthread_mutex_t playing;
    LIST(op) ops;
    LIST(uint64_t) words;
    LIST(uint32_t) offsets; /* offsets of packed arguments */
    LIST(td_comm_call) calls; /* calls of collectives; each holds a reference on its comm */
    LIST(patch) patches;
    LIST(td_buf *) owned;
    LIST(slot) slots;
    LIST(draw) draws;
    LIST(run) runs;
};

/* Makes room for `more` items after the first n.  at: the address of the pointer to the items. */
td_status td_tape_grow(void *at, size_t *cap, size_t n, size_t more, size_t size);

#define GROW(list, more) td_tape_grow(&(list).at, &(list).cap, (list).n, (more), sizeof *(list).at)

#endif
