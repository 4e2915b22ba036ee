/* failure.c - the first failure of several threads. */
#include "base/failure.h"

#include <stdio.h>

void
td_failure_init(td_failure *f)
{
    pthread_mutex_init(&f->mu, NULL);
    f->st = TD_OK;
}

void
td_failure_note(td_failure *f, td_status st)
{
    if (!st)
        return;
    pthread_mutex_lock(&f->mu);
    if (!f->st) {
        f->st = st;
        f->code = td_error_code();
        snprintf(f->text, sizeof f->text, "%s", td_error());
    }
    pthread_mutex_unlock(&f->mu);
}

bool
td_failure_is(td_failure *f)
{
    bool is;

    pthread_mutex_lock(&f->mu);
    is = f->st != TD_OK;
    pthread_mutex_unlock(&f->mu);
    return is;
}

td_status
td_failure_get(td_failure *f)
{
    td_status st;

    pthread_mutex_lock(&f->mu);
    st = f->st ? td_fail_code(f->st, f->code, "%s", f->text) : TD_OK;
    pthread_mutex_unlock(&f->mu);
    return st;
}

td_status
td_failure_end(td_failure *f)
{
    td_status st = td_failure_get(f);

    pthread_mutex_destroy(&f->mu);
    return st;
}
