/* interp_check.h - the shadow of a kernel's memory and values: which thread accessed a byte last, what has been
 * written, which numbers exceeded their range.  The engine calls these functions if td_engine.shadow is not NULL.
 */
#ifndef TD_IR_INTERP_CHECK_H
#define TD_IR_INTERP_CHECK_H
#include "ir/interp/interp_run.h"

/* For the threads th[n] and the blocks team[nteam] of e, in mem. */
td_status td_shadow_new(td_engine *e, td_runner *th, uint64_t n, td_team *team, uint64_t nteam,
                        const td_check *check, td_arena *mem);
void td_shadow_free(td_shadow *s); /* ok on NULL */
void td_shadow_prepare(td_prog *p, td_arena *mem); /* makes code that computes addresses CODE_TRACE */

void td_shadow_block(const td_engine *e, td_team *team);                /* the block begins */
void td_shadow_thread(const td_engine *e, td_runner *t, uint64_t linear); /* the thread begins */
void td_shadow_synced(td_runner *t, td_op where); /* t continues after a barrier, a barrier of the grid, or a syncwarp */
void td_shadow_fence(td_runner *t);

void      td_shadow_trace(const td_engine *e, td_runner *t, const td_code *c); /* runs c and remembers overflows */
td_status td_shadow_index(const td_engine *e, const td_runner *t, const td_code *c, uint32_t lane);
td_status td_shadow_read(const td_engine *e, td_runner *t, const td_code *c, const char *p);
/* *done: the word went to `halt`, so nothing is to be written. */
td_status td_shadow_write(const td_engine *e, td_runner *t, const td_code *c, const char *p, const td_word *v, bool *done);
/* Runs c, of CODE_FLOAT, and remembers where NaN and infinity arise; a store of such a value is told to the hook. */
void      td_shadow_float(const td_engine *e, td_runner *t, const td_code *c);
void      td_shadow_float_prepare(td_prog *p); /* makes code that computes floats CODE_FLOAT */
td_status td_shadow_float_stored(const td_engine *e, const td_runner *t, const td_code *c, uint32_t lane);
void      td_shadow_hint(const td_engine *e); /* the launch is over: tells the hook of arrays larger than the grid */
td_status td_shadow_atomic(const td_engine *e, td_runner *t, const td_code *c, const char *p);

#endif
