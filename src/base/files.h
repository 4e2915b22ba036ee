/* files.h - complete writes. */
#ifndef TD_BASE_FILES_H
#define TD_BASE_FILES_H
#include <stdbool.h>
#include <stddef.h>

/* Writes all n bytes, in as many system calls as that takes.  false: errno says why it failed. */
bool td_write_all(int fd, const void *from, size_t n);

#endif
