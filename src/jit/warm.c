/* warm.c - the compilers started before they are needed.
 *
 * The driver's PTX compiler takes 86 ms at its first use in a process; a thread spends them while the
 * program makes its first arrays.  Nobody waits for it but fork(), whose child must not inherit a lock
 * that it holds, and the process's end, since the driver is taken down then.
 */
#include "jit/engine.h"
#include "jit/jit.h"

#include <pthread.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t mu;
    pthread_t thread;
    bool begun, running;
} warming = {.mu = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool here; /* this is the thread */

/* An empty kernel goes the whole way: it loads what the first real one would wait for.  A failure is
 * for that one to report. */
static void *
warm(void *arg)
{
    td_dev *d = arg;
    td_arena mem = {0};
    td_fn f = td_fn_new(&mem, "td_warm");
    td_val p = td_param_ptr(&f, TD_F32);
    size_t nbytes;
    void *code;

    here = true;
    td_store(&f, p, td_const_int(&f, TD_I64, 0), td_const(&f, TD_F32, 0), TD_NONE, 0);
    if (!td_fn_finish(&f) && !td_jit_engine(d)->compile(d, &f, &code, &nbytes))
        free(code);
    td_arena_free(&mem);
    return NULL;
}

/* The driver may fork a helper of its own on the thread that is waited for. */
static void
join(void)
{
    if (here)
        return;
    pthread_mutex_lock(&warming.mu);
    if (warming.running)
        pthread_join(warming.thread, NULL);
    warming.running = false;
    pthread_mutex_unlock(&warming.mu);
}

static void
in_child(void)
{
    pthread_mutex_init(&warming.mu, NULL);
    warming.running = false;
}

void
td_jit_warm(td_dev *d)
{
    if (td_dev_info(d)->kind != TD_DEV_CUDA)
        return;
    pthread_mutex_lock(&warming.mu);
    if (!warming.begun) {
        warming.begun = true; /* without a thread the first kernel is slower, no more */
        warming.running = pthread_create(&warming.thread, NULL, warm, d) == 0;
        if (warming.running) {
            pthread_atfork(join, NULL, in_child);
            atexit(join); /* registered after the driver's own, so it runs before them */
        }
    }
    pthread_mutex_unlock(&warming.mu);
}
