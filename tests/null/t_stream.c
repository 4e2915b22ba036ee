/* t_stream.c - streams of the null device while its work is late and in an order drawn by chance. */
#include "null/null.h"

#include "fuzz_streams.h"

static td_dev *null;

/* What the kernel of fuzz_streams.h does. */
static td_status
play(const char *name, const td_dims *dims, const uint64_t *args, int narg)
{
    uint32_t *dst = (uint32_t *)(uintptr_t)args[0];
    const uint32_t *src = (const uint32_t *)(uintptr_t)args[1];

    CHECK(strcmp(name, "mix") == 0 && narg == 4 && dims->grid[0] * 128 >= args[2]);
    for (uint64_t i = 0; i < args[2]; i++)
        dst[i] = dst[i] * 31 + src[i] + (uint32_t)args[3];
    return TD_OK;
}

/* The queue itself: what is not ordered differs from what is, and waiting does the work. */
static void
test_order(void)
{
    td_stream *s, *t;
    td_event *e;
    td_buf *b;
    unsigned char *p;
    int early = 0;
    bool done;

    CHECK_OK(td_stream_new(null, &s));
    CHECK_OK(td_stream_new(null, &t));
    CHECK_OK(td_event_new(null, false, &e));
    CHECK_OK(td_buf_new(null, NULL, 64, &b));
    p = (unsigned char *)b->ptr;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        td_null_delay(seed);
        CHECK_OK(td_fill(td_dev_stream(null), b->ptr, 1, 1)); /* before s and t */
        CHECK_OK(td_fill(s, b->ptr, 2, 1));
        CHECK_OK(td_fill(t, b->ptr, 3, 1)); /* in no order with s */
        CHECK_OK(td_dev_sync(null));
        CHECK(p[0] == 2 || p[0] == 3);
        early += p[0] == 2;
        CHECK_OK(td_fill(s, b->ptr, 4, 1));
        CHECK_OK(td_event_record(e, s));
        CHECK_OK(td_stream_wait(t, e));
        CHECK_OK(td_fill(t, b->ptr, 5, 1));
        CHECK_OK(td_event_sync(e));
        CHECK(p[0] >= 4);
        CHECK_OK(td_event_done(e, &done));
        CHECK(done);
        CHECK_OK(td_stream_sync(t));
        CHECK(p[0] == 5);
    }
    CHECK(early > 0 && early < 40);
    td_null_delay(0);
    td_buf_unref(b);
    td_event_free(e);
    td_stream_free(s);
    td_stream_free(t);
}

int
main(void)
{
    td_module *m;
    td_func *mix;
    int wrong = 0;

    CHECK_OK(td_dev_get("null", &null));
    td_null_on_launch(play);
    if (!CHECK_OK(td_module_load(null, fuzz_ptx, &m)) || !CHECK_OK(td_module_func(m, "mix", &mix)))
        return 1;
    test_order();
    for (uint64_t seed = 1; seed <= 12; seed++) {
        td_null_delay(seed);
        CHECK(fuzz_streams(null, mix, seed, 3000, seed % 3 ? 2000 : 300000, true) == 0);
        CHECK_OK(td_mem_trim(null));
    }
    for (uint64_t seed = 1; seed <= 3;
         seed++) { /* the fuzzer does see memory handed out too early */
        td_null_delay(seed);
        wrong += fuzz_streams(null, mix, seed, 3000, 2000, false);
        CHECK_OK(td_mem_trim(null));
    }
    CHECK(wrong > 0);
    td_null_delay(0);
    td_module_free(m);
    CHECK_OK(td_mem_trim(null));
    CHECK(td_null_live().events == 0 && td_null_live().streams == 0 && td_null_live().memory == 0);
    return check_failures != 0;
}
