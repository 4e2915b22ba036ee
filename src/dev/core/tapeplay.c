/* tapeplay.c - makes recorded work ready, and replays it. */
#include "dev/core/tapeparts.h"

#include <string.h>

enum {
    RUN_MIN =
        3, /* from this many pieces on, one graph is quicker: its launch takes as long as two */
    TOUCHES_MAX = 3, /* when more pieces than this use a slot, copying it can pay */
};

#define COPIED_MAX ((size_t)1 << 20) /* most bytes of a slot that is copied */

/* ---- finding what a replay changes ---- */

static bool
is_address(const op *o, int i)
{
    int first = o->dims.first, last = o->dims.last;

    return o->kind != TD_TRACE_kernel || (!first && !last) || i < first || i >= o->nword - last;
}

/* The slot whose memory contains the address; -1: none. */
static int
slot_at(const td_tape *t, uint64_t at)
{
    for (size_t i = 0; i < t->slots.n; i++)
        if (at - t->slots.at[i].buf->ptr < t->slots.at[i].buf->nbytes)
            return (int)i;
    return -1;
}

static void
count_touches(td_tape *t)
{
    for (size_t k = 0; k < t->ops.n; k++) {
        const op *o = &t->ops.at[k];
        int before = -1;

        for (int i = 0; i < o->nword; i++) {
            int s = is_address(o, i) ? slot_at(t, t->words.at[o->word + (size_t)i]) : -1;

            if (s >= 0 && s != before)
                t->slots.at[s].touches++;
            before = s >= 0 ? s : before;
        }
    }
    for (size_t i = 0; i < t->slots.n; i++) {
        slot *s = &t->slots.at[i];

        s->copied =
            t->dev->ops->graph_begin && s->touches > TOUCHES_MAX && s->buf->nbytes <= COPIED_MAX;
    }
}

static td_status
add_patch(td_tape *t, op *o, patch p)
{
    TD_TRY(GROW(t->patches, 1));
    t->patches.at[t->patches.n++] = p;
    o->npatch++;
    return TD_OK;
}

static const draw *
draw_at(const td_tape *t, const uint64_t *word)
{
    for (size_t i = 0; i < t->draws.n; i++)
        if (t->draws.at[i].key == word[0] && t->draws.at[i].offset == word[1])
            return &t->draws.at[i];
    return NULL;
}

static td_status
find_patches(td_tape *t, op *o)
{
    const uint64_t *w = t->words.at + o->word;

    o->patch = t->patches.n;
    for (int i = 0; i < o->nword; i++) {
        int s = is_address(o, i) ? slot_at(t, w[i]) : -1;
        const draw *d = i + 1 < o->nword ? draw_at(t, w + i) : NULL;

        if (s >= 0 && !t->slots.at[s].copied)
            TD_TRY(add_patch(t, o, (patch){PATCH_SLOT, i, s, w[i] - t->slots.at[s].buf->ptr}));
        if (d) {
            TD_TRY(add_patch(t, o, (patch){PATCH_KEY, i, d->rng, 0}));
            TD_TRY(add_patch(t, o, (patch){PATCH_OFFSET, i + 1, d->rng, d->offset}));
        }
    }
    return TD_OK;
}

/* ---- replaying ---- */

/* The op's words with the replay's patches. */
static const uint64_t *
words_now(const td_tape *t, const op *o, const td_tapeplay *p, uint64_t *room)
{
    if (!o->npatch)
        return t->words.at + o->word;
    memcpy(room, t->words.at + o->word, (size_t)o->nword * sizeof *room);
    for (int i = 0; i < o->npatch; i++) {
        const patch *x = &t->patches.at[o->patch + (size_t)i];

        switch (x->kind) {
        case PATCH_SLOT:   room[x->word] = p->slot[x->of] + x->add; break;
        case PATCH_KEY:    room[x->word] = p->rng[x->of][0]; break;
        case PATCH_OFFSET: room[x->word] = p->rng[x->of][1] + x->add; break;
        }
    }
    return room;
}

/* Runs the op's collectives with the addresses w. */
static td_status
do_calls(const td_tape *t, const op *o, td_stream *s, const uint64_t *w)
{
    td_comm_call calls[TD_TAPE_CALLS];
    int n = o->nword / 2;

    for (int i = 0; i < n; i++) {
        calls[i] = t->calls.at[o->call + (size_t)i];
        calls[i].src = w[2 * i];
        calls[i].dst = w[2 * i + 1];
        calls[i].stream = s;
    }
    return td_comm_run(calls, n);
}

static td_status
do_op(const td_tape *t, const op *o, td_stream *s, const td_tapeplay *p, bool seen)
{
    uint64_t room[TD_TAPE_WORDS];
    const uint64_t *w = words_now(t, o, p, room);
    td_gemm g;
    td_fourier f;
    td_work k = {
        .kind = o->kind, .func = o->func, .dims = &o->dims, .byte = o->byte, .nbytes = o->nbytes};

    switch (o->kind) {
    case TD_TRACE_kernel:
        k.args = w;
        k.narg = o->narg;
        break;
    case TD_TRACE_gemm:
        g = o->gemm;
        g.a = w[0];
        g.b = w[1];
        g.c = w[2];
        k.gemm = &g;
        break;
    case TD_TRACE_fourier:
        f = o->fourier;
        f.in.at = w[0];
        f.out.at = w[1];
        f.work = w[2];
        k.fourier = &f;
        break;
    case TD_TRACE_collective: return do_calls(t, o, s, w);
    case TD_TRACE_copy:       k.src = w[1]; /* fall through */
    default:                  k.dst = w[0];
    }
    return seen ? td_work_do(s, &k) : td_work_run(s, &k);
}

/* Makes the run's graph.  If that fails, the run is launched piece by piece. */
static void
make_exec(const td_tape *t, run *r)
{
    td_stream tmp = {.dev = t->dev};
    td_status st;

    if (!t->dev->ops->graph_begin || t->dev->sync || r->n < RUN_MIN ||
        t->dev->ops->graph_begin(&tmp))
        return;
    st = TD_OK;
    for (size_t i = 0; i < r->n && !st; i++)
        st = do_op(t, &t->ops.at[r->first + i], &tmp, NULL, false);
    if (t->dev->ops->graph_end(&tmp, &r->exec))
        r->exec = NULL;
    if (st && r->exec) { /* the graph holds only a part of the run */
        t->dev->ops->graph_free(t->dev, r->exec);
        r->exec = NULL;
    }
}

/* Must the op be launched by itself?  NCCL's work could go into a CUDA graph, but the graph
 * would have to be freed before its comm; after a graph, its call costs the host no more than
 * one kernel. */
static bool
is_alone(const op *o)
{
    return o->npatch || o->kind == TD_TRACE_collective;
}

static td_status
find_runs(td_tape *t)
{
    for (size_t i = 0; i < t->ops.n;) {
        run r = {.first = i, .n = 1};

        while (!is_alone(&t->ops.at[i]) && i + r.n < t->ops.n && !is_alone(&t->ops.at[i + r.n]))
            r.n++;
        for (size_t k = 0; k < r.n; k++)
            r.nbytes += t->ops.at[i + k].dims.nbytes;
        if (!is_alone(&t->ops.at[i]))
            make_exec(t, &r);
        i += r.n;
        TD_TRY(GROW(t->runs, 1));
        t->runs.at[t->runs.n++] = r;
    }
    return TD_OK;
}

/* A slot that is not copied needs its stand-in buffer no more. */
static void
drop_slot(td_tape *t, slot *s)
{
    for (size_t i = 0; i < t->owned.n; i++)
        if (t->owned.at[i] == s->buf) {
            td_buf_unref(s->buf);
            t->owned.at[i] = t->owned.at[--t->owned.n];
        }
    td_buf_unref(s->buf);
    s->buf = NULL;
}

td_status
td_tape_finish(td_tape *t)
{
    TD_ASSERT(!t->recording);
    /* the array has stopped growing, so its addresses are final */
    for (size_t i = 0; i < t->ops.n; i++)
        if (t->ops.at[i].dims.offset)
            t->ops.at[i].dims.offset = t->offsets.at + t->ops.at[i].offset;
    count_touches(t);
    for (size_t i = 0; i < t->ops.n; i++)
        TD_TRY(find_patches(t, &t->ops.at[i]));
    TD_TRY(find_runs(t));
    for (size_t i = 0; i < t->slots.n; i++)
        if (!t->slots.at[i].copied)
            drop_slot(t, &t->slots.at[i]);
    return TD_OK;
}

/* Copies the slots that are not patched: inputs before the work, results after it. */
static td_status
copy_slots(const td_tape *t, td_stream *s, const td_tapeplay *p, td_slotkind kind)
{
    for (size_t i = 0; i < t->slots.n; i++) {
        const slot *x = &t->slots.at[i];
        bool in = kind == TD_SLOT_IN;

        if (x->copied && x->kind == kind)
            TD_TRY(td_copy(s, in ? x->buf->ptr : p->slot[i], in ? p->slot[i] : x->buf->ptr,
                           x->buf->nbytes));
    }
    return TD_OK;
}

static td_status
do_run(const td_tape *t, const run *r, td_stream *s, const td_tapeplay *p)
{
    td_span span;
    td_status st = TD_OK;

    if (r->exec) {
        td_span_open(&span, TD_TRACE_graph, t->dev, s);
        st = t->dev->ops->graph_launch(s, r->exec);
        td_span_close(&span, st, "graph", r->nbytes);
        return st;
    }
    for (size_t i = 0; i < r->n && !st; i++)
        st = do_op(t, &t->ops.at[r->first + i], s, p, true);
    return st;
}

td_status
td_tape_play(td_tape *t, td_stream *s, const td_tapeplay *p)
{
    td_status st;

    pthread_mutex_lock(&t->playing); /* all replays share the tape's temporaries */
    st = copy_slots(t, s, p, TD_SLOT_IN);
    for (size_t i = 0; i < t->runs.n && !st; i++)
        st = do_run(t, &t->runs.at[i], s, p);
    if (!st)
        st = copy_slots(t, s, p, TD_SLOT_OUT);
    pthread_mutex_unlock(&t->playing);
    return st;
}
