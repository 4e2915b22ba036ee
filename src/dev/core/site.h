/* site.h - which line of the program asks; texts by number.
 *
 * Lines are asked for where the lock that the answer needs (Python's) is held, and then stand for all
 * that the thread does until it takes the lock back.  Who tells of failures and of time wants them:
 * while nobody does, asking costs one look at a number.
 */
#ifndef TD_DEV_SITE_H
#define TD_DEV_SITE_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

uint32_t    td_name_id(const char *text); /* the text's number; 0 for NULL and "", and without memory */
const char *td_name_text(uint32_t id);    /* borrowed, for the process's life; "" for 0 */

/* Asked which line the program stands at, by the thread that is there: a text's number.  NULL: none. */
typedef uint32_t td_site_fn(void);
void td_site_on_ask(td_site_fn *fn);

extern atomic_int td_site_wanters; /* devices that fail late; profiles */

static inline bool
td_site_wanted(void)
{
    return atomic_load_explicit(&td_site_wanters, memory_order_relaxed) != 0;
}

uint32_t td_site_now(void);  /* the calling thread's line: the one that is held, else it is asked for; 0: not known */
uint32_t td_site_held(void); /* the one that is held; 0: none is */
/* The line is asked for now and holds for the thread's work until it is released. */
void     td_site_hold(void);
void     td_site_release(void);
void     td_site_lock(bool lock); /* round fork() */

#endif
