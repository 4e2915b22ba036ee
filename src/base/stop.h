/* stop.h - work that is asked to leave: Ctrl-C, or nobody wants its results any more.
 *
 * td_stop - one piece of work, a launch on the CPU.  On the stack of the thread that runs it; the threads of td_parallel
 * that help see it too.  Compiled loops call td_stop_look from time to time and return when it says so; who began the
 * work then learns why.  Works nest: what a signal's handler runs is a work of its own.
 */
#ifndef TD_BASE_STOP_H
#define TD_BASE_STOP_H
#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct td_stop {
    struct td_stop *outer;
    const void     *owner; /* the thread that began */
    const volatile unsigned char *asked; /* not 0: nobody wants it; NULL: nobody can say so */
    int64_t     next; /* when the owner looks for signals again, ns; 0: it has not come to that */
    td_status   st;   /* of what a signal's handler raised */
    int         code;
    atomic_bool left;
} td_stop;

void      td_stop_begin(td_stop *s);
td_status td_stop_end(td_stop *s); /* TD_OK: it ran to its end; else what it did is not whole */

/* Called by compiled code and by who waits: 1, the work leaves. */
int64_t td_stop_look(void);
bool    td_stop_left(void); /* has this thread's work been left?  Asks nobody. */

td_stop *td_stop_now(void);            /* this thread's; NULL: none that can be left */
void     td_stop_enter(td_stop *s);    /* this thread helps with s, NULL: with nothing, from now on */

/* What this thread begins from now on leaves once *flag is not 0; NULL: no more. */
void td_stop_obey(const volatile unsigned char *flag);

/* How the program's signals are handled, on the process's first thread: TD_OK, or an error that ends the work. */
void td_stop_on_signals(td_status (*handle)(void));

#endif
