// output.h - printf and assert, for threads of kernels.
#ifndef TD_CU_OUTPUT_H
#define TD_CU_OUTPUT_H

namespace td_cu {

__attribute__((unused)) static int print(const char *format, va_list args)
{
    char small[512], *text = small;
    va_list again;
    int n;

    va_copy(again, args);
    n = vsnprintf(small, sizeof small, format, args);
    if (n >= int(sizeof small)) {
        text = static_cast<char *>(malloc(size_t(n) + 1));
        if (text)
            vsnprintf(text, size_t(n) + 1, format, again);
    }
    if (n > 0 && text)
        host->print(text, size_t(n));
    if (text != small)
        free(text);
    va_end(again);
    return n;
}

} // namespace td_cu

// Defines a symbol that only this module sees, under a name of its own, so that the C library's declarations stay
// valid.  These functions return the number of bytes, or -1 if the format is NULL.  Compilers replace printf by the
// other two.
#define TD_CU_OWN(name, ...)                                                                                           \
    extern "C" int td_cu_##name(__VA_ARGS__) __asm__(#name);                                                           \
    extern "C" __attribute__((visibility("hidden"), used)) int td_cu_##name(__VA_ARGS__)
TD_CU_OWN(printf, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = format ? td_cu::print(format, args) : -1;
    va_end(args);
    return n;
}
TD_CU_OWN(puts, const char *text)
{
    td_cu::host->print(text, strlen(text));
    td_cu::host->print("\n", 1);
    return 1;
}
TD_CU_OWN(putchar, int c)
{
    char one = char(c);

    td_cu::host->print(&one, 1);
    return c;
}
#undef TD_CU_OWN

#include "../assert.h"

#endif
