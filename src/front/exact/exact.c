/* exact.c - the guard of exact functions, kinds of numbers that meet, and treadle.exact itself. */
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

enum { LOOP_CHECKS = UINT32_MAX - 7 }; /* in join keys: the loop's iterations may set the flag */

/* ---- the flag ---- */

void
exact_flag(walk *w, td_val cond)
{
    w->exact->checks++;
    td_set(w->f, w->exact->bad, TD_E2(w->f, logical_or, td_get(w->f, w->exact->bad), cond));
}

void
exact_leave_flagged(walk *w)
{
    td_break_out(w->f, td_get(w->f, w->exact->bad), w->depth - w->exact->depth - 1);
}

void
exact_leave(walk *w)
{
    w->exact->checks++;
    td_set(w->f, w->exact->bad, td_const_int(w->f, TD_BOOL, 1));
    leave(w, w->exact->depth);
}

/* Values of an item that is Python's may keep a loop from ending. */
uint32_t
exact_iteration_begin(walk *w, uint32_t node)
{
    if (!w->exact)
        return 0;
    if (join_get(w, join_key(w, node, LOOP_CHECKS)))
        exact_leave_flagged(w);
    return w->exact->checks;
}

void
exact_iteration_end(walk *w, uint32_t node, uint32_t before)
{
    thing none = {.type = td_type_none()};
    td_hash key = join_key(w, node, LOOP_CHECKS);

    if (w->exact && w->exact->checks != before && !join_get(w, key) &&
        join_add(w, key, &none, node, "a loop"))
        w->mem->failed = true;
}

/* ---- kinds ---- */

uint32_t
exact_kinds(const td_type *t)
{
    if (t->kind == TD_T_NONE)
        return EXACT_NONE;
    if (t->kind != TD_T_NUM)
        return 0;
    if (t->object)
        return t->object;
    return t->dt == TD_BOOL   ? EXACT_BOOL
           : t->dt == TD_I64  ? EXACT_INT
           : t->dt == TD_F64  ? EXACT_FLOAT
           : t->dt == TD_C128 ? EXACT_COMPLEX
                              : 0;
}

const td_type *
exact_join(const td_type *a, const td_type *b)
{
    uint32_t ka = exact_kinds(a), kb = exact_kinds(b), both = ka | kb;

    if (!ka || !kb || ((both & EXACT_COMPLEX) && (both & EXACT_ALL_NUMPY)))
        return NULL;
    return td_type_mixed(both);
}

thing
exact_of_kinds(td_val v, uint32_t kinds, td_val tag)
{
    thing x = num_of(td_type_mixed(kinds), td_num_of(v));

    x.tag = tag;
    return x;
}

static td_val
byte(walk *w, uint32_t v)
{
    return td_const_int(w->f, TD_U8, (int64_t)v);
}

td_val
exact_tag(walk *w, const thing *x)
{
    return is_mixed(x) ? x->tag : byte(w, exact_kinds(x->type));
}

static void
flag_wide(walk *w, td_val v)
{
    td_val most = td_const_int(w->f, TD_I64, INT64_C(1) << 53);

    exact_flag(w, TD_E2(w->f, greater, TD_E1(w->f, absolute, v), most));
    exact_flag(w, TD_E2(w->f, equal, v, td_const_int(w->f, TD_I64, INT64_MIN)));
}

td_val
exact_raw(walk *w, const thing *x, td_dtype dt, bool whole)
{
    thing own = *x;

    if (is_none(x))
        return td_const_int(w->f, dt, 0);
    if (is_mixed(x)) /* without its tag */
        own = num_of(td_type_num((td_dtype)x->type->dt), x->num);
    if (whole && dt == TD_F64 && own.type->dt == TD_I64 && !own.small)
        flag_wide(w, val_as(w, &own, TD_I64));
    return val_as(w, &own, dt);
}

td_num
exact_pair(walk *w, const thing *x, bool whole)
{
    td_val zero = td_const(w->f, TD_F64, 0);

    if (!is_complex(x))
        return (td_num){exact_raw(w, x, TD_F64, whole), zero};
    return is_mixed(x) ? x->num : num_as(w, x, TD_C128);
}

void
exact_pure(walk *w, thing *x, uint32_t kinds)
{
    td_dtype dt = (td_dtype)x->type->dt;
    bool part = dt == TD_C128 && kinds == EXACT_REAL;

    if (!is_mixed(x))
        return;
    if (!part)
        kinds |= dt == TD_C128  ? EXACT_COMPLEX
                 : dt == TD_F64 ? EXACT_FLOAT
                 : dt == TD_I64 ? EXACT_INT
                                : EXACT_BOOL;
    kinds |= (kinds & EXACT_REAL) << EXACT_NUMPY;
    if (x->type->object & ~kinds)
        exact_flag(
            w, TD_E2(w->f, equal, TD_E2(w->f, bitwise_and, x->tag, byte(w, kinds)), byte(w, 0)));
    if (part)
        *x = num_of(td_type_weak('f'), td_num_of(x->num.re));
    else
        *x = num_of(dt == TD_BOOL ? td_type_num(dt) : td_type_weak(td_dtype_kind(dt)), x->num);
}

void
exact_float(walk *w, thing *x)
{
    if (is_mixed(x))
        exact_pure(w, x, EXACT_REAL);
    if (is_int(x))
        *x = num_convert(w, x, td_type_weak('f'));
}

/* ---- treadle.exact(f, *numbers), exact_arrays: (f's value, is the item Python's?) ---- */

/* A number of an array is Python's in here, but where there are arrays. */
static td_status
as_python(walk *w, const thing *x, uint32_t node, thing *out)
{
    char kind;

    *out = *x;
    if (w->exact->numpy) {
        if (is_num(out))
            *out = numpy_scalar(w, out);
        return TD_OK;
    }
    TD_TRY(loaded(w, out));
    if (!is_num(out) || td_dtype_kind((td_dtype)out->type->dt) == 'u')
        return bad(w, node, TD_ERR_TYPE, "exact takes Python's numbers, not %s", out->type->name);
    kind = td_dtype_kind((td_dtype)out->type->dt);
    if (kind != 'b')
        *out = num_convert(w, out, td_type_weak(kind));
    return TD_OK;
}

static td_status
check_result(walk *w, const thing *x)
{
    if (x->type->kind == TD_T_TUPLE && !x->type->object) {
        for (uint32_t i = 0; i < x->type->n; i++)
            TD_TRY(check_result(w, &x->item[i]));
        return TD_OK;
    }
    if (exact_kinds(x->type) || (is_list(x) && exact_list_tells(w)) ||
        (w->exact->numpy && is_num(x)))
        return TD_OK;
    return bad(w, w->node, TD_ERR_TYPE, "the function returns %s",
               is_list(x) ? "a list that holds other things than real numbers" : x->type->name);
}

/* A mixed number becomes a tuple of its value and its tag. */
static thing
tell_parts(walk *w, const thing *x)
{
    thing part[2], *item;

    if (is_mixed(x)) {
        td_dtype dt = (td_dtype)x->type->dt;

        part[0] = num_of(td_type_num(dt), x->num);
        part[1] = num_val(TD_U8, x->tag);
        return tuple_of(w, part, 2);
    }
    if (is_list(x))
        return exact_list_array(w, x);
    if (x->type->kind != TD_T_TUPLE)
        return *x;
    item = td_alloc(w->mem, (x->type->n + 1) * sizeof *item);
    for (uint32_t i = 0; i < x->type->n; i++)
        item[i] = tell_parts(w, &x->item[i]);
    return tuple_of(w, item, x->type->n);
}

/* f's call under the guard; its value goes to the join and to the place, if there is one. */
static td_status
guarded(walk *w, const call *c, td_hash key, const place *p)
{
    call inner = {
        .node = c->node, .n = c->n - 1, .arg = td_alloc(w->mem, (c->n + 1) * sizeof *inner.arg)};
    thing x = {0};

    for (uint32_t i = 0; i < inner.n; i++)
        TD_TRY(as_python(w, &c->arg[i + 1], c->node, &inner.arg[i]));
    TD_TRY(call_object(w, &c->arg[0], &inner, &x));
    TD_TRY(check_result(w, &x));
    TD_TRY(join_add(w, key, &x, c->node, "the value returned"));
    return p ? place_set(w, p, &x) : TD_OK;
}

td_status
fn_exact(walk *w, const call *c, int number, thing *out)
{
    struct guard g = {
        .bad = td_slot(w->f, TD_BOOL, 1), .depth = w->depth, .numpy = td_intrinsics[number].row};
    td_hash key = join_key(w, c->node, 0);
    join *j = join_get(w, key);
    thing part[2] = {{.type = td_type_none()}};
    place p = {0};
    td_status st;

    if (w->exact || w->outline || !c->n)
        return bad(w, c->node, TD_ERR_TYPE, "exact stands in no other exact function");
    w->f->libm = true;
    if (j)
        p = place_empty(w, j);
    td_set(w->f, g.bad, td_const_int(w->f, TD_BOOL, 0));
    w->exact = &g;
    exact_heap(w);
    open_block(w);
    st = guarded(w, c, key, j ? &p : NULL);
    w->exact = NULL;
    if (st && !(st == TD_SKIP && w->again))
        return st;
    close_region(w);
    w->dead = false;
    if (w->again) /* what the value is made of may change yet */
        return TD_SKIP;
    if (join_get(w, key)) {
        part[0] = j ? place_get(w, &p) : stand_in(w, join_get(w, key)->type);
        w->exact = &g;
        part[0] = tell_parts(w, &part[0]);
        w->exact = NULL;
    }
    part[1] = num_val(TD_BOOL, td_get(w->f, g.bad));
    *out = tuple_of(w, part, 2);
    return built(w, c->node);
}
