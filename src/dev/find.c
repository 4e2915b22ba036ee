/* find.c - finds devices by name and by address, makes each once, and holds their locks round fork(). */
#include "base/opts.h"
#include "dev/core/played.h"
#include "dev/core/work.h"
#include "dev/cpu/cpucode.h"
#include "dev/foreign/driver.h"
#include "dev/pool/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUDA_MAX = 64 };

typedef void td_dev_opened(td_dev *d);

/* The devices made so far; each lives as long as the process. */
static struct {
    pthread_mutex_t mu; /* held while a device is made: its first user waits for it, as do others */
    _Atomic(td_dev *) cpu, null[TD_NULL_MAX], cuda[CUDA_MAX];
    _Atomic(td_dev_opened *) opened;
} all = {.mu = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local td_dev *in_use; /* td_dev_use */
static _Thread_local bool left;      /* td_dev_leave */
static _Atomic(td_dev *) chosen;     /* td_dev_choose */

/* ---- fork ---- */

/* The child must not inherit a pool's lock that another thread, which it lacks, was holding.  all.mu
 * is not waited for: its holder may be in cuInit, which forks a helper of the driver's. */
static struct {
    pthread_mutex_t mu;
    td_dev *dev[CUDA_MAX + TD_NULL_MAX + 1]; /* those that were locked */
    size_t n;
} held = {.mu = PTHREAD_MUTEX_INITIALIZER};

static void
lock_for_fork(td_dev *d)
{
    if (!d)
        return;
    td_pool_lock(d, true);
    held.dev[held.n++] = d;
}

static void
before_fork(void)
{
    pthread_mutex_lock(&held.mu);
    td_share_lock(true);
    held.n = 0;
    lock_for_fork(atomic_load(&all.cpu));
    for (int i = 0; i < TD_NULL_MAX; i++)
        lock_for_fork(atomic_load(&all.null[i]));
    for (int i = 0; i < CUDA_MAX; i++)
        lock_for_fork(atomic_load(&all.cuda[i]));
    td_host_lock(true);
    td_site_lock(true);
    td_culib_lock(true);
}

static void
after_fork(void)
{
    td_culib_lock(false);
    td_site_lock(false);
    td_host_lock(false);
    while (held.n > 0)
        td_pool_lock(held.dev[--held.n], false);
    td_share_lock(false);
    pthread_mutex_unlock(&held.mu);
}

static void
find_in_child(void)
{
    after_fork();
    pthread_mutex_init(&all.mu, NULL);
    td_trace_forked();
}

static void
dev_watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, find_in_child);
}

/* ---- finding a device ---- */

static td_status
open_cpu(int index, td_dev **out)
{
    (void)index;
    *out = td_cpu_dev();
    return TD_OK;
}

/* The device in `slot`, made by open() at the first call. */
static td_status
find_find(_Atomic(td_dev *) *slot, td_status (*open)(int index, td_dev **out), int index,
          td_dev **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    td_dev_opened *opened = NULL;
    td_status st = TD_OK;

    *out = atomic_load_explicit(slot, memory_order_acquire);
    if (*out)
        return TD_OK;
    pthread_once(&once, dev_watch_forks);
    pthread_mutex_lock(&all.mu);
    *out = atomic_load(slot);
    if (!*out) {
        st = open(index, out);
        if (!st) {
            atomic_store(slot, *out);
            opened = atomic_load(&all.opened);
        }
    }
    pthread_mutex_unlock(&all.mu);
    if (opened)
        opened(*out);
    return st;
}

void
td_dev_on_open(td_dev_opened *fn)
{
    atomic_store(&all.opened, fn);
}

int
td_dev_made(td_dev *out[], int most)
{
    int n = 0;
    td_dev *d;

    for (int i = 0; i < CUDA_MAX + TD_NULL_MAX + 1; i++) {
        d = atomic_load(i < CUDA_MAX                 ? &all.cuda[i]
                        : i < CUDA_MAX + TD_NULL_MAX ? &all.null[i - CUDA_MAX]
                                                     : &all.cpu);
        if (d && n < most)
            out[n++] = d;
    }
    return n;
}

/* Is it "KIND" or "KIND:N"? */
static bool
parse_device_number(const char *name, const char *kind, long *index)
{
    size_t n = strlen(kind);
    char *end = NULL;

    *index = 0;
    if (strncmp(name, kind, n) != 0)
        return false;
    if (name[n] == ':' && name[n + 1] >= '0' && name[n + 1] <= '9')
        *index = strtol(name + n + 1, &end, 10);
    return !name[n] || (end && !*end);
}

td_status
td_dev_get(const char *name, td_dev **out)
{
    long index;
    bool null = parse_device_number(name, "null", &index);
    int most = null ? TD_NULL_MAX : CUDA_MAX;
    const td_player *player = NULL;

    if (strcmp(name, "cpu") == 0)
        return find_find(&all.cpu, open_cpu, 0, out);
    if (!null && !parse_device_number(name, "cuda", &index))
        return td_fail(
            TD_ERR_VALUE,
            "unknown device \"%s\": there are \"cpu\", \"cuda\", \"cuda:N\" and \"null\"", name);
    if (index >= most)
        return td_fail(TD_ERR_DEVICE, "%s: devices are counted from 0 to %d", name, most - 1);
    if (null)
        TD_TRY(td_player_find(&player));
    return find_find(null ? &all.null[index] : &all.cuda[index], null ? player->open : td_cuda_open,
                     (int)index, out);
}

td_status
td_dev_of(uintptr_t ptr, td_dev **out)
{
    const td_player *player = td_player_found();
    int index = player ? player->owner(ptr) : -1;
    bool null = index >= 0;
    char name[24];

    if (!null)
        TD_TRY(td_cuda_where(ptr, &index));
    snprintf(name, sizeof name, "%s:%d", null ? "null" : "cuda", index);
    return td_dev_get(name, out);
}

int
td_dev_count(td_devkind kind)
{
    switch (kind) {
    case TD_DEV_CPU:  return 1;
    case TD_DEV_NULL: return td_player_found() ? 1 : 0;
    case TD_DEV_CUDA: return td_cuda_count();
    }
    return 0;
}

td_status
td_dev_default(td_dev **out)
{
    const char *name = td_options()->device;

    *out = in_use ? in_use : atomic_load(&chosen);
    if (*out)
        return TD_OK;
    if (name && *name)
        return td_dev_get(name, out);
    return td_dev_get(td_cuda_count() > 0 ? "cuda:0" : "cpu", out);
}

void
td_dev_use(td_dev *d)
{
    in_use = d;
    left = false;
}

td_dev *
td_dev_used(void)
{
    return in_use;
}

void
td_dev_choose(td_dev *d)
{
    atomic_store(&chosen, d);
}

void
td_dev_leave(void)
{
    in_use = NULL;
    left = true;
}

td_status
td_dev_current(td_dev **out)
{
    return left ? td_fail_code(TD_ERR_DEVICE, CU_INVALID_CONTEXT,
                               "no context is current in this thread (CUDA_ERROR_INVALID_CONTEXT): "
                               "it has popped or detached its last one; push one or make one")
                : td_dev_default(out);
}

const char *
td_dev_cuda_missing(void)
{
    return td_cuda_missing();
}
