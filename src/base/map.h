/* map.h - td_hash -> pointer, open addressing.  {0} is an empty map.  Keys are already mixed.
 * The map does not own what it points to.  Not thread-safe: callers hold a lock.
 */
#ifndef TD_BASE_MAP_H
#define TD_BASE_MAP_H
#include "base/err.h"
#include "base/hash.h"

typedef struct td_map {
    struct td_map_slot {
        td_hash key;
        void   *val; /* NULL: the slot is free */
    } *slot;
    size_t n, cap;
} td_map;

void     *td_map_get(const td_map *m, td_hash key);            /* borrowed; NULL when absent */
td_status td_map_set(td_map *m, td_hash key, void *val);       /* val is not NULL; replaces */
td_status td_map_room(td_map *m, size_t n);                    /* the next n td_map_set will not fail */
void      td_map_remove(td_map *m, td_hash key);               /* does nothing when absent */
void      td_map_free(td_map *m);                              /* frees the slots, not what they point to */

#endif
