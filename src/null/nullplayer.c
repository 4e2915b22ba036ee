/* nullplayer.c - the null devices: the driver's table, and the functions that the core calls
 * (dev/core/played.h).
 */
#include "null/nulldrv.h"

#include <stdio.h>

static const td_driver null_driver = {
#define CU(name, symbol, need, params) .name = td_null_##name,
#include "dev/foreign/driver.def"
};

static td_status
open_device(int index, td_dev **out)
{
    char name[16] = "null";
    td_cuda *c;

    if (index)
        snprintf(name, sizeof name, "null:%d", index);
    TD_TRY(td_cuda_make(&null_driver, index, TD_DEV_NULL, name, &c));
    c->dev.live = td_null_note_buffer;
    *out = &c->dev;
    return TD_OK;
}

const td_player *td_null_player(void);

const td_player *
td_null_player(void)
{
    static const td_player player = {.open = open_device,
                                     .owner = td_null_owner,
                                     .bytes = td_null_bytes,
                                     .fourier = &td_null_fourier,
                                     .nccl = &td_null_nccl,
                                     .solver = &td_null_solver,
                                     .cub = &td_null_cub};

    return &player;
}
