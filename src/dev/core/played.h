/* played.h - null devices: GPUs that the host plays, for tests.
 *
 * They live in a library of their own, libtreadle_null.so.  It lies beside this one where the tests are built, and
 * is in no wheel.  It is opened when a null device is first asked for.
 */
#ifndef TD_DEV_PLAYED_H
#define TD_DEV_PLAYED_H
#include "dev/core/dev.h"

enum { TD_NULL_MAX = 8 }; /* null devices */

/* td_player - what the library provides: devices, and their versions of the vendor's libraries.  Static. */
typedef struct td_player {
    td_status (*open)(int index, td_dev **out); /* makes the device; called once per index */
    int       (*owner)(uintptr_t ptr);          /* the null device that the memory belongs to; -1: none */
    size_t    (*bytes)(uintptr_t ptr);          /* td_null_extent */
    const struct td_fourierlib *fourier;
    const struct td_nccllib    *nccl;
    const struct td_solverlib  *solver;
    const struct td_cub        *cub;
} td_player;

typedef const td_player *td_player_fn(void); /* the library's td_null_player */

td_status        td_player_find(const td_player **out); /* TD_ERR_LIBRARY: the library is not here */
const td_player *td_player_found(void);                 /* NULL: no null device was asked for yet */
td_null_launch  *td_null_hook(void);                    /* set by td_null_on_launch; NULL: none */

#endif
