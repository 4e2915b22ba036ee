/* t_pool_gpu.c - random streams, uses and frees on a GPU give what one stream gives.
 *
 * Streams here run beside each other; each value is written, read on another stream behind work that
 * keeps it busy, and freed at once.  Memory handed out too early would be overwritten meanwhile.
 */
#include "dev/core/dev.h"

#include "fuzz_streams.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 6, ROUNDS = 3000, MOST = 4 << 20, BUSY = 12 };

static td_dev *gpu;
static td_stream *s[STREAMS];
static td_buf *load[STREAMS]; /* what keeps a stream busy */

static uint64_t
next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* t goes on when s has done what it was given so far. */
static void
wait_for(td_stream *t, td_stream *from)
{
    td_event *e;

    if (!CHECK_OK(td_event_new(gpu, false, &e)))
        return;
    CHECK_OK(td_event_record(e, from));
    CHECK_OK(td_stream_wait(t, e));
    td_event_free(e);
}

/* Bytes of `value` on stream a, read on stream b much later, freed now. */
static void
one_round(uint64_t *seed, td_buf **sum, size_t at, unsigned char *want, bool use)
{
    int a = (int)(next(seed) % STREAMS), b = (int)(next(seed) % STREAMS),
        busy = (int)(next(seed) % BUSY);
    size_t n = 4096 + (size_t)next(seed) % MOST;
    td_buf *x;

    *want = (unsigned char)next(seed);
    if (!CHECK_OK(td_buf_new(gpu, s[a], n, &x)))
        return;
    CHECK_OK(td_fill(s[a], x->ptr, *want, n));
    if (a != b)
        wait_for(s[b], s[a]);
    for (int i = 0; i < busy; i++)
        CHECK_OK(td_fill(s[b], load[b]->ptr, i, load[b]->nbytes));
    CHECK_OK(td_copy(s[b], (*sum)->ptr + 2 * at, x->ptr, 1));
    CHECK_OK(td_copy(s[b], (*sum)->ptr + 2 * at + 1, x->ptr + n - 1, 1));
    if (use)
        td_buf_use(x, s[b]);
    td_buf_unref(x);
}

static int
rounds(uint64_t seed, bool use)
{
    static unsigned char want[ROUNDS], got[2 * ROUNDS];
    td_buf *sum;
    int wrong = 0;

    CHECK_OK(td_buf_new(gpu, NULL, sizeof got, &sum));
    for (size_t i = 0; i < ROUNDS; i++)
        one_round(&seed, &sum, i, &want[i], use);
    CHECK_OK(td_dev_sync(gpu));
    CHECK_OK(td_copy_out(td_dev_stream(gpu), got, sum->ptr, sizeof got));
    for (int i = 0; i < ROUNDS; i++)
        wrong += got[2 * i] != want[i] || got[2 * i + 1] != want[i];
    td_buf_unref(sum);
    return wrong;
}

/* Random sizes up to 2^bits below nine tenths of a limit, for real. */
static void
stress(uint64_t seed, int bits)
{
    enum { LIVE = 2000, STEPS = 20000 };
    static td_buf *b[LIVE];
    size_t limit = (size_t)8 << 30, live = 0;
    int n = 0, refused = 0;
    double from;

    CHECK_OK(td_mem_trim(gpu));
    CHECK_OK(td_mem_limit(gpu, limit));
    from = now_us();
    for (int i = 0; i < STEPS; i++) {
        size_t top = (size_t)1 << next(&seed) % (uint64_t)bits,
               size = top + (size_t)next(&seed) % top;

        while (n > 0 && (n == LIVE || live + size > limit / 10 * 9)) {
            int k = (int)(next(&seed) % (uint64_t)n);

            live -= b[k]->nbytes;
            td_buf_unref(b[k]);
            b[k] = b[--n];
        }
        if (td_buf_new(gpu, NULL, size, &b[n])) {
            refused++;
            printf("%s\n", td_error());
        } else {
            live += b[n++]->nbytes;
        }
    }
    printf("t_pool_gpu: %d buffers of up to 2^%d bytes below 90 %% of a limit: %.1f us each\n",
           STEPS, bits, (now_us() - from) / STEPS);
    while (n > 0)
        td_buf_unref(b[--n]);
    CHECK(refused == 0);
    CHECK_OK(td_mem_trim(gpu));
    CHECK(td_mem_stats(gpu).used == 0 && td_mem_stats(gpu).cached == 0);
    CHECK_OK(td_mem_limit(gpu, SIZE_MAX));
}

int
main(void)
{
    td_module *m;
    td_func *mix;

    if (td_dev_count(TD_DEV_CUDA) == 0) {
        printf("t_pool_gpu: skipped: %s\n", td_dev_cuda_missing());
        return 77;
    }
    CHECK_OK(td_dev_get("cuda:0", &gpu));
    for (int i = 0; i < STREAMS; i++) {
        CHECK_OK(td_stream_new(gpu, &s[i]));
        CHECK_OK(td_buf_new(gpu, s[i], 64 << 20, &load[i]));
    }
    printf("t_pool_gpu: %d of %d wrong where uses are not told\n", rounds(1, false), ROUNDS);
    for (uint64_t seed = 2; seed < 8; seed++)
        CHECK(rounds(seed, true) == 0);
    for (int i = 0; i < STREAMS; i++) {
        td_buf_unref(load[i]);
        td_stream_free(s[i]);
    }
    stress(3, 28);
    stress(4, 24);
    CHECK_OK(td_module_load(gpu, fuzz_ptx, &m));
    CHECK_OK(td_module_func(m, "mix", &mix));
    for (uint64_t seed = 1; seed <= 6; seed++)
        CHECK(fuzz_streams(gpu, mix, seed, 20000, seed % 2 ? 1 << 20 : 1 << 14, true) == 0);
    td_module_free(m);
    return check_failures != 0;
}
