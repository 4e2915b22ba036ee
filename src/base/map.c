/* map.c - open addressing with linear probing; grows at three quarters. */
#include "base/map.h"

#include <stdlib.h>

static struct td_map_slot *
map_find(struct td_map_slot *slot, size_t cap, td_hash key)
{
    size_t i = key.a & (cap - 1);

    while (slot[i].val && (slot[i].key.a != key.a || slot[i].key.b != key.b))
        i = (i + 1) & (cap - 1);
    return &slot[i];
}

void *
td_map_get(const td_map *m, td_hash key)
{
    return m->cap ? map_find(m->slot, m->cap, key)->val : NULL;
}

td_status
td_map_room(td_map *m, size_t n)
{
    size_t cap = m->cap ? m->cap : 64;
    struct td_map_slot *slot;

    while (4 * (m->n + n) > 3 * cap)
        cap *= 2;
    if (cap == m->cap)
        return TD_OK;
    slot = calloc(cap, sizeof *slot);
    if (!slot)
        return td_fail(TD_ERR_NOMEM, "map: %zu slots", cap);
    for (size_t i = 0; i < m->cap; i++)
        if (m->slot[i].val)
            *map_find(slot, cap, m->slot[i].key) = m->slot[i];
    free(m->slot);
    m->slot = slot;
    m->cap = cap;
    return TD_OK;
}

td_status
td_map_set(td_map *m, td_hash key, void *val)
{
    struct td_map_slot *s;

    TD_TRY(td_map_room(m, 1));
    s = map_find(m->slot, m->cap, key);
    m->n += !s->val;
    *s = (struct td_map_slot){key, val};
    return TD_OK;
}

/* Moves back the entries after the freed slot that a search would no longer reach. */
void
td_map_remove(td_map *m, td_hash key)
{
    struct td_map_slot *s = m->cap ? map_find(m->slot, m->cap, key) : NULL;
    size_t free_at, mask = m->cap - 1;

    if (!s || !s->val)
        return;
    m->n--;
    free_at = (size_t)(s - m->slot);
    for (size_t i = (free_at + 1) & mask; m->slot[i].val; i = (i + 1) & mask) {
        size_t home = m->slot[i].key.a & mask;

        if (((i - home) & mask) < ((i - free_at) & mask))
            continue;
        m->slot[free_at] = m->slot[i];
        free_at = i;
    }
    m->slot[free_at].val = NULL;
}

void
td_map_free(td_map *m)
{
    free(m->slot);
    *m = (td_map){0};
}
