/* fuzz_streams.h - random streams, frees, copies and kernels beside the same done one after the other.
 *
 * Each buffer holds one 32-bit word again and again, so what it should hold is one number.  Whoever
 * touches a buffer on a stream waits by an event for the stream that wrote it last and tells the pool
 * (td_buf_use); a buffer is freed as soon as its last work was given.  Memory that is handed out
 * before that work is done gives wrong words at the end.
 */
#ifndef TD_TESTS_FUZZ_STREAMS_H
#define TD_TESTS_FUZZ_STREAMS_H
#include "dev/core/dev.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { FUZZ_STREAMS = 6, FUZZ_BUFS = 24 };

/* dst[i] = dst[i] * 31 + src[i] + k for i < n. */
static const char fuzz_ptx[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .entry mix(.param .u64 dst, .param .u64 src, .param .u32 n, .param .u32 k)\n{\n"
    ".reg .pred %p; .reg .b32 %i, %c, %t, %n, %k, %x, %y; .reg .b64 %d, %s, %o;\n"
    "ld.param.u64 %d, [dst]; ld.param.u64 %s, [src]; ld.param.u32 %n, [n]; ld.param.u32 %k, [k];\n"
    "cvta.to.global.u64 %d, %d; cvta.to.global.u64 %s, %s;\n"
    "mov.u32 %i, %ctaid.x; mov.u32 %c, %ntid.x; mov.u32 %t, %tid.x; mad.lo.s32 %i, %i, %c, %t;\n"
    "setp.ge.u32 %p, %i, %n; @%p bra DONE;\n"
    "mul.wide.u32 %o, %i, 4; add.s64 %d, %d, %o; add.s64 %s, %s, %o;\n"
    "ld.global.u32 %x, [%d]; ld.global.u32 %y, [%s]; mad.lo.s32 %x, %x, 31, %y; add.s32 %x, %x, %k;\n"
    "st.global.u32 [%d], %x;\nDONE: ret;\n}\n";

typedef struct fuzz_buf {
    td_buf   *b; /* NULL: there is none */
    uint32_t  word;
    int       writer;       /* the stream that wrote it last */
    bool      read[FUZZ_STREAMS]; /* since then, on that stream */
} fuzz_buf;

typedef struct fuzz {
    td_dev    *dev;
    td_stream *s[FUZZ_STREAMS];
    td_func   *mix;
    fuzz_buf   buf[FUZZ_BUFS];
    uint64_t   seed;
    size_t     words; /* a buffer's, at most */
    bool       tell;  /* td_buf_use is called */
} fuzz;

static inline uint64_t
fuzz_next(fuzz *f)
{
    f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
    return f->seed >> 33;
}

/* What is given to stream `to` from now on comes after what `from` was given. */
static inline void
fuzz_order(fuzz *f, int to, int from)
{
    td_event *e;

    if (to == from || !CHECK_OK(td_event_new(f->dev, false, &e)))
        return;
    CHECK_OK(td_event_record(e, f->s[from]));
    CHECK_OK(td_stream_wait(f->s[to], e));
    td_event_free(e);
}

/* x is about to be read, or written, on stream s. */
static inline void
fuzz_touch(fuzz *f, fuzz_buf *x, int s, bool write)
{
    fuzz_order(f, s, x->writer);
    for (int i = 0; i < FUZZ_STREAMS && write; i++)
        if (x->read[i])
            fuzz_order(f, s, i);
    if (write) {
        memset(x->read, 0, sizeof x->read);
        x->writer = s;
    } else {
        x->read[s] = true;
    }
    if (f->tell)
        td_buf_use(x->b, f->s[s]);
}

static inline void
fuzz_make(fuzz *f, fuzz_buf *x, int s)
{
    size_t n = 4 * (1 + (size_t)fuzz_next(f) % f->words);
    int byte = (int)(fuzz_next(f) % 256);

    *x = (fuzz_buf){.writer = s, .word = (uint32_t)byte * 0x01010101u};
    if (CHECK_OK(td_buf_new(f->dev, f->s[s], n, &x->b)))
        CHECK_OK(td_fill(f->s[s], x->b->ptr, byte, n));
}

/* The stream is freed and another one takes its place; its work was given, not done. */
static inline void
fuzz_restart(fuzz *f, int s)
{
    for (int i = 0; i < FUZZ_STREAMS; i++)
        if (i != s)
            fuzz_order(f, i, s);
    td_stream_free(f->s[s]);
    CHECK_OK(td_stream_new(f->dev, &f->s[s]));
    fuzz_order(f, s, (s + 1) % FUZZ_STREAMS);
}

static inline void
fuzz_step(fuzz *f)
{
    fuzz_buf *x = &f->buf[fuzz_next(f) % FUZZ_BUFS], *y = &f->buf[fuzz_next(f) % FUZZ_BUFS];
    int s = (int)(fuzz_next(f) % FUZZ_STREAMS), what = (int)(fuzz_next(f) % 16);
    td_dims dims = {.grid = {1, 1, 1}, .block = {128, 1, 1}};
    uint32_t k = (uint32_t)fuzz_next(f);

    if (!x->b) {
        fuzz_make(f, x, s);
    } else if (what == 0) {
        fuzz_restart(f, s);
    } else if (what < 6 || x == y || !y->b) {
        td_buf_unref(x->b);
        x->b = NULL;
    } else {
        size_t n = x->b->nbytes < y->b->nbytes ? x->b->nbytes : y->b->nbytes;

        fuzz_touch(f, y, s, false);
        fuzz_touch(f, x, s, true);
        x->b->nbytes = n; /* all of it is one word again */
        if (what < 11) {
            x->word = y->word;
            CHECK_OK(td_copy(f->s[s], x->b->ptr, y->b->ptr, n));
        } else {
            x->word = x->word * 31 + y->word + k;
            dims.grid[0] = (uint32_t)(n / 4 + 127) / 128;
            CHECK_OK(td_launch(f->mix, f->s[s], &dims,
                               (uint64_t[]){x->b->ptr, y->b->ptr, n / 4, k}, 4));
        }
    }
}

/* Words of x that are not what they should be. */
static inline int
fuzz_wrong(fuzz *f, fuzz_buf *x)
{
    size_t n = x->b->nbytes / 4;
    uint32_t *w = malloc(4 * n + 1);
    int wrong = 0;

    CHECK_OK(td_copy_out(td_dev_stream(f->dev), w, x->b->ptr, 4 * n));
    for (size_t i = 0; i < n; i++)
        wrong += w[i] != x->word;
    free(w);
    return wrong;
}

/* How many words are wrong after `steps` steps. */
static inline int
fuzz_streams(td_dev *d, td_func *mix, uint64_t seed, int steps, size_t words, bool tell)
{
    fuzz f = {.dev = d, .mix = mix, .seed = seed, .words = words, .tell = tell};
    int wrong = 0;

    for (int i = 0; i < FUZZ_STREAMS; i++)
        CHECK_OK(td_stream_new(d, &f.s[i]));
    for (int i = 0; i < steps; i++)
        fuzz_step(&f);
    CHECK_OK(td_dev_sync(d));
    for (int i = 0; i < FUZZ_BUFS; i++)
        if (f.buf[i].b) {
            wrong += fuzz_wrong(&f, &f.buf[i]);
            td_buf_unref(f.buf[i].b);
        }
    for (int i = 0; i < FUZZ_STREAMS; i++)
        td_stream_free(f.s[i]);
    return wrong;
}

#endif
