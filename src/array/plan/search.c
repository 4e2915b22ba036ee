/* search.c - searching in sorted arrays: a loop over the bits of the answer, the same for all lanes. */
#include "array/graph/array.h"
#include "array/graph/internal.h"
#include "array/plan/gen.h"

/* Does a come before b in sorted order, where NaN comes last? */
static td_val
before(td_fn *f, td_val a, td_val b, td_dtype dt)
{
    td_val less = TD_E2(f, less, a, b);

    if (!td_dtype_is_float(dt))
        return less;
    return TD_E2(f, logical_or, less,
                 TD_E2(f, logical_and, TD_E2(f, equal, a, a), TD_E2(f, not_equal, b, b)));
}

/* The answer is the number of elements that come before v.  From its highest bit down, each step sets a bit and keeps it if
 * the last element that is then counted comes before v. */
td_val
td_gen_search(td_gen *g, const td_step *s, td_val v, td_val base)
{
    td_fn *f = g->f;
    td_val step = g->scalar[s->scalar], n = g->scalar[s->scalar + 1],
           bits = g->scalar[s->scalar + 2];
    td_val zero = td_const_int(f, TD_I64, 0), one = td_const_int(f, TD_I64, 1), i, next, x, at, ok,
           pos;
    td_dtype dt = (td_dtype)g->p->opnd[s->opnd].dt, work = td_gen_compute(dt);
    int lanes = f->st ? 1 : td_at(f, v)->lanes;

    pos = td_slot(f, TD_I64, lanes);
    td_set(f, pos, zero);
    i = td_for(f, zero, bits, one);
    next = TD_E2(f, left_shift, one, TD_E2(f, subtract, TD_E2(f, subtract, bits, i), one));
    next = TD_E2(f, add, td_get(f, pos), next);
    ok = TD_E2(f, less_equal, next, n);
    at = TD_E2(f, add, base, TD_E2(f, multiply, TD_E2(f, subtract, next, one), step));
    if (g->mask.i != TD_NONE.i && lanes > 1)
        ok = TD_E2(f, logical_and, ok, g->mask);
    x = td_cast(f, td_load(f, g->ptr[s->opnd], at, ok, lanes, 0), work);
    x = s->op ? TD_E1(f, logical_not, before(f, v, x, work)) : before(f, x, v, work);
    td_set(f, pos, TD_E3(f, select, TD_E2(f, logical_and, ok, x), next, td_get(f, pos)));
    td_end(f);
    return td_get(f, pos);
}

td_status
td_array_search(const td_array *a, const td_array *v, bool right, td_array *out)
{
    td_node *sorted = NULL, *what = NULL, *n = NULL;
    td_status st;

    TD_ASSERT(a->view.shape.ndim == 1 && td_array_dtype(a) == td_array_dtype(v));
    if (td_array_dev(a) != td_array_dev(v))
        return td_fail(TD_ERR_VALUE, "searchsorted: operands are on %s and on %s",
                       td_dev_info(td_array_dev(a))->name, td_dev_info(td_array_dev(v))->name);
    if (td_dtype_is_complex(td_array_dtype(a)))
        return td_fail(TD_ERR_TYPE, "searchsorted: not defined for %s",
                       td_dtype_name(td_array_dtype(a)));
    st = td_array_node(a, &sorted);
    if (!st)
        st = td_array_node(v, &what);
    if (!st)
        st = td_cut((td_node *[]){sorted, what}, 2);
    if (!st)
        st = td_node_new(TD_N_SEARCH, td_array_dev(a), TD_I64, &v->view.shape, &n);
    if (!st) {
        n->op = right;
        td_node_add_src(n, sorted);
        td_node_add_src(n, what);
    }
    td_node_unref(sorted);
    td_node_unref(what);
    return st ? st : td_record(n, out);
}
