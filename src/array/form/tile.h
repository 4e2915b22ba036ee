/* tile.h - maps whose inputs lie across their results: a tile at a time, through shared memory or the cache. */
#ifndef TD_ARRAY_TILE_H
#define TD_ARRAY_TILE_H
#include "array/plan/plan.h"

/* td_tile - a collapsed map that is worth tiling.  Plain data. */
typedef struct td_tile {
    const td_plan *p;
    int            dim;  /* the dim along which the tiled inputs' memory runs */
    int            side; /* elements of a tile's side */
    uint32_t       mask; /* operands that are tiled; only the first 32 can be */
    int            lanes; /* CPU: elements that are computed together; GPU: 0 */
} td_tile;

/* TD_SKIP: nothing lies across, or the space is too thin. */
td_status td_tile_find(const td_plan *p, td_tile *out);
td_status td_tile_launch(const td_tile *t);

#endif
