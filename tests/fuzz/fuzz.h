/* fuzz.h - what the targets share.  A target is a file of this folder that reads bytes of anybody's, and defines
 * td_fuzz; main.c calls it, for libFuzzer (make fuzz) or for each file of corpus/NAME (make test, make sanitize).
 *
 * td_fuzz returns whatever the bytes are.  What it must not do is what sanitizers and TD_ASSERT look for; where a reader
 * has an inverse, it also calls fuzz_expect.
 */
#ifndef TD_TESTS_FUZZ_H
#define TD_TESTS_FUZZ_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void td_fuzz(const uint8_t *data, size_t n);

/* The bytes as a text that ends at their first NUL; owned (free). */
static inline char *
fuzz_text(const uint8_t *data, size_t n)
{
    char *s = malloc(n + 1);

    if (!s)
        abort();
    if (n)
        memcpy(s, data, n);
    s[n] = 0;
    return s;
}

#define fuzz_expect(c)                                                                             \
    do {                                                                                           \
        if (!(c)) {                                                                                \
            fprintf(stderr, "%s:%d: expected: %s\n", __FILE__, __LINE__, #c);                      \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
