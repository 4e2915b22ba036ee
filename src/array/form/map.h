/* map.h - launching maps: kernels that compute each element by itself. */
#ifndef TD_ARRAY_MAP_H
#define TD_ARRAY_MAP_H
#include "array/plan/plan.h"

/* Launches the plan of a map; one whose dims are fixed already. */
td_status td_eval_map(td_plan *p);
td_status td_map_launch(td_plan *p);

#endif
