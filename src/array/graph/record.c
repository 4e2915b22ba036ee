/* record.c - records elementwise operations, casts and reductions.  It applies NumPy's rules of
 * dtype and shape, so that errors point at the user's line.
 */
#include "array/graph/array.h"

#include "array/graph/internal.h"
#include "array/graph/reduce.h"
#include "array/graph/tell.h"
#include "array/graph/values.h"

#include <inttypes.h>
#include <string.h>

td_status
td_node_copy(td_node *n, td_dtype dt, const td_view *layout, td_node **out)
{
    TD_TRY(td_cut(&n, 1));
    TD_TRY(td_node_new(TD_N_CAST, n->dev, dt, layout ? &layout->shape : &n->view.shape, out));
    if (layout)
        (*out)->view = *layout;
    td_node_add_src(*out, n);
    td_node_seal(*out);
    return TD_OK;
}

td_status
td_operand_node(const td_operand *x, td_dev *d, td_dtype dt, td_node **out)
{
    td_scalar s = x->scalar;
    uint64_t bits[2];

    if (x->array)
        return td_array_value(x->array, out);
    td_scalar_bits(s, dt, bits);
    return td_node_scalar(d, td_scalar_load(dt, bits), out);
}

td_status
td_operand_fits(const td_operand *x, td_dtype dt)
{
    int bits = 8 * (int)td_dtype_size(dt);
    bool negative = x->scalar.dt != TD_U64 && x->scalar.i < 0;
    bool fits = true;

    if (td_dtype_kind(dt) == 'u')
        fits = !negative && (bits == 64 || x->scalar.u >> bits == 0);
    else if (td_dtype_kind(dt) == 'i')
        fits = negative ? bits == 64 || x->scalar.i >= -((int64_t)1 << (bits - 1))
                        : x->scalar.u >> (bits - 1) == 0;
    if (fits)
        return TD_OK;
    if (x->scalar.dt == TD_U64)
        return td_fail(TD_ERR_OVERFLOW, "Python integer %" PRIu64 " out of bounds for %s",
                       x->scalar.u, td_dtype_name(dt));
    return td_fail(TD_ERR_OVERFLOW, "Python integer %" PRId64 " out of bounds for %s", x->scalar.i,
                   td_dtype_name(dt));
}

/* Does the loop take a Python integer whatever the arrays' dtype: as a truth value, or as a float? */
static bool
any_int(td_op op)
{
    return td_op_is_logical(op) ||
           (strchr(td_optab[op].kinds, 'f') && !strchr(td_optab[op].kinds, 'i'));
}

/* The dtype for integer operands if the row has only loops of floats: NumPy's first loop that
 * holds them all. */
static td_dtype
loop_of_floats(td_op op, const td_operand *x, int from, int n, td_dtype dt)
{
    td_dtype wide = TD_F16;

    if (strchr(td_optab[op].kinds, 'i') || !strchr(td_optab[op].kinds, 'f') ||
        !td_dtype_is_int(dt) || td_optab[op].flags & TD_OPF_WIDE)
        return dt;
    for (int i = from; i < n; i++)
        if (x[i].array || !x[i].weak)
            wide = td_promote(
                wide, td_dtype_float_of(x[i].array ? td_array_dtype(x[i].array) : x[i].scalar.dt));
    return wide;
}

td_status
td_op_dtype(td_op op, const td_operand *x, int from, int n, td_dtype *out)
{
    int dt = -1, strong = 0;

    for (int i = from; i < n; i++) {
        td_dtype di = x[i].array ? td_array_dtype(x[i].array) : x[i].scalar.dt;

        if (!x[i].array && x[i].weak)
            continue;
        dt = dt < 0 ? (int)di : (int)td_promote((td_dtype)dt, di);
        strong++;
    }
    if (strong > 1)
        dt = (int)loop_of_floats(op, x, from, n, (td_dtype)dt);
    for (int i = from; i < n; i++) {
        if (x[i].array || !x[i].weak)
            continue;
        dt = dt < 0 ? (int)td_promote_weak(TD_BOOL, x[i].weak)
                    : (int)td_promote_weak((td_dtype)dt, x[i].weak);
    }
    for (int i = from; i < n && td_dtype_is_int((td_dtype)dt) && !any_int(op); i++)
        if (!x[i].array && x[i].weak == 'i')
            TD_TRY(td_operand_fits(&x[i], (td_dtype)dt));
    *out = (td_dtype)dt;
    return TD_OK;
}

/* NumPy's words, for programs that print them. */
static td_status
refuse_bools(td_op op)
{
    if (op == OP_negative)
        return td_fail(
            TD_ERR_TYPE,
            "The numpy boolean negative, the `-` operator, is not supported, use the `~` "
            "operator or the logical_not function instead.");
    if (op == OP_subtract)
        return td_fail(
            TD_ERR_TYPE,
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, "
            "the `^` operator, or the logical_xor function instead.");
    return td_fail(TD_ERR_TYPE, "%s: not defined for bool; use ^, ~ or logical_* instead",
                   td_optab[op].name);
}

/* For bool, some rows have a loop of their own in NumPy; others use int8's. */
static td_status
bool_loop(td_op *op, td_dtype *dt)
{
    switch (*op) {
    case OP_add:
    case OP_maximum:
    case OP_fmax:     *op = OP_logical_or; return TD_OK;
    case OP_multiply:
    case OP_minimum:
    case OP_fmin:     *op = OP_logical_and; return TD_OK;
    default:          break;
    }
    if (td_optab[*op].flags & TD_OPF_KEEP)
        return refuse_bools(*op);
    *dt = TD_I8;
    return TD_OK;
}

td_status
td_op_loop(td_op *op, td_dtype *dt)
{
    const char *kinds = td_optab[*op].kinds;

    if (td_op_is_logical(*op)) {
        *dt = TD_BOOL;
        return TD_OK;
    }
    if (*dt == TD_BOOL && !strchr(kinds, 'b') && strchr(kinds, 'i'))
        TD_TRY(bool_loop(op, dt));
    if (strchr(td_optab[*op].kinds, td_dtype_kind(*dt)))
        return TD_OK;
    if (td_dtype_is_float(*dt) || td_dtype_is_complex(*dt) || !strchr(kinds, 'f'))
        return td_fail(TD_ERR_TYPE, "%s: not defined for %s", td_optab[*op].name,
                       td_dtype_name(*dt));
    *dt = td_optab[*op].flags & TD_OPF_WIDE ? TD_F64 : td_dtype_float_of(*dt);
    return TD_OK;
}

/* x ** k for small constants k as cheaper operations, as NumPy does; 3 and 4 as well, for
 * floats.  TD_SKIP: k is another. */
static td_status
simple_power(const td_operand *x, td_array *out)
{
    const td_operand *e = &x[1];
    td_operand sq[2];
    td_array a;
    td_status st;
    double v;
    bool is_float;

    if (e->array || !e->weak || !x[0].array || td_array_dtype(x[0].array) == TD_BOOL)
        return TD_SKIP;
    is_float = td_dtype_is_float(td_array_dtype(x[0].array)) ||
               td_dtype_is_complex(td_array_dtype(x[0].array));
    if (e->weak == 'c' || (e->weak != 'i' && !is_float))
        return TD_SKIP;
    v = e->weak == 'f' ? e->scalar.f[0] : (double)e->scalar.i;
    if (v == 2)
        return td_array_apply(OP_square, x, 1, out);
    if (v == 1)
        return td_array_copy(x[0].array, out);
    if (is_float && v == 0.5)
        return td_array_apply(OP_sqrt, x, 1, out);
    if (is_float && v == -1)
        return td_array_apply(OP_reciprocal, x, 1, out);
    if (!is_float || (v != 3 && v != 4))
        return TD_SKIP;
    TD_TRY(td_array_apply(OP_square, x, 1, &a));
    sq[0] = (td_operand){.array = &a};
    sq[1] = v == 3 ? x[0] : sq[0];
    st = td_array_apply(OP_multiply, sq, 2, out);
    td_array_unref(&a);
    return st;
}

static td_status
check_exponent(const td_operand *e)
{
    td_array least;
    int64_t v = 0;
    td_status st;

    if (!e->array)
        v = e->scalar.dt == TD_U64 ? 0 : e->scalar.i;
    else if (td_dtype_kind(td_array_dtype(e->array)) == 'i' && td_array_size(e->array)) {
        td_array wide;

        TD_TRY(td_array_cast(e->array, TD_I64, &wide));
        st = td_array_reduce(TD_RED_min, &wide,
                             &(td_redargs){.axes = (1u << wide.view.shape.ndim) - 1, .dtype = -1},
                             &least);
        td_array_unref(&wide);
        TD_TRY(st);
        st = td_array_get(&least, &v);
        td_array_unref(&least);
        TD_TRY(st);
    }
    return v < 0 ? td_fail(TD_ERR_VALUE, "Integers to negative integer powers are not allowed.")
                 : TD_OK;
}

td_status
td_one_device(const char *what, const td_dev *x, const td_dev *y)
{
    if (x == y)
        return TD_OK;
    return td_fail(TD_ERR_VALUE,
                   "%s: arrays on %s and on %s; bring one to the other's device, "
                   "x.to_device(\"%s\") or asarray(x, device=\"%s\")",
                   what, td_dev_info(x)->name, td_dev_info(y)->name, td_dev_info(x)->name,
                   td_dev_info(x)->name);
}

static td_status
common_device(td_op op, const td_operand *x, int n, td_dev **out)
{
    *out = NULL;
    for (int i = 0; i < n; i++) {
        td_dev *d = x[i].array ? td_array_dev(x[i].array) : *out;

        if (*out)
            TD_TRY(td_one_device(td_optab[op].name, *out, d));
        *out = d;
    }
    return TD_OK;
}

/* Casts the sources to the loop's dtype: src[i] are owned references. */
static td_status
make_sources(td_op op, const td_operand *x, int n, td_dev *d, td_dtype dt, td_node **src)
{
    for (int i = 0; i < n; i++) {
        td_dtype want = op == OP_select && i == 0 ? TD_BOOL : dt;
        td_node *v;
        td_status st = TD_OK;

        TD_TRY(td_operand_node(&x[i], d, want, &v));
        src[i] = v;
        if (v->dt != want) {
            st = td_node_copy(v, want, NULL, &src[i]);
            td_node_unref(v);
            if (st)
                src[i] = NULL;
            else
                td_node_follow(src[i]);
        }
        TD_TRY(st);
    }
    return TD_OK;
}

static td_status
record_op(td_op op, td_dev *d, td_dtype dt, const td_shape *s, td_node *const *src, int n,
          td_array *out)
{
    td_node *r;

    TD_TRY(td_cut(src, n));
    TD_TRY(td_node_new(TD_N_OP, d, td_op_result(op, dt), s, &r));
    r->op = (uint16_t)op;
    for (int i = 0; i < n; i++)
        td_node_add_src(r, src[i]);
    td_node_follow(r);
    return td_record(r, out);
}

static td_dtype
own_dtype(const td_operand *x)
{
    return x->array ? td_array_dtype(x->array) : x->scalar.dt;
}

/* Replaces a Python integer beyond the array's dtype by one that compares the same, as NumPy 2
 * does. */
static const td_operand *
by_value(const td_operand x[2], td_operand near[2])
{
    for (int i = 0; i < 2; i++) {
        td_dtype dt = own_dtype(&x[1 - i]), own = own_dtype(&x[i]);
        bool wide = own == TD_U64 || dt == TD_U64;

        near[i] = x[i];
        if (x[i].array || !td_dtype_is_int(dt) || !td_dtype_is_int(own) ||
            (!x[i].weak && !(wide && td_dtype_kind(own) != td_dtype_kind(dt))))
            continue;
        if (td_operand_fits(&x[i], dt)) {
            double v = own != TD_U64 && x[i].scalar.i < 0 ? -0x1p65 : 0x1p65;

            near[i] = (td_operand){.scalar = {.dt = TD_F64, .f = {v}}};
        } else
            near[i].weak = 'i';
    }
    return near;
}

/* Compares uint64 with a signed dtype, for which there is no common integer dtype: compares
 * the bits, and where the signed operand is negative the answer is known. */
static td_status
compare_signed(td_op op, const td_operand x[2], int s, td_array *out)
{
    bool less = op == OP_less || op == OP_less_equal,
         greater = op == OP_greater || op == OP_greater_equal;
    bool truth = op == OP_not_equal || (s ? greater : less);
    td_operand both[2] = {x[0], x[1]},
               sign[2] = {x[s], {.scalar = {.dt = TD_I64, .i = 0}, .weak = 'i'}}, joined[2];
    td_array bits = {.store = NULL}, same = {.store = NULL}, where = {.store = NULL};
    td_status st = td_array_cast(x[s].array, TD_U64, &bits);

    both[s].array = &bits;
    if (!st)
        st = td_array_apply(op, both, 2, &same);
    if (!st)
        st = td_array_apply(truth ? OP_less : OP_greater_equal, sign, 2, &where);
    joined[0] = (td_operand){.array = &same};
    joined[1] = (td_operand){.array = &where};
    if (!st)
        st = td_array_apply(truth ? OP_logical_or : OP_logical_and, joined, 2, out);
    for (int i = 0; i < 3; i++) {
        td_array *a = (td_array *[]){&bits, &same, &where}[i];

        if (a->store)
            td_array_unref(a);
    }
    return st;
}

/* Which operand is signed when the other is uint64; -1: both compare in one dtype. */
static int
signed_beside_u64(const td_operand x[2])
{
    for (int i = 0; i < 2; i++)
        if (x[i].array && td_dtype_kind(td_array_dtype(x[i].array)) == 'i' && x[1 - i].array &&
            td_array_dtype(x[1 - i].array) == TD_U64)
            return i;
    return -1;
}

td_status
td_array_apply(td_op op, const td_operand *x, int n, td_array *out)
{
    td_operand near[2];
    td_node *src[TD_MAXSRC] = {NULL};
    td_shape s = {0};
    td_dtype dt;
    td_status st;
    td_dev *d;

    if (op == OP_power && (st = simple_power(x, out)) != TD_SKIP)
        return st;
    if (td_op_compares(op)) {
        int k = signed_beside_u64(x);

        if (k >= 0)
            return compare_signed(op, x, k, out);
        x = by_value(x, near);
    }
    TD_TRY(common_device(op, x, n, &d));
    TD_TRY(td_op_dtype(op, x, op == OP_select, n, &dt));
    TD_TRY(td_op_loop(&op, &dt));
    if (op == OP_power && td_dtype_is_int(dt))
        TD_TRY(check_exponent(&x[1]));
    for (int i = 0; i < n; i++)
        if (x[i].array)
            TD_TRY(td_broadcast(td_optab[op].name, &s, &x[i].array->view.shape, &s));
    if (td_watched())
        td_tell_operands(td_optab[op].name, x, n, td_op_result(op, dt), &s);
    if ((st = td_now_apply(op, dt, x, n, d, &s, out)) != TD_SKIP)
        return st;
    st = make_sources(op, x, n, d, dt, src);
    if (!st)
        st = record_op(op, d, dt, &s, src, n, out);
    for (int i = 0; i < n; i++)
        td_node_unref(src[i]);
    return st;
}

td_status
td_array_cast(const td_array *a, td_dtype dt, td_array *out)
{
    td_node *n, *r;
    td_status st;

    TD_TRY(td_array_value(a, &n));
    st = td_node_copy(n, dt, NULL, &r);
    td_node_unref(n);
    TD_TRY(st);
    td_node_follow(r);
    return td_record(r, out);
}

td_status
td_array_cast_as(const td_array *a, td_dtype dt, const td_view *layout, td_array *out)
{
    td_node *n, *r;
    td_status st;

    TD_TRY(td_array_node(a, &n));
    st = td_node_copy(n, dt, layout, &r);
    td_node_unref(n);
    return st ? st : td_record(r, out);
}

td_status
td_array_copy(const td_array *a, td_array *out)
{
    return td_array_cast_as(a, td_array_dtype(a), NULL, out);
}

td_status
td_array_broadcast_as(const td_array *a, const td_shape *s, td_array *out)
{
    td_view layout = td_view_contiguous(s), unused;
    td_node *n, *r;
    td_status st;

    TD_TRY(td_view_broadcast(&a->view, s, &unused));
    TD_TRY(td_array_node(a, &n));
    st = td_node_copy(n, td_array_dtype(a), &layout, &r);
    td_node_unref(n);
    return st ? st : td_record(r, out);
}

/* ---- reductions ---- */

static td_status
reduced_shape(const td_array *a, const td_redargs *args, td_shape *out)
{
    out->ndim = 0;
    for (int i = 0; i < a->view.shape.ndim; i++) {
        bool gone = args->axes >> i & 1;

        if (!gone || args->keepdims)
            out->dim[out->ndim++] = gone ? 1 : a->view.shape.dim[i];
    }
    return TD_OK;
}

/* |d|^2 */
static td_status
squared(const td_array *d, td_array *out)
{
    td_array part[2] = {{0}}, sq[2] = {{0}};
    td_status st = TD_OK;

    if (!td_dtype_is_complex(td_array_dtype(d)))
        return td_array_apply(OP_square, (td_operand[]){{.array = d}}, 1, out);
    for (int i = 0; i < 2; i++) {
        part[i] = td_array_part(d, i);
        if (!st)
            st = td_array_apply(OP_square, (td_operand[]){{.array = &part[i]}}, 1, &sq[i]);
    }
    if (!st)
        st = td_array_apply(OP_add, (td_operand[]){{.array = &sq[0]}, {.array = &sq[1]}}, 2, out);
    for (int i = 0; i < 2; i++) {
        td_array_unref(&part[i]);
        td_array_unref(&sq[i]);
    }
    return st;
}

/* Variance of float64 and of integers in two passes: first the mean, then the mean of squared
 * deviations. */
static td_status
two_pass(td_red red, const td_array *a, const td_redargs *args, td_dtype out_dt, td_array *out)
{
    td_redargs keep = {
        .axes = args->axes, .keepdims = true, .dtype = td_promote(td_array_dtype(a), TD_F64)};
    td_redargs sum = {.axes = args->axes, .keepdims = args->keepdims, .dtype = TD_F64};
    td_array m = {0}, d = {0}, q = {0}, s = {0}, v = {0};
    int64_t count = 1;
    td_status st;

    for (int i = 0; i < a->view.shape.ndim; i++)
        if (args->axes >> i & 1)
            count *= a->view.shape.dim[i];
    st = td_array_reduce(TD_RED_mean, a, &keep, &m);
    if (!st)
        st = td_array_apply(OP_subtract, (td_operand[]){{.array = a}, {.array = &m}}, 2, &d);
    if (!st)
        st = squared(&d, &q);
    if (!st)
        st = td_array_reduce(TD_RED_sum, &q, &sum, &s);
    if (!st) {
        double n = (double)count - args->ddof;
        td_operand by = {.scalar = {.dt = TD_F64, .f = {n > 0 ? n : 0}}};

        st = td_array_apply(OP_divide, (td_operand[]){{.array = &s}, by}, 2, &v);
    }
    if (!st && red == TD_RED_std) {
        td_array r;

        st = td_array_apply(OP_sqrt, (td_operand[]){{.array = &v}}, 1, &r);
        td_array_unref(&v);
        v = st ? (td_array){0} : r;
    }
    if (!st)
        st = td_array_cast(&v, out_dt, out);
    td_array_unref(&m);
    td_array_unref(&d);
    td_array_unref(&q);
    td_array_unref(&s);
    td_array_unref(&v);
    return st;
}

/* Is this a variance whose squares exceed what float64 alone can hold? */
static bool
is_two_pass_variance(td_red red, td_dtype in)
{
    return (red == TD_RED_var || red == TD_RED_std) && in != TD_F32 && in != TD_C64 &&
           !td_dtype_is_half(in);
}

/* Computes n, a reduction, in two passes. */
static td_status
variance_of(td_node *n, td_array *out)
{
    td_redargs args = {.axes = n->axes,
                       .keepdims = n->view.shape.ndim == n->src[0]->view.shape.ndim,
                       .ddof = n->par[0].f[0]};
    td_array x;
    td_status st;

    TD_TRY(td_array_of_node(td_node_ref(n->src[0]), &x));
    st = two_pass((td_red)n->op, &x, &args, (td_dtype)n->dt, out);
    td_array_unref(&x);
    return st;
}

td_status
td_eval_variance(td_node *n)
{
    td_view v = n->view;
    td_node *value;
    td_array r;
    td_status st;

    if (n->kind != TD_N_REDUCE || !is_two_pass_variance((td_red)n->op, (td_dtype)n->src[0]->dt))
        return TD_SKIP;
    TD_TRY(variance_of(n, &r));
    st = td_array_node(&r, &value);
    td_array_unref(&r);
    TD_TRY(st);
    st = td_eval_node(value);
    if (!st && !n->buf) { /* another thread may have done the same meanwhile */
        TD_ASSERT(td_view_eq(&value->view, &v));
        td_node_settle(n, td_buf_ref(value->buf), &v);
    }
    td_node_unref(value);
    return st;
}

static td_status
check_reduction(td_red red, const td_array *a, const td_redargs *args)
{
    char text[256];
    int64_t n = 1;

    for (int i = 0; i < a->view.shape.ndim; i++)
        if (args->axes >> i & 1)
            n *= a->view.shape.dim[i];
    if (n || td_redtab[red].identity)
        return TD_OK;
    return td_fail(TD_ERR_VALUE,
                   "%s: zero-size array of shape %s has no identity for this reduction",
                   td_redtab[red].name, td_shape_text(&a->view.shape, text, sizeof text));
}

td_status
td_array_reduce(td_red red, const td_array *a, const td_redargs *args, td_array *out)
{
    td_dtype in = td_array_dtype(a), dt;
    td_node *src, *n;
    td_shape s = {0};
    td_status st;

    TD_TRY(td_red_result(red, in, args->dtype, &dt));
    TD_TRY(check_reduction(red, a, args));
    if (td_watched())
        td_tell_operands(td_redtab[red].name, &(td_operand){.array = a}, 1, dt, &a->view.shape);
    if (is_two_pass_variance(red, in) &&
        !td_array_hosted(a)) /* values on the host are read once: chunkjob.c */
        return two_pass(red, a, args, dt, out);
    TD_TRY(reduced_shape(a, args, &s));
    TD_TRY(td_array_node(a, &src));
    st = td_cut(&src, 1);
    if (!st)
        st = td_node_new(TD_N_REDUCE, td_array_dev(a), dt, &s, &n);
    if (st) {
        td_node_unref(src);
        return st;
    }
    n->op = (uint16_t)red;
    n->axes = args->axes;
    n->par[0] = (td_scalar){.dt = TD_F64, .f = {args->ddof}};
    td_node_add_src(n, src);
    td_node_unref(src);
    return td_record(n, out);
}
