/* stop.c - long work that can be asked to stop early. */
#include "base/stop.h"
#include "base/clock.h"

#include <sys/syscall.h>
#include <unistd.h>

enum {
    LOOK_NS = 20000000, /* between checks for signals */
    SHARE =
        /* a check that took long, since other threads held the interpreter, is followed by a
         * pause this many times as long */
    100,
};

static td_status (*handle_signals)(void);
static _Thread_local td_stop *current;
static _Thread_local const volatile unsigned char *obeyed;

void
td_stop_begin(td_stop *s)
{
    *s = (td_stop){.outer = current, .owner = &current, .asked = obeyed};
    current = s;
}

td_status
td_stop_end(td_stop *s)
{
    current = s->outer;
    if (!atomic_load(&s->left))
        return TD_OK;
    return s->st ? td_fail_code(s->st, s->code, "the program was interrupted")
                 : td_fail(TD_ERR_STATE, "the work was left: nobody wants its results any more");
}

/* Signal handlers run only on the process's first thread. */
static void
look_for_signals(td_stop *s)
{
    int64_t now = td_now_ns(), took;

    if (now < s->next)
        return;
    if (s->next && getpid() == (pid_t)syscall(SYS_gettid)) {
        s->st = handle_signals();
        s->code = s->st ? td_error_code() : 0;
        atomic_store(&s->left, s->st != TD_OK);
    }
    took = SHARE * (td_now_ns() - now);
    s->next = now + (took > LOOK_NS ? took : LOOK_NS);
}

int64_t
td_stop_look(void)
{
    td_stop *s = current;

    if (!s)
        return 0;
    if (s->asked && *s->asked)
        atomic_store(&s->left, true);
    if (!atomic_load(&s->left) && s->owner == &current && handle_signals)
        look_for_signals(s);
    return atomic_load(&s->left);
}

bool
td_stop_left(void)
{
    return current && atomic_load_explicit(&current->left, memory_order_relaxed);
}

td_stop *
td_stop_now(void)
{
    return current;
}

void
td_stop_enter(td_stop *s)
{
    current = s;
}

void
td_stop_obey(const volatile unsigned char *flag)
{
    obeyed = flag;
}

void
td_stop_on_signals(td_status (*handle)(void))
{
    handle_signals = handle;
}
