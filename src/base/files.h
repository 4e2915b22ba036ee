/* files.h - what the system's calls on files leave to be done. */
#ifndef TD_BASE_FILES_H
#define TD_BASE_FILES_H
#include <stdbool.h>
#include <stddef.h>

/* All n bytes, however many calls that takes; false: errno says why not. */
bool td_write_all(int fd, const void *from, size_t n);

#endif
