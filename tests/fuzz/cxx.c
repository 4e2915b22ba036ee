/* cxx.c - CUDA C++ texts, as far as they go without a compiler; and the files that they include. */
#include "cxx/cxx.h"
#include "fuzz.h"
#include "jit/include.h"

void
td_fuzz(const uint8_t *data, size_t n)
{
    static const char *const options[] = {"-I", "/nowhere", "-DX=1"};
    char *text = fuzz_text(data, n);
    td_hash key = TD_HASH_INIT;
    td_arena a = {0};
    const char *out;
    td_cxx *c;

    if (!td_cxx_parse(&a, text, "any.cu", &c)) {
        (void)td_cxx_for_gpu(&a, c, &out);
        (void)td_cxx_for_cpu(&a, c, NULL, 0, false, &out);
        (void)td_cxx_for_cpu(&a, c, &(const char *){"f<float>"}, 1, true, &out);
    }
    if (!strchr(text, '/')) /* no file of this machine is read */
        (void)td_include_hash(text, options, 3, &key);
    td_arena_free(&a);
    free(text);
}
