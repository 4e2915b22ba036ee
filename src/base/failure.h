/* failure.h - the first failure among several threads that share one job.
 *
 * td_failure lies on the stack of the thread that hands out the job.  The job's threads note their failures; the
 * thread that waits for them takes the first one as its own.
 */
#ifndef TD_BASE_FAILURE_H
#define TD_BASE_FAILURE_H
#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct td_failure {
    pthread_mutex_t mu;
    td_status       st;
    int             code;
    char            text[512];
} td_failure;

void      td_failure_init(td_failure *f);
/* copies this thread's error record, if it is the first; does nothing for TD_OK */
void      td_failure_note(td_failure *f, td_status st);
bool      td_failure_is(td_failure *f);                 /* has any thread noted one? */
/* copies the failure into this thread's error record and returns its status */
td_status td_failure_get(td_failure *f);
td_status td_failure_end(td_failure *f);                /* the same; f must not be used again */

#endif
