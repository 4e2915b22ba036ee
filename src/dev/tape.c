/* tape.c - recording work and doing it again. */
#include "dev/tape.h"

#include "dev/work.h"

#include <stdlib.h>
#include <string.h>

enum {
    RUN_MIN =
        3, /* pieces of work that are quicker as one: a graph's launch takes about two's time */
    TOUCHES_MAX = 3, /* pieces that use a slot, beyond which copying it can pay */
    WORDS_MAX = TD_TAPE_CALLS * 2,
};

#define COPIED_MAX ((size_t)1 << 20) /* bytes of a slot that is copied */

/* op - one recorded piece of work.  Its arguments and addresses are words of the tape. */
typedef struct op {
    td_trace_kind kind;
    td_func *func;
    td_dims dims;
    union {
        td_gemm gemm;
        td_fourier fourier;
        size_t call; /* a collective's first */
    };
    int byte;
    size_t nbytes;
    size_t word;
    int nword;
    int narg;      /* a kernel's */
    size_t offset; /* the first of narg, where its arguments lie side by side */
    size_t patch;  /* the first of npatch */
    int npatch;
    td_stream *s;
} op;

typedef enum patch_kind { PATCH_SLOT, PATCH_KEY, PATCH_OFFSET } patch_kind;

/* patch - a word that a replay changes: a slot's address plus `add`, or a generator's key or offset. */
typedef struct patch {
    patch_kind kind;
    int word; /* of its op */
    int of;   /* slot or generator */
    uint64_t add;
} patch;

typedef struct slot {
    td_buf *buf; /* one reference */
    td_slotkind kind;
    int touches; /* ops that name it */
    bool copied; /* replays copy it instead of patching */
} slot;

typedef struct draw {
    int rng;
    uint64_t key, offset;
} draw;

/* run - neighbouring ops: one that is patched or a collective, or some that are neither, with or without a graph. */
typedef struct run {
    size_t first, n, nbytes;
    void *exec; /* NULL: piece by piece */
} run;

/* A growing array; `cap` in items. */
#define LIST(type)                                                                                 \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, cap;                                                                             \
    }

struct td_tape {
    td_dev *dev;
    bool recording;
    pthread_mutex_t playing;
    LIST(op) ops;
    LIST(uint64_t) words;
    LIST(uint32_t) offsets; /* of arguments that lie side by side */
    LIST(td_comm_call) calls; /* of collectives: a reference on each comm */
    LIST(patch) patches;
    LIST(td_buf *) owned;
    LIST(slot) slots;
    LIST(draw) draws;
    LIST(run) runs;
};

_Thread_local td_tape *td_tape_current;

/* Room for `more` items behind n.  at: the address of the pointer to them. */
static td_status
grow(void *at, size_t *cap, size_t n, size_t more, size_t size)
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

#define GROW(list, more) grow(&(list).at, &(list).cap, (list).n, (more), sizeof *(list).at)

/* ---- life ---- */

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
add_words(td_tape *t, op *o, const uint64_t *words, int n)
{
    o->word = t->words.n;
    o->nword = n;
    TD_TRY(GROW(t->words, (size_t)n));
    if (n)
        memcpy(t->words.at + t->words.n, words, (size_t)n * sizeof *words);
    t->words.n += (size_t)n;
    return TD_OK;
}

/* Arguments that lie side by side are kept as the words that they fill, with where each begins. */
static td_status
add_arguments(td_tape *t, op *o, const td_work *w)
{
    bool packed = w->dims->offset != NULL;
    int n = packed ? (int)((w->dims->packed + 7) / 8) : w->narg;

    o->narg = w->narg;
    if (n > WORDS_MAX)
        return td_fail(TD_ERR_VALUE, "graph: %s: %d words of arguments, at most %d are possible",
                       w->func->name, n, WORDS_MAX);
    if (packed) {
        o->offset = t->offsets.n;
        TD_TRY(GROW(t->offsets, (size_t)w->narg));
        if (w->narg)
            memcpy(t->offsets.at + t->offsets.n, w->dims->offset,
                   (size_t)w->narg * sizeof *w->dims->offset);
        t->offsets.n += (size_t)w->narg;
    }
    return add_words(t, o, w->args, n);
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

/* A collective is not done: the other members are recording theirs. */
static td_status
add_calls(td_tape *t, op *o, const td_comm_set *s)
{
    uint64_t words[WORDS_MAX];

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
    return add_words(t, o, words, 2 * s->n);
}

/* A library's work is done once besides: so it is known that the library does it, and has set itself up. */
static td_status
words_of(td_tape *t, op *o, td_stream *s, const td_work *w)
{
    switch (w->kind) {
    case TD_TRACE_kernel:
        o->func = w->func;
        o->dims = *w->dims;
        return add_arguments(t, o, w);
    case TD_TRACE_copy: return add_words(t, o, (uint64_t[]){w->dst, w->src}, 2);
    case TD_TRACE_fill: return add_words(t, o, (uint64_t[]){w->dst}, 1);
    case TD_TRACE_gemm:
        TD_TRY(td_work_run(s, w));
        o->gemm = *w->gemm;
        return add_words(t, o, (uint64_t[]){w->gemm->a, w->gemm->b, w->gemm->c}, 3);
    case TD_TRACE_fourier: {
        size_t work;

        TD_TRY(td_fourier_plan(s, w->fourier, true, &work));
        TD_TRY(td_work_run(s, w));
        o->fourier = *w->fourier;
        return add_words(t, o,
                         (uint64_t[]){w->fourier->in.at, w->fourier->out.at, w->fourier->work}, 3);
    }
    case TD_TRACE_collective: return add_calls(t, o, w->comm);
    default: return refuse_kind(w->kind);
    }
}

td_status
td_tape_add(td_tape *t, td_stream *s, const td_work *w)
{
    op o = {.kind = w->kind, .byte = w->byte, .nbytes = w->nbytes, .s = s};

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

/* ---- what a replay changes ---- */

static bool
is_address(const op *o, int i)
{
    int first = o->dims.first, last = o->dims.last;

    return o->kind != TD_TRACE_kernel || (!first && !last) || i < first || i >= o->nword - last;
}

/* The slot in whose memory the address lies; -1: none. */
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

/* ---- doing it ---- */

/* The op's words, patched. */
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

/* With the addresses w. */
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
    uint64_t room[WORDS_MAX];
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

/* The run as one; where that cannot be, piece by piece it stays. */
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
    if (st && r->exec) { /* part of it was kept */
        t->dev->ops->graph_free(t->dev, r->exec);
        r->exec = NULL;
    }
}

/* Is it launched by itself?  NCCL's work could stand in a CUDA graph, which would then have to go before its comm
 * can; behind a graph its call costs the host no more than one kernel. */
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

/* What stands in for others is used no more. */
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
    for (size_t i = 0; i < t->ops.n; i++) /* they have stopped moving */
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

/* Slots that are copied: the inputs before, the results after. */
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

    pthread_mutex_lock(&t->playing); /* its temporaries serve one replay after the other */
    st = copy_slots(t, s, p, TD_SLOT_IN);
    for (size_t i = 0; i < t->runs.n && !st; i++)
        st = do_run(t, &t->runs.at[i], s, p);
    if (!st)
        st = copy_slots(t, s, p, TD_SLOT_OUT);
    pthread_mutex_unlock(&t->playing);
    return st;
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
