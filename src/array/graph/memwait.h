/* memwait.h - waiting for memory that other threads use for a while.
 *
 * A thread at work has released the graph's lock to compile, launch, copy or wait, and makes progress by itself.  A
 * thread whose request cannot be met waits while others are at work.  Threads that wait do not count as at work, so
 * the last of them never waits: its evaluation fails, releases what it has made, lets the others finish, and begins
 * again.  Everything here needs the graph's lock.
 */
#ifndef TD_ARRAY_MEMWAIT_H
#define TD_ARRAY_MEMWAIT_H
#include "dev/core/dev.h"

/* Called by td_graph_unlock and td_graph_lock: the thread starts to work by itself, and is back.  Pairs nest. */
void td_memwait_leave(void);
void td_memwait_back(void);
/* Between (true) and (false) the thread waits for another one: it is not at work, with or without the lock. */
void td_memwait_idle(bool idle);

/* Do other threads make progress by themselves, in kernels or waiting for a device? */
bool td_memwait_working(void);

/* Waits until there is more memory on d or nobody else is at work.  False: nbytes would not fit even alone, or
 * waiting did not help. */
bool td_memwait_wait(td_dev *d, size_t nbytes);

/* An evaluation of the thread begins, ends.  Evaluations inside it do not count. */
void td_memwait_begin(void);
void td_memwait_end(void);
/* Call after an evaluation has failed for lack of memory and holds none: waits for others to finish theirs.
 * False: there are none, or they took too long. */
bool td_memwait_others(void);

#endif
