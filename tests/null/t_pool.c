/* t_pool.c - the pool's promises on the null device: room below 90 % of a limit, order between
 * streams, what happens when memory is out.
 */
#include "dev/core/dev.h"
#include "null/null.h"
#include "null/nulldrv.h"

#include "check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_READY = 600, OTHER = 71 };

static td_dev *null;
static uint64_t refusals;

static uint64_t
next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* What a walk asks for: each power of two as likely as another, or each size; and its limits. */
static const struct walk {
    const char *sizes;
    bool flat;
    size_t least, most, limit[3];
} walks[] = {
    {"1 B to 256 MB",
     false,
     1,
     (size_t)256 << 20,
     {(size_t)7 << 30, (size_t)7 << 29, (size_t)7 << 28}},
    {"1 B to 16 MB",
     false,
     1,
     (size_t)16 << 20,
     {(size_t)5 << 28, (size_t)7 << 29, (size_t)7 << 28}},
    {"any to 64 MB",
     true,
     1,
     (size_t)64 << 20,
     {(size_t)7 << 30, (size_t)7 << 29, (size_t)7 << 28}},
    {"256 B to 16 MB",
     false,
     256,
     (size_t)16 << 20,
     {(size_t)256 << 20, (size_t)384 << 20, (size_t)1 << 30}},
    {"any to 16 MB",
     true,
     256,
     (size_t)16 << 20,
     {(size_t)256 << 20, (size_t)512 << 20, (size_t)1 << 30}},
};

static size_t
any_size(const struct walk *w, uint64_t *state)
{
    int octaves = __builtin_ctzll(w->most) - __builtin_ctzll(w->least);
    size_t top = w->least << next(state) % (uint64_t)octaves;

    return w->flat ? w->least + (size_t)next(state) % (w->most - w->least + 1)
                   : top + (size_t)next(state) % top;
}

/* Below nine tenths of the limit a request is never refused, in whatever order buffers come and go.  But a
 * limit of 256 MB leaves 9.6 MB beside a request of 16 MB, for what is lost in grains of 2 MB: under 512 MB
 * one request in tens of thousands does not find enough grains that are whole. */
static void
test_stress(const struct walk *w, size_t limit, uint64_t seed, int steps)
{
    enum { MOST = 4096 };
    static td_buf *b[MOST];
    size_t live = 0, worst = 0;
    uint64_t first = seed;
    int n = 0, refused = 0, allowed = limit < (size_t)512 << 20 ? steps / 1000 : 0;

    CHECK_OK(td_mem_limit(null, limit));
    for (int i = 0; i < steps; i++) {
        size_t size = any_size(w, &seed), most = limit / 100 * 90;

        while (n > 0 && (n == MOST || live + size > most || next(&seed) % 16 == 0)) {
            int k = (int)(next(&seed) % (uint64_t)n);

            live -= b[k]->nbytes;
            td_buf_unref(b[k]);
            b[k] = b[--n];
        }
        if (td_buf_new(null, NULL, size, &b[n])) {
            if (refused++ == allowed)
                printf("walk of %s, limit %zu MB, seed %d, step %d: %zu bytes live: %s\n", w->sizes,
                       limit >> 20, (int)first, i, live, td_error());
            continue;
        }
        live += b[n++]->nbytes;
        worst = live > worst ? live : worst;
    }
    CHECK(refused <= allowed);
    refusals += (uint64_t)refused;
    CHECK(worst > limit / 10 * 7); /* the walk did come near */
    while (n > 0)
        td_buf_unref(b[--n]);
    CHECK_OK(td_mem_trim(null));
    CHECK(td_mem_stats(null).cached == 0 && td_mem_stats(null).used == 0);
    CHECK_OK(td_mem_limit(null, SIZE_MAX));
}

/* Near the limit memory is joined of parts and parts go back: no two buffers share a byte, and nothing
 * goes while work that was given before still uses it. */
static void
test_parts(uint64_t seed)
{
    enum { MOST = 200 };
    static td_buf *b[MOST];
    static unsigned char value[MOST];
    size_t limit = (size_t)160 << 20, live = 0;
    uint64_t got = td_mem_stats(null).driver_allocs;
    int n = 0, wrong = 0;

    td_null_delay(seed);
    CHECK_OK(td_mem_limit(null, limit));
    for (int i = 0; i < 3000; i++) {
        size_t size = ((size_t)256 << 10 << next(&seed) % 5) + (size_t)next(&seed) % (2 << 20);

        while (n > 0 && (n == MOST || live + size > limit / 100 * 75 || next(&seed) % 16 == 0)) {
            int k = (int)(next(&seed) % (uint64_t)n);
            const unsigned char *p = (const unsigned char *)b[k]->ptr;

            live -= b[k]->nbytes;
            CHECK_OK(td_stream_sync(td_dev_stream(null)));
            for (size_t at = 0; at < b[k]->nbytes; at += 4096)
                wrong += p[at] != value[k];
            CHECK_OK(td_fill(td_dev_stream(null), b[k]->ptr, 255, b[k]->nbytes)); /* done late */
            td_buf_unref(b[k]);
            b[k] = b[--n];
            value[k] = value[n];
        }
        if (!CHECK_OK(td_buf_new(null, NULL, size, &b[n])))
            break;
        value[n] = (unsigned char)next(&seed);
        CHECK_OK(td_fill(td_dev_stream(null), b[n]->ptr, value[n], size));
        live += b[n++]->nbytes;
    }
    CHECK(wrong == 0);
    CHECK(td_mem_stats(null).driver_allocs - got > 100); /* it did come to that */
    while (n > 0)
        td_buf_unref(b[--n]);
    td_null_delay(0);
    CHECK_OK(td_mem_limit(null, SIZE_MAX));
    CHECK_OK(td_mem_trim(null));
    CHECK(td_mem_stats(null).cached == 0 && td_null_live().memory == 0);
}

static void
test_limit(void)
{
    td_buf *a, *b = NULL;

    CHECK(td_mem_stats(null).limit == SIZE_MAX);
    CHECK_OK(td_buf_new(null, NULL, 30 << 20, &a));
    td_buf_unref(a);
    CHECK_OK(td_mem_limit(null, 20 << 20)); /* what is kept goes */
    CHECK(td_mem_stats(null).cached == 0 && td_mem_stats(null).limit == 20 << 20);
    CHECK_OK(td_buf_new(null, NULL, 12 << 20, &a));
    CHECK_FAILS(td_buf_new(null, NULL, 12 << 20, &b), TD_ERR_OOM, "the limit is 20.00 MiB");
    CHECK_OK(td_buf_new(null, NULL, 4 << 20, &b));
    td_buf_unref(a);
    td_buf_unref(b);
    CHECK_OK(td_mem_limit(null, SIZE_MAX));
    CHECK_OK(td_mem_trim(null));
}

static td_buf *spare;
static int asked;

static bool
give_spare(td_dev *d, size_t nbytes)
{
    td_buf *no = NULL;
    bool freed;

    asked += d == null && nbytes == (size_t)6 << 30;
    CHECK(td_buf_new(d, NULL, (size_t)1 << 40, &no) == TD_ERR_OOM); /* is not asked again */
    td_buf_unref(spare);
    freed = spare != NULL;
    spare = NULL;
    return freed;
}

static void
name_site(char *text, size_t n)
{
    snprintf(text, n, "model.py:%d", ++asked);
}

static void
test_pressure(void)
{
    td_buf *a, *b = NULL;

    td_mem_on_pressure(give_spare);
    CHECK_OK(td_buf_new(null, NULL, (size_t)5 << 30, &spare));
    CHECK_OK(td_buf_new(null, NULL, (size_t)6 << 30, &a));
    CHECK(asked == 1 && !spare);
    CHECK_FAILS(td_buf_new(null, NULL, (size_t)6 << 30, &b), TD_ERR_OOM, "buffers hold 6.00 GiB");
    CHECK(asked == 2);
    td_mem_on_pressure(NULL);
    td_buf_unref(a);

    td_mem_on_large(name_site);
    asked = 0;
    CHECK_OK(td_buf_new(null, NULL, (size_t)1 << 30, &a));
    CHECK_OK(td_buf_new(null, NULL, (size_t)2 << 30, &spare));
    CHECK_FAILS(td_buf_new(null, NULL, (size_t)6 << 30, &b), TD_ERR_OOM,
                "largest buffers: 2.00 GiB at model.py:2, 1.00 GiB at model.py:1");
    td_mem_on_large(NULL);
    td_buf_unref(a);
    td_buf_unref(spare);
    CHECK_OK(td_mem_trim(null));
}

/* Memory that another stream used waits for that stream's event. */
/* Another library's stream used a buffer and is destroyed by its owner: the pool asks nothing of it any more. */
static void
test_foreign_gone(void)
{
    enum { SIZE = 32 << 20 };
    cu_stream theirs = NULL;
    cu_ctx ctx, old;
    td_stream *s, *own;
    td_buf *a;
    uintptr_t p;

    CHECK(td_null_cuDevicePrimaryCtxRetain(&ctx, 0) == 0 && td_null_cuCtxPushCurrent(ctx) == 0);
    CHECK_OK(td_stream_new(null, &own));
    for (int way = 0; way < 3;
         way++) { /* of the default stream, of one of ours, asked for on theirs */
        CHECK(td_null_cuStreamCreate(&theirs, CU_STREAM_NON_BLOCKING) == 0);
        CHECK_OK(td_stream_of(null, theirs, &s));
        CHECK_OK(td_buf_new(null, way == 0 ? NULL : way == 1 ? own : s, SIZE, &a));
        p = a->ptr;
        CHECK_OK(td_stream_enter(s));
        CHECK_OK(td_fill(s, a->ptr, 1, 64));
        td_buf_use(a, s);
        CHECK_OK(td_stream_leave(s));
        CHECK(td_null_cuStreamDestroy(theirs) == 0);
        if (way < 2) /* a record on a dead stream fails, and then the pool waits for the device */
            td_null_fail("cuCtxSynchronize", 1, OTHER);
        td_buf_unref(a);
        CHECK_OK(td_buf_new(null, way == 1 ? own : NULL, SIZE, &a));
        CHECK(a->ptr == p);
        CHECK(way == 2 || td_dev_sync(null) == TD_ERR_DEVICE); /* the failure was still to come */
        td_buf_unref(a);
        CHECK_OK(td_mem_trim(null));
    }
    td_stream_free(own);
    CHECK_OK(td_mem_trim(null));
    CHECK(td_null_cuCtxPopCurrent(&old) == 0);
}

static void
test_use(void)
{
    enum { SIZE = 32 << 20 };
    td_null_counts before = td_null_live();
    td_stream *s[6];
    td_buf *a, *b, *c;
    uintptr_t p;

    for (int i = 0; i < 6; i++)
        CHECK_OK(td_stream_new(null, &s[i]));
    CHECK_OK(td_buf_new(null, s[0], SIZE, &a));
    p = a->ptr;
    td_buf_use(a, s[1]);
    td_buf_use(a, s[1]);
    td_buf_use(a, s[0]); /* its own: nothing to wait for */
    td_buf_unref(a);
    td_null_fail("cuEventQuery", 1, NOT_READY);
    CHECK_OK(td_buf_new(null, s[0], SIZE, &b));
    CHECK(b->ptr != p);
    CHECK_OK(td_buf_new(null, s[0], SIZE, &c)); /* the event has passed */
    CHECK(c->ptr == p);

    td_buf_use(c, s[1]); /* a stream that is freed meanwhile */
    td_buf_use(c, s[2]);
    td_stream_free(s[1]);
    td_buf_unref(c);
    CHECK_OK(td_buf_new(null, s[0], SIZE, &c));
    CHECK(c->ptr == p);
    for (int i = 2; i < 6; i++)
        td_buf_use(c, s[i]);
    td_buf_use(c, td_dev_stream(null)); /* more than are told apart: the device is waited for */
    td_buf_unref(c);
    CHECK_OK(td_buf_new(null, s[0], SIZE, &c));
    CHECK(c->ptr == p);
    td_buf_use(c, s[2]);
    td_null_fail("cuEventRecord", 1, OTHER); /* then too */
    td_buf_unref(c);
    CHECK_OK(td_buf_new(null, s[0], SIZE, &c));
    CHECK(c->ptr == p);
    td_buf_unref(c);
    td_buf_unref(b);
    td_stream_free(s[0]);
    for (int i = 2; i < 6; i++)
        td_stream_free(s[i]);
    CHECK_OK(td_mem_trim(null));
    CHECK(td_null_live().events == before.events && td_null_live().streams == before.streams);
    CHECK(td_mem_stats(null).cached == 0);
}

/* When memory is out a stream gets what another one keeps. */
static void
test_steal(void)
{
    td_stream *s, *t;
    td_buf *a, *b, *c = NULL;

    CHECK_OK(td_stream_new(null, &s));
    CHECK_OK(td_stream_new(null, &t));
    CHECK_OK(td_mem_limit(null, 64 << 20));
    CHECK_OK(td_buf_new(null, s, 1 << 20, &a));
    CHECK_OK(td_buf_new(null, s, 8 << 20, &b));
    td_buf_unref(b); /* kept for s beside a */
    CHECK_OK(td_buf_new(null, t, 6 << 20, &c));
    td_stream_free(t);
    td_buf_unref(c);
    td_stream_free(s);
    td_buf_unref(a);
    CHECK_OK(td_mem_limit(null, SIZE_MAX));
    CHECK_OK(td_mem_trim(null));
    CHECK(td_mem_stats(null).cached == 0);
}

/* ---- random streams and frees ---- */

enum { STREAMS = 5, BUFS = 40 };

typedef struct model {
    td_stream *s[STREAMS];
    td_buf *b[BUFS];
    unsigned char value[BUFS];
    int wrong;
} model;

static void
check_buf(model *m, int k)
{
    const unsigned char *p = (const unsigned char *)m->b[k]->ptr;
    size_t n = m->b[k]->nbytes;

    for (size_t i = 0; i < n; i += n / 61 + 1)
        m->wrong += p[i] != m->value[k];
    m->wrong += p[n - 1] != m->value[k];
}

static void
one_step(model *m, uint64_t *seed)
{
    int k = (int)(next(seed) % BUFS), j = (int)(next(seed) % BUFS);
    td_stream *s = m->s[next(seed) % STREAMS];

    if (next(seed) % 8 == 0)
        td_null_fail("cuEventQuery", 1 + (int)(next(seed) % 3), NOT_READY);
    if (!m->b[k]) {
        CHECK_OK(td_buf_new(null, s, 1 + (size_t)next(seed) % (3 << 20), &m->b[k]));
        m->value[k] = (unsigned char)next(seed);
        CHECK_OK(td_fill(s, m->b[k]->ptr, m->value[k], m->b[k]->nbytes));
    } else if (next(seed) % 2) {
        check_buf(m, k);
        td_buf_use(m->b[k], s);
        td_buf_unref(m->b[k]);
        m->b[k] = NULL;
    } else if (m->b[j] && j != k && m->b[j]->nbytes >= m->b[k]->nbytes) {
        CHECK_OK(td_copy(s, m->b[k]->ptr, m->b[j]->ptr, m->b[k]->nbytes));
        td_buf_use(m->b[k], s);
        td_buf_use(m->b[j], s);
        m->value[k] = m->value[j];
    } else {
        int i = (int)(next(seed) % STREAMS);

        td_stream_free(m->s[i]);
        CHECK_OK(td_stream_new(null, &m->s[i]));
    }
}

static void
test_fuzz(uint64_t seed)
{
    static model m;

    memset(&m, 0, sizeof m);
    for (int i = 0; i < STREAMS; i++)
        CHECK_OK(td_stream_new(null, &m.s[i]));
    for (int i = 0; i < 4000; i++)
        one_step(&m, &seed);
    for (int k = 0; k < BUFS; k++)
        if (m.b[k]) {
            check_buf(&m, k);
            td_buf_unref(m.b[k]);
        }
    for (int i = 0; i < STREAMS; i++)
        td_stream_free(m.s[i]);
    td_null_fail("cuEventQuery", 0, 0);
    CHECK(m.wrong == 0);
    CHECK_OK(td_mem_trim(null));
    CHECK(td_mem_stats(null).cached == 0 && td_null_live().events == 0 &&
          td_null_live().streams == 0);
}

/* How long a request takes while sizes from 256 bytes to 4 MB come and go. */
static void
show_speed(void)
{
    enum { LIVE = 64, TIMES = 100000 };
    td_buf *b[LIVE] = {NULL};
    uint64_t seed = 9, before;
    double from = 0;

    for (int round = 0; round < 2; round++) { /* the first one fills the pool */
        from = now_us();
        before = td_mem_stats(null).driver_allocs;
        for (int i = 0; i < TIMES; i++) {
            size_t top = (size_t)256 << next(&seed) % 14;

            td_buf_unref(b[i % LIVE]);
            CHECK_OK(td_buf_new(null, NULL, top + (size_t)next(&seed) % top, &b[i % LIVE]));
        }
    }
    printf("t_pool: %d buffers of 256 bytes to 4 MB: %.0f ns each\n", TIMES,
           (now_us() - from) * 1e3 / TIMES);
    CHECK(td_mem_stats(null).driver_allocs - before < TIMES / 1000);
    for (int i = 0; i < LIVE; i++)
        td_buf_unref(b[i]);
    CHECK_OK(td_mem_trim(null));
}

/* All walks with all limits, each with a seed of its own; for so many seconds again and again. */
static void
test_walks(double more)
{
    double end = now_us() + more * 1e6;
    uint64_t seed = 0;

    do {
        for (size_t i = 0; i < sizeof walks / sizeof *walks; i++)
            for (int k = 0; k < 3; k++)
                test_stress(&walks[i], walks[i].limit[k], ++seed, 8000);
    } while (now_us() < end);
    if (more > 0)
        printf("t_pool: %llu walks, %llu requests refused\n", (unsigned long long)seed,
               (unsigned long long)refusals);
}

/* TREADLE_STRESS=SECONDS: the walks go on for so long. */
int
main(void)
{
    const char *more = getenv("TREADLE_STRESS");

    CHECK_OK(td_dev_get("null", &null));
    test_limit();
    test_pressure();
    test_use();
    test_foreign_gone();
    test_steal();
    test_parts(3);
    show_speed();
    for (int i = 1; i <= 4; i++)
        test_fuzz((uint64_t)i);
    test_walks(more ? atof(more) : 0);
    return check_failures != 0;
}
