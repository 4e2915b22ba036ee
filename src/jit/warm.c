/* warm.c - the compilers started before they are needed.
 *
 * The driver's PTX compiler takes 86 ms at its first use in a process, opening libtreadle_jit.so 3 ms; a
 * thread spends them while the program makes its first arrays.  Nobody waits for it but fork(), whose child must not
 * inherit a lock that it holds, and the process's end, since the driver is taken down then.
 */
#include "jit/engine.h"
#include "jit/jit.h"
#include "jit/library.h"

#include <pthread.h>
#include <stdlib.h>

enum { KINDS = TD_DEV_NULL }; /* of devices that have something to warm */

static struct {
    pthread_mutex_t mu;
    pthread_t thread[KINDS];
    bool begun[KINDS], running[KINDS];
    bool watched; /* fork and exit join */
} warming = {.mu = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool here; /* this is the thread */

/* On a CPU the compiler is there when the first kernel's source has been read.  To compile for nothing besides would
 * take time from that kernel on a machine that is busy.  A failure is for the kernel to report. */
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

/* With warming.mu held.  atexit: registered after the driver's own, so it runs before them. */
static void
watch(void)
{
    if (!warming.watched) {
        pthread_atfork(join, NULL, warm_in_child);
        atexit(join);
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
        warming.begun[kind] = true; /* without a thread the first kernel is slower, no more */
        warming.running[kind] = pthread_create(&warming.thread[kind], NULL,
                                               kind == TD_DEV_CPU ? warm_host : warm, d) == 0;
        if (warming.running[kind])
            watch();
    }
    pthread_mutex_unlock(&warming.mu);
}
