/* entry.c - entries of the disk cache.  The first byte chooses: the rest is a whole file of the folder; or it is what a
 * file with a right key and checksum holds, in which compiled CUDA C++ is packed.
 */
#include "base/files.h"
#include "fuzz.h"
#include "jit/cache.h"
#include "jit/programkey.h"

#include <fcntl.h>
#include <unistd.h>

static const td_hash key = {0x0123456789abcdef, 0xfedcba9876543210};
static char folder[64];

static void
leave(void)
{
    char path[128], hex[33];

    td_hash_hex(key, hex);
    snprintf(path, sizeof path, "%s/%s.cu", folder, hex);
    unlink(path);
    rmdir(folder);
}

static void
put_file(const uint8_t *data, size_t n)
{
    char path[128], hex[33];
    int fd;

    td_hash_hex(key, hex);
    snprintf(path, sizeof path, "%s/%s.cu", folder, hex);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fuzz_expect(fd >= 0 && td_write_all(fd, data, n) && close(fd) == 0);
}

void
td_fuzz(const uint8_t *data, size_t n)
{
    static const char *const names[] = {"f", "g<int>"};
    td_source_job job = {.text = "", .file = "any.cu", .arch = "host", .name = names};
    td_image image;

    if (!n)
        return;
    if (!*folder) {
        strcpy(folder, "/tmp/treadle-entry-XXXXXX");
        fuzz_expect(mkdtemp(folder));
        td_cache_use(folder);
        atexit(leave);
    }
    job.nname = data[0] >> 1 & 3;
    job.nname = job.nname > 2 ? 2 : job.nname;
    if (data[0] & 1)
        put_file(data + 1, n - 1);
    else
        td_cache_put(key, "cu", data + 1, n - 1);
    if (!td_program_find(key, &job, &image)) {
        fuzz_expect(image.nsymbol == job.nname && image.nbytes < n);
        for (int i = 0; i < image.nsymbol; i++)
            fuzz_expect(strlen(image.symbol[i]) < n);
        td_image_free(&image);
    }
}
