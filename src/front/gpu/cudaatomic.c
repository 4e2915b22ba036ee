/* cudaatomic.c - atomic operations on elements of arrays and fields of records; loads and stores with a cache
 * operator.
 *
 * max and min follow Python's: a NaN in memory stays, and a NaN argument is ignored.  nanmax and nanmin ignore a NaN
 * in both places, as the GPU's instructions do.
 */
#include "front/infer/intrin.h"

static const struct {
    td_op op;
    const char *name, *dtypes;
} rows[] = {
    [ATOMIC_ADD] = {OP_atomic_add, "add", "efdilIL"},
    [ATOMIC_SUB] = {OP_atomic_add, "sub", "efdilIL"},
    [ATOMIC_AND] = {OP_atomic_and, "and_", "ilIL"},
    [ATOMIC_OR] = {OP_atomic_or, "or_", "ilIL"},
    [ATOMIC_XOR] = {OP_atomic_xor, "xor", "ilIL"},
    [ATOMIC_INC] = {OP_atomic_inc, "inc", "IL"},
    [ATOMIC_DEC] = {OP_atomic_dec, "dec", "IL"},
    [ATOMIC_EXCH] = {OP_atomic_exch, "exch", "fdilIL"},
    [ATOMIC_MAX] = {OP_atomic_max, "max", "fdilIL"},
    [ATOMIC_MIN] = {OP_atomic_min, "min", "fdilIL"},
    [ATOMIC_NANMAX] = {OP_atomic_max, "nanmax", "fdilIL"},
    [ATOMIC_NANMIN] = {OP_atomic_min, "nanmin", "fdilIL"},
};

/* The dtypes that a row's letters mean. */
static const struct {
    char letter;
    td_dtype dt;
} letters[] = {{'e', TD_F16}, {'e', TD_BF16}, {'f', TD_F32}, {'d', TD_F64},
               {'i', TD_I32}, {'l', TD_I64},  {'I', TD_U32}, {'L', TD_U64}};

static td_status
check_dtype(walk *w, const call *c, const char *name, const char *allowed, td_dtype dt)
{
    td_text list = {0};
    td_status st = TD_OK;
    bool found = false;

    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        for (const char *p = allowed; *p; p++)
            if (*p == letters[i].letter) {
                td_text_addf(&list, "%s%s", list.n ? ", " : "", td_dtype_name(letters[i].dt));
                found = found || letters[i].dt == dt;
            }
    if (!found)
        st = bad(w, c->node, TD_ERR_TYPE, "atomic.%s is not defined on %s, only on %s", name,
                 td_dtype_name(dt), list.s);
    td_text_free(&list);
    return st;
}

/* The element that an atomic operation changes: array[key]; a record's field, where key is its
 * name. */
static td_status
target(walk *w, const call *c, const char *name, const thing *array, const thing *key, thing *to)
{
    if (is_record(array) && (key->type->kind == TD_T_OBJECT || is_num(key))) {
        TD_TRY(record_part(w, array, key, c->node, to));
    } else if (array->type->kind == TD_T_ARRAY) {
        TD_TRY(element_view(w, array, key, c->node, to));
    }
    if (!to->type || to->type->kind != TD_T_ARRAY)
        return bad(w, c->node, TD_ERR_TYPE, "atomic.%s changes an element of an array, not of %s",
                   name, array->type->name);
    if (to->type->ndim)
        return bad(w, c->node, TD_ERR_TYPE, "atomic.%s changes one number: %s has %u dims left",
                   name, to->view->name ? to->view->name : "the array", to->type->ndim);
    if (to->type->item[0]->kind != TD_T_NUM)
        return bad(w, c->node, TD_ERR_TYPE,
                   "atomic.%s changes one number, not a record: name the field, "
                   "atomic.%s(a[i], \"field\", value)",
                   name, name);
    if (to->type->readonly)
        return bad(w, c->node, TD_ERR_TYPE, "%s is read-only",
                   to->view->name ? to->view->name : "the array");
    if (element_align(to->view, to->type->item[0]) < td_type_size(to->type->item[0]))
        return bad(w, c->node, TD_ERR_TYPE,
                   "atomic.%s needs the field at a multiple of its size: make the records' dtype "
                   "with align=True",
                   name);
    note_written(w, to->view);
    return iterations_store(w, c->node);
}

static td_val
atomic_index(walk *w, const view *v)
{
    return v->offset.i == UINT32_MAX ? td_const_int(w->f, TD_I64, 0) : v->offset;
}

static td_status
atomic_operand(walk *w, const call *c, uint32_t i, td_dtype dt, td_val *out)
{
    thing x = c->arg[i];

    TD_TRY(loaded(w, &x));
    if (!is_num(&x) || td_dtype_is_complex(x.type->dt))
        return bad(w, c->node, TD_ERR_TYPE, "an atomic operation on %s takes a number, not %s",
                   td_dtype_name(dt), x.type->name);
    *out = val_as(w, &x, dt);
    return TD_OK;
}

/* max and min of floats: a NaN in memory stays. */
static td_val
unless_nan(walk *w, td_op op, const view *v, td_val x)
{
    td_val index = atomic_index(w, v), mask = v->mask,
           seen = td_load(w->f, v->base, index, mask, 1, 0), is_number, old;

    is_number = TD_E2(w->f, equal, seen, seen);
    mask = mask.i == UINT32_MAX ? is_number : TD_E2(w->f, logical_and, mask, is_number);
    old = td_atomic(w->f, op, v->base, index, x, mask);
    return TD_E3(w->f, select, is_number, old, seen);
}

/* row: ATOMIC_* */
td_status
fn_atomic(walk *w, const call *c, int number, thing *out)
{
    int row = td_intrinsics[number].row;
    td_op op = rows[row].op;
    thing to = {0};
    td_dtype dt;
    td_val x, old;

    TD_TRY(want_args(w, c, "an atomic operation", 3, 3));
    TD_TRY(target(w, c, rows[row].name, &c->arg[0], &c->arg[1], &to));
    dt = to.type->item[0]->dt;
    TD_TRY(check_dtype(w, c, rows[row].name, rows[row].dtypes, dt));
    TD_TRY(atomic_operand(w, c, 2, dt, &x));
    if (row == ATOMIC_SUB) {
        thing minus = num_val(dt, x);

        TD_TRY(num_op(w, OP_negative, &minus, 1, &minus));
        x = val_as(w, &minus, dt);
    }
    if ((row == ATOMIC_MAX || row == ATOMIC_MIN) && td_dtype_is_float(dt))
        old = unless_nan(w, op, to.view, x);
    else
        old = td_atomic(w->f, op, to.view->base, atomic_index(w, to.view), x, to.view->mask);
    *out = num_val(dt, old);
    return built(w, c->node);
}

/* cas(array, key, old, value); row 1: compare_and_swap(array, old, value), of the first element. */
td_status
fn_atomic_cas(walk *w, const call *c, int number, thing *out)
{
    bool first = td_intrinsics[number].row;
    const char *name = first ? "compare_and_swap" : "cas";
    uint32_t at = first ? 1 : 2;
    thing to = {0}, zero = num_int(0);
    td_val expected, x;
    td_dtype dt;

    TD_TRY(want_args(w, c, "a compare-and-swap", at + 2, at + 2));
    TD_TRY(target(w, c, name, &c->arg[0], first ? &zero : &c->arg[1], &to));
    dt = to.type->item[0]->dt;
    TD_TRY(check_dtype(w, c, name, "fdilIL", dt));
    TD_TRY(atomic_operand(w, c, at, dt, &expected));
    TD_TRY(atomic_operand(w, c, at + 1, dt, &x));
    *out = num_val(dt, td_atomic_cas(w->f, to.view->base, atomic_index(w, to.view), expected, x,
                                     to.view->mask));
    return built(w, c->node);
}

/* ldca and its like (array, key): array[key], loaded with the row's cache operator on a GPU. */
td_status
fn_cached_load(walk *w, const call *c, int number, thing *out)
{
    td_status st;

    TD_TRY(want_args(w, c, "a cached load", 2, 2));
    if (c->arg[0].type->kind != TD_T_ARRAY)
        return bad(w, c->node, TD_ERR_TYPE, "a cached load takes an array, not %s",
                   c->arg[0].type->name);
    w->f->cache = (uint32_t)td_intrinsics[number].row;
    st = array_index(w, &c->arg[0], &c->arg[1], c->node, out);
    w->f->cache = TD_CACHE_NONE;
    return st;
}

/* stcg and its like (array, key, value) */
td_status
fn_cached_store(walk *w, const call *c, int number, thing *out)
{
    td_status st;
    thing to;

    TD_TRY(want_args(w, c, "a cached store", 3, 3));
    if (c->arg[0].type->kind != TD_T_ARRAY)
        return bad(w, c->node, TD_ERR_TYPE, "a cached store takes an array, not %s",
                   c->arg[0].type->name);
    TD_TRY(element_view(w, &c->arg[0], &c->arg[1], c->node, &to));
    *out = (thing){.type = td_type_none()};
    w->f->cache = (uint32_t)td_intrinsics[number].row;
    st = array_store(w, &to, &c->arg[2], c->node);
    w->f->cache = TD_CACHE_NONE;
    return st;
}
