/* files.c - writes that continue until everything is written. */
#include "base/files.h"

#include <errno.h>
#include <unistd.h>

bool
td_write_all(int fd, const void *from, size_t n)
{
    const char *p = from;

    while (n) {
        ssize_t put = write(fd, p, n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}
