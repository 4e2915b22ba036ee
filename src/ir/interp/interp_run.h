/* interp_run.h - the interpreter's blocks and threads, for interp_run.c, which runs them, and interp.c, which
 * synchronises them.
 */
#ifndef TD_IR_INTERP_RUN_H
#define TD_IR_INTERP_RUN_H
#include "ir/interp/interp.h"
#include "ir/interp/interp_code.h"

typedef struct td_shadow td_shadow;       /* interp_check.c */
typedef struct td_own td_own;             /* of a thread */
typedef struct td_blockown td_blockown;   /* of a block */

/* The error of both engines for a block that others wait for in vain; its argument is the block's index. */
#define TD_GRID_ENDED \
    "divergent grid_barrier: the first thread of block (%u, %u, %u) has ended, and a GPU counts blocks by those"

typedef struct td_team {
    uint32_t bid[3];
    char    *shared; /* td_prog.nshared bytes */
    td_blockown *own; /* NULL: nothing is checked */
} td_team;

/* td_frame - a function being run: the words that it replaced, and its local arrays. */
typedef struct td_frame {
    struct td_frame *up;
    const td_code   *call;
    char            *local; /* like td_runner's; allocated after the words */
    td_word          word[];
} td_frame;

typedef struct td_runner {
    /* where it continues.  At a CODE_WAIT it waits there; at CODE_DONE it is done; anywhere else it has stopped
     * so that others run */
    const td_code *at;
    td_word       *val;
    td_team       *team;
    char          *local; /* td_prog.nlocal bytes */
    uint32_t       tid[3];
    uint32_t       lane;
    td_frame      *frame; /* of the innermost function; NULL: none */
    bool           ended; /* ended by exit_if: nobody waits for it */
    td_own        *own;   /* NULL: nothing is checked, like `over` */
    uint32_t      *over;  /* for each value's word: 1 + the instruction that overflowed on the way to it; 0: none */
} td_runner;

typedef struct td_engine {
    const td_prog  *p;
    const uint32_t *grid, *block;
    td_extent      *extent;
    uint64_t        nthread; /* of a block */
    const td_check *check;   /* NULL: nothing is checked, like `shadow` */
    td_shadow      *shadow;  /* NULL: nobody checks */
} td_engine;

/* td_where - an instruction's line for a message: "line 7", or "file.py:7" if the file is not that of `beside`. */
typedef struct td_where {
    char text[256];
} td_where;

td_where  td_engine_line(const td_engine *e, uint32_t at, uint32_t beside);
/* td_place - an instruction, for messages. */
typedef struct td_place {
    td_op    op;
    uint32_t at, line; /* line 0: not known */
} td_place;

/* "kernel k: block (0,0,0), thread (1,0,0), line 7, %5 (load): text" */
td_status td_thread_fail(td_status st, const char *kernel, const uint32_t bid[3], const uint32_t tid[3], td_place at,
                         const char *text);
/* Fails with "kernel k: block (0,0,0), thread (1,0,0), line 7, %5 (load): what", or where the function knows its
 * origins "what [kernel k, block (0, 0, 0), thread (1, 0, 0), file.py:7]". */
td_status td_engine_fail(const td_engine *e, const td_runner *t, uint32_t at, td_status st, const char *what, ...)
    TD_PRINTF(5, 6);
/* "what [kernel k, block (0, 0, 0), thread (1, 0, 0), file.py:7]", or without the file where it is not known */
void      td_engine_place(const td_engine *e, const td_runner *t, uint32_t at, const char *what, char *out, size_t n);
void      td_engine_start(const td_engine *e, td_runner *t, uint64_t linear); /* sets t to the kernel's start */
void      td_engine_drop(td_runner *t); /* frees the frames of functions that did not return */
/* runs from t->at until t waits, is done, or should let others run */
td_status td_engine_run(const td_engine *e, td_runner *t);

#endif
