/* played.h - null devices: GPUs that the host plays, for tests.
 *
 * A library of its own, libtreadle_null.so, has them; it lies beside this one where the tests are built, and is in no
 * wheel.  It is opened when a null device is asked for the first time.
 */
#ifndef TD_DEV_PLAYED_H
#define TD_DEV_PLAYED_H
#include "dev/core/dev.h"

enum { TD_NULL_MAX = 8 }; /* null devices */

/* td_player - what the library gives: devices, and the vendor's libraries as they have them.  Static. */
typedef struct td_player {
    td_status (*open)(int index, td_dev **out); /* makes the device: called once an index */
    int       (*owner)(uintptr_t ptr);          /* the null device whose memory it is; -1: none's */
    size_t    (*bytes)(uintptr_t ptr);          /* td_null_extent */
    const struct td_fourierlib *fourier;
    const struct td_nccllib    *nccl;
    const struct td_solverlib  *solver;
    const struct td_cub        *cub;
} td_player;

typedef const td_player *td_player_fn(void); /* the library's td_null_player */

td_status        td_player_find(const td_player **out); /* TD_ERR_LIBRARY: it is not here */
const td_player *td_player_found(void);                 /* NULL: no null device was asked for */
td_null_launch  *td_null_hook(void);                    /* of td_null_on_launch; NULL: there is none */

#endif
