/* write.c - writes variables in place.
 *
 * The written value has a history of its own.  A variable that is not a view takes that history.
 * For a view, its base gets a function that passes the gradient of the written part to the value,
 * and the rest to the base's old history; then all its views follow (var.c).
 */
#include "grad/internal.h"

/* ---- a part of a variable has been written ---- */

typedef struct written {
    td_shape from, value; /* shapes of the variable, and of the written value */
    td_view part;         /* the written part on flat memory of `span` elements; and */
    td_view whole;        /* the whole variable on that memory */
    int64_t span;
    td_dtype dt; /* of what was written */
} written;

/* g laid out like the variable, and a view of the written part. */
static td_status
lay_out_gradient(const written *p, const td_var *g, td_array *whole, td_array *part)
{
    td_shape line = {.ndim = 1, .dim = {p->span}};
    td_array flat;
    td_status st;

    TD_TRY(td_array_full(td_array_dev(&g->value), td_array_dtype(&g->value), &line,
                         (td_scalar){.dt = TD_I64}, &flat));
    *whole = td_array_view(&flat, &p->whole);
    *part = td_array_view(&flat, &p->part);
    td_array_unref(&flat);
    st = td_array_assign(whole, &(td_operand){.array = &g->value});
    if (st) {
        td_array_unref(whole);
        td_array_unref(part);
    }
    return st;
}

static td_status
value_back(const td_back *b, const written *p, const td_array *part)
{
    td_array copy;
    td_var *v, *cast;
    td_status st;

    TD_TRY(td_array_copy(part, &copy));
    TD_TRY(td_var_new(&copy, &v));
    st = td_var_cast(v, p->dt, &cast);
    td_var_unref(v);
    TD_TRY(st);
    st = td_var_sum_to(cast, &p->value, &b->in[1]);
    td_var_unref(cast);
    return st;
}

/* line with zeros in the view w. */
static td_status
emptied(td_var *line, const td_view *w, td_var **out)
{
    td_var *part;
    td_status st;

    TD_TRY(td_var_copy(line, out));
    st = td_var_window(*out, w, &part);
    if (!st) {
        st = td_var_store(part, &(td_varop){.scalar = {.dt = TD_I64}, .weak = 'i'});
        td_var_unref(part);
    }
    if (st)
        td_var_unref(*out);
    return st;
}

/* The same, recorded: places g on the memory, reads the written value's view, and clears it
 * for the rest. */
static td_status
written_back_recorded(const td_back *b, const written *p)
{
    td_shape flat = {.ndim = 1, .dim = {p->span}};
    td_var *line, *part = NULL, *cast = NULL, *rest = NULL;
    td_status st;

    TD_TRY(td_var_place(b->g[0], &flat, &p->whole, &line));
    if (td_back_wants(b, 1)) {
        st = td_var_window(line, &p->part, &part);
        if (!st)
            st = td_var_cast(part, p->dt, &cast);
        if (!st)
            st = td_var_sum_to(cast, &p->value, &b->in[1]);
    } else
        st = TD_OK;
    if (!st && td_back_wants(b, 0)) {
        st = emptied(line, &p->part, &rest);
        if (!st)
            st = td_var_window(rest, &p->whole, &b->in[0]);
    }
    td_var_unref(line);
    td_var_unref(part);
    td_var_unref(cast);
    td_var_unref(rest);
    return st;
}

static td_status
written_back(const td_back *b)
{
    const written *p = b->fn->par;
    td_array whole, part;
    td_status st = TD_OK;

    if (td_grad_wanted(b->g, 1))
        return written_back_recorded(b, p);
    TD_TRY(lay_out_gradient(p, b->g[0], &whole, &part));
    if (td_back_wants(b, 1))
        st = value_back(b, p, &part);
    if (!st && td_back_wants(b, 0)) {
        td_operand zero = {.scalar = {.dt = TD_I64}, .weak = 'i'};

        st = td_array_assign(&part, &zero);
        if (!st) {
            td_array a = td_array_ref(&whole);

            st = td_var_new(&a, &b->in[0]);
        }
    }
    td_array_unref(&whole);
    td_array_unref(&part);
    return st;
}

static const td_rule written_rule = {"CopySlices", written_back, NULL, NULL};

static td_status
stored_back(const td_back *b)
{
    const written *p = b->fn->par;
    td_var *cast;
    td_status st;

    TD_TRY(td_var_cast(b->g[0], p->dt, &cast));
    st = td_var_sum_to(cast, &p->value, &b->in[0]);
    td_var_unref(cast);
    return st;
}

static const td_rule stored_rule = {"Copy", stored_back, NULL, NULL};

/* A variable that was wholly overwritten has no part in the result: zeros. */
static td_status
gone_back(const td_back *b)
{
    const td_var *g = b->g[0];
    td_array zeros;

    TD_TRY(td_array_full(td_array_dev(&g->value), td_array_dtype(&g->value), &g->value.view.shape,
                         (td_scalar){.dt = TD_I64}, &zeros));
    return td_var_new(&zeros, &b->in[0]);
}

static const td_rule gone_rule = {"Fill", gone_back, NULL, NULL};

/* ---- histories ---- */

/* Makes v an output of f; takes f. */
static void
replace_history(td_var *v, td_gradfn *f, uint32_t out)
{
    td_gradfn *old = v->fn;

    if (v->retain)
        td_var_move_retained(v, f, out);
    v->fn = f;
    v->out = out;
    v->requires_grad = false;
    v->seen = td_var_version(v);
    td_gradfn_unref(old);
}

td_status
td_var_writable(const td_var *v)
{
    return !v->inference || td_grad_inference()
               ? TD_OK
               : td_fail(TD_ERR_STATE,
                         "Inplace update to inference tensor outside InferenceMode is not allowed."
                         "You can make a clone to get a normal tensor before doing inplace update."
                         "See https://github.com/pytorch/rfcs/pull/17 for more details.");
}

/* Call before anything is written.  filled: one number, which elements that share memory may all take. */
static td_status
check_write(td_var *v, bool filled)
{
    bool of_leaf = v->base && v->base->requires_grad && !v->base->fn;

    TD_TRY(td_var_writable(v));
    if (td_grad_mode() && (of_leaf || (v->requires_grad && !v->fn)))
        return td_fail(
            TD_ERR_STATE,
            "a %sleaf Variable that requires grad is being used in an in-place operation.",
            of_leaf ? "view of a " : "");
    if (!filled && !v->value.whole && td_view_has_overlap(&v->value.view))
        return td_fail(
            TD_ERR_STATE,
            "unsupported operation: more than one element of the written-to tensor refers "
            "to a single memory location. Please clone() the tensor before performing the "
            "operation.");
    return TD_OK;
}

/* Updates the base's history after `value` was written to its view v. */
static td_status
note_part(td_var *v, td_var *value)
{
    td_var *base = v->base, *in[2] = {base, value};
    int64_t lo, hi;
    td_gradfn *f;
    written *p;

    TD_TRY(td_gradfn_new(&written_rule, in, 2, 1, 0, sizeof *p, &f));
    td_window_span(&base->value.view, &v->value.view, &lo, &hi);
    p = f->par;
    *p = (written){.from = base->value.view.shape,
                   .value = value->value.view.shape,
                   .part = v->value.view,
                   .whole = base->value.view,
                   .span = hi - lo,
                   .dt = td_array_dtype(&value->value)};
    p->part.offset -= lo;
    p->whole.offset -= lo;
    replace_history(base, f, 0);
    return TD_OK;
}

static td_status
note_whole(td_var *v, td_var *value)
{
    td_gradfn *f = NULL;
    td_edge e;
    bool same = value && td_shape_eq(&v->value.view.shape, &value->value.view.shape) &&
                td_array_dtype(&v->value) == td_array_dtype(&value->value);

    if (same && value->fn) {
        TD_TRY(td_var_edge(value, &e));
        replace_history(v, e.fn, e.out);
        return TD_OK;
    }
    if (!value || !td_var_tracked(value)) { /* it still requires a gradient, as in PyTorch */
        TD_TRY(td_gradfn_new(&gone_rule, &v, 1, 1, 0, 0, &f));
    } else {
        TD_TRY(td_gradfn_new(&stored_rule, &value, 1, 1, 0, sizeof(written), &f));
        ((written *)f->par)->value = value->value.view.shape;
        ((written *)f->par)->dt = td_array_dtype(&value->value);
    }
    replace_history(v, f, 0);
    return TD_OK;
}

/* Updates v's history after `value` was written to it; NULL: a number, which has no history. */
static td_status
note_write(td_var *v, td_var *value)
{
    td_array zero;
    td_status st;

    if (!v->base)
        return note_whole(v, value);
    if (value)
        return note_part(v, value);
    TD_TRY(td_array_full(td_array_dev(&v->value), td_array_dtype(&v->value), &(td_shape){.ndim = 0},
                         (td_scalar){.dt = TD_I64}, &zero));
    TD_TRY(td_var_new(&zero, &value));
    st = note_part(v, value);
    td_var_unref(value);
    return st;
}

/* ---- the operations ---- */

td_status
td_var_store(td_var *v, const td_varop *value)
{
    td_var *both[2] = {v, value->v};
    td_dtype dt = td_array_dtype(&v->value);
    bool recorded = td_grad_wanted(both, 2) && (td_dtype_is_float(dt) || td_dtype_is_complex(dt));
    td_operand o = {
        .array = value->v ? &value->v->value : NULL, .scalar = value->scalar, .weak = value->weak};

    uint32_t before = v->value.store->version;

    TD_TRY(check_write(v, !value->v && !recorded));
    TD_TRY(td_array_assign(&v->value, &o));
    if (v->value.store->version == before) /* its own values; views have to see the new history */
        v->value.store->version++;
    td_var_wrote(v, before);
    return recorded ? note_write(v, value->v) : TD_OK;
}

/* v's present value and history, which the coming write leaves alone. */
static td_status
value_before(td_var *v, td_var **out)
{
    td_array a;
    td_edge e;
    td_status st;

    TD_TRY(td_var_edge(v, &e));
    st = td_array_again(&v->value, &a);
    if (!st)
        st = td_var_new(&a, out);
    if (st) {
        td_edge_drop(&e);
        return st;
    }
    (*out)->fn = e.fn;
    (*out)->out = e.out;
    return TD_OK;
}

static td_status
assign_taken(td_var *v, td_array *value)
{
    uint32_t before = v->value.store->version;

    TD_TRY(td_array_assign_taken(&v->value, value));
    td_var_wrote(v, before);
    return TD_OK;
}

td_status
td_var_apply_into(td_op op, const td_varop *x, int n, td_var *v)
{
    char want[256], have[256];
    td_dtype dt = td_array_dtype(&v->value);
    td_var *all[4] = {v}, *r, *old = NULL;
    td_varop o[3];
    bool recorded;
    td_status st;

    for (int i = 0; i < n; i++)
        all[i + 1] = x[i].v;
    recorded = td_grad_wanted(all, n + 1);
    TD_TRY(check_write(v, false));
    if (recorded)
        TD_TRY(value_before(v, &old));
    for (int i = 0; i < n; i++) {
        o[i] = x[i];
        if (old && o[i].v == v)
            o[i].v = old;
    }
    st = td_var_apply(op, o, n, &r);
    td_var_unref(old);
    TD_TRY(st);
    if (!td_var_can_hold(dt, td_array_dtype(&r->value)))
        st = td_fail(TD_ERR_STATE, "result type %s can't be cast to the desired output type %s",
                     td_grad_word(td_array_dtype(&r->value)), td_grad_word(dt));
    else if (!td_shape_eq(&r->value.view.shape, &v->value.view.shape))
        st = td_fail(TD_ERR_STATE, "output with shape %s doesn't match the broadcast shape %s",
                     td_shape_text(&v->value.view.shape, have, sizeof have),
                     td_shape_text(&r->value.view.shape, want, sizeof want));
    else if (recorded)
        st = td_var_store(v, &(td_varop){.v = r});
    else
        st = assign_taken(v, &r->value);
    td_var_unref(r);
    return st;
}

td_status
td_var_set(td_var *v, td_array *a)
{
    td_var_unref(v->twin);
    td_var_unref(v->base);
    v->twin = v->base = NULL;
    td_array_unref(&v->value);
    v->value = *a;
    a->store = NULL;
    v->apart = false;
    v->seen = td_var_version(v);
    return TD_OK;
}

void
td_var_become(td_var *v, const td_var *view)
{
    td_array a = td_array_ref(&view->value);
    td_var *base = view->base && view->base != v ? td_var_ref(view->base) : NULL;
    bool apart = v->apart;

    (void)td_var_set(v, &a);
    v->base = base;
    v->apart = apart;
    if (view->fn)
        replace_history(v, td_gradfn_ref(view->fn), view->out);
    v->seen = td_var_version(v);
}
