/* assign.c - writes to arrays: a whole storage gets another node, a part is written in place by a kernel. */
#include "array/graph/array.h"

#include "array/graph/capture.h"
#include "array/graph/internal.h"
#include "array/run/claim.h"
#include "array/run/eval.h"
#include "array/run/now.h"
#include "array/run/spill.h"

/* The nodes below a value that is about to be written: how many references each has from inside the value, and whether it
 * reads the memory that will be written. */
typedef struct walk {
    const td_buf *buf;
    td_node *node[512];
    int32_t edges[512];
    bool reads[512];
    int n;
    bool full;
} walk;

static bool
visit(walk *w, td_node *n)
{
    int at = n->slot - 1;

    if (n->slot) {
        w->edges[at]++;
        return w->reads[at];
    }
    if (w->n == 512) {
        w->full = true;
        return true;
    }
    at = w->n++;
    w->node[at] = n;
    w->edges[at] = 1;
    w->reads[at] = n->buf && n->buf == w->buf;
    n->slot = (uint16_t)(at + 1);
    for (int i = 0; i < n->nsrc; i++)
        w->reads[at] |= visit(w, n->src[i]);
    return w->reads[at];
}

/* Do only s and the writer, through its own nodes, read s's memory? */
static bool
exclusive(const td_storage *s, td_node *writer)
{
    const td_node *home = s->node;
    int32_t home_refs = 1 + home->held, buf_refs = 1 + td_tape_owns(td_tape_now(), home->buf);
    bool ok = true;
    walk w;

    w.buf = home->buf;
    w.n = 0;
    w.full = false;
    if (writer)
        (void)visit(&w, writer);
    for (int i = 0; i < w.n; i++) {
        td_node *n = w.node[i];

        n->slot = 0;
        if (n == home)
            home_refs += w.edges[i];
        else if (td_node_pending(n)) /* another reader of n would read what is written */
            ok &= n->refs == w.edges[i] || !w.reads[i];
        else if (n->buf == home->buf) {
            ok &= n->refs == w.edges[i];
            buf_refs++;
        }
    }
    return ok && !w.full && home->refs == home_refs && atomic_load(&home->buf->refs) == buf_refs;
}

/* ---- writes under way ---- */

static _Thread_local td_writing *writing;

void
td_writing_begin(td_writing *w, td_storage *s)
{
    w->home = td_eval_claim(s->node) ? td_node_ref(s->node) : NULL;
    w->outer = writing;
    writing = w;
}

void
td_writing_end(td_writing *w)
{
    writing = w->outer;
    if (w->home)
        td_eval_release(w->home);
    td_node_unref(w->home);
}

static bool
is_own(const td_node *n)
{
    for (const td_writing *w = writing; w; w = w->outer)
        if (w->home == n)
            return true;
    return false;
}

void
td_writing_wait(const td_storage *s)
{
    while (s->node->buf && td_eval_is_taken(s->node) && !is_own(s->node))
        td_graph_yield();
}

/* Gives the storage a copy of its value.  Nobody else reads the copy until the lock is given up. */
static td_status
give_copy(td_storage *s)
{
    bool same = false;

    while (!same) { /* again if another thread has written meanwhile */
        td_node *from = s->node, *copy;
        td_status st;

        TD_TRY(td_node_copy(from, (td_dtype)s->dt, &from->view, &copy));
        (void)td_node_ref(from);
        st = td_eval_node(copy);
        same = s->node == from;
        td_node_unref(from);
        if (!st && same)
            td_storage_set(s, copy);
        else
            td_node_unref(copy);
        TD_TRY(st);
        TD_TRY(td_storage_eval(s));
    }
    return TD_OK;
}

td_status
td_storage_own(td_storage *s, td_node *writer)
{
    TD_TRY(td_storage_eval(s));
    td_capture_write(s);
    if (atomic_load(&s->node->buf->flags) & TD_BUF_GUARDED)
        TD_TRY(give_copy(s));
    if (!td_node_shared(s->node) && !exclusive(s, writer)) {
        td_eval_others();
        TD_TRY(td_storage_eval(s));
        if (!exclusive(s, writer))
            TD_TRY(give_copy(s));
    }
    s->node->in_range = 0; /* the lock was given up: another thread may have set in_range again */
    return TD_OK;
}

td_status
td_array_use(const td_array *a, bool write, td_buf **buf)
{
    td_storage *s = a->store;

    if (write && s->readonly)
        return td_fail(TD_ERR_VALUE, "assignment destination is read-only");
    s->version += write;
    TD_TRY(write ? td_storage_own(s, NULL) : td_storage_eval(s));
    *buf = s->node->buf;
    td_hold_add(s->node);
    return TD_OK;
}

td_status
td_node_fit(td_node *n, const td_shape *to, td_node **out)
{
    td_view v = n->view;
    int extra = v.shape.ndim - to->ndim, i;
    td_shape s = {.ndim = to->ndim};

    for (i = 0; i < extra; i++)
        if (v.shape.dim[i] != 1)
            break;
    if (extra <= 0 || i < extra) {
        *out = td_node_ref(n);
        return TD_OK;
    }
    TD_TRY(td_eval_node(n));
    for (i = 0; i < to->ndim; i++)
        s.dim[i] = n->view.shape.dim[i + extra];
    TD_TRY(td_view_reshape(&n->view, &s, &v));
    return td_node_leaf(n->buf, (td_dtype)n->dt, &v, out);
}

static td_status
write_part(const td_array *a, td_node *value)
{
    td_storage *s = a->store;
    td_node *tmp = NULL;
    td_writing w;
    td_buf *buf;
    td_status st = TD_OK;
    td_hold h;

    TD_TRY(td_storage_own(s, value));
    td_writing_begin(&w, s);
    td_hold_begin(&h);
    td_hold_add(s->node);
    buf = s->node->buf; /* the storage may be given another value meanwhile */
    if (td_eval_conflicts(value, td_array_dtype(a), buf, &a->view)) {
        st = td_node_copy(value, td_array_dtype(a), NULL, &tmp);
        if (!st)
            st = td_eval_node(tmp);
        value = tmp;
    }
    if (!st)
        st = td_eval_into(value, td_array_dtype(a), buf, &a->view);
    td_hold_end(&h);
    td_writing_end(&w);
    td_node_unref(tmp);
    return st;
}

static td_status
assign_node(const td_array *a, td_node *value)
{
    td_storage *s = a->store;
    td_view unused;
    td_status st;
    td_node *n;

    if (s->readonly)
        return td_fail(TD_ERR_VALUE, "assignment destination is read-only");
    TD_TRY(td_view_broadcast(&value->view, &a->view.shape, &unused));
    TD_TRY(td_capture_see(s));
    s->version++;
    if ((st = td_now_assign(a, value)) != TD_SKIP)
        return st;
    if (!a->whole || td_node_shared(s->node))
        return write_part(a, value);
    if (value->dt == s->dt && td_node_pending(value) && value->refs == 1 &&
        value->kind != TD_N_REDUCE && !td_node_spilled(value) &&
        td_shape_eq(&value->view.shape, &a->view.shape)) {
        n = td_node_ref(value);
        n->view = a->view; /* not evaluated yet, so it can take the storage's layout */
    } else {
        TD_TRY(td_node_copy(value, (td_dtype)s->dt, &a->view, &n));
    }
    td_storage_set(s, n);
    return td_node_shared(value) ? td_storage_eval(s) : TD_OK;
}

static bool
is_same(const td_array *a, const td_array *b)
{
    return a->store == b->store && a->dt == b->dt && td_view_eq(&a->view, &b->view);
}

td_status
td_array_assign(const td_array *a, const td_operand *value)
{
    td_node *n, *fitted;
    td_status st;

    if (value->array)
        TD_TRY(td_one_device("assignment", td_array_dev(a), td_array_dev(value->array)));
    if (value->array && is_same(a, value->array) && !a->store->readonly)
        return TD_OK; /* Python's a[i] += b ends with it */
    if (!value->array && value->weak == 'i')
        TD_TRY(td_operand_fits(value, td_array_dtype(a)));
    TD_TRY(td_operand_node(value, td_array_dev(a), td_array_dtype(a), &n));
    st = td_node_fit(n, &a->view.shape, &fitted);
    td_node_unref(n);
    TD_TRY(st);
    st = assign_node(a, fitted);
    td_node_unref(fitted);
    return st;
}

td_status
td_array_assign_taken(const td_array *a, td_array *value)
{
    td_node *n;
    td_status st = td_array_value(value, &n);

    td_array_unref(value); /* from here on only this function holds the value */
    TD_TRY(st);
    st = assign_node(a, n);
    td_node_unref(n);
    return st;
}

td_status
td_array_apply_into(td_op op, const td_operand *x, int n, const td_array *a)
{
    char want[256], have[256];
    td_array r;
    td_status st;

    if (a->store->readonly)
        return td_fail(TD_ERR_VALUE, "output array is read-only");
    TD_TRY(td_array_apply(op, x, n, &r));
    st = td_one_device(td_optab[op].name, td_array_dev(a), td_array_dev(&r));
    if (!st && !td_can_cast(td_array_dtype(&r), td_array_dtype(a), 'k'))
        st = td_fail(TD_ERR_TYPE,
                     "Cannot cast ufunc '%s' output from dtype('%s') to dtype('%s') with casting "
                     "rule 'same_kind'",
                     td_optab[op].name, td_dtype_name(td_array_dtype(&r)),
                     td_dtype_name(td_array_dtype(a)));
    else if (!st && !td_shape_eq(&r.view.shape, &a->view.shape))
        st = td_fail(
            TD_ERR_VALUE,
            "non-broadcastable output operand with shape %s doesn't match the broadcast shape %s",
            td_shape_text(&a->view.shape, have, sizeof have),
            td_shape_text(&r.view.shape, want, sizeof want));
    else if (!st)
        return td_array_assign_taken(a, &r);
    td_array_unref(&r);
    return st;
}

td_status
td_array_assign_where(const td_array *a, const td_array *mask, const td_operand *value)
{
    td_operand x[3] = {{.array = mask}, *value, {.array = a}};
    td_operand r = {0};
    td_array picked, cast;
    td_status st;

    if (!value->array && value->weak == 'i')
        TD_TRY(td_operand_fits(value, td_array_dtype(a)));
    if (value->array && td_array_dtype(value->array) != td_array_dtype(a)) {
        TD_TRY(td_array_cast(value->array, td_array_dtype(a), &cast));
        x[1].array = &cast;
        st = td_array_apply(OP_select, x, 3, &picked);
        td_array_unref(&cast);
    } else {
        if (!value->array) { /* a number takes a's dtype and does not promote */
            uint64_t bits[2];

            td_scalar_bits(value->scalar, td_array_dtype(a), bits);
            x[1].scalar = td_scalar_load(td_array_dtype(a), bits);
            x[1].weak = 0;
        }
        st = td_array_apply(OP_select, x, 3, &picked);
    }
    TD_TRY(st);
    r.array = &picked;
    st = td_array_assign(a, &r);
    td_array_unref(&picked);
    return st;
}
