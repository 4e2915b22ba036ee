/* fault.c - the first access to memory whose values are not there, from anywhere in the process.
 *
 * The page fault arrives as SIGSEGV in the thread that made the access.  If that thread has the
 * GIL, the handler fetches the values or opens the block, and the access is repeated: C code that
 * reads numbers holds no lock that this needs.  The handler runs on the thread's own stack, since
 * compiling needs more than an alternate stack has.
 *
 * A thread without the GIL asks a thread of ours, and waits until the memory is ready: the thread
 * with the GIL may be waiting for this very thread, as in a library's parallel loop, and soon
 * accesses the same array itself.
 *
 * Faults elsewhere go to the earlier handler of the signal.
 */
#include "python/unchanged/unchanged.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

extern int PyGILState_Check(void); /* exported by CPython since 3.4, not part of the limited API */

static struct sigaction before;
static _Thread_local bool inside;

_Noreturn static void
give_up(const char *what)
{
    const char *const lines[] = {
        "treadle: values that were about to be read cannot be computed: ", what, "\n"};

    for (size_t i = 0; i < 3; i++)
        (void)!write(STDERR_FILENO, lines[i], strlen(lines[i]));
    abort();
}

/* Was the access a write?  The fault's error code tells it even if another thread made the
 * page readable meanwhile. */
#if defined(__x86_64__)
static bool
is_write(const void *context)
{
    /* uc_mcontext.gregs */
    const unsigned long *regs = (const unsigned long *)((const char *)context + 40);

    return regs[19] & 2; /* REG_ERR: the page fault's error code */
}
#else
enum { ESR_WRITES = 1 << 6 /* WnR of a data abort */ };

/* The registers are followed by records, each a kind and a length; kind 0 ends them.  Without the syndrome, which an
 * emulator may leave out, the access counts as a write: that is right for a read, too, and may copy more. */
static bool
is_write(const void *context)
{
    const ucontext_t *u = context;
    const char *at = (const char *)u->uc_mcontext.__reserved,
               *end = at + sizeof u->uc_mcontext.__reserved;
    struct esr_context record;

    while ((size_t)(end - at) >= sizeof record) {
        memcpy(&record, at, sizeof record);
        if (record.head.magic == ESR_MAGIC)
            return record.esr & ESR_WRITES;
        if (!record.head.magic || record.head.size > (size_t)(end - at))
            break;
        at += record.head.size;
    }
    return true;
}
#endif

static void
chain(int sig, siginfo_t *info, void *context)
{
    static volatile sig_atomic_t chaining;

    if (chaining++) { /* the earlier handler calls us in turn */
        (void)signal(sig, SIG_DFL);
        (void)raise(sig);
        return;
    }
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(sig, info, context);
    } else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
        (void)sigaction(sig, &before, NULL); /* the access is repeated, and ends the process */
    } else {
        before.sa_handler(sig);
    }
}

/* Handles a fault at an address, in a thread with the GIL. */
static void
serve(const void *at, bool write)
{
    px_block *b = px_block_of(at); /* NULL: it was freed meanwhile */
    PyObject *type, *value, *trace;
    td_status st = TD_OK;

    PyErr_Fetch(&type, &value, &trace);
    td_graph_poll_hold(true);
    if (b && b->of)
        st = px_choice_settle(b->of);
    else if (b && write)
        st = px_block_open(b);
    else if (b)
        st = px_block_fetch(b);
    if (st)
        give_up(td_error());
    td_graph_poll_hold(false);
    PyErr_Restore(type, value, trace);
}

/* ---- threads without the GIL ---- */

enum { ASKING = 256, NAP_NS = 20000 };

static struct {
    /* the addresses of faults to serve; bit 0: a write.  NULL: unused */
    _Atomic(void *) at[ASKING];
    sem_t bell;
    atomic_bool running;
} asking;

static void *
serve_requests(void *unused)
{
    for (;;) {
        while (sem_wait(&asking.bell))
            ;
        for (int i = 0; i < ASKING; i++) {
            uintptr_t at = (uintptr_t)atomic_load(&asking.at[i]);
            PyGILState_STATE gil;

            if (!at || !Py_IsInitialized())
                continue;
            gil = PyGILState_Ensure();
            serve((const void *)(at & ~(uintptr_t)1), at & 1); // NOLINT(performance-no-int-to-ptr)
            PyGILState_Release(gil);
        }
    }
    return unused;
}

static bool
is_served(const void *at, bool write)
{
    const px_block *b = px_block_of(at);
    uint8_t state = b ? __atomic_load_n(&b->state, __ATOMIC_ACQUIRE) : PX_OPEN;

    return state == PX_OPEN || (state == PX_CLEAN && !write);
}

static void
start_answering(void)
{
    pthread_t thread;

    if (!atomic_exchange(&asking.running, true) &&
        pthread_create(&thread, NULL, serve_requests, NULL))
        give_up("no thread can be started for it");
}

static void
request_fetch(const void *at, bool write)
{
    void *place = (void *)((uintptr_t)at & ~(uintptr_t)1),
         *none = NULL; // NOLINT(performance-no-int-to-ptr)
    int i = 0;

    if (write)
        place = (char *)place + 1;
    start_answering();
    while (!atomic_compare_exchange_strong(&asking.at[i], &none, place)) {
        i = (i + 1) % ASKING;
        none = NULL;
    }
    (void)sem_post(&asking.bell);
    while (!is_served(at, write))
        (void)nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    atomic_store(&asking.at[i], NULL);
}

static void
in_child(void) /* a forked child has none of the other threads */
{
    for (int i = 0; i < ASKING; i++)
        atomic_store(&asking.at[i], NULL);
    (void)sem_init(&asking.bell, 0, 0);
    atomic_store(&asking.running, false);
}

static void
on_fault(int sig, siginfo_t *info, void *context)
{
    int saved = errno;

    if (inside || !px_block_of(info->si_addr) || !Py_IsInitialized()) {
        chain(sig, info, context);
        return;
    }
    inside = true;
    if (PyGILState_Check())
        serve(info->si_addr, is_write(context));
    else
        request_fetch(info->si_addr, is_write(context));
    inside = false;
    errno = saved;
}

/* If another handler was installed after ours, installs ours again; it passes other faults on
 * to that one. */
bool
px_fault_watch(void)
{
    static bool ready;
    struct sigaction now, own = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

    if (!ready) {
        (void)sem_init(&asking.bell, 0, 0);
        ready = pthread_atfork(NULL, NULL, in_child) == 0;
    }
    if (sigaction(SIGSEGV, NULL, &now))
        return false;
    if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault)
        return true;
    before = now;
    sigemptyset(&own.sa_mask);
    return sigaction(SIGSEGV, &own, NULL) == 0;
}
