/* apply.c - elementwise operations: PyTorch's promotion, recording, derivatives by ops.def's column. */
#include "grad/formula.h"
#include "grad/internal.h"
#include "grad/layout.h"
#include "op_lists.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* ---- promotion ---- */

/* bool < integers < floats < complex */
static int
level(td_dtype dt)
{
    switch (td_dtype_kind(dt)) {
    case 'b': return 0;
    case 'i':
    case 'u': return 1;
    case 'f': return 2;
    default:  return 3;
    }
}

bool
td_var_can_hold(td_dtype own, td_dtype from)
{
    return level(from) <= level(own);
}

/* The common dtype of two kinds: a float wins over integers. */
static td_dtype
meet_dtypes(td_dtype a, td_dtype b)
{
    if (a == b)
        return a;
    if (level(a) == level(b) || level(a) + level(b) == 5 || level(a) == 0 || level(b) == 0)
        return td_promote(a, b);
    return level(a) > level(b) ? a : b;
}

static td_dtype
number_dtype(const td_varop *x)
{
    if (!x->weak)
        return x->scalar.dt;
    switch (x->weak) {
    case 'b': return TD_BOOL;
    case 'i': return TD_I64;
    case 'f': return td_grad_default();
    default:  return td_dtype_complex_of(td_grad_default());
    }
}

td_dtype
td_var_promote(const td_varop *x, int n)
{
    /* the dtypes of variables with dimensions, of those without, of numbers */
    int of[3] = {-1, -1, -1};
    int dt = -1;

    for (int i = 0; i < n; i++) {
        int rank = !x[i].v ? 2 : x[i].v->value.view.shape.ndim ? 0 : 1;
        td_dtype own = x[i].v ? td_array_dtype(&x[i].v->value) : number_dtype(&x[i]);

        of[rank] = of[rank] < 0 ? (int)own : (int)meet_dtypes((td_dtype)of[rank], own);
    }
    for (int k = 0; k < 3; k++) {
        if (of[k] < 0)
            continue;
        if (dt < 0)
            dt = of[k];
        else if (level((td_dtype)of[k]) > level((td_dtype)dt))
            dt = k == 2 && of[k] != TD_BOOL && level((td_dtype)of[k]) == 3 &&
                         level((td_dtype)dt) == 2
                     ? (int)td_dtype_complex_of((td_dtype)dt)
                     : of[k];
    }
    return (td_dtype)dt;
}

/* The dtype in which the row computes. */
static td_dtype
loop_dtype(td_op op, td_dtype dt)
{
    const char *kinds = td_optab[op].kinds;
    bool whole = td_dtype_is_int(dt) || dt == TD_BOOL;

    if (op == OP_square && dt == TD_BOOL)
        return TD_I64;
    if (op == OP_reciprocal && whole) /* NumPy's row divides integers as integers */
        return td_grad_default();
    return whole && !strchr(kinds, 'i') && strchr(kinds, 'f') ? td_grad_default() : dt;
}

/* ---- backward ---- */

typedef struct applied {
    uint16_t op;
    uint8_t n, nshape;
    int8_t saved[4]; /* the index of the saved x, y, z and r; -1: not saved */
    int8_t shape[3]; /* index in shapes of an operand's shape, if it differs from the result's */
    uint8_t dt[3];
    td_varop number[3];
    td_shape shapes[];
} applied;

/* A number that a formula names counts as saved, as PyTorch has it: it goes with the rest. */
static td_status
fill_names(const td_back *b, const applied *p, uint8_t uses, td_varop *env)
{
    for (int k = 0; k < 4; k++) {
        if (!(uses >> k & 1))
            continue;
        if (p->saved[k] >= 0)
            TD_TRY(td_gradfn_saved(b, p->saved[k], &env[k].v));
        else {
            TD_TRY(td_gradfn_check_spent(b->fn));
            env[k] = p->number[k];
        }
    }
    return TD_OK;
}

/* Brings a formula's gradient to the operand's shape and dtype; takes r. */
static td_status
fit(td_varop r, td_dtype dt, const td_shape *s, td_dev *dev, td_var **out)
{
    td_var *cast;
    td_status st;

    if (!r.v) {
        td_array a;

        TD_TRY(td_array_full(dev, dt, s, r.scalar, &a));
        return td_var_new(&a, out);
    }
    st = td_var_cast(r.v, dt, &cast);
    td_var_unref(r.v);
    TD_TRY(st);
    st = td_var_sum_to(cast, s, out);
    td_var_unref(cast);
    return st;
}

static td_status
apply_back(const td_back *b)
{
    const applied *p = b->fn->par;
    const td_formula *f = td_formula_of((td_op)p->op);
    td_varop env[TD_FORMULA_NAMES] = {{.v = NULL}};
    const td_shape *whole = &b->g[0]->value.view.shape;
    uint8_t uses = 0;
    td_status st;

    for (int i = 0; i < p->n; i++)
        if (td_back_wants(b, i))
            uses |= f[i].uses;
    st = fill_names(b, p, uses, env);
    env[4].v = b->g[0];
    for (int i = 0; i < p->n && !st; i++) {
        td_varop r;

        if (!td_back_wants(b, i))
            continue;
        st = td_formula_run(&f[i], env, 0, &r);
        if (!st)
            st = fit(r, (td_dtype)p->dt[i], p->shape[i] < 0 ? whole : &p->shapes[p->shape[i]],
                     td_array_dev(&b->g[0]->value), &b->in[i]);
    }
    for (int k = 0; k < 4; k++)
        td_var_unref(env[k].v);
    return st;
}

static const td_rule *
rule_of(td_op op)
{
    static td_rule rules[TD_OPS];
    static char names[TD_OPS][20];
    static const char *const other[TD_OPS] = {
#define NAME(row, name) [OP_##row] = name,
        TD_GRAD_NAMES(NAME)
#undef NAME
    };

    if (!rules[op].name) {
        strncpy(names[op], other[op] ? other[op] : td_optab[op].name, sizeof names[op] - 1);
        names[op][0] = (char)toupper((unsigned char)names[op][0]);
        rules[op] = (td_rule){.name = names[op], .back = apply_back};
    }
    return &rules[op];
}

/* ---- forward ---- */

static bool
differentiable(td_op op)
{
    const td_formula *f = td_formula_of(op);

    for (int i = 0; i < td_optab[op].arity; i++)
        if (f[i].kind != TD_FORMULA_NONE)
            return true;
    return false;
}

/* Which of x, y, z and r are needed by the formulas of operands that want a gradient. */
static uint8_t
needed(td_op op, const td_varop *x, int n)
{
    const td_formula *f = td_formula_of(op);
    uint8_t uses = 0;

    for (int i = 0; i < n; i++)
        if (x[i].v && td_var_tracked(x[i].v))
            uses |= f[i].uses;
    return uses & 15;
}

static td_status
record_apply(td_op op, const td_varop *x, int n, td_array *r, td_var **out)
{
    td_var *v[3] = {NULL};
    uint8_t uses = needed(op, x, n);
    int nshape = 0, nsaved = 0;
    td_status st = TD_OK;
    applied *p;
    td_gradfn *f;

    for (int i = 0; i < n; i++) {
        v[i] = x[i].v;
        nshape += v[i] && !td_shape_eq(&v[i]->value.view.shape, &r->view.shape);
        nsaved += v[i] && (uses >> i & 1);
    }
    nsaved += uses >> 3 & 1;
    st = td_gradfn_new(rule_of(op), v, n, 1, nsaved, sizeof *p + (size_t)nshape * sizeof(td_shape),
                       &f);
    if (st) {
        td_array_unref(r);
        return st;
    }
    p = f->par;
    p->op = (uint16_t)op;
    p->n = (uint8_t)n;
    memset(p->saved, -1, sizeof p->saved);
    nsaved = 0;
    for (int i = 0; i < n && !st; i++) {
        p->shape[i] = -1;
        p->number[i] = (td_varop){.scalar = x[i].scalar, .weak = x[i].weak};
        if (!v[i])
            continue;
        p->dt[i] = (uint8_t)td_array_dtype(&v[i]->value);
        if (!td_shape_eq(&v[i]->value.view.shape, &r->view.shape)) {
            p->shape[i] = (int8_t)p->nshape;
            p->shapes[p->nshape++] = v[i]->value.view.shape;
        }
        if (uses >> i & 1) {
            p->saved[i] = (int8_t)nsaved;
            st = td_gradfn_save(f, nsaved++, v[i], i);
        }
    }
    if (!st)
        st = td_gradfn_result(td_gradfn_ref(f), r, 0, out);
    else
        td_array_unref(r);
    if (!st && uses >> 3 & 1) {
        p->saved[3] = (int8_t)nsaved;
        st = td_gradfn_save(f, nsaved, *out, TD_SAVED_RESULT);
        if (st)
            td_var_unref(*out);
    }
    td_gradfn_unref(f);
    return st;
}

/* Rewords a failed broadcast as PyTorch says it; other failures stay. */
static td_status
worded(td_status st, td_var *const *v, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n && v[i]; j++) {
            const td_shape *a = &v[i]->value.view.shape, *b = v[j] ? &v[j]->value.view.shape : NULL;
            int most = b && b->ndim > a->ndim ? b->ndim : a->ndim;

            for (int k = 1; b && k <= a->ndim && k <= b->ndim; k++) {
                int64_t p = a->dim[a->ndim - k], q = b->dim[b->ndim - k];

                if (p != q && p != 1 && q != 1)
                    return td_fail(TD_ERR_VALUE,
                                   "The size of tensor a (%" PRId64
                                   ") must match the size of tensor b (%" PRId64
                                   ") at non-singleton dimension %d",
                                   p, q, most - k);
            }
        }
    return st;
}

/* Lays r out as PyTorch lays the result of an operation on x out. */
static td_status
lay_out(const td_varop *x, int n, td_array *r)
{
    static const td_view number = {0};
    const td_view *src[3];
    td_view layout;
    bool plain = true;

    for (int i = 0; i < n; i++) {
        src[i] = x[i].v ? &x[i].v->value.view : &number;
        plain = plain && td_layout_plain(src[i]);
    }
    if (plain)
        return TD_OK;
    td_layout_follow(&r->view.shape, src, n, &layout);
    return td_layout_settle(r, &layout);
}

/* A remainder of 0 has the dividend's sign in PyTorch, the divisor's in NumPy. */
static td_status
sign_zeros(const td_operand *dividend, td_array *r)
{
    td_operand x[3] = {{.array = r}, {.scalar = {.dt = TD_I64}, .weak = 'i'}};
    td_array zero = {0}, is_signed = {0}, chosen = {0};
    td_status st = td_array_apply(OP_equal, x, 2, &zero);

    x[1] = *dividend;
    if (!st)
        st = td_array_apply(OP_copysign, x, 2, &is_signed);
    x[0].array = &zero;
    x[1] = (td_operand){.array = &is_signed};
    x[2].array = r;
    if (!st)
        st = td_array_apply(OP_select, x, 3, &chosen);
    td_array_unref(&zero);
    td_array_unref(&is_signed);
    if (!st) {
        td_array_unref(r);
        *r = chosen;
    }
    return st;
}

/* given: the operands before they were cast */
static td_status
apply_run(td_op op, const td_varop *x, const td_varop *given, int n, td_var **out)
{
    td_operand o[3] = {{NULL}};
    td_var *v[3];
    td_array r;
    td_status st;

    for (int i = 0; i < n; i++) {
        v[i] = x[i].v;
        o[i] = (td_operand){
            .array = v[i] ? &v[i]->value : NULL, .scalar = x[i].scalar, .weak = x[i].weak};
    }
    st = td_array_ufunc(op, o, n, &r);
    if (st)
        return st == TD_ERR_VALUE ? worded(st, v, n) : st;
    if (op == OP_remainder && td_dtype_is_float(td_array_dtype(&r)))
        st = sign_zeros(&o[0], &r);
    if (st || (st = lay_out(given, n, &r))) {
        td_array_unref(&r);
        return st;
    }
    return td_grad_wanted(v, n) && differentiable(op) ? record_apply(op, x, n, &r, out)
                                                      : td_var_new(&r, out);
}

/* A Python integer among integers takes their dtype, and wraps if it does not fit. */
static td_scalar
wrap_scalar(td_scalar s, td_dtype dt)
{
    uint64_t bits[2];

    td_scalar_bits(s, dt, bits);
    return td_scalar_load(dt, bits);
}

/* The operation's device: that of an operand with dimensions, else the first one's. */
static td_dev *
varop_device(const td_varop *x, int n)
{
    td_dev *d = NULL;

    for (int i = 0; i < n; i++)
        if (x[i].v && x[i].v->value.view.shape.ndim)
            return td_array_dev(&x[i].v->value);
        else if (x[i].v && !d)
            d = td_array_dev(&x[i].v->value);
    return d;
}

/* v in dtype dt; a 0-d value on the CPU moves to d, as in PyTorch.  *own: owned, NULL if
 * nothing changes. */
static td_status
settled(td_var *v, td_dtype dt, td_dev *d, td_var **own)
{
    td_dev *at = td_array_dev(&v->value);
    td_var *near;
    td_status st;

    *own = NULL;
    if (at == d || v->value.view.shape.ndim || !td_dev_info(at)->host)
        return td_array_dtype(&v->value) == dt ? TD_OK : td_var_cast(v, dt, own);
    TD_TRY(td_var_to_device(v, d, &near));
    st = td_var_cast(near, dt, own);
    td_var_unref(near);
    return st;
}

/* Spells a row that the core has for real numbers only with rows that complex numbers have.
 * TD_SKIP: another row. */
static td_status
complex_spelling(td_op op, td_var *x, td_var **out)
{
    static const td_op rsqrt[] = {OP_sqrt, OP_reciprocal, TD_OPS},
                       sigmoid[] = {OP_negative, OP_exp, OP_add, OP_reciprocal, TD_OPS};
    const td_op *step = op == OP_rsqrt ? rsqrt : op == OP_sigmoid ? sigmoid : NULL;
    td_var *now = td_var_ref(x), *next = NULL;
    td_status st = step ? TD_OK : TD_SKIP;

    for (; !st && *step != TD_OPS; step++) {
        td_varop o[2] = {{.v = now}, {.scalar = {.dt = TD_I64, .i = 1}, .weak = 'i'}};

        st = td_var_apply(*step, o, *step == OP_add ? 2 : 1, &next);
        if (!st) {
            td_var_unref(now);
            now = next;
        }
    }
    if (st)
        td_var_unref(now);
    else
        *out = now;
    return st;
}

/* The row itself in dtype dt. */
static td_status
apply_in(td_op op, td_dtype dt, const td_varop *x, int n, td_var **out)
{
    td_var *own[3] = {NULL};
    td_varop cast[3];
    int from = op == OP_select;
    td_dev *d = varop_device(x, n);
    td_status st = TD_OK;

    for (int i = 0; i < n && !st; i++) {
        cast[i] = x[i];
        if (!x[i].v) {
            if (i >= from && td_dtype_is_int(dt))
                cast[i].scalar = wrap_scalar(x[i].scalar, dt);
            continue;
        }
        st = settled(x[i].v, i < from ? td_array_dtype(&x[i].v->value) : dt, d, &own[i]);
        if (own[i])
            cast[i].v = own[i];
    }
    if (!st)
        st = apply_run(op, cast, x, n, out);
    for (int i = 0; i < n; i++)
        td_var_unref(own[i]);
    return st;
}

static td_varop
whole(int64_t i)
{
    return (td_varop){.scalar = {.dt = TD_I64, .i = i}, .weak = 'i'};
}

/* One step of a spelling: *r becomes the row of its operands; takes the earlier *r. */
static td_status
then(td_op op, const td_varop *x, int n, td_varop *r)
{
    td_var *made;

    TD_TRY(td_var_apply(op, x, n, &made));
    td_var_unref(r->v);
    *r = (td_varop){.v = made};
    return TD_OK;
}

/* base ** e of integers, e a variable of signed ones: rounded towards 0 where e < 0, so 1 and -1 alone stay. */
static td_status
signed_power(const td_varop *base, const td_varop *e, td_dtype dt, td_var **out)
{
    td_varop up = {0}, below = {0}, is = {0}, minus = {0}, p = {0};
    td_status st = then(OP_maximum, (td_varop[]){*e, whole(0)}, 2, &up);

    if (!st)
        st = apply_in(OP_power, dt, (td_varop[]){*base, up}, 2, &p.v);
    if (!st) /* 1 for an even e, -1 for an odd one */
        st = then(OP_bitwise_and, (td_varop[]){*e, whole(1)}, 2, &minus);
    if (!st)
        st = then(OP_multiply, (td_varop[]){minus, whole(-2)}, 2, &minus);
    if (!st)
        st = then(OP_add, (td_varop[]){minus, whole(1)}, 2, &minus);
    if (!st) /* base as a variable, also if it is a number */
        st = then(OP_multiply, (td_varop[]){up, whole(0)}, 2, &up);
    if (!st)
        st = then(OP_add, (td_varop[]){up, *base}, 2, &up);
    if (!st)
        st = then(OP_equal, (td_varop[]){up, whole(-1)}, 2, &is);
    if (!st)
        st = then(OP_select, (td_varop[]){is, minus, whole(0)}, 3, &minus);
    if (!st)
        st = then(OP_equal, (td_varop[]){up, whole(1)}, 2, &is);
    if (!st)
        st = then(OP_select, (td_varop[]){is, whole(1), minus}, 3, &minus);
    if (!st)
        st = then(OP_less, (td_varop[]){*e, whole(0)}, 2, &below);
    if (!st)
        st = apply_in(OP_select, dt, (td_varop[]){below, minus, p}, 3, out);
    td_var_unref(up.v);
    td_var_unref(below.v);
    td_var_unref(is.v);
    td_var_unref(minus.v);
    td_var_unref(p.v);
    return st;
}

td_status
td_var_apply(td_op op, const td_varop *x, int n, td_var **out)
{
    int from = op == OP_select;
    td_dtype dt = loop_dtype(op, td_var_promote(x + from, n - from));
    td_status st;

    if (op == OP_reciprocal &&
        td_dtype_is_complex(dt)) /* the row gives NaN for 0, a quotient infinity */
        return apply_in(OP_divide, dt, (td_varop[]){whole(1), x[0]}, 2, out);
    if (n == 1 && td_dtype_is_complex(dt) && (st = complex_spelling(op, x[0].v, out)) != TD_SKIP)
        return st;
    if (op == OP_power && td_dtype_is_int(dt) && x[1].v &&
        td_dtype_kind(td_array_dtype(&x[1].v->value)) == 'i')
        return signed_power(&x[0], &x[1], dt, out);
    return apply_in(op, dt, x, n, out);
}
