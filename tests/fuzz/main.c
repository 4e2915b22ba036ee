/* main.c - what calls a target: libFuzzer, or the files of folders. */
#include "fuzz.h"

#ifdef TD_LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    td_fuzz(data, n);
    return 0;
}

#else

#include <dirent.h>

/* A copy of just the file's size, so that a read behind it is found. */
static void
replay(const char *folder, const char *name)
{
    char path[512];
    FILE *f;
    uint8_t *data;
    long n;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "rb");
    fuzz_expect(f && fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 &&
                fseek(f, 0, SEEK_SET) == 0);
    data = malloc(n ? (size_t)n : 1);
    fuzz_expect(data && fread(data, 1, (size_t)n, f) == (size_t)n);
    fclose(f);
    printf("%s\n", path);
    fflush(stdout); /* the last line tells which file it was */
    td_fuzz(data, (size_t)n);
    free(data);
}

/* Folders of inputs, of which each has one at least. */
int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        int n = 0;

        for (struct dirent *e; d && (e = readdir(d));)
            if (e->d_name[0] != '.')
                replay(argv[i], (n++, e->d_name));
        if (d)
            closedir(d);
        if (!n) {
            fprintf(stderr, "%s holds no inputs\n", argv[i]);
            return 1;
        }
    }
    return argc < 2;
}

#endif
