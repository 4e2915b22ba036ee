/* memwait.h - threads that wait for memory which others use for a while.
 *
 * A thread at work has given up the graph's lock to compile, launch, copy or wait, and goes on by itself.  Whose request
 * cannot be met waits while others are at work, but not for those who wait themselves, so the last of them never does.
 * It fails, gives up what its evaluation has made, lets the others end theirs and begins again.
 * All under the graph's lock.
 */
#ifndef TD_ARRAY_MEMWAIT_H
#define TD_ARRAY_MEMWAIT_H
#include "dev/core/dev.h"

/* For td_graph_unlock and td_graph_lock: the thread goes to work, is back.  The pairs nest. */
void td_memwait_leave(void);
void td_memwait_back(void);
/* Between the two calls the thread waits for another one: it is not at work, whether it holds the lock or not. */
void td_memwait_idle(bool idle);

/* Do other threads go on by themselves, in kernels or waiting for a device? */
bool td_memwait_working(void);

/* Waits until there is more memory on d, or nobody else is at work.  False: not even nbytes alone would fit, or waiting
 * has led to nothing. */
bool td_memwait_wait(td_dev *d, size_t nbytes);

/* An evaluation of the thread's own begins, ends.  Those inside of others do not count. */
void td_memwait_begin(void);
void td_memwait_end(void);
/* The evaluation has failed for want of memory and holds none now: waits for others to end theirs.  False: there are none,
 * or they have taken too long. */
bool td_memwait_others(void);

#endif
