/* site.h - texts by number, and the program's line that asks for work.
 *
 * Looking the line up needs a lock (Python's).  So td_site_hold looks it up while the thread has that lock, and the
 * answer holds for all that the thread does until it takes the lock back.  Only failures that come late and profiles
 * need lines: while neither is active, asking costs one look at a number.
 */
#ifndef TD_DEV_SITE_H
#define TD_DEV_SITE_H
#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

uint32_t    td_name_id(const char *text); /* the text's number; 0 for NULL and "", and without memory */
const char *td_name_text(uint32_t id);    /* borrowed, for the process's life; "" for 0 */
/* Keeps the formatted text as td_name_id does, and returns it: borrowed, for the process's life; "" without memory. */
const char *td_name_format(const char *fmt, ...) TD_PRINTF(1, 2);

/* Returns the program's current line, as a text's number; called in the thread that asks.  NULL: no hook. */
typedef uint32_t td_site_fn(void);
void td_site_on_ask(td_site_fn *fn);

extern atomic_int td_site_wanters; /* how many devices that fail late, and profiles, there are */

static inline bool
td_site_wanted(void)
{
    return atomic_load_explicit(&td_site_wanters, memory_order_relaxed) != 0;
}

uint32_t td_site_now(void);  /* the calling thread's line: the held one, else looked up now; 0: not known */
uint32_t td_site_held(void); /* the held one; 0: none */
/* Looks the line up and holds it for the thread's work until it is released. */
void     td_site_hold(void);
void     td_site_release(void);
void     td_site_lock(bool lock); /* around fork() */

#endif
