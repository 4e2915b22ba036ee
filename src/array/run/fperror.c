/* fperror.c - finds floating-point errors by comparing results with operands. */
#include "array/run/fperror.h"

#include "array/graph/capture.h"
#include "array/graph/internal.h"
#include "array/run/eval.h"

#include <string.h>

atomic_int td_fp_watchers;
_Thread_local uint8_t td_fp_watching;

static _Atomic(td_fp_found *) found;

void
td_fp_watch(uint8_t kinds)
{
    atomic_fetch_add(&td_fp_watchers, (kinds != 0) - (td_fp_watching != 0));
    td_fp_watching = kinds;
}

void
td_fp_on_found(td_fp_found *fn)
{
    atomic_store(&found, fn);
}

/* ---- which operations do what ---- */

typedef enum pole {
    NOWHERE,
    AT_FIRST,  /* where the first operand is 0 */
    AT_SECOND, /* where the second is */
    ALWAYS,    /* wherever finite operands give infinity */
} pole;

typedef enum under {
    NEVER,
    OF_NORMAL, /* a subnormal result of normal operands */
    OF_FINITE, /* a subnormal result of finite operands */
} under;

/* What the letters of ops.def's column say. */
static void
traits(uint16_t op, pole *p, under *u)
{
    const char *letters = op < TD_OPS ? td_optab[op].errors : "";

    *p = strchr(letters, '1')   ? AT_FIRST
         : strchr(letters, '2') ? AT_SECOND
         : strchr(letters, 'i') ? ALWAYS
                                : NOWHERE;
    *u = strchr(letters, 'n') ? OF_NORMAL : strchr(letters, 'f') ? OF_FINITE : NEVER;
}

/* Can values of dt be infinite or NaN? */
static bool
is_inexact(uint8_t dt)
{
    return td_dtype_is_float((td_dtype)dt) || td_dtype_is_complex((td_dtype)dt);
}

bool
td_fp_applies(const td_node *n)
{
    pole p;
    under u;

    switch ((td_kind)n->kind) {
    case TD_N_OP:
        traits(n->op, &p, &u);
        return is_inexact(n->dt) || (td_dtype_is_int((td_dtype)n->dt) && p != NOWHERE);
    case TD_N_CAST: return is_inexact(n->src[0]->dt) && n->dt != TD_BOOL && n->dt != n->src[0]->dt;
    case TD_N_REDUCE:
        return is_inexact(n->dt) && is_inexact(n->src[0]->dt) &&
               (n->op == TD_RED_sum || n->op == TD_RED_prod || n->op == TD_RED_mean ||
                n->op == TD_RED_var || n->op == TD_RED_std);
    default: return false;
    }
}

/* ---- expressions over the values ---- */

/* maker - builds masks from arrays.  After its first failure it builds nothing; NULL is a mask that is nowhere true. */
typedef struct maker {
    td_status st;
    td_array made[64];
    int n;
} maker;

static const td_array *
fperror_keep(maker *m, td_status st, const td_array *r)
{
    if (m->st || st) {
        m->st = m->st ? m->st : st;
        return NULL;
    }
    TD_ASSERT(m->n < (int)(sizeof m->made / sizeof *m->made));
    m->made[m->n] = *r;
    return &m->made[m->n++];
}

static const td_array *
value(maker *m, td_node *n)
{
    td_array r = {0};

    return m->st ? NULL : fperror_keep(m, td_array_of_node(td_node_ref(n), &r), &r);
}

static const td_array *
apply(maker *m, td_op op, const td_array *a, const td_array *b)
{
    td_operand x[2] = {{.array = a}, {.array = b}};
    td_array r = {0};

    return m->st ? NULL : fperror_keep(m, td_array_apply(op, x, b ? 2 : 1, &r), &r);
}

static const td_array *
compare(maker *m, td_op op, const td_array *a, double number)
{
    td_operand x[2] = {{.array = a}, {.scalar = {.dt = TD_F64, .f = {number}}, .weak = 'f'}};
    td_array r = {0};

    return m->st ? NULL : fperror_keep(m, td_array_apply(op, x, 2, &r), &r);
}

static const td_array *
either(maker *m, const td_array *a, const td_array *b)
{
    return a && b ? apply(m, OP_logical_or, a, b) : a ? a : b;
}

static const td_array *
both(maker *m, const td_array *a, const td_array *b)
{
    return a && b ? apply(m, OP_logical_and, a, b) : NULL;
}

static const td_array *
without(maker *m, const td_array *a, const td_array *b)
{
    return a && b ? apply(m, OP_greater, a, b) : a;
}

/* The elements of a for which `is` holds. */
static const td_array *
where(maker *m, td_op is, const td_array *a)
{
    return a && is_inexact(a->dt) ? apply(m, is, a, NULL) : NULL;
}

static const td_array *
reduced(maker *m, td_red red, const td_array *a, uint32_t axes, bool keepdims)
{
    td_redargs args = {.axes = axes, .keepdims = keepdims, .dtype = -1};
    td_array r = {0};

    return m->st || !a ? NULL : fperror_keep(m, td_array_reduce(red, a, &args, &r), &r);
}

/* seen - an operation, its operands and its result, taken from a node before it is evaluated. */
typedef struct seen {
    uint8_t kind, nsrc;
    uint16_t op;
    uint32_t axes;
    td_node *src[TD_MAXSRC], *out;
} seen;

typedef struct finding {
    const td_array *at[4]; /* for each kind of error where it occurred; NULL: nowhere */
} finding;

/* Where `is` holds for any operand. */
static const td_array *
some(maker *m, td_op is, const td_array *const *in, int n)
{
    const td_array *r = NULL;

    for (int i = 0; i < n; i++)
        r = either(m, r, where(m, is, in[i]));
    return r;
}

/* Where any operand is NaN or infinite. */
static const td_array *
unbounded(maker *m, const td_array *const *in, int n)
{
    return either(m, some(m, OP_isnan, in, n), some(m, OP_isinf, in, n));
}

static double
least_normal(uint8_t dt)
{
    return dt == TD_F64 ? 0x1p-1022 : dt == TD_F16 ? 0x1p-14 : 0x1p-126;
}

/* Where the result is subnormal or 0 although the operands are not (u says which operands count). */
static const td_array *
too_small(maker *m, under u, const td_array *const *in, int n, const td_array *out)
{
    double least = least_normal(out->dt);
    const td_array *r;

    if (u == NEVER || !td_dtype_is_float((td_dtype)out->dt))
        return NULL;
    r = compare(m, OP_less, apply(m, OP_absolute, out, NULL), least);
    r = without(m, r, unbounded(m, in, n));
    for (int i = 0; i < n; i++)
        if (u == OF_NORMAL)
            r = without(m, r, compare(m, OP_less, apply(m, OP_absolute, in[i], NULL), least));
        else if (n == 2 && i == 0) /* 0 ** y is exact */
            r = without(m, r, compare(m, OP_equal, in[i], 0));
    return r;
}

static finding
in_operation(maker *m, const seen *s, const td_array *const *in, const td_array *out)
{
    const td_array *boom = NULL, *zero = NULL;
    finding f = {{NULL}};
    pole p;
    under u;

    traits(s->op, &p, &u);
    if (p == AT_FIRST || p == AT_SECOND)
        zero = compare(m, OP_equal, in[p == AT_SECOND], 0);
    if (!is_inexact(out->dt)) {
        f.at[0] = zero;
        return f;
    }
    boom = without(m, where(m, OP_isinf, out), unbounded(m, in, s->nsrc));
    f.at[0] = p == ALWAYS ? boom : both(m, boom, zero);
    f.at[1] = p == ALWAYS ? NULL : without(m, boom, zero);
    f.at[2] = too_small(m, u, in, s->nsrc, out);
    f.at[3] = without(m, where(m, OP_isnan, out), some(m, OP_isnan, in, s->nsrc));
    return f;
}

static finding
in_cast(maker *m, const td_array *in, const td_array *out)
{
    td_dtype to = (td_dtype)out->dt;
    int bits = 8 * (int)td_dtype_size(to);
    bool sign = td_dtype_kind(to) == 'i';
    const td_array *whole, *low, *high;
    finding f = {{NULL}};

    if (is_inexact(out->dt)) {
        f.at[1] = without(m, where(m, OP_isinf, out), unbounded(m, &in, 1));
    } else if (td_dtype_is_float((td_dtype)in->dt)) {
        whole = apply(m, OP_trunc, in, NULL);
        low = compare(m, OP_less, whole, sign ? -(double)((uint64_t)1 << (bits - 1)) : 0);
        high =
            compare(m, OP_greater_equal, whole, 2.0 * (double)((uint64_t)1 << (bits - 1 - sign)));
        f.at[3] = either(m, where(m, OP_isnan, in), either(m, low, high));
    }
    return f;
}

static finding
in_reduction(maker *m, const seen *s, const td_array *in, const td_array *out)
{
    bool same = in->view.shape.ndim == out->view.shape.ndim;
    const td_array *nan = reduced(m, TD_RED_any, where(m, OP_isnan, in), s->axes, same),
                   *wild = reduced(m, TD_RED_any, unbounded(m, &in, 1), s->axes, same);
    finding f = {{NULL}};

    f.at[1] = without(m, where(m, OP_isinf, out), wild);
    f.at[3] = without(m, where(m, OP_isnan, out), nan);
    return f;
}

/* ---- the answer ---- */

static uint32_t
every_axis(const td_array *a)
{
    return (uint32_t)(((uint64_t)1 << a->view.shape.ndim) - 1);
}

static bool
holds_somewhere(maker *m, const td_array *a)
{
    const td_array *any = reduced(m, TD_RED_any, a, a ? every_axis(a) : 0, false);
    bool r = false;

    if (any && !m->st)
        m->st = td_array_get(any, &r);
    return r;
}

static td_status
tell(td_fperr kind, const char *op, bool raises)
{
    static const char *const words[] = {"divide by zero", "overflow", "underflow", "invalid value"};
    td_fp_found *fn = atomic_load(&found);

    if (fn)
        return fn(kind, op, raises);
    return td_fail(TD_ERR_FLOAT, "%s encountered in %s", words[__builtin_ctz(kind)], op);
}

/* Looks once at all kinds together; if there was an error, at each kind. */
static td_status
look(maker *m, const finding *f, uint8_t asked, const char *op)
{
    const td_array *any = NULL;

    for (int k = 0; k < 4; k++)
        if (asked >> k & 1)
            any = either(m, any, f->at[k]);
    if (!holds_somewhere(m, any))
        return m->st;
    for (int k = 0; k < 4 && !m->st; k++)
        if (asked >> k & 1 && holds_somewhere(m, f->at[k]) && !m->st)
            m->st = tell((td_fperr)(1 << k), op, asked >> (k + TD_FP_RAISE) & 1);
    return m->st;
}

static void
end(maker *m)
{
    for (int i = 0; i < m->n; i++)
        td_array_unref(&m->made[i]);
}

static const char *
name_of(const seen *s)
{
    if (s->kind == TD_N_CAST)
        return "cast";
    return s->kind == TD_N_REDUCE ? "reduce" : s->op == OP_pow ? "power" : td_optab[s->op].name;
}

static td_status
check(const seen *s, uint8_t asked)
{
    uint8_t own = td_fp_watching;
    maker m = {.st = TD_OK};
    const td_array *in[TD_MAXSRC], *out;
    finding f = {{NULL}};

    td_fp_watching = 0; /* the checks' own operations are not watched */
    for (int i = 0; i < s->nsrc; i++)
        in[i] = value(&m, s->src[i]);
    out = value(&m, s->out);
    if (!m.st)
        f = s->kind == TD_N_OP     ? in_operation(&m, s, in, out)
            : s->kind == TD_N_CAST ? in_cast(&m, in[0], out)
                                   : in_reduction(&m, s, in[0], out);
    td_fp_watching = own;
    (void)(m.st || look(&m, &f, asked, name_of(s)));
    end(&m);
    return m.st;
}

/* n's operation and values, with references of their own. */
static seen
see(td_node *n)
{
    seen s = {.kind = n->kind, .nsrc = n->nsrc, .op = n->op, .axes = n->axes};

    for (int i = 0; i < n->nsrc; i++)
        s.src[i] = td_node_ref(n->src[i]);
    s.out = td_node_ref(n);
    return s;
}

static void
forget(seen *s)
{
    for (int i = 0; i < s->nsrc; i++)
        td_node_unref(s->src[i]);
    td_node_unref(s->out);
}

td_status
td_fp_check_node(td_node *n)
{
    seen s = see(n);
    uint8_t asked = n->watch;
    td_status st;

    n->watch = 0;
    st = td_eval_node(n);
    if (!st)
        st = check(&s, asked);
    forget(&s);
    return st;
}

td_status
td_fp_check(td_node *n)
{
    td_status st = TD_OK;
    td_walk w;

    td_walk_under(&w, n);
    for (int i = 0; i < w.n; i++)
        td_node_ref(w.node[i]);
    for (int i = w.n - 1; i >= 0; i--) { /* sources stand behind */
        uint8_t asked = w.node[i]->watch;

        if (asked && !st && td_node_pending(w.node[i])) {
            seen s = see(w.node[i]);

            w.node[i]->watch = 0;
            st = check(&s, asked);
            forget(&s);
        }
        td_node_unref(w.node[i]);
    }
    return st;
}

td_status
td_fp_check_result(const char *op, const td_array *const *in, int nin, const td_array *out)
{
    uint8_t own = td_fp_watching;
    maker m = {.st = TD_OK};
    bool nan = false, wild = false;
    finding f = {{NULL}};

    if (!own || !is_inexact(out->dt) || td_capture_now())
        return TD_OK;
    td_fp_watching = 0;
    for (int i = 0; i < nin; i++) {
        nan |= holds_somewhere(&m, where(&m, OP_isnan, in[i]));
        wild |= holds_somewhere(&m, unbounded(&m, &in[i], 1));
    }
    f.at[1] = wild ? NULL : where(&m, OP_isinf, out);
    f.at[3] = nan ? NULL : where(&m, OP_isnan, out);
    td_fp_watching = own;
    (void)(m.st || look(&m, &f, own, op));
    end(&m);
    return m.st;
}
