/* hash.h - 128-bit hash of bytes, for cache keys.
 *
 * Not cryptographic: caches are trusted because only their owner may write them.  The mixing is
 * two lanes of multiply-xorshift with the 64-bit finaliser of MurmurHash3.
 */
#ifndef TD_BASE_HASH_H
#define TD_BASE_HASH_H
#include <stddef.h>
#include <stdint.h>

typedef struct td_hash {
    uint64_t a, b;
} td_hash;

#define TD_HASH_INIT ((td_hash){0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu})

td_hash td_hash_add(td_hash h, const void *bytes, size_t n);
void    td_hash_hex(td_hash h, char out[33]); /* 32 digits and NUL */

static inline uint64_t
td_mix64(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static inline td_hash
td_hash_u64(td_hash h, uint64_t v)
{
    h.a = td_mix64(h.a ^ v) + h.b;
    h.b = td_mix64(h.b + v * 0x9fb21c651e98df25u) ^ (h.a << 1 | h.a >> 63);
    return h;
}

#endif
