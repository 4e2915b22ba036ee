/* interp_run.h - the interpreter's blocks and threads, between what runs them (interp_run.c) and what
 * brings them together (interp.c).
 */
#ifndef TD_IR_INTERP_RUN_H
#define TD_IR_INTERP_RUN_H
#include "ir/interp/interp.h"
#include "ir/interp/interp_code.h"

typedef struct td_shadow td_shadow;       /* interp_check.c */
typedef struct td_own td_own;             /* of a thread */
typedef struct td_blockown td_blockown;   /* of a block */

/* What both ways to run threads say of a block that others wait for in vain; the block's place. */
#define TD_GRID_ENDED \
    "divergent grid_barrier: the first thread of block (%u, %u, %u) has ended, and a GPU counts blocks by those"

typedef struct td_team {
    uint32_t bid[3];
    char    *shared; /* td_prog.nshared bytes */
    td_blockown *own; /* NULL: nobody checks */
} td_team;

/* td_frame - a function that runs: what its words were before, and its local arrays. */
typedef struct td_frame {
    struct td_frame *up;
    const td_code   *call;
    char            *local; /* as td_runner's, behind the words */
    td_word          word[];
} td_frame;

typedef struct td_runner {
    const td_code *at; /* where it goes on; at a CODE_WAIT: it waits there; at neither that nor CODE_DONE: others go on first */
    td_word       *val;
    td_team       *team;
    char          *local; /* td_prog.nlocal bytes */
    uint32_t       tid[3];
    uint32_t       lane;
    td_frame      *frame; /* the innermost; NULL: none */
    bool           ended; /* by exit_if: nobody waits for it */
    td_own        *own;   /* NULL: nobody checks, as */
    uint32_t      *over;  /* of each value's word: the instruction, + 1, that went over its range on the way to it; 0: none */
} td_runner;

typedef struct td_engine {
    const td_prog  *p;
    const uint32_t *grid, *block;
    td_extent      *extent;
    uint64_t        nthread; /* of a block */
    const td_check *check;   /* NULL: nobody checks, as */
    td_shadow      *shadow;  /* NULL: nobody checks */
} td_engine;

/* The line of an instruction as one reads it beside the line of `beside`: "line 7", with the file before it, "file.py:7",
 * where that is another one. */
typedef struct td_where {
    char text[256];
} td_where;

td_where  td_engine_line(const td_engine *e, uint32_t at, uint32_t beside);
/* An instruction, for messages. */
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
void      td_engine_start(const td_engine *e, td_runner *t, uint64_t linear); /* puts t at the kernel's begin */
void      td_engine_drop(td_runner *t); /* frees the frames of functions that have not returned */
td_status td_engine_run(const td_engine *e, td_runner *t); /* from t->at until it waits or is done, or others should go on */

#endif
