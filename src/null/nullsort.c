/* nullsort.c - libtreadle_cub.so for the null device: the host sorts and checks its arguments. */
#include "dev/core/dev.h"
#include "null/null.h"
#include "null/nulldrv.h"

#include <stdlib.h>
#include <string.h>

enum {
    INVALID_VALUE = 1, /* driver_types.h: cudaErrorInvalidValue */
    NO_MEMORY = 2,     /* cudaErrorMemoryAllocation */
    ROOM = 512,        /* bytes that it wants */
};

/* An element: a number that sorts as its key does, and its place. */
typedef struct item {
    uint64_t code;
    int64_t at;
} item;

static int
compare_codes(const void *a, const void *b)
{
    const item *x = a, *y = b;

    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The key's bits for ordering by value: -0 as 0, all NaNs equal. */
static uint64_t
value_bits(const td_cub_job *j, uint64_t bits)
{
    uint64_t top = 1ULL << (8 * j->size - 1), inf = ((top - 1) >> j->fraction) << j->fraction;

    if (j->kind != 'f')
        return bits;
    if ((bits & ~top) > inf)
        return inf | 1ULL << (j->fraction - 1);
    return bits == top ? 0 : bits;
}

static uint64_t
null_sort_code(const td_cub_job *j, uint64_t bits)
{
    uint64_t top = 1ULL << (8 * j->size - 1), value = value_bits(j, bits);

    if (j->kind != 'i' && j->kind != 'f')
        return value;
    return j->kind == 'f' && value & top ? top - 1 - (value & ~top) : value ^ top;
}

static void
sort_row(const td_cub_job *j, item *items, int64_t row)
{
    size_t size = (size_t)j->size, base = (size_t)(row * j->n) * size;
    const char *in = (const char *)j->in + base;

    for (int64_t i = 0; i < j->n; i++) {
        uint64_t bits = 0;

        memcpy(&bits, in + (size_t)i * size, size);
        items[i] = (item){null_sort_code(j, bits), i};
    }
    qsort(items, (size_t)j->n, sizeof *items, compare_codes);
    for (int64_t i = 0; i < j->n; i++) {
        uint64_t bits = 0;

        memcpy(&bits, in + (size_t)items[i].at * size, size);
        if (j->index) {
            j->index[row * j->n + i] = items[i].at;
            bits = value_bits(j, bits);
        }
        if (j->out)
            memcpy((char *)j->out + base + (size_t)i * size, &bits, size);
    }
}

static bool
is_null_memory(const void *p, size_t nbytes)
{
    return !p || td_null_bytes((uintptr_t)p) >= nbytes;
}

static int
null_sort(const td_cub_job *j, void *temp, size_t *nbytes, void *stream)
{
    size_t count = (size_t)(j->rows * j->n), bytes = count * (size_t)j->size;
    item *items;

    (void)stream;
    if (!temp) {
        *nbytes = ROOM;
        return 0;
    }
    if (*nbytes != ROOM || !is_null_memory(temp, ROOM) || !j->in || j->in == j->out ||
        !is_null_memory(j->in, bytes) || !is_null_memory(j->out, bytes) ||
        !is_null_memory(j->index, count * sizeof *j->index))
        return INVALID_VALUE;
    items = malloc((size_t)j->n * sizeof *items);
    if (!items)
        return NO_MEMORY;
    (void)td_null_finish_all();
    for (int64_t row = 0; row < j->rows; row++)
        sort_row(j, items, row);
    free(items);
    return 0;
}

static const char *
null_sort_text(int code)
{
    return code == NO_MEMORY ? "no host memory" : "arguments are not as they should be";
}

const td_cub td_null_cub = {null_sort, null_sort_text};
