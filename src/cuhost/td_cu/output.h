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

// The module's own, seen nowhere else.  The number of bytes; -1: the format is NULL.  Compilers make the other two of it.
extern "C" {
__attribute__((visibility("hidden"), used)) inline int printf(const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = format ? td_cu::print(format, args) : -1;
    va_end(args);
    return n;
}
__attribute__((visibility("hidden"), used)) inline int puts(const char *text)
{
    td_cu::host->print(text, strlen(text));
    td_cu::host->print("\n", 1);
    return 1;
}
int td_cu_putchar(int c) __asm__("putchar"); // the C library's is inline
__attribute__((visibility("hidden"), used)) inline int td_cu_putchar(int c)
{
    char one = char(c);

    td_cu::host->print(&one, 1);
    return c;
}
}

#include "../assert.h"

#endif
