/* stop.h - stopping long work early: after Ctrl-C, or when nobody wants its results any more.
 *
 * td_stop - one piece of work: a launch on the CPU.  It lies on the stack of the thread that runs the work; threads
 * of td_parallel that help see it too.  Compiled loops call td_stop_look from time to time and return when it says
 * so; td_stop_end then tells the thread that began the work why.  Works nest: a signal handler that launches a
 * kernel begins work of its own.
 */
#ifndef TD_BASE_STOP_H
#define TD_BASE_STOP_H
#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct td_stop {
    struct td_stop *outer;
    const void     *owner; /* the thread that began the work */
    const volatile unsigned char *asked; /* the work stops once this is not 0; NULL: nobody can ask for that */
    int64_t     next; /* when the owner checks for signals next, ns; 0: it has not checked yet */
    td_status   st;   /* status that a signal handler raised */
    int         code;
    atomic_bool left;
} td_stop;

void      td_stop_begin(td_stop *s);
td_status td_stop_end(td_stop *s); /* TD_OK: the work ran to its end; else its results are incomplete */

/* Compiled code and waiting threads call this: 1 says that the work shall stop. */
int64_t td_stop_look(void);
bool    td_stop_left(void); /* has this thread's work stopped early?  Only reads the answer of earlier looks */

td_stop *td_stop_now(void);            /* this thread's current work; NULL: none */
void     td_stop_enter(td_stop *s);    /* this thread now helps with s; NULL: with nothing */

/* Work that this thread begins from now on stops once *flag is not 0; NULL: no flag. */
void td_stop_obey(const volatile unsigned char *flag);

/* Sets the function that runs the program's signal handlers, on the process's first thread.  It returns TD_OK,
 * or the error that stops the work. */
void td_stop_on_signals(td_status (*handle)(void));

#endif
