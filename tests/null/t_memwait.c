/* t_memwait.c - threads that wait for memory which others use for a while, and those that must not wait; limits set late. */
#include "array/graph/memwait.h"
#include "array/graph/node.h"
#include "null/null.h"

#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define MB ((size_t)1 << 20)

static td_dev *dev;
static pthread_mutex_t graph = PTHREAD_MUTEX_INITIALIZER;
static atomic_int asked, step;

static void *
unlock(void)
{
    pthread_mutex_unlock(&graph);
    return NULL;
}

static void
lock(void *token)
{
    (void)token;
    pthread_mutex_lock(&graph);
}

static bool
wait_hook(td_dev *d, size_t nbytes)
{
    asked++;
    return td_memwait_wait(d, nbytes);
}

static void
until(atomic_int *what, int n)
{
    while (atomic_load(what) < n)
        sched_yield();
}

/* Holds memory and is at work until `what` has come to n. */
static void
work(atomic_int *what, int n)
{
    void *token = td_graph_unlock();

    step = 1;
    until(what, n);
    td_graph_lock(token);
}

static void *
lets_go(void *arg)
{
    td_buf *b;

    (void)arg;
    pthread_mutex_lock(&graph);
    CHECK_OK(td_buf_new(dev, NULL, 5 * MB, &b));
    work(&asked, 1);
    td_buf_unref(b);
    pthread_mutex_unlock(&graph);
    return NULL;
}

static void *
wants_more(void *arg)
{
    td_buf *b, *more;

    (void)arg;
    pthread_mutex_lock(&graph);
    CHECK_OK(td_buf_new(dev, NULL, 3 * MB, &b));
    work(&asked, 1);
    CHECK_FAILS(td_buf_new(dev, NULL, 3 * MB, &more), TD_ERR_OOM, "out of memory");
    td_buf_unref(b);
    pthread_mutex_unlock(&graph);
    return NULL;
}

static void *
keeps(void *arg)
{
    td_buf *b;

    (void)arg;
    pthread_mutex_lock(&graph);
    CHECK_OK(td_buf_new(dev, NULL, 3 * MB, &b));
    work(&step, 2);
    td_buf_unref(b);
    pthread_mutex_unlock(&graph);
    return NULL;
}

/* Another thread does its part beside; this one has `held` and asks for nbytes. */
static void
try(void *(*other)(void *), size_t held, size_t nbytes, td_status want)
{
    td_buf *own = NULL, *b = NULL;
    pthread_t t;

    asked = step = 0;
    pthread_create(&t, NULL, other, NULL);
    until(&step, 1);
    pthread_mutex_lock(&graph);
    if (held)
        CHECK_OK(td_buf_new(dev, NULL, held, &own));
    CHECK(td_buf_new(dev, NULL, nbytes, &b) == want);
    step = 2;
    td_buf_unref(b);
    td_buf_unref(own);
    pthread_mutex_unlock(&graph);
    pthread_join(t, NULL);
}

static void *
puts_off(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&graph);
    td_memwait_begin();
    step = 1;
    CHECK(td_memwait_others());
    CHECK(step == 2);
    td_memwait_begin(); /* one inside does not count */
    CHECK(!td_memwait_others());
    td_memwait_end();
    td_memwait_end();
    pthread_mutex_unlock(&graph);
    return NULL;
}

static void
test_put_off(void)
{
    pthread_t t;
    void *token;

    step = 0;
    pthread_mutex_lock(&graph);
    td_memwait_begin();
    CHECK(!td_memwait_others()); /* there are none */
    pthread_create(&t, NULL, puts_off, NULL);
    token = td_graph_unlock();
    until(&step, 1);
    td_graph_lock(token);
    step = 2;
    td_memwait_end();
    pthread_mutex_unlock(&graph);
    pthread_join(t, NULL);
}

/* What is kept beyond a limit goes as far as it is whole; what is in use stays, and nothing is given beside it. */
static void
test_late_limit(void)
{
    td_buf *b[16], *more;
    size_t size = MB / 2;

    td_mem_on_wait(NULL);
    CHECK_OK(td_mem_limit(dev, SIZE_MAX));
    for (int i = 0; i < 16; i++)
        CHECK_OK(td_buf_new(dev, NULL, size, &b[i]));
    for (int i = 1; i < 16; i += 2)
        td_buf_unref(b[i]);
    CHECK_OK(td_mem_limit(dev, 6 * size));
    CHECK(td_mem_stats(dev).used == 8 * size);
    CHECK_FAILS(td_buf_new(dev, NULL, size, &more), TD_ERR_OOM, "the limit is 3.00 MiB");
    for (int i = 0; i < 6; i += 2)
        td_buf_unref(b[i]);
    CHECK_OK(td_buf_new(dev, NULL, size, &more));
    CHECK(td_mem_stats(dev).used == 6 * size);
    CHECK_FAILS(td_buf_new(dev, NULL, size, &b[0]), TD_ERR_OOM, "out of memory");
    td_buf_unref(more);
    for (int i = 6; i < 16; i += 2)
        td_buf_unref(b[i]);
    CHECK_OK(td_buf_new(dev, NULL, size, &more));
    CHECK(td_mem_stats(dev).used + td_mem_stats(dev).cached <= 6 * size);
    td_buf_unref(more);
}

int
main(void)
{
    CHECK_OK(td_dev_get("null:5", &dev));
    td_graph_hooks(unlock, lock);
    td_mem_on_wait(wait_hook);
    CHECK_OK(td_mem_limit(dev, 8 * MB));
    try(lets_go, 0, 5 * MB, TD_OK);
    try(wants_more, 3 * MB, 3 * MB, TD_OK); /* the one that asks last has nobody to wait for */
    try(keeps, 0, 9 * MB, TD_ERR_OOM);      /* more than there is: at once */
    test_put_off();
    test_late_limit();
    return check_failures != 0;
}
