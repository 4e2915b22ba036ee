/* ptx.c - modules that a program hands over: PTX for the device that the host plays, and what is no code at all. */
#include "fuzz.h"
#include "jit/program.h"

void
td_fuzz(const uint8_t *data, size_t n)
{
    static const char *const names[] = {"k", "add", ""};
    td_dev *devs[2];
    char *image;

    if (n > 3 && memcmp(data, "\177ELF", 4) == 0)
        return; /* the loader believes such files: SECURITY.md */
    fuzz_expect(!td_dev_get("null", &devs[0]) && !td_dev_get("cpu", &devs[1]));
    image = fuzz_text(data, n);
    for (int d = 0; d < 2; d++) {
        td_program *p;
        td_func *f;

        if (td_program_load(devs[d], image, n, &p))
            continue;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            (void)td_program_func(p, names[i], &f);
        td_program_free(p);
    }
    free(image);
}
