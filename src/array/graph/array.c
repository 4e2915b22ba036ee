/* array.c - storages and views on them. */
#include "array/graph/array.h"

#include "array/graph/capture.h"
#include "array/graph/internal.h"
#include "array/graph/repeat.h"
#include "array/graph/values.h"
#include "dev/core/trace.h"

#include <stdlib.h>
#include <string.h>

/* All storages whose node may be pending, oldest first. */
static struct {
    td_storage *first, *last;
    int64_t count;
    size_t orphaned; /* bytes that only pending nodes keep alive, since the last full evaluation */
} pending;

static _Thread_local int holding; /* this thread evaluates claimed nodes that others may wait for */

void
td_pending_hold(bool hold)
{
    holding += hold ? 1 : -1;
}

static void
unlist(td_storage *s)
{
    if (!s->listed)
        return;
    *(s->prev ? &s->prev->next : &pending.first) = s->next;
    *(s->next ? &s->next->prev : &pending.last) = s->prev;
    s->prev = s->next = NULL;
    s->listed = false;
    pending.count--;
}

static void
list(td_storage *s)
{
    s->lister = td_capture_serial();
    if (s->listed)
        return;
    s->prev = pending.last;
    *(pending.last ? &pending.last->next : &pending.first) = s;
    pending.last = s;
    s->listed = true;
    pending.count++;
}

td_storage *
td_pending_next(const td_storage *s)
{
    uint64_t own = td_capture_serial();
    td_storage *r = s ? s->next : pending.first;

    while (r && r->lister != own)
        r = r->next;
    return r;
}

/* The oldest pending storage that the caller may evaluate.  What a capture records belongs to
 * that capture alone, and a capture does not evaluate what was recorded outside. */
static td_storage *
oldest(void)
{
    return holding ? NULL : td_pending_next(NULL);
}

static td_status
eval_one(td_storage *s)
{
    td_node *n = td_node_ref(s->node);
    td_status st = TD_OK;

    unlist(s);
    /* leave values that stream from the host to those who ask for them */
    if (n->kind != TD_N_HOST && td_chunk_fits(n))
        st = td_eval_node(n);
    td_node_unref(n);
    return st;
}

td_status
td_eval_all(void)
{
    td_storage *s;

    while ((s = oldest()))
        TD_TRY(eval_one(s));
    pending.orphaned = 0;
    return TD_OK;
}

void
td_pending_drop(uint64_t lister)
{
    for (td_storage *s = pending.first, *next; s; s = next) {
        next = s->next;
        if (s->lister == lister)
            unlist(s);
    }
}

void
td_eval_others(void)
{
    while (td_eval_all()) /* a storage that fails has left the list */
        ;
}

/* Evaluates the oldest pending storages until their number and memory are within bounds. */
static void
bound_pending(td_dev *d)
{
    if (pending.orphaned && pending.orphaned > td_mem_bound(d) / 8)
        td_eval_others();
    for (td_storage *s; pending.count > TD_PENDING_MAX && (s = oldest());)
        (void)eval_one(s); /* whoever looks at the value gets the failure */
}

/* Drops one name of the node, and counts the memory that only pending nodes keep alive from
 * now on. */
static void
drop_node(td_node *n)
{
    n->named--;
    if (n->kind == TD_N_LEAF && n->refs > 1 && !n->named)
        pending.orphaned += n->buf->nbytes;
    td_node_unref(n);
}

void
td_storage_set(td_storage *s, td_node *n)
{
    td_node *old = s->node;

    td_capture_write(s);
    n->named++;
    s->node = n;
    if (td_node_pending(n) && n->kind != TD_N_HOST &&
        !td_node_spilled(n)) /* a value on the host waits for nothing */
        list(s);
    else
        unlist(s);
    if (old)
        drop_node(old);
}

static td_status
storage_new(td_node *n, td_storage **out)
{
    /* malloc reuses what has just been freed; calloc would not */
    td_storage *s = malloc(sizeof *s);

    if (!s) {
        td_node_unref(n);
        return td_fail(TD_ERR_NOMEM, "array: out of host memory");
    }
    *s = (td_storage){.refs = 1, .dt = n->dt, .dev = n->dev, .owner = td_capture_serial()};
    td_storage_set(s, n);
    *out = s;
    return TD_OK;
}

static void
storage_unref(td_storage *s)
{
    if (!s || --s->refs)
        return;
    unlist(s);
    drop_node(s->node);
    free(s);
}

td_status
td_array_of_node(td_node *n, td_array *out)
{
    td_view_set(&out->view, &n->view);
    out->whole = true;
    out->dt = n->dt;
    return storage_new(n, &out->store);
}

td_array
td_array_ref(const td_array *a)
{
    a->store->refs++;
    return *a;
}

void
td_array_unref(td_array *a)
{
    storage_unref(a->store);
    a->store = NULL;
}

td_array
td_array_view(const td_array *a, const td_view *v)
{
    td_array r;

    r.store = a->store;
    r.dt = a->dt;
    td_view_set(&r.view, v);
    r.store->refs++;
    r.whole = a->dt == a->store->dt && td_view_eq(v, &a->store->node->view);
    return r;
}

bool
td_node_shared(const td_node *n)
{
    return n->buf &&
           (atomic_load(&n->buf->flags) & TD_BUF_SHARED || atomic_load(&n->buf->lent) > 0);
}

/* ---- growth ---- */

static uint32_t recent_cuts[16];
static unsigned next_cut;

static bool
cut_before(const td_node *n)
{
    for (unsigned i = 0; i < 16; i++)
        if (recent_cuts[i] == n->sig[TD_SIGDEPTH - 1])
            return true;
    return false;
}

void
td_walk_begin(td_walk *w)
{
    w->n = 0;
}

void
td_walk_add(td_walk *w, td_node *n)
{
    if (!td_node_pending(n) || td_node_spilled(n) || n->slot ||
        w->n == (int)(sizeof w->node / sizeof *w->node))
        return;
    n->slot = 1;
    w->node[w->n++] = n;
    for (int i = 0; i < n->nsrc; i++)
        td_walk_add(w, n->src[i]);
}

void
td_walk_end(td_walk *w)
{
    for (int i = 0; i < w->n; i++)
        w->node[i]->slot = 0;
}

void
td_walk_under(td_walk *w, td_node *n)
{
    td_walk_begin(w);
    td_walk_add(w, n);
    td_walk_end(w);
}

static bool
walk_is_full(const td_walk *w)
{
    return w->n == (int)(sizeof w->node / sizeof *w->node);
}

/* Counts the pending nodes under n, n included, each once, as far as a walk goes. */
static uint32_t
weigh_one(td_node *n)
{
    td_walk w;

    td_walk_under(&w, n);
    if (w.n && !walk_is_full(&w)) {
        n->weight = (uint32_t)w.n;
        n->oldest = n->born;
        for (int i = 1; i < w.n; i++)
            if ((int32_t)(w.node[i]->born - n->oldest) < 0)
                n->oldest = w.node[i]->born;
    }
    return (uint32_t)w.n;
}

/* The weight of a node over these sources. */
static uint32_t
weigh(td_node *const *src, int n, td_walk *w)
{
    for (int i = 0; i < n; i++)
        weigh_one(src[i]);
    td_walk_begin(w);
    for (int i = 0; i < n; i++)
        td_walk_add(w, src[i]);
    td_walk_end(w);
    return 1 + (uint32_t)w->n;
}

/* Chooses the node to evaluate: the heaviest value that Python holds, but first one whose
 * expression was cut at before, so that cuts and kernels repeat with the user's loop.  Without
 * such values the heaviest source.  NULL: nothing is pending. */
static td_node *
choose_cut(const td_walk *w, td_node *const *src, int n)
{
    td_node *best = NULL;
    bool best_seen = false;

    for (int i = 0; i < w->n; i++) {
        td_node *c = w->node[i];
        bool seen;

        if (!c->named || c->kind == TD_N_HOST)
            continue;
        seen = weigh_one(c) * 4 >= TD_WEIGHT_MAX && cut_before(c);
        if (!best || seen > best_seen || (seen == best_seen && c->weight > best->weight)) {
            best = c;
            best_seen = seen;
        }
    }
    for (int i = 0; i < n && (!best || !best->named); i++)
        if (td_node_pending(src[i]) && src[i]->kind != TD_N_HOST &&
            (!best || src[i]->weight > best->weight))
            best = src[i];
    return best;
}

/* Was it found that the graph over these sources may grow on, and is it not as old yet? */
static bool
has_room(td_node *const *src, int n)
{
    uint32_t age = 0, room = 0;

    for (int i = 0; i < n; i++) {
        uint32_t own = td_node_clock() - src[i]->oldest + 1;

        if (!td_node_pending(src[i]))
            continue;
        age = age > own ? age : own;
        room = room > src[i]->room ? room : src[i]->room;
    }
    return age < room;
}

/* Have they grown by the rounds of a loop?  Then one kernel with a loop computes them, and the more rounds it has the
 * better. */
static bool
may_grow(td_node *const *src, int n, uint32_t w)
{
    td_node *root[TD_MAXSRC];
    uint32_t room;
    int nroot = 0;

    for (int i = 0; i < n; i++)
        if (td_node_pending(src[i]))
            root[nroot++] = src[i];
    if (!nroot || w > TD_REPEAT_NODES || td_capture_now() ||
        !(room = td_repeat_room(root, nroot, w)))
        return false;
    for (int i = 0; i < nroot; i++)
        root[i]->room = room;
    return true;
}

/* An upper bound on the pending nodes of a node over these sources. */
static uint32_t
bound_over(td_node *const *src, int n)
{
    uint32_t sum = 1, born = 0, oldest = 0;
    bool any = false;

    for (int i = 0; i < n; i++) {
        if (!td_node_pending(src[i]))
            continue;
        sum += src[i]->weight;
        born = !any || (int32_t)(src[i]->born - born) > 0 ? src[i]->born : born;
        oldest = !any || (int32_t)(src[i]->oldest - oldest) < 0 ? src[i]->oldest : oldest;
        any = true;
    }
    return sum < born - oldest + 2 ? sum : born - oldest + 2;
}

td_status
td_cut(td_node *const *src, int n)
{
    td_walk walk;
    td_node *best;
    uint32_t bound = bound_over(src, n), w;

    if (bound <= TD_WEIGHT_MAX || has_room(src, n))
        return TD_OK;
    w = weigh(src, n, &walk); /* sources that were evaluated meanwhile count no more */
    w = walk_is_full(&walk) ? bound : w;
    if (w <= TD_WEIGHT_MAX || has_room(src, n) || may_grow(src, n, w))
        return TD_OK;
    while (weigh(src, n, &walk) > TD_WEIGHT_MAX && (best = choose_cut(&walk, src, n))) {
        if (!cut_before(best))
            recent_cuts[next_cut++ % 16] = best->sig[TD_SIGDEPTH - 1];
        TD_TRY(td_eval_node(best));
    }
    return TD_OK;
}

td_status
td_record(td_node *n, td_array *out)
{
    bool now = false;
    td_status st = td_now(n);

    td_eval_count_recorded();
    if (!st)
        return td_array_of_node(n, out);
    if (st != TD_SKIP) {
        td_node_unref(n);
        return st;
    }
    st = TD_OK;
    td_node_seal(n);
    for (int i = 0; i < n->nsrc; i++)
        now |= td_node_shared(n->src[i]);
    bound_pending(n->dev);
    if (td_fp_asked() && !td_capture_now() && td_fp_applies(n))
        n->watch = td_fp_watching;
    if (n->watch && !n->hosted)
        st = td_fp_check_node(n);
    else if (now)
        st = td_eval_node(n);
    if (st) {
        td_node_unref(n);
        return st;
    }
    return td_array_of_node(n, out);
}

/* ---- values and memory ---- */

/* Out of memory: evaluates the other pending nodes first, since they may be the only owners of
 * buffers.  Then tries n once more. */
static td_status
pressed(td_node *n, td_status (*eval)(td_node *))
{
    td_status st;

    td_node_ref(n);
    st = eval(n);
    if (st == TD_ERR_OOM && pending.orphaned) {
        td_eval_others();
        st = eval(n);
    }
    td_node_unref(n);
    return st;
}

static td_status
eval_pressed(td_node *n)
{
    return pressed(n, td_eval_node);
}

td_status
td_storage_eval(td_storage *s)
{
    if (td_capture_now())
        TD_TRY(td_capture_see(s));
    td_storage_settled(s);
    while (!s->node->buf) /* another thread may have written to the storage meanwhile */
        TD_TRY(eval_pressed(s->node));
    return TD_OK;
}

/* The same, but a value on the host counts as evaluated. */
static td_status
storage_value(td_storage *s)
{
    if (td_capture_now())
        TD_TRY(td_capture_see(s));
    while (!s->node->buf && s->node->kind != TD_N_HOST)
        TD_TRY(pressed(s->node, td_eval_value));
    return TD_OK;
}

/* Is a the real (*op: OP_real) or imaginary part of complex elements?  Then *v shows those
 * elements. */
static bool
parts_of(const td_array *a, td_view *v, td_op *op)
{
    const td_storage *s = a->store;

    if (a->dt == s->dt || a->dt != td_dtype_real_of((td_dtype)s->dt) || td_node_shared(s->node))
        return false;
    *v = a->view;
    for (int i = 0; i < v->shape.ndim; i++) {
        if (v->stride[i] % 2 && v->shape.dim[i] > 1)
            return false;
        v->stride[i] /= 2;
    }
    *op = a->view.offset & 1 ? OP_imag : OP_real;
    v->offset = a->view.offset >> 1;
    return true;
}

/* Records the part as an operation on the whole elements: so it fuses, and memory is read in
 * order. */
static td_status
part_node(const td_array *a, const td_view *v, td_op op, td_node **out)
{
    td_array all = {.store = a->store, .view = *v, .dt = a->store->dt};
    td_node *src;
    td_status st;

    all.whole = td_view_eq(v, &a->store->node->view);
    TD_TRY(td_array_node(&all, &src));
    st = td_cut(&src, 1);
    if (!st)
        st = td_node_new(TD_N_OP, src->dev, td_array_dtype(a), &v->shape, out);
    if (!st) {
        (*out)->op = (uint16_t)op;
        td_node_add_src(*out, src);
        td_node_follow(*out);
        td_node_seal(*out);
    }
    td_node_unref(src);
    return st;
}

static _Thread_local int held; /* open calls of td_now_hold(true) */

void
td_now_hold(bool hold)
{
    held += hold ? 1 : -1;
}

bool
td_now_is_held(void)
{
    return held > 0;
}

td_status
td_array_node(const td_array *a, td_node **out)
{
    td_storage *s = a->store;
    td_view v;
    td_op op;
    td_status st;

    if (td_capture_now())
        TD_TRY(td_capture_see(s));
    td_storage_settled(s);
    if (a->whole) {
        if (s->node->kind == TD_N_SCALAR && !held)
            TD_TRY(td_storage_eval(s));
        *out = td_node_ref(s->node);
        return TD_OK;
    }
    if (s->node->hosted && (st = td_chunk_view(a, out)) != TD_SKIP)
        return st;
    if (parts_of(a, &v, &op))
        return part_node(a, &v, op, out);
    TD_TRY(td_storage_eval(s));
    return td_node_leaf(s->node->buf, td_array_dtype(a), &a->view, out);
}

td_status
td_array_value(const td_array *a, td_node **out)
{
    if (!a->whole || a->store->node->kind != TD_N_SCALAR || td_capture_now())
        return td_array_node(a, out);
    *out = td_node_ref(a->store->node);
    return TD_OK;
}

td_status
td_array_again(const td_array *a, td_array *out)
{
    td_node *n;

    if (!a->whole || td_node_shared(a->store->node))
        return td_array_copy(a, out);
    TD_TRY(td_array_node(a, &n));
    return td_array_of_node(n, out);
}

td_status
td_array_memory(const td_array *a, bool share, td_buf **buf, td_view *view)
{
    td_storage *s = a->store;

    TD_TRY(td_tape_refuse("reading values on the host or in another library"));
    TD_TRY(td_storage_eval(s));
    if (share && !td_node_shared(s->node)) {
        TD_TRY(td_storage_own(s, NULL));
        atomic_fetch_or(&s->node->buf->flags, TD_BUF_SHARED);
    }
    *buf = s->node->buf;
    *view = a->view;
    return TD_OK;
}

td_status
td_array_lend(const td_array *a, td_buf **buf, td_view *view)
{
    td_storage *s = a->store;

    TD_TRY(td_array_memory(a, false, buf, view));
    if (!td_node_shared(s->node))
        TD_TRY(td_storage_own(s, NULL));
    *buf = td_buf_ref(s->node->buf);
    atomic_fetch_add(&(*buf)->lent, 1);
    return TD_OK;
}

void
td_array_return(td_buf *buf)
{
    atomic_fetch_sub(&buf->lent, 1);
    td_buf_unref(buf);
}

td_status
td_array_eval(const td_array *const *a, int n)
{
    /* all are wanted, so a kernel that computes one on its way to another writes it too */
    for (int i = 1; i < n; i++)
        if (td_node_pending(a[i]->store->node))
            a[i]->store->node->computed = 1;
    for (int i = 0; i < n; i++) {
        if (i)
            TD_TRY(td_graph_poll());
        TD_TRY(storage_value(a[i]->store));
    }
    return TD_OK;
}

td_status
td_node_dense(const td_array *a, td_node **out)
{
    td_node *n, *flat;
    td_status st;

    *out = NULL;
    TD_TRY(td_array_node(a, &n));
    st = eval_pressed(n);
    if (!st && !td_view_is_contiguous(&n->view)) {
        st = td_node_copy(n, (td_dtype)n->dt, NULL, &flat);
        if (!st) {
            td_node_unref(n);
            n = flat;
            st = td_eval_node(n);
        }
    }
    if (st)
        td_node_unref(n);
    else
        *out = n;
    return st;
}

bool
td_array_hosted(const td_array *a)
{
    return a->store->node->hosted;
}

/* One element of a value that is in host memory, or a number.  False: it takes an evaluation. */
static bool
get_one(const td_array *a, void *out)
{
    const td_node *n = a->store->node;
    uint64_t bits[2];
    size_t size = td_dtype_size(td_array_dtype(a));

    if (td_capture_now() || td_tape_now() || (n->kind != TD_N_SCALAR && !td_node_on_host(n)))
        return false;
    if (n->kind == TD_N_LEAF) {
        memcpy(out, (const char *)n->buf->ptr + a->view.offset * (int64_t)size, size);
        return true;
    }
    if (!a->whole)
        return false;
    td_scalar_bits(n->par[0], (td_dtype)n->dt, bits);
    memcpy(out, bits, size);
    return true;
}

td_status
td_array_get(const td_array *a, void *out)
{
    size_t nbytes = (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));
    td_node *n;
    td_status st = TD_SKIP;

    if (td_array_size(a) == 1 && get_one(a, out)) {
        if (!a->whole && td_tracing())
            td_trace_instant(TD_TRACE_read, td_array_dev(a), "element", nbytes);
        return TD_OK;
    }
    if (td_array_hosted(a)) {
        TD_TRY(td_array_node(a, &n));
        st = td_chunk_get(n, out, false);
        td_node_unref(n);
    }
    if (st != TD_SKIP)
        return st;
    st = td_node_dense(a, &n);
    if (!st && nbytes)
        st = td_graph_copy_out(
            td_dev_stream(n->dev), out,
            n->buf->ptr + (uintptr_t)n->view.offset * td_dtype_size((td_dtype)n->dt), nbytes);
    td_node_unref(n);
    return st;
}
