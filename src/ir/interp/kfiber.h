/* kfiber.h - a kernel's threads as fibers: compiled code runs them one after another on one thread of the CPU, each
 * on a stack of its own.  Their barriers and exchanges call the functions here.
 *
 * This serves what lanes cannot do (widen.h): barriers where threads have diverged, barriers of the grid, exchanges
 * whose members differ, loops that wait for another thread.  The code is the program of one thread
 *
 *     void thread(const uint64_t *args, td_kfiber *self)
 *
 * and an entry like a widened kernel's, which passes its thread to td_kfiber_do_block.  args[info->nparam] is the
 * address of the launch's td_kfiber_launch; the block's and the grid's extents follow it.  Without barriers of the
 * grid an entry runs one block.  With them, the entry of block 0 runs the whole grid and the other entries do
 * nothing.
 *
 * As in the interpreter, a thread that has returned is missed at barriers (an error), a thread that ended by
 * exit_if is not.
 */
#ifndef TD_IR_KFIBER_H
#define TD_IR_KFIBER_H
#include "ir/core/ir.h"

#include <pthread.h>

typedef struct td_kfiber td_kfiber;
typedef void td_kfiber_fn(const uint64_t *args, td_kfiber *self);

/* td_kfiber_site - a place where threads wait.  A constant of the code; its address identifies it. */
typedef struct td_kfiber_site {
    uint32_t op, at, line, nbytes; /* instruction; nbytes: of the first operand */
} td_kfiber_site;

typedef struct td_kfiber_info {
    /* bytes of a block's static shared memory; bytes of a thread's arrays that are not on its stack */
    uint64_t shared, local;
    uint32_t nparam, meets; /* meets: the kernel has barriers of the grid */
} td_kfiber_info;

/* td_kfiber_gate - the threads at a barrier. */
typedef struct td_kfiber_gate {
    uint64_t            state; /* state of td_fiber_barrier */
    const td_kfiber_site *site;  /* NULL: nobody waits there */
    uint64_t            count, answer; /* threads whose condition holds: counted so far; the last result */
} td_kfiber_gate;

/* td_kfiber_block - a running block.  Code reads the fields before `run`. */
typedef struct td_kfiber_block {
    int32_t bid[3], bdim[3], gdim[3];
    char   *shared, *dynamic;
    struct td_kfiber_run *run;
    td_kfiber_gate gate;
} td_kfiber_block;

/* td_kfiber - a running thread.  Code reads the fields before `site` and sets `ended`. */
struct td_kfiber {
    int32_t  tid[3], lane;
    uint32_t stop; /* the launch has failed: return */
    uint32_t ended; /* it ended by exit_if */
    td_kfiber_block *block;
    char    *local;
    const td_kfiber_site *site; /* where it waits; NULL: nowhere */
    uint64_t state, *gate;    /* a state word for td_fiber_meet, and the word it waits with */
    uint64_t value, which;    /* what it contributes to an exchange; afterwards value is its result */
    uint32_t members, passes; /* passes: calls of td_kfiber_pass */
    uint32_t moves;           /* in a warp's first thread: counts what its threads have done for each other */
    bool     gone;            /* it has returned */
};

/* td_kfiber_run - one block of fibers, or the whole grid.  On the stack. */
typedef struct td_kfiber_run {
    struct td_kfiber_launch    *launch;
    td_kfiber_fn         *fn;
    const td_kfiber_info *info;
    const uint64_t     *args;
    td_kfiber_block      *block;
    td_kfiber            *th; /* th: n for each block */
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
td_status td_kfiber_launch_status(td_kfiber_launch *t); /* call after the launch; t is used up */

/* The functions that code calls. */
void     td_kfiber_do_block(td_kfiber_fn *fn, const td_kfiber_info *info, const uint64_t *args, int64_t bid, int64_t nblock);
/* Waits at a barrier or an exchange and returns the instruction's value.  The caller must then check self->stop. */
uint64_t td_kfiber_meet(td_kfiber *self, const td_kfiber_site *site, uint64_t value, uint64_t which, uint64_t members);
/* Called between iterations of a loop that reads memory: from time to time lets other threads run.  Then check
 * self->stop. */
void     td_kfiber_pass(td_kfiber *self);

/* ---- between kfiber.c and meet.c ---- */

/* self cannot continue at `site`: all threads return at their next check.  Returns 0. */
uint64_t td_kfiber_fail(td_kfiber *self, const td_kfiber_site *site, const char *what, ...) TD_PRINTF(3, 4);
/* fails because `other` does not wait where self does */
uint64_t td_kfiber_divergent(td_kfiber *self, const td_kfiber *other);

static inline uint32_t
td_kfiber_place(const td_kfiber *t) /* its index among the run's threads */
{
    return (uint32_t)(t - t->block->run->th);
}

static inline bool
td_kfiber_missed(const td_kfiber *t) /* has it returned, so that threads that wait for it wait for ever? */
{
    return t->gone && !t->ended;
}

#endif
