/* old_glibc.c - functions that GNU's C library got after 2.28, by means of what 2.28 has. tools/old_glibc.py compiles it
 * for libraries that shall run there: hidden, so that each library has its own and no other sees them. */
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- 2.32 ---- */

#if __GLIBC_PREREQ(2, 32)
#include <sys/single_threaded.h>

/* libstdc++ counts references without atomic instructions while it is set: never is right for every program. */
char __libc_single_threaded;
#endif

/* ---- 2.33: before it <sys/stat.h> called these four, with the number of struct stat's form ---- */

#if __GLIBC_PREREQ(2, 33)
#if defined(__x86_64__)
enum { STAT_FORM = 1, MKNOD_FORM = 0 };
#else
enum { STAT_FORM = 0, MKNOD_FORM = 0 };
#endif

int __xstat(int form, const char *path, struct stat *s);
int __lxstat(int form, const char *path, struct stat *s);
int __fxstat(int form, int fd, struct stat *s);
int __fxstatat(int form, int fd, const char *path, struct stat *s, int flags);
int __xmknod(int form, const char *path, mode_t mode, dev_t *dev);

_Static_assert(sizeof(struct stat) == sizeof(struct stat64),
               "of one layout where long has 64 bits");

int
stat(const char *restrict path, struct stat *restrict s)
{
    return __xstat(STAT_FORM, path, s);
}

int
lstat(const char *restrict path, struct stat *restrict s)
{
    return __lxstat(STAT_FORM, path, s);
}

int
fstat(int fd, struct stat *s)
{
    return __fxstat(STAT_FORM, fd, s);
}

int
fstatat(int fd, const char *restrict path, struct stat *restrict s, int flags)
{
    return __fxstatat(STAT_FORM, fd, path, s, flags);
}

int
stat64(const char *restrict path, struct stat64 *restrict s)
{
    return stat(path, (struct stat *)s);
}

int
lstat64(const char *restrict path, struct stat64 *restrict s)
{
    return lstat(path, (struct stat *)s);
}

int
fstat64(int fd, struct stat64 *s)
{
    return fstat(fd, (struct stat *)s);
}

int
fstatat64(int fd, const char *restrict path, struct stat64 *restrict s, int flags)
{
    return fstatat(fd, path, (struct stat *)s, flags);
}

int
mknod(const char *path, mode_t mode, dev_t dev)
{
    return __xmknod(MKNOD_FORM, path, mode, &dev);
}

/* The numbers that LLVM's statistics print: right up to 4 GiB, which is all that mallinfo can say. */
struct mallinfo2
mallinfo2(void)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    struct mallinfo m = mallinfo();
#pragma GCC diagnostic pop

    return (struct mallinfo2){
        .arena = (unsigned)m.arena,
        .ordblks = (unsigned)m.ordblks,
        .smblks = (unsigned)m.smblks,
        .hblks = (unsigned)m.hblks,
        .hblkhd = (unsigned)m.hblkhd,
        .usmblks = (unsigned)m.usmblks,
        .fsmblks = (unsigned)m.fsmblks,
        .uordblks = (unsigned)m.uordblks,
        .fordblks = (unsigned)m.fordblks,
        .keepcost = (unsigned)m.keepcost,
    };
}
#endif

/* ---- 2.35 ---- */

#if __GLIBC_PREREQ(2, 35)
typedef struct search {
    uintptr_t address;
    struct dl_find_object *found;
} search;

/* dl_iterate_phdr's callback: 1, which ends it, when the object holds the address. */
static int
holds(struct dl_phdr_info *object, size_t size, void *data)
{
    search *s = data;
    bool inside = false;
    uintptr_t start = UINTPTR_MAX, end = 0, frame = 0;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        uintptr_t at = object->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_GNU_EH_FRAME)
            frame = at;
        if (p->p_type != PT_LOAD)
            continue;
        inside = inside || (s->address >= at && s->address < at + p->p_memsz);
        start = at < start ? at : start;
        end = at + p->p_memsz > end ? at + p->p_memsz : end;
    }
    if (!inside || !frame)
        return 0;
    *s->found = (struct dl_find_object){.dlfo_map_start = (void *)start,
                                        .dlfo_map_end = (void *)end,
                                        .dlfo_eh_frame = (void *)frame};
    return 1;
}

/* What GCC's unwinder finds the tables of a C++ exception's frames by; it does not read the link map. */
int
_dl_find_object(void *address, struct dl_find_object *found)
{
    search s = {(uintptr_t)address, found};

    return dl_iterate_phdr(holds, &s) == 1 ? 0 : -1;
}
#endif

/* ---- 2.36 ---- */

#if __GLIBC_PREREQ(2, 36)
/* Ends the process where the system gives no random numbers, as the C library's does. */
uint32_t
arc4random(void)
{
    uint32_t r;

    if (getentropy(&r, sizeof r))
        abort();
    return r;
}
#endif

/* ---- 2.38: headers name these for C23, whose numbers may begin with 0b where the base is 0 or 2 ---- */

#if __GLIBC_PREREQ(2, 38)
#define OLDER(type, name)                                                                          \
    extern type old_##name(const char *text, char **end, int base) __asm__(#name);                 \
    type __isoc23_##name(const char *text, char **end, int base);                                  \
    type __isoc23_##name(const char *text, char **end, int base)                                   \
    {                                                                                              \
        return old_##name(text, end, base);                                                        \
    }

OLDER(long, strtol)
OLDER(long long, strtoll)
OLDER(unsigned long, strtoul)
OLDER(unsigned long long, strtoull)
#endif
