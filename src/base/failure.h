/* failure.h - the first failure of several threads that do one job together.
 *
 * td_failure - on the stack of who shares the job out; its threads note what fails, and the one that
 * waits for them makes the first of it its own.
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
void      td_failure_note(td_failure *f, td_status st); /* of this thread's error record; TD_OK: nothing happens */
bool      td_failure_is(td_failure *f);                 /* has any thread noted one? */
td_status td_failure_get(td_failure *f);                /* into this thread's record */
td_status td_failure_end(td_failure *f);                /* the same; f is not used again */

#endif
