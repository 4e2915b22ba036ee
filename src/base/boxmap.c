/* boxmap.c - dicts and sets: elements in order of insertion, and a hash table of element numbers.
 */
#include "base/boxpart.h"

#include <stdlib.h>
#include <string.h>

static bool
same_word(uint64_t a, uint64_t b, unsigned what)
{
    double x, y;

    if (what == TD_WORD_STR)
        return a == b || td_box_order(td_box_of(a), td_box_of(b)) == 0;
    if (what != TD_WORD_FLOAT)
        return a == b;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

bool
td_box_same_words(uint64_t desc, const uint64_t *a, const uint64_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!same_word(a[i], b[i], word_kind(desc, i)))
            return false;
    return true;
}

/* ---- dicts and sets ---- */

static uint64_t
mix(uint64_t h)
{
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

/* A key's hash.  It is never 0: that marks a removed element.  An integer hashes to itself, so
 * that consecutive keys lie side by side in the table. */
static uint64_t
hash_key(const td_box *b, const uint64_t *key)
{
    unsigned what = word_kind(b->desc, 0);
    uint64_t h = 0;

    if (b->key == 1 && (what == TD_WORD_INT || what == TD_WORD_UINT))
        return *key << 1 | 1;

    for (uint32_t i = 0; i < b->key; i++)
        h = mix(
            h + UINT64_C(0x9e3779b97f4a7c15) +
            (word_kind(b->desc, i) == TD_WORD_STR ? td_box_hash_text(td_box_of(key[i])) : key[i]));
    return h | 1;
}

/* probe - the sequence of table entries for one hash.  Each step mixes in five more of the
 * hash's high bits. */
typedef struct probe {
    uint64_t at, rest;
} probe;

static probe
probe_begin(const td_box *b, uint64_t hash)
{
    return (probe){hash >> 1 & (uint64_t)b->mask, hash >> 1};
}

static void
probe_next(const td_box *b, probe *p)
{
    p->rest >>= 5;
    p->at = (5 * p->at + p->rest + 1) & (uint64_t)b->mask;
}

static int64_t
lookup(const td_box *b, const uint64_t *key, uint64_t hash, int64_t *slot)
{
    const int32_t *table = box_memory(b->table);

    if (b->mask < 0)
        return -1;
    for (probe p = probe_begin(b, hash);; probe_next(b, &p)) {
        int32_t at = table[p.at];

        *slot = (int64_t)p.at;
        if (at == -1)
            return -1;
        if (at >= 0 && td_box_at(b, at)[0] == hash &&
            td_box_same_words(b->desc, td_box_at(b, at) + 1, key, b->key))
            return at;
    }
}

int64_t
td_box_find(td_box *b, const uint64_t *key)
{
    int64_t slot;

    return b->n ? lookup(b, key, hash_key(b, key), &slot) : -1;
}

/* Builds a table for at least n elements, without the entries that removed elements left. */
bool
td_box_rebuild(td_box *b, int64_t n)
{
    int64_t size = 8, to = 0;
    probe p;
    int32_t *table;

    while (2 * size < 3 * n)
        size *= 2;
    if (n > INT32_MAX || !(table = malloc((size_t)size * sizeof *table)))
        return false;
    memset(table, 0xff, (size_t)size * sizeof *table);
    td_call_grown += (uint64_t)size * sizeof *table;
    b->mask = size - 1;
    for (int64_t i = 0; i < b->fill; i++) {
        const uint64_t *e = td_box_at(b, i);

        if (!e[0])
            continue;
        for (p = probe_begin(b, e[0]); table[p.at] != -1; probe_next(b, &p))
            ;
        table[p.at] = (int32_t)to;
        if (to != i)
            memcpy(td_box_at(b, to), e, item_bytes(b));
        to++;
    }
    free(box_memory(b->table));
    b->table = box_address(table);
    b->gone = 0;
    b->fill = to;
    return true;
}

bool
td_box_pack(td_box *b)
{
    return b->fill == b->n || td_box_rebuild(b, b->n);
}

int64_t
td_box_enter(td_box *b, const uint64_t *key, bool *fresh)
{
    uint64_t hash = hash_key(b, key), *e;
    int64_t slot = 0, at = b->mask >= 0 ? lookup(b, key, hash, &slot) : -1;

    *fresh = at < 0;
    if (at >= 0)
        return at;
    /* grows, or only drops the entries of removed elements */
    if (3 * (b->n + b->gone + 1) > 2 * (b->mask + 1)) {
        if (!td_box_rebuild(b, 2 * b->n + 1))
            return -1;
        lookup(b, key, hash, &slot);
    }
    if (!td_box_room(b, b->fill + 1))
        return -1;
    at = b->fill++;
    ((int32_t *)box_memory(b->table))[slot] = (int32_t)at;
    e = td_box_at(b, at);
    e[0] = hash;
    memcpy(e + 1, key, 8 * (size_t)b->key);
    b->n++;
    return at;
}

void
td_box_delete(td_box *b, int64_t i)
{
    uint64_t *e = td_box_at(b, i);
    int32_t *table = box_memory(b->table);
    probe p = probe_begin(b, e[0]);

    while (table[p.at] != i)
        probe_next(b, &p);
    table[p.at] = -2;
    b->gone++;
    e[0] = 0;
    b->n--;
    /* popitem removes the last element, so `fill` must end at a live one */
    while (b->fill > 0 && !td_box_at(b, b->fill - 1)[0])
        b->fill--;
}

static uint64_t
unite(td_box *a, const td_box *b)
{
    if (a == b)
        return TD_ASK_OK;
    for (int64_t i = 0; i < b->fill; i++) {
        const uint64_t *e = td_box_at(b, i);
        bool fresh;
        int64_t at;

        if (!e[0])
            continue;
        at = td_box_enter(a, e + 1, &fresh);
        if (at < 0)
            return TD_ASK_NO_MEMORY;
        memcpy(td_box_at(a, at) + 1 + a->key, e + 1 + b->key, 8 * (size_t)(a->width - 1 - a->key));
    }
    return TD_ASK_OK;
}

/* Removes from a every element that is not in b, or with in == false every element that is. */
static void
filter(td_box *a, td_box *b, bool in)
{
    for (int64_t i = 0; i < a->fill; i++)
        if (td_box_at(a, i)[0] && (td_box_find(b, td_box_at(a, i) + 1) >= 0) != in)
            td_box_delete(a, i);
}

static uint64_t
differ(td_box *a, td_box *b)
{
    if (a == b) {
        a->n = a->fill = 0;
        return td_box_rebuild(a, 0) ? TD_ASK_OK : TD_ASK_NO_MEMORY;
    }
    for (int64_t i = 0; i < b->fill; i++) {
        const uint64_t *e = td_box_at(b, i);
        bool fresh;
        int64_t at;

        if (!e[0])
            continue;
        at = td_box_enter(a, e + 1, &fresh);
        if (at < 0)
            return TD_ASK_NO_MEMORY;
        if (!fresh)
            td_box_delete(a, at);
    }
    return TD_ASK_OK;
}

static bool
is_subset(const td_box *a, td_box *b)
{
    for (int64_t i = 0; i < a->fill; i++)
        if (td_box_at(a, i)[0] && td_box_find(b, td_box_at(a, i) + 1) < 0)
            return false;
    return true;
}

uint64_t
td_box_clear(td_box *b)
{
    b->n = b->fill = 0;
    return b->mask < 0 || td_box_rebuild(b, 0) ? TD_ASK_OK : TD_ASK_NO_MEMORY;
}

uint64_t
td_box_ask_map(td_box *b, uint64_t *w, int64_t which)
{
    td_box *other = td_box_of(w[1]);
    bool fresh;

    switch (which) {
    case TD_ASK_FIND: w[0] = (uint64_t)td_box_find(b, box_memory(w[1])); return TD_ASK_OK;
    case TD_ASK_ENTER:
        w[0] = (uint64_t)td_box_enter(b, box_memory(w[1]), &fresh);
        w[1] = fresh;
        return (int64_t)w[0] < 0 ? TD_ASK_NO_MEMORY : TD_ASK_OK;
    case TD_ASK_DELETE: td_box_delete(b, (int64_t)w[1]); return TD_ASK_OK;
    case TD_ASK_PACK:   return td_box_pack(b) ? TD_ASK_OK : TD_ASK_NO_MEMORY;
    case TD_ASK_UNITE:  return unite(b, other);
    case TD_ASK_MEET:
        if (b != other)
            filter(b, other, true);
        return TD_ASK_OK;
    case TD_ASK_SUBTRACT:
        if (b == other)
            return td_box_clear(b);
        filter(b, other, false);
        return TD_ASK_OK;
    case TD_ASK_DIFFER: return differ(b, other);
    case TD_ASK_WITHIN: w[0] = is_subset(b, other); return TD_ASK_OK;
    default:            return TD_ASK_BAD;
    }
}
