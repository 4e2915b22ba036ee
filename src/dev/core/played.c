/* played.c - opens the library of the null devices when one is asked for, and gives access to its
 * table.
 */
#include "dev/core/played.h"

#include "dev/foreign/library.h"

#include <dlfcn.h>
#include <pthread.h>

static struct {
    pthread_once_t once;
    _Atomic(const td_player *) found; /* NULL: not opened, or `why` says why it could not be */
    _Atomic(td_null_launch *) hook;
    char why[512];
} played = {.once = PTHREAD_ONCE_INIT};

static void
played_start(void)
{
    void *handle = td_lib_beside("libtreadle_null.so", played.why, sizeof played.why);
    td_player_fn *player = NULL;

    if (handle)
        *(void **)&player = dlsym(handle, "td_null_player");
    if (player)
        atomic_store(&played.found, player());
}

td_status
td_player_find(const td_player **out)
{
    pthread_once(&played.once, played_start);
    *out = atomic_load(&played.found);
    return *out ? TD_OK
                : td_fail(TD_ERR_LIBRARY,
                          "null: this device is played by libtreadle_null.so, which is built for "
                          "treadle's own "
                          "tests and is in no wheel; use \"cpu\" (%s)",
                          played.why);
}

const td_player *
td_player_found(void)
{
    return atomic_load(&played.found);
}

size_t
td_null_extent(uintptr_t ptr)
{
    const td_player *p = td_player_found();

    return p ? p->bytes(ptr) : 0;
}

void
td_null_on_launch(td_null_launch *hook)
{
    atomic_store(&played.hook, hook);
}

td_null_launch *
td_null_hook(void)
{
    return atomic_load(&played.hook);
}
