/* kfiber.h - a kernel's threads as fibers: compiled code runs them one after another on one thread of the CPU, each on
 * a stack of its own.  Their barriers and exchanges call the functions here.
 *
 * For what lanes cannot do (widen.h): barriers where threads have parted, barriers of the grid, exchanges whose
 * members differ, loops that wait for another thread.  Code is made of the program of one thread
 *     void thread(const uint64_t *args, td_kfiber *self)
 * and an entry as a widened kernel's, which gives its thread to td_kfiber_do_block.  args[info->nparam] is the address of
 * the launch's td_kfiber_launch, the block's and the grid's extents stand behind it.  Without barriers of the grid an
 * entry runs one block; with them that of block 0 runs the grid, and others nothing.
 *
 * Threads meet as in the interpreter: who returns is waited for, who ends by exit_if is not.
 */
#ifndef TD_IR_KFIBER_H
#define TD_IR_KFIBER_H
#include "ir/core/ir.h"

#include <pthread.h>

typedef struct td_kfiber td_kfiber;
typedef void td_kfiber_fn(const uint64_t *args, td_kfiber *self);

/* Where threads meet.  A constant of the code; its address tells two of them apart. */
typedef struct td_kfiber_site {
    uint32_t op, at, line, nbytes; /* instruction; nbytes: of the values that match_any compares */
} td_kfiber_site;

typedef struct td_kfiber_info {
    uint64_t shared, local; /* bytes of a block without dynamic memory, bytes of a thread that do not lie on its stack */
    uint32_t nparam, meets; /* meets: holds barriers of the grid */
} td_kfiber_info;

/* Threads that stand at a barrier. */
typedef struct td_kfiber_gate {
    uint64_t            state; /* of td_fiber_barrier */
    const td_kfiber_site *site;  /* NULL: nobody stands there */
    uint64_t            count, answer; /* with a condition that holds: so far; of the last time */
} td_kfiber_gate;

/* A block at work: code reads what stands before `run`. */
typedef struct td_kfiber_block {
    int32_t bid[3], bdim[3], gdim[3];
    char   *shared, *dynamic;
    struct td_kfiber_run *run;
    td_kfiber_gate gate;
} td_kfiber_block;

/* A thread at work: code reads what stands before `site`, and sets `ended`. */
struct td_kfiber {
    int32_t  tid[3], lane;
    uint32_t stop; /* the launch has failed: the thread returns */
    uint32_t ended; /* by exit_if */
    td_kfiber_block *block;
    char    *local;
    const td_kfiber_site *site; /* waits there; NULL: for nothing */
    uint64_t state, *gate;    /* for td_fiber_meet: a word of its own; the word that it waits with */
    uint64_t value, which;    /* what it brings to an exchange; value: what it gets */
    uint32_t members, turns;
    uint32_t moves;           /* of a warp's first thread: what its threads have done for each other */
    bool     gone;            /* it has returned */
};

/* td_kfiber_run - blocks whose threads are switched between: one, or the grid.  On the stack. */
typedef struct td_kfiber_run {
    struct td_kfiber_launch    *launch;
    td_kfiber_fn         *fn;
    const td_kfiber_info *info;
    const uint64_t     *args;
    td_kfiber_block      *block;
    td_kfiber            *th; /* of each block n */
    uint64_t nblock;
    int      n;
    bool     failed;
    td_kfiber_gate grid;
} td_kfiber_run;

/* td_kfiber_launch - one launch.  On the launching thread's stack. */
typedef struct td_kfiber_launch {
    const char *kernel; /* borrowed */
    size_t      shared; /* bytes of dynamic memory */
    pthread_mutex_t mu;
    td_status   st; /* of the first block that failed */
    uint64_t    block;
    char        text[512];
} td_kfiber_launch;

void      td_kfiber_launch_init(td_kfiber_launch *t, const char *kernel, size_t shared);
td_status td_kfiber_launch_status(td_kfiber_launch *t); /* after the launch; t is used up */

/* What code calls. */
void     td_kfiber_do_block(td_kfiber_fn *fn, const td_kfiber_info *info, const uint64_t *args, int64_t bid, int64_t nblock);
/* A barrier or an exchange: waits, and gives the instruction's value; then self->stop is to be looked at. */
uint64_t td_kfiber_meet(td_kfiber *self, const td_kfiber_site *site, uint64_t value, uint64_t which, uint64_t members);
/* Between the turns of a loop that looks at memory: now and then the other threads' turn; as above. */
void     td_kfiber_pass(td_kfiber *self);

/* ---- between kfiber.c and meet.c ---- */

/* self, at `site`, cannot go on: all threads return where they look.  Gives 0. */
uint64_t td_kfiber_fail(td_kfiber *self, const td_kfiber_site *site, const char *what, ...) TD_PRINTF(3, 4);
uint64_t td_kfiber_divergent(td_kfiber *self, const td_kfiber *other); /* other is not where self waits */

static inline uint32_t
td_kfiber_place(const td_kfiber *t) /* among the threads of the run */
{
    return (uint32_t)(t - t->block->run->th);
}

static inline bool
td_kfiber_missed(const td_kfiber *t) /* those who wait for it wait for ever */
{
    return t->gone && !t->ended;
}

#endif
