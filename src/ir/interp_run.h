/* interp_run.h - the interpreter's blocks and threads, between what runs them (interp_run.c) and what
 * brings them together (interp.c).
 */
#ifndef TD_IR_INTERP_RUN_H
#define TD_IR_INTERP_RUN_H
#include "ir/interp.h"
#include "ir/interp_code.h"

typedef struct td_team {
    uint32_t bid[3];
    char    *shared; /* td_prog.nshared bytes */
} td_team;

typedef struct td_runner {
    const td_code *at; /* where it goes on; at a CODE_WAIT: it waits there */
    td_word       *val;
    td_team       *team;
    char          *local; /* td_prog.nlocal bytes */
    uint32_t       tid[3];
    uint32_t       lane;
    bool           ended; /* by exit_if: nobody waits for it */
} td_runner;

typedef struct td_engine {
    const td_prog  *p;
    const uint32_t *grid, *block;
    td_extent      *extent;
    uint64_t        nthread; /* of a block */
} td_engine;

/* "kernel k: block (0,0,0), thread (1,0,0), line 7, %5 (load)", cut to 256 bytes. */
typedef struct td_where {
    char text[256];
} td_where;

td_where  td_engine_locate(const td_engine *e, const td_runner *t, uint32_t at);
void      td_engine_start(const td_engine *e, td_runner *t, uint64_t linear); /* puts t at the kernel's begin */
td_status td_engine_run(const td_engine *e, td_runner *t); /* from t->at until it waits or is done */

#endif
