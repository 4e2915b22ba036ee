/* again.h - a test that starts its own program again, in a process apart. */
#ifndef TD_TESTS_AGAIN_H
#define TD_TESTS_AGAIN_H
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* In the child of a fork: becomes this program with other arguments; argv[0] is its name.  Where an emulator runs the
 * tests the system cannot start what it runs: MESON_EXE_WRAPPER, which meson sets, starts it. */
_Noreturn static inline void
test_again(const char *const *argv)
{
    const char *wrapper = getenv("MESON_EXE_WRAPPER"), *all[16];
    char self[4096] = "";
    int n = 2;

    if (!wrapper) {
        execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        _exit(127);
    all[0] = wrapper;
    all[1] = self;
    while (*argv && *++argv && n < 15)
        all[n++] = *argv;
    all[n] = NULL;
    execv(wrapper, (char *const *)(uintptr_t)all);
    _exit(127);
}

#endif
