/* tile.h - maps whose inputs lie across their results: a tile at a time, through shared memory or the cache. */
#ifndef TD_ARRAY_TILE_H
#define TD_ARRAY_TILE_H
#include "array/plan/plan.h"

/* Launches the map by tiles.  lanes: elements that a CPU's thread computes together, 0 for others.  TD_SKIP: nothing lies
 * across, or the space is too thin. */
td_status td_tile_launch(const td_plan *p, int lanes);

#endif
