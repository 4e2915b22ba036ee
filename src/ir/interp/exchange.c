/* exchange.c - core.def's exchanges between threads of a warp, one function each. */
#include "ir/interp/exchange.h"

#include <string.h>

typedef uint64_t exchange_fn(const td_exchange *x, uint32_t k);

static uint64_t
value_of(const td_exchange *x, uint32_t from, uint32_t k)
{
    return x->value[x->members >> from & 1 ? from : k];
}

static uint64_t
shuffled(const td_exchange *x, uint32_t k)
{
    return value_of(x, (uint32_t)x->which[k] % x->warp, k);
}

static uint64_t
shuffled_xor(const td_exchange *x, uint32_t k)
{
    return value_of(x, k ^ (uint32_t)x->which[k] % x->warp, k);
}

static uint64_t
balloted(const td_exchange *x, uint32_t k)
{
    uint64_t out = 0;

    (void)k;
    for (uint32_t l = 0; l < x->warp; l++)
        out |= (uint64_t)((x->members >> l & 1) && x->value[l]) << l;
    return out;
}

static uint64_t
matched(const td_exchange *x, uint32_t k)
{
    uint64_t out = 0;

    for (uint32_t l = 0; l < x->warp; l++)
        out |=
            (uint64_t)((x->members >> l & 1) && memcmp(&x->value[l], &x->value[k], x->nbytes) == 0)
            << l;
    return out;
}

static uint64_t
members(const td_exchange *x, uint32_t k)
{
    (void)k;
    return x->members;
}

uint64_t
td_exchanged(const td_exchange *x, uint32_t k)
{
    static exchange_fn *const of[OP_COUNT] = {
        [OP_shuffle] = shuffled,  [OP_shuffle_xor] = shuffled_xor, [OP_ballot] = balloted,
        [OP_match_any] = matched, [OP_activemask] = members,       [OP_syncwarp] = members,
    };

    return of[x->op](x, k);
}
