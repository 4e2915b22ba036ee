/* num.c - numbers: which type operands meet in, the rows of ops.def, extents.
 *
 * Python's numbers (literals, counters, lengths, thread indices, Python arguments) are weak: beside a float they
 * take its dtype, as in NumPy 2; a literal that fits takes an integer's dtype too.  A Python int that is known only
 * at run time is int64 among integers, so that indices do not wrap where Python's would not.
 */
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

#include <string.h>

thing
num_known(td_scalar s, const td_type *t)
{
    return (thing){.type = t,
                   .known = true,
                   .lit = s,
                   .num = td_num_of(TD_NONE),
                   .nonneg = td_dtype_is_int(t->dt) && (td_dtype_kind(s.dt) == 'u' || s.i >= 0),
                   .small = td_dtype_is_int(t->dt) && s.i <= 1 << 20 && s.i >= -(1 << 20)};
}

thing
num_int(int64_t v)
{
    return num_known((td_scalar){.dt = TD_I64, .i = v}, td_type_weak('i'));
}

thing
num_float(double v)
{
    return num_known((td_scalar){.dt = TD_F64, .f = {v, 0}}, td_type_weak('f'));
}

thing
num_bool(bool v)
{
    return num_known((td_scalar){.dt = TD_BOOL, .i = v}, td_type_num(TD_BOOL));
}

thing
num_of(const td_type *t, td_num v)
{
    return (thing){.type = t, .num = v, .nonneg = td_dtype_kind(t->dt) == 'u'};
}

thing
num_val(td_dtype dt, td_val v)
{
    return num_of(td_type_num(dt), td_num_of(v));
}

int64_t
num_least(const thing *x)
{
    int64_t k;

    if (known_int(x, &k))
        return k < 0 ? -1 : k < INT32_MAX ? k : INT32_MAX;
    if (!x->nonneg)
        return -1;
    return x->least < INT32_MAX ? (int64_t)x->least : INT32_MAX;
}

thing
num_index(td_val v, bool nonneg)
{
    thing x = num_of(td_type_weak('i'), td_num_of(v));

    x.nonneg = nonneg;
    return x;
}

bool
is_int(const thing *x)
{
    return is_num(x) && (td_dtype_is_int(x->type->dt) || x->type->dt == TD_BOOL);
}

bool
known_int(const thing *x, int64_t *out)
{
    if (!is_int(x) || !x->known)
        return false;
    *out = x->lit.i;
    return true;
}

static td_val
number_constant(walk *w, td_scalar s, td_dtype dt, int part)
{
    td_dtype real = td_dtype_real_of(dt);

    if (td_dtype_is_float(real)) {
        char k = td_dtype_kind(s.dt);
        double v = k == 'f' || k == 'c' ? s.f[part]
                   : part               ? 0
                   : k == 'u'           ? (double)s.u
                                        : (double)s.i;

        return td_dtype_is_half(real) ? td_cast(w->f, td_const(w->f, TD_F32, v), real)
                                      : td_const(w->f, real, v);
    } else {
        uint64_t bits[2];

        td_scalar_bits(s, real, bits);
        return td_const_int(w->f, real, (int64_t)bits[0]);
    }
}

td_num
num_as(walk *w, const thing *x, td_dtype dt)
{
    if (x->known) {
        td_num n = td_num_of(number_constant(w, x->lit, dt, 0));

        if (td_dtype_is_complex(dt))
            n.im = number_constant(w, x->lit, dt, 1);
        return n;
    }
    if (is_mixed(x)) {
        thing own = *x;

        exact_pure(w, &own, 0);
        return num_as(w, &own, dt);
    }
    if (x->type->dt == dt)
        return x->num;
    return td_num_cast(w->f, x->num, dt);
}

td_val
val_as(walk *w, const thing *x, td_dtype dt)
{
    return num_as(w, x, dt).re;
}

thing
num_convert(walk *w, const thing *x, const td_type *to)
{
    thing y;

    if (x->known) {
        uint64_t bits[2];

        td_scalar_bits(x->lit, to->dt, bits);
        return num_known(td_scalar_load(to->dt, bits), to);
    }
    y = num_of(to, num_as(w, x, to->dt));
    y.small = (x->small && td_dtype_is_int(to->dt)) || x->type->dt == TD_BOOL;
    y.nonneg = y.nonneg ||
               (x->nonneg && td_dtype_is_int(to->dt) &&
                td_dtype_size(to->dt) >= td_dtype_size(x->type->dt) && to->dt != x->type->dt) ||
               (x->nonneg && to->dt == x->type->dt);
    return y;
}

/* ---- which type ---- */

static char
weak_kind(const td_type *t)
{
    char k = td_dtype_kind(t->dt);

    return k == 'b' || k == 'u' ? 'i' : k;
}

static bool
num_fits(const thing *x, td_dtype dt)
{
    uint64_t bits[2];
    td_scalar s;

    if (!x->known)
        return false;
    td_scalar_bits(x->lit, dt, bits);
    s = td_scalar_load(dt, bits);
    return s.i == x->lit.i && (td_dtype_kind(dt) != 'u' || x->lit.i >= 0);
}

/* weak: a Python number; a: of a dtype. */
static const td_type *
meet_weak(const thing *weak, const thing *a)
{
    char k = weak_kind(weak->type);
    td_dtype dt = a->type->dt;

    if (k != 'i' || !td_dtype_is_int(dt))
        return td_type_num(td_promote_weak(dt, k));
    if (dt == TD_U64 || num_fits(weak, dt))
        return a->type;
    return td_type_num(TD_I64);
}

/* Numba's ufuncs look for a loop that all operands can be cast to: an integer goes into any float. */
static const td_type *
numba_common(const td_type *s, const td_type *t)
{
    bool whole = td_dtype_is_int(s->dt) || s->dt == TD_BOOL,
         too = td_dtype_is_int(t->dt) || t->dt == TD_BOOL;

    return td_type_num(whole == too ? td_promote(s->dt, t->dt) : whole ? t->dt : s->dt);
}

/* What NumPy would lose nothing in, and int32's and uint16's products with float32 are float64. */
const td_type *
num_operator_type(const thing *a, const thing *b)
{
    td_dtype x = a->type->dt, y = b->type->dt, narrow;

    if (is_int(a) && is_int(b))
        return td_type_num(td_dtype_kind(x) == 'u' && td_dtype_kind(y) == 'u' ? TD_U64 : TD_I64);
    narrow = is_int(a) ? x : y;
    if ((is_int(a) || is_int(b)) && narrow == TD_U16)
        return td_type_num(td_promote(TD_I32, is_int(a) ? y : x));
    return td_type_num(td_promote(x, y));
}

const td_type *
num_common(const walk *w, const thing *a, const thing *b)
{
    const td_type *s = a->type, *t = b->type;
    bool wa = s->weak || s->dt == TD_BOOL, wb = t->weak || t->dt == TD_BOOL;

    if (w->numba && !(s->weak && t->weak) && !(s->dt == TD_BOOL && t->dt == TD_BOOL))
        return numba_common(s, t);

    if (wa && wb) {
        char k = weak_kind(s), m = weak_kind(t);

        return td_type_weak(k == 'c' || m == 'c' ? 'c' : k == 'f' || m == 'f' ? 'f' : 'i');
    }
    if (s->dt == TD_BOOL)
        return t;
    if (t->dt == TD_BOOL)
        return s;
    return wa ? meet_weak(a, b) : wb ? meet_weak(b, a) : td_type_num(td_promote(s->dt, t->dt));
}

/* ---- rows ---- */

/* The type that row `op` computes in for operands that meet in t; NULL: not defined. */
static const td_type *
row_type(const walk *w, td_op op, const td_type *t)
{
    td_dtype dt = td_dtype_is_half(t->dt) ? TD_F32 : t->dt;
    const char *kinds = td_optab[op].kinds;

    if (strchr(kinds, td_dtype_kind(dt)))
        return t;
    if (t->dt == TD_BOOL && strchr(kinds, 'i'))
        return td_type_weak('i');
    if (td_dtype_is_complex(t->dt) || !strchr(kinds, 'f'))
        return NULL;
    if (w->numba && td_dtype_size(dt) == 1) /* Numba has no float16 */
        return td_type_num(TD_F32);
    return t->weak || t->dt == TD_BOOL ? td_type_weak('f') : td_type_num(td_dtype_float_of(dt));
}

static td_num
emit_row(walk *w, td_op op, const td_type *t, const thing *x, int n)
{
    td_dtype dt = td_dtype_is_half(t->dt) ? TD_F32 : t->dt;
    td_num v[TD_MAXARG];

    for (int i = 0; i < n; i++)
        v[i] = num_as(w, &x[i], op == OP_select && i == 0 ? TD_BOOL : dt);
    return td_num_emit(w->f, op, v);
}

/* What a row computes with: of a mixed number its value. */
static const td_type *
value_type(const thing *x)
{
    return !is_mixed(x)             ? x->type
           : x->type->dt == TD_BOOL ? td_type_num(TD_BOOL)
                                    : td_type_weak(td_dtype_kind((td_dtype)x->type->dt));
}

td_status
num_op(walk *w, td_op op, const thing *x, int n, thing *out)
{
    int first = op == OP_select;
    const td_type *t, *in;
    td_dtype dt;
    td_num v;

    for (int i = first; i < n; i++)
        if (!is_num(&x[i]))
            return bad(w, w->node, TD_ERR_TYPE, "%s takes numbers, not %s", td_optab[op].name,
                       x[i].type->name);
    t = value_type(&x[first]);
    for (int i = first + 1; i < n; i++) {
        thing so_far = i == first + 1 ? x[first] : (thing){0}, next = x[i];

        so_far.type = t;
        next.type = value_type(&x[i]);
        t = t->dt == TD_BOOL && next.type->dt == TD_BOOL ? t
            : op == OP_select && w->numba                ? join_types(w, t, next.type)
                                                         : num_common(w, &so_far, &next);
    }
    in = row_type(w, op, t);
    if (!in)
        return bad(w, w->node, TD_ERR_TYPE, "%s is not defined for %s", td_optab[op].name, t->name);
    v = emit_row(w, op, in, x, n);
    if (w->f->st)
        return built(w, w->node);
    dt = td_op_result(op, td_dtype_is_half(in->dt) ? TD_F32 : in->dt);
    if (td_dtype_is_half(in->dt) && dt == TD_F32) {
        v = td_num_cast(w->f, v, in->dt);
        dt = in->dt;
    }
    *out = num_of(dt == in->dt               ? in
                  : in->weak && dt == TD_F64 ? td_type_weak('f')
                                             : td_type_num(dt),
                  v);
    return TD_OK;
}

/* ---- extents ---- */

td_val
dim_val(walk *w, const dim *d)
{
    return d->v.i == UINT32_MAX ? td_const_int(w->f, TD_I64, d->known) : d->v;
}

bool
same_val(const walk *w, td_val a, td_val b, int depth)
{
    const td_inst *x, *y;

    if (a.i == b.i)
        return true;
    if (a.i == UINT32_MAX || b.i == UINT32_MAX || depth == 0)
        return false;
    x = td_at(w->f, a);
    y = td_at(w->f, b);
    if (x->op != y->op || x->dt != y->dt || x->imm != y->imm || x->op == OP_load ||
        x->op == OP_for || x->op == OP_get || td_op_is_atomic(x->op) || x->op == OP_param ||
        x->op == OP_local || x->op == OP_slot || x->op == OP_shared)
        return false;
    for (int i = 0; i < TD_MAXARG; i++)
        if (!same_val(w, x->arg[i], y->arg[i], depth - 1))
            return false;
    return true;
}

bool
same_dim(const walk *w, const dim *a, const dim *b)
{
    bool known = a->v.i == UINT32_MAX, both = known && b->v.i == UINT32_MAX;

    return both ? a->known == b->known : !known && same_val(w, a->v, b->v, 6);
}

dim
dim_of_thing(walk *w, const thing *x)
{
    int64_t v;

    return known_int(x, &v) ? dim_known(v) : dim_of(val_as(w, x, TD_I64));
}

dim
dim_mul(walk *w, dim a, dim b)
{
    if (a.v.i == UINT32_MAX && b.v.i == UINT32_MAX)
        return dim_known(a.known * b.known);
    if (a.v.i == UINT32_MAX && a.known == 1)
        return b;
    if (b.v.i == UINT32_MAX && b.known == 1)
        return a;
    return dim_of(TD_E2(w->f, multiply, dim_val(w, &a), dim_val(w, &b)));
}

thing
dim_thing(const dim *d)
{
    return d->v.i == UINT32_MAX ? num_int(d->known) : num_index(d->v, true);
}
