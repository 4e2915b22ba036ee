/* hash.c - 128-bit hash of bytes. */
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

td_hash
td_hash_add(td_hash h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t w;
    size_t left;

    for (left = n; left >= 8; left -= 8, p += 8) {
        memcpy(&w, p, 8);
        h = td_hash_u64(h, w);
    }
    w = 0;
    if (left)
        memcpy(&w, p, left);
    h = td_hash_u64(h, w);
    return td_hash_u64(h, n);
}

void
td_hash_hex(td_hash h, char out[33])
{
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)h.a, (unsigned long long)h.b);
}
