/* warm.c - starts compilers before they are needed.
 *
 * The driver's PTX compiler takes 86 ms at its first use in a process, opening libtreadle_jit.so
 * takes 3 ms.  A thread spends that time while the program makes its first arrays.  Nobody waits
 * for the thread except fork(), whose child must not inherit a lock that it holds, and the
 * process's exit, since the driver shuts down then.
 */
#include "jit/engine.h"
#include "jit/jit.h"
#include "jit/library.h"

#include <pthread.h>
#include <stdlib.h>

enum { KINDS = TD_DEV_NULL }; /* kinds of devices that have something to warm */

static struct {
    pthread_mutex_t mu;
    pthread_t thread[KINDS];
    bool begun[KINDS], running[KINDS];
    bool watched; /* fork and exit handlers are registered */
} warming = {.mu = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool here; /* this thread is the warming one */

/* On a CPU it is enough to load the compiler by the time the first kernel's source is read.
 * Compiling an empty kernel as well would slow the first one down on a busy machine.  If
 * loading fails, the first kernel reports it. */
static void *
warm_host(void *arg)
{
    const td_lower *low;

    (void)arg;
    here = true;
    if (!td_jit_library(&low))
        (void)low->cpu_key();
    return NULL;
}

/* Compiles an empty kernel, which loads everything that the first real one would wait for.  If
 * that fails, the real one reports it. */
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

/* Do not join from the warming thread itself: the driver may fork a helper there. */
static void
join_warming(void)
{
    if (here)
        return;
    pthread_mutex_lock(&warming.mu);
    for (int k = 0; k < KINDS; k++) {
        if (warming.running[k])
            pthread_join(warming.thread[k], NULL);
        warming.running[k] = false;
    }
    pthread_mutex_unlock(&warming.mu);
}

static void
warm_in_child(void)
{
    pthread_mutex_init(&warming.mu, NULL);
}

/* Needs warming.mu.  atexit handlers run in reverse order, so this one runs before the
 * driver's. */
static void
watch_warming(void)
{
    if (!warming.watched) {
        pthread_atfork(join_warming, NULL, warm_in_child);
        atexit(join_warming);
    }
    warming.watched = true;
}

void
td_jit_warm(td_dev *d)
{
    td_devkind kind = td_dev_info(d)->kind;

    if ((int)kind >= KINDS)
        return;
    pthread_mutex_lock(&warming.mu);
    if (!warming.begun[kind]) {
        /* if no thread can be started, the first kernel is only slower */
        warming.begun[kind] = true;
        warming.running[kind] = pthread_create(&warming.thread[kind], NULL,
                                               kind == TD_DEV_CPU ? warm_host : warm, d) == 0;
        if (warming.running[kind])
            watch_warming();
    }
    pthread_mutex_unlock(&warming.mu);
}
