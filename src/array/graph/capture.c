/* capture.c - recording a function of arrays and replaying it. */
#include "array/graph/capture.h"

#include "array/graph/internal.h"
#include "array/graph/values.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16 }; /* alignment that a GPU's vector kernels distinguish */

/* input - what each replay's array must match.  `lo` elements of its buffer lie before its
 * first element. */
typedef struct input {
    td_dtype dt;
    td_view view;   /* offset: 0 */
    int64_t lo;     /* from the first element to the lowest in memory, 0 or less */
    unsigned shift; /* bytes of the lowest element's address beyond a multiple of ALIGN */
    td_buf *buf;    /* the placeholder's memory */
} input;

/* outer - a storage from outside the capture, and the value whose memory the recorded work
 * uses. */
typedef struct outer {
    td_storage *s; /* a reference */
    td_node *node; /* a reference, counted in node->held */
    bool written;
} outer;

typedef struct generator {
    td_rng *rng; /* borrowed: the caller keeps it */
    uint64_t key, base, taken;
} generator;

/* result - where an array that the function returned lies: in which new buffer, with which
 * view. */
typedef struct result {
    int store;
    td_view view;
} result;

/* store - memory that each replay makes anew. */
typedef struct store {
    const td_buf *was; /* the recorded buffer; only compared, while the capture ends */
    td_dtype dt;
    td_view view;
    size_t nbytes;
} store;

struct td_capture {
    td_dev *dev;
    td_tape *tape;
    uint64_t serial;
    bool recording, used;
    int nin, nouter, nrng, nresult, nstore;
    input *in;
    outer *outer;
    generator *rng;
    result *result;
    store *store;
    td_array *fixed; /* nresult arrays that every replay fills; NULL: results are new */
};

_Thread_local td_capture *td_capture_current;

uint64_t
td_capture_serial(void)
{
    return td_capture_current ? td_capture_current->serial : 0;
}

static td_status
no_memory(void)
{
    return td_fail(TD_ERR_NOMEM, "graph: no host memory for its record");
}

/* Room for one more item after n items of `size` bytes.  NULL: no memory; the items stay. */
static void *
grown(void *at, int n, size_t size)
{
    return n & (n - 1) ? at : realloc(at, (n ? 2 * (size_t)n : 1) * size);
}

/* ---- inputs ---- */

static uintptr_t
lowest(const td_array *a, const td_buf *b, int64_t lo)
{
    return b->ptr + (uintptr_t)((a->view.offset + lo) * (int64_t)td_dtype_size(td_array_dtype(a)));
}

/* The array's shape and strides, with the first element at 0. */
static td_view
plain_view(const td_array *a)
{
    td_view v = a->view;

    v.offset = 0;
    return v;
}

/* An array over the placeholder's memory; a whole storage if the input is dense. */
static td_status
place_array(const input *x, int64_t offset, td_array *out)
{
    td_view v = x->view, all = {.shape = {.ndim = 1}, .stride = {1}};
    int64_t lo, hi;
    td_node *n;
    bool whole;

    td_view_extent(&v, &lo, &hi);
    v.offset = offset - x->lo;
    whole = v.offset == 0 && hi - lo == td_shape_size(&v.shape);
    all.shape.dim[0] = (int64_t)(x->buf->nbytes / td_dtype_size(x->dt));
    TD_TRY(td_node_leaf(x->buf, x->dt, whole ? &v : &all, &n));
    TD_TRY(td_array_of_node(n, out));
    out->store->readonly = true;
    out->view = v;
    out->whole = whole;
    return TD_OK;
}

static td_status
place_input(td_capture *c, const td_array *a, td_array *out)
{
    input *x = &c->in[c->nin];
    size_t item = td_dtype_size(td_array_dtype(a));
    int64_t hi;

    if (td_array_dev(a) != c->dev)
        return td_fail(TD_ERR_VALUE, "graph: inputs are on %s and on %s", td_dev_info(c->dev)->name,
                       td_dev_info(td_array_dev(a))->name);
    x->dt = td_array_dtype(a);
    x->view = plain_view(a);
    td_view_extent(&x->view, &x->lo, &hi);
    x->shift = (unsigned)(lowest(a, a->store->node->buf, x->lo) % ALIGN);
    if (x->shift % item)
        return td_fail(TD_ERR_VALUE,
                       "graph: an input's memory is not aligned to its elements; copy it");
    TD_TRY(td_buf_new(c->dev, NULL, (size_t)(hi - x->lo) * item + x->shift, &x->buf));
    c->nin++;
    return place_array(x, (int64_t)(x->shift / item), out);
}

static bool
capture_fits(const td_capture *c, const td_array *a, const input *x, uintptr_t *slot)
{
    td_view v = plain_view(a);
    uintptr_t at;

    if (td_array_dev(a) != c->dev || td_array_dtype(a) != x->dt || !td_view_eq(&v, &x->view))
        return false;
    at = lowest(a, a->store->node->buf, x->lo);
    *slot = at - x->shift;
    return at % ALIGN == x->shift;
}

/* ---- outer arrays ---- */

static bool
is_outer(const td_capture *c, const td_storage *s)
{
    if (s->owner == c->serial)
        return false;
    for (int i = 0; i < c->nin; i++)
        if (s->node->buf == c->in[i].buf)
            return false;
    return true;
}

static outer *
outer_of(td_capture *c, const td_storage *s)
{
    for (int i = 0; i < c->nouter; i++)
        if (c->outer[i].s == s)
            return &c->outer[i];
    return NULL;
}

/* Evaluates a value that was recorded before, outside the tape. */
static td_status
eval_outside(td_storage *s)
{
    td_tape *t = td_tape_pause();
    td_capture *c = td_capture_current;
    td_status st;

    td_capture_current = NULL;
    st = td_storage_eval(s);
    td_capture_current = c;
    td_tape_resume(t);
    return st;
}

/* Notes s as an outer array; s has been evaluated. */
static td_status
add_outer(td_capture *c, td_storage *s, bool written)
{
    td_array holder = {.store = s};
    outer *at = grown(c->outer, c->nouter, sizeof *at);

    if (!at)
        return no_memory();
    c->outer = at;
    c->outer[c->nouter++] = (outer){td_array_ref(&holder).store, td_node_ref(s->node), written};
    s->node->held++;
    return TD_OK;
}

td_status
td_capture_see(td_storage *s)
{
    td_capture *c = td_capture_current;

    if (!c || !is_outer(c, s) || outer_of(c, s))
        return TD_OK;
    if (s->dev != c->dev)
        return td_fail(TD_ERR_VALUE, "graph: it runs on %s and uses an array on %s",
                       td_dev_info(c->dev)->name, td_dev_info(s->dev)->name);
    TD_TRY(eval_outside(s));
    return add_outer(c, s, false);
}

void
td_capture_write(td_storage *s)
{
    outer *o = td_capture_current ? outer_of(td_capture_current, s) : NULL;

    if (o)
        o->written = true;
}

/* Does anybody hold the value besides captures and (if `own`) its storage? */
static bool
held_elsewhere(const td_node *n, bool own)
{
    return n->refs > n->held + own;
}

/* Before a replay: puts the storage's value where the recorded work expects it.  Memory that
 * is written must belong to it alone. */
static td_status
settle_outer(outer *o)
{
    td_storage *s = o->s;
    bool same;

    TD_TRY(td_storage_eval(s));
    same = s->node == o->node;
    if (same && !o->written)
        return TD_OK;
    if (!same && td_node_shared(s->node))
        return TD_SKIP;
    if (held_elsewhere(o->node, same)) {
        td_eval_others(); /* evaluate what was recorded of the old value */
        TD_TRY(td_storage_eval(s));
    }
    if (held_elsewhere(o->node, s->node == o->node))
        return TD_SKIP;
    if (s->node == o->node)
        return TD_OK;
    TD_TRY(td_eval_into(s->node, (td_dtype)s->dt, o->node->buf, &o->node->view));
    td_storage_set(s, td_node_ref(o->node));
    return TD_OK;
}

/* ---- generators ---- */

td_status
td_capture_draw(td_rng *g)
{
    td_capture *c = td_capture_current;
    int i = 0;

    if (!c || g->born == c->serial)
        return TD_OK; /* the generator was made inside: each call starts with the same numbers */
    while (i < c->nrng && (c->rng[i].rng != g || c->rng[i].key != g->key))
        i++;
    if (i == c->nrng) {
        generator *at = grown(c->rng, c->nrng, sizeof *at);

        if (!at)
            return no_memory();
        c->rng = at;
        c->rng[c->nrng++] = (generator){.rng = g, .key = g->key, .base = g->offset};
    }
    return td_tape_draw(c->tape, i, g->key, g->offset);
}

/* Rewinds the generators, so that the first replay draws the recorded numbers. */
static void
rewind_draws(td_capture *c)
{
    for (int i = 0; i < c->nrng; i++) {
        c->rng[i].taken = c->rng[i].rng->offset - c->rng[i].base;
        c->rng[i].rng->offset = c->rng[i].base;
    }
}

/* ---- recording ---- */

static td_status
start_held(td_capture *c, const td_array *const *in, int n, td_array *place)
{
    static uint64_t serial; /* guarded by the graph's lock */

    c->serial = ++serial;
    c->in = calloc((size_t)n + 1, sizeof *c->in);
    if (!c->in)
        return no_memory();
    TD_TRY(td_eval_all());
    for (int i = 0; i < n; i++)
        TD_TRY(td_array_use(in[i], false, &(td_buf *){NULL}));
    for (int i = 0; i < n; i++)
        TD_TRY(place_input(c, in[i], &place[i]));
    TD_TRY(td_tape_new(c->dev, &c->tape));
    c->recording = true;
    td_capture_current = c;
    return TD_OK;
}

static td_status
capture_start(td_capture *c, const td_array *const *in, int n, td_array *place)
{
    td_status st;
    td_hold h;

    td_hold_begin(&h);
    st = start_held(c, in, n, place);
    td_hold_end(&h);
    return st;
}

td_status
td_capture_begin(td_dev *d, const td_array *const *in, int n, td_capture **out, td_array *place)
{
    td_capture *c;
    td_status st;

    TD_TRY(td_tape_refuse("recording another graph"));
    c = calloc(1, sizeof *c);
    if (!c)
        return no_memory();
    c->dev = d;
    memset(place, 0, (size_t)n * sizeof *place);
    st = capture_start(c, in, n, place);
    if (st) {
        for (int i = 0; i < n; i++)
            td_array_unref(&place[i]);
        td_capture_free(c);
        return st;
    }
    *out = c;
    return TD_OK;
}

/* Copies the values that outer arrays received into the arrays' old memory, where they stay. */
static td_status
write_back(td_capture *c)
{
    for (int i = 0; i < c->nouter; i++) /* first do all work that reads the old values */
        TD_TRY(td_storage_eval(c->outer[i].s));
    for (int i = 0; i < c->nouter; i++) {
        outer *o = &c->outer[i];

        if (o->s->node != o->node)
            TD_TRY(td_eval_into(o->s->node, (td_dtype)o->s->dt, o->node->buf, &o->node->view));
    }
    for (int i = 0; i < c->nouter; i++)
        if (c->outer[i].s->node != c->outer[i].node)
            td_storage_set(c->outer[i].s, td_node_ref(c->outer[i].node));
    return TD_OK;
}

static void
capture_stop(td_capture *c)
{
    if (!c->recording)
        return;
    c->recording = false;
    for (int i = 0; i < c->nouter; i++)
        if (c->outer[i].s->node != c->outer[i].node)
            td_storage_set(c->outer[i].s, td_node_ref(c->outer[i].node));
    td_capture_current = NULL;
    td_tape_stop(c->tape);
    td_pending_drop(c->serial);
    rewind_draws(c);
}

/* A result in memory of the capture's own.  A value from outside is copied by the graph. */
static td_status
own_result(const td_capture *c, const td_array *a, td_array *out)
{
    const td_array *list[] = {out};

    if (td_array_dev(a) != c->dev)
        return td_fail(TD_ERR_VALUE, "graph: it runs on %s and gives an array on %s",
                       td_dev_info(c->dev)->name, td_dev_info(td_array_dev(a))->name);
    if (a->store->owner == c->serial) {
        TD_TRY(td_storage_eval(a->store));
        if (td_tape_owns(c->tape, a->store->node->buf)) {
            *out = td_array_ref(a);
            return TD_OK;
        }
    }
    TD_TRY(td_array_copy(a, out));
    return td_array_eval(list, 1);
}

static td_status
add_store(td_capture *c, const td_storage *s)
{
    store *x = &c->store[c->nstore++];

    *x = (store){.was = s->node->buf,
                 .dt = (td_dtype)s->dt,
                 .view = s->node->view,
                 .nbytes = s->node->buf->nbytes};
    return td_tape_slot(c->tape, s->node->buf, TD_SLOT_OUT);
}

static td_status
note_results(td_capture *c, td_array *own, bool fixed)
{
    for (int i = 0; i < c->nresult; i++) {
        int k = 0;

        c->result[i].view = own[i].view;
        if (fixed) { /* a fixed result is handled like an outer array that each replay writes */
            if (!outer_of(c, own[i].store))
                TD_TRY(add_outer(c, own[i].store, true));
            continue;
        }
        while (k < c->nstore && c->store[k].was != own[i].store->node->buf)
            k++;
        c->result[i].store = k;
        if (k == c->nstore)
            TD_TRY(add_store(c, own[i].store));
    }
    return TD_OK;
}

static td_status
capture_finish(td_capture *c, const td_array *const *out, td_array *own, bool fixed)
{
    for (int i = 0; i < c->nresult; i++)
        TD_TRY(own_result(c, out[i], &own[i]));
    TD_TRY(td_eval_all()); /* pending work of this capture: what it writes to outer arrays */
    TD_TRY(write_back(c));
    capture_stop(c);
    for (int i = 0; i < c->nin; i++)
        TD_TRY(td_tape_slot(c->tape, c->in[i].buf, TD_SLOT_IN));
    TD_TRY(note_results(c, own, fixed));
    TD_TRY(td_tape_finish(c->tape));
    for (int i = 0; i < c->nin; i++) {
        td_buf_unref(c->in[i].buf);
        c->in[i].buf = NULL;
    }
    return TD_OK;
}

td_status
td_capture_end(td_capture *c, const td_array *const *out, int n, bool fixed)
{
    td_array *own = calloc((size_t)n + 1, sizeof *own);
    td_status st = own ? TD_OK : no_memory();

    c->nresult = n;
    c->result = calloc((size_t)n + 1, sizeof *c->result);
    c->store = calloc((size_t)n + 1, sizeof *c->store);
    if (!c->result || !c->store)
        st = no_memory();
    if (!st)
        st = capture_finish(c, out, own, fixed);
    capture_stop(c);
    if (!st && fixed) {
        c->fixed = own;
        return TD_OK;
    }
    for (int i = 0; own && i < n; i++)
        td_array_unref(&own[i]);
    free(own);
    return st;
}

void
td_capture_free(td_capture *c)
{
    if (!c)
        return;
    capture_stop(c);
    for (int i = 0; i < c->nouter; i++) {
        td_array holder = {.store = c->outer[i].s};

        c->outer[i].node->held--;
        td_node_unref(c->outer[i].node);
        td_array_unref(&holder);
    }
    for (int i = 0; i < c->nin; i++)
        td_buf_unref(c->in[i].buf);
    for (int i = 0; c->fixed && i < c->nresult; i++)
        td_array_unref(&c->fixed[i]);
    td_tape_free(c->tape);
    free(c->fixed);
    free(c->in);
    free(c->outer);
    free(c->rng);
    free(c->result);
    free(c->store);
    free(c);
}

/* ---- replaying ---- */

/* Allocates new memory for the results, each with an array over the whole of it. */
static td_status
make_stores(const td_capture *c, td_array *made, uintptr_t *slot)
{
    for (int i = 0; i < c->nstore; i++) {
        const store *x = &c->store[i];
        td_buf *b;
        td_node *n;
        td_status st;

        TD_TRY(td_buf_new(c->dev, NULL, x->nbytes, &b));
        slot[i] = b->ptr;
        st = td_node_leaf(b, x->dt, &x->view, &n);
        td_buf_unref(b);
        TD_TRY(st);
        TD_TRY(td_array_of_node(n, &made[i]));
    }
    return TD_OK;
}

static void
give_results(const td_capture *c, const td_array *made, td_array *out)
{
    for (int i = 0; i < c->nresult; i++)
        out[i] = c->fixed ? td_array_ref(&c->fixed[i])
                          : td_array_view(&made[c->result[i].store], &c->result[i].view);
}

static td_status
capture_run(td_capture *c, const uintptr_t *slot, uint64_t (*rng)[2])
{
    td_tapeplay p = {.slot = slot, .rng = (const uint64_t(*)[2])rng};
    void *token;
    td_status st;

    for (int i = 0; i < c->nrng; i++) {
        rng[i][0] = c->rng[i].rng->key;
        rng[i][1] = c->rng[i].rng->offset - c->rng[i].base;
        c->rng[i].rng->offset += c->rng[i].taken;
    }
    token = td_graph_unlock();
    st = td_tape_play(c->tape, td_dev_stream(c->dev), &p);
    td_graph_lock(token);
    return st;
}

td_status
td_capture_play(td_capture *c, const td_array *const *in, int n, td_array *out)
{
    uintptr_t few[16], *slot = few;
    uint64_t(*rng)[2] = NULL;
    td_array one[4] = {{0}}, *made = one;
    td_status st = TD_OK;
    td_hold h;

    if (n != c->nin)
        return TD_SKIP;
    TD_TRY(td_tape_refuse("replaying another graph"));
    if (n + c->nstore > 16)
        slot = calloc((size_t)(n + c->nstore), sizeof *slot);
    if (c->nstore > 4)
        made = calloc((size_t)c->nstore, sizeof *made);
    if (c->nrng)
        rng = calloc((size_t)c->nrng, sizeof *rng);
    if (!slot || !made || (c->nrng && !rng))
        st = no_memory();
    td_hold_begin(&h);
    for (int i = 0; i < n && !st; i++) {
        st = td_array_use(in[i], false, &(td_buf *){NULL});
        if (!st && !capture_fits(c, in[i], &c->in[i], &slot[i]))
            st = TD_SKIP;
    }
    for (int i = 0; i < c->nouter && !st; i++)
        st = settle_outer(&c->outer[i]);
    if (!st)
        st = make_stores(c, made, slot + n);
    if (!st)
        st = capture_run(c, slot, rng);
    td_hold_end(&h);
    if (!st)
        give_results(c, made, out);
    for (int i = 0; made && i < c->nstore; i++)
        td_array_unref(&made[i]);
    if (slot != few)
        free(slot);
    if (made != one)
        free(made);
    free(rng);
    return st;
}

td_captureinfo
td_capture_info(const td_capture *c)
{
    return (td_captureinfo){
        .tape = td_tape_info(c->tape), .results = c->nresult, .outer = c->nouter};
}

td_tapework
td_capture_work(const td_capture *c, int i)
{
    return td_tape_work(c->tape, i);
}
