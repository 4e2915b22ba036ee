/* elf.c - object files in memory: how long they are, and their functions. */
#include "dev/foreign/elf.h"
#include "fuzz.h"

void
td_fuzz(const uint8_t *data, size_t n)
{
    size_t extent = td_elf_extent(data, n);

    fuzz_expect(extent <= n);
    if (extent)
        (void)td_elf_is_ours(data);
    for (int i = 0; i < 64; i++) {
        const char *name = td_elf_function(data, n, i);

        if (!name)
            break;
        fuzz_expect(strlen(name) < n);
    }
}
