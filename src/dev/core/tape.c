/* tape.c - records work on a tape. */
#include "dev/core/tapeparts.h"

#include <stdlib.h>
#include <string.h>

_Thread_local td_tape *td_tape_current;

td_status
td_tape_grow(void *at, size_t *cap, size_t n, size_t more, size_t size)
{
    size_t want = *cap ? *cap : 16;
    void *old, *p;

    if (n + more <= *cap)
        return TD_OK;
    while (want < n + more)
        want *= 2;
    memcpy(&old, at, sizeof old);
    p = realloc(old, want * size);
    if (!p)
        return td_fail(TD_ERR_NOMEM, "graph: no host memory for its record");
    memcpy(at, &p, sizeof p);
    *cap = want;
    return TD_OK;
}

/* ---- making, stopping, freeing ---- */

td_status
td_tape_new(td_dev *d, td_tape **out)
{
    td_tape *t;

    TD_TRY(td_tape_refuse("recording another graph"));
    t = calloc(1, sizeof *t);
    if (!t)
        return td_fail(TD_ERR_NOMEM, "graph: no host memory for its record");
    t->dev = d;
    t->recording = true;
    pthread_mutex_init(&t->playing, NULL);
    atomic_fetch_add(&td_watchers, 1);
    atomic_fetch_add(&td_site_wanters, 1);
    td_tape_current = t;
    *out = t;
    return TD_OK;
}

void
td_tape_stop(td_tape *t)
{
    if (!t->recording)
        return;
    t->recording = false;
    td_tape_current = NULL;
    atomic_fetch_sub(&td_watchers, 1);
    atomic_fetch_sub(&td_site_wanters, 1);
}

td_tape *
td_tape_pause(void)
{
    td_tape *t = td_tape_current;

    td_tape_current = NULL;
    return t;
}

void
td_tape_resume(td_tape *t)
{
    td_tape_current = t;
}

void
td_tape_free(td_tape *t)
{
    if (!t)
        return;
    td_tape_stop(t);
    for (size_t i = 0; i < t->runs.n; i++)
        if (t->runs.at[i].exec)
            t->dev->ops->graph_free(t->dev, t->runs.at[i].exec);
    for (size_t i = 0; i < t->calls.n; i++)
        td_comm_unref(t->calls.at[i].comm);
    for (size_t i = 0; i < t->owned.n; i++)
        td_buf_unref(t->owned.at[i]);
    for (size_t i = 0; i < t->slots.n; i++)
        td_buf_unref(t->slots.at[i].buf);
    free(t->ops.at);
    free(t->words.at);
    free(t->offsets.at);
    free(t->calls.at);
    free(t->patches.at);
    free(t->owned.at);
    free(t->slots.at);
    free(t->draws.at);
    free(t->runs.at);
    pthread_mutex_destroy(&t->playing);
    free(t);
}

td_status
td_tape_refuse(const char *what)
{
    const char *line;

    if (!td_tape_current)
        return TD_OK;
    line = td_name_text(td_site_now());
    return td_fail(
        TD_ERR_VALUE,
        "graph: %s cannot be captured%s%s: values are known only when the graph is replayed", what,
        *line ? ", at " : "", line);
}

/* ---- recording ---- */

static td_status
tape_add_words(td_tape *t, op *o, const uint64_t *words, int n)
{
    o->word = t->words.n;
    o->nword = n;
    TD_TRY(GROW(t->words, (size_t)n));
    if (n)
        memcpy(t->words.at + t->words.n, words, (size_t)n * sizeof *words);
    t->words.n += (size_t)n;
    return TD_OK;
}

/* Packed arguments are kept as the words that they fill, with the offset of each. */
static td_status
add_arguments(td_tape *t, op *o, const td_work *w)
{
    bool packed = w->dims->offset != NULL;
    int n = packed ? (int)((w->dims->packed + 7) / 8) : w->narg;

    o->narg = w->narg;
    if (n > TD_TAPE_WORDS)
        return td_fail(TD_ERR_VALUE, "graph: %s: %d words of arguments, at most %d are possible",
                       w->func->name, n, TD_TAPE_WORDS);
    if (packed) {
        o->offset = t->offsets.n;
        TD_TRY(GROW(t->offsets, (size_t)w->narg));
        if (w->narg)
            memcpy(t->offsets.at + t->offsets.n, w->dims->offset,
                   (size_t)w->narg * sizeof *w->dims->offset);
        t->offsets.n += (size_t)w->narg;
    }
    return tape_add_words(t, o, w->args, n);
}

static td_status
refuse_kind(td_trace_kind kind)
{
    return td_tape_refuse(kind == TD_TRACE_copy_in    ? "copying from the host"
                          : kind == TD_TRACE_copy_out ? "reading a value on the host"
                          : kind == TD_TRACE_solve    ? "factorising, which asks for what it found,"
                          : kind == TD_TRACE_sort     ? "sorting, which takes memory of its own,"
                                                      : "waiting for the device");
}

/* A collective is not run while recording: the other members are recording theirs. */
static td_status
add_calls(td_tape *t, op *o, const td_comm_set *s)
{
    uint64_t words[TD_TAPE_WORDS];

    if (s->n > TD_TAPE_CALLS)
        return td_fail(TD_ERR_VALUE, "graph: %d collectives at once, at most %d are possible", s->n,
                       TD_TAPE_CALLS);
    TD_TRY(GROW(t->calls, (size_t)s->n));
    o->call = t->calls.n;
    for (int i = 0; i < s->n; i++) {
        words[2 * i] = s->call[i].src;
        words[2 * i + 1] = s->call[i].dst;
        t->calls.at[t->calls.n++] = s->call[i];
        td_comm_ref(s->call[i].comm);
    }
    return tape_add_words(t, o, words, 2 * s->n);
}

/* Runs a library's work once besides recording it.  So the library is known to do it, and has
 * set itself up. */
static td_status
words_of(td_tape *t, op *o, td_stream *s, const td_work *w)
{
    switch (w->kind) {
    case TD_TRACE_kernel:
        o->func = w->func;
        o->dims = *w->dims;
        return add_arguments(t, o, w);
    case TD_TRACE_copy: return tape_add_words(t, o, (uint64_t[]){w->dst, w->src}, 2);
    case TD_TRACE_fill: return tape_add_words(t, o, (uint64_t[]){w->dst}, 1);
    case TD_TRACE_gemm:
        TD_TRY(td_work_run(s, w));
        o->gemm = *w->gemm;
        return tape_add_words(t, o, (uint64_t[]){w->gemm->a, w->gemm->b, w->gemm->c}, 3);
    case TD_TRACE_fourier: {
        size_t work;

        TD_TRY(td_fourier_plan(s, w->fourier, true, &work));
        TD_TRY(td_work_run(s, w));
        o->fourier = *w->fourier;
        return tape_add_words(
            t, o, (uint64_t[]){w->fourier->in.at, w->fourier->out.at, w->fourier->work}, 3);
    }
    case TD_TRACE_collective: return add_calls(t, o, w->comm);
    default:                  return refuse_kind(w->kind);
    }
}

td_status
td_tape_add(td_tape *t, td_stream *s, const td_work *w)
{
    op o = {.kind = w->kind,
            .name = td_work_name(w),
            .moved = td_work_bytes(w),
            .byte = w->byte,
            .nbytes = w->nbytes,
            .s = s};

    if (s != &t->dev->def)
        return td_fail(
            TD_ERR_VALUE,
            "graph: work on %s cannot be captured: the graph records the default stream of %s",
            s->dev == t->dev ? "another stream" : s->dev->info.name, t->dev->info.name);
    TD_TRY(GROW(t->ops, 1));
    TD_TRY(words_of(t, &o, s, w));
    t->ops.at[t->ops.n++] = o;
    return TD_OK;
}

bool
td_tape_reuse(td_tape *t, td_dev *d, size_t nbytes, td_buf **out)
{
    for (size_t i = 0; i < t->owned.n; i++) {
        td_buf *b = t->owned.at[i];

        if (b->dev == d && b->nbytes == nbytes && atomic_load(&b->refs) == 1 &&
            !atomic_load(&b->flags)) {
            *out = td_buf_ref(b);
            return true;
        }
    }
    return false;
}

td_status
td_tape_own(td_tape *t, td_buf *b)
{
    td_status st = GROW(t->owned, 1);

    if (st)
        td_buf_unref(b);
    else
        t->owned.at[t->owned.n++] = td_buf_ref(b);
    return st;
}

bool
td_tape_owns(const td_tape *t, const td_buf *b)
{
    for (size_t i = 0; t && i < t->owned.n; i++)
        if (t->owned.at[i] == b)
            return true;
    return false;
}

td_status
td_tape_slot(td_tape *t, td_buf *b, td_slotkind kind)
{
    TD_TRY(GROW(t->slots, 1));
    t->slots.at[t->slots.n++] = (slot){.buf = td_buf_ref(b), .kind = kind};
    return TD_OK;
}

td_status
td_tape_draw(td_tape *t, int rng, uint64_t key, uint64_t offset)
{
    TD_TRY(GROW(t->draws, 1));
    t->draws.at[t->draws.n++] = (draw){rng, key, offset};
    return TD_OK;
}

td_tapeinfo
td_tape_info(const td_tape *t)
{
    td_tapeinfo r = {.kernels = (int)t->ops.n};

    for (size_t i = 0; i < t->runs.n; i++)
        r.runs += t->runs.at[i].exec != NULL;
    for (size_t i = 0; i < t->ops.n; i++)
        r.patched += t->ops.at[i].npatch > 0;
    for (size_t i = 0; i < t->owned.n; i++)
        r.nbytes += t->owned.at[i]->capacity;
    return r;
}

td_tapework
td_tape_work(const td_tape *t, int i)
{
    const op *o = &t->ops.at[i];

    return (td_tapework){.kind = td_trace_kind_name(o->kind),
                         .name = o->name,
                         .nbytes = o->moved,
                         .site = o->kind == TD_TRACE_kernel ? o->dims.site : 0};
}
