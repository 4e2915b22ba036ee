/* isinstance.c - isinstance, answered when compiling: for classes of Python, NumPy and jitclass, and named tuples. */
#include "front/infer/box.h"
#include "front/infer/intrin.h"

#include <string.h>

/* Is x of the Python class whose constructor is the row's function: a box, a tuple, a string or a range? */
static bool
is_made_by(walk *w, const thing *x, const td_intrinsic_row *row)
{
    td_boxkind which = row->fn == fn_list   ? TD_BOX_LIST
                       : row->fn == fn_dict ? TD_BOX_DICT
                       : row->fn == fn_set  ? TD_BOX_SET
                       : row->row % 2       ? TD_BOX_DICT
                                            : TD_BOX_LIST;

    if (row->fn == fn_tuple)
        return x->type->kind == TD_T_TUPLE && !x->listed;
    if (row->fn == fn_text)
        return is_text(w, x);
    if (row->fn == fn_range)
        return x->type->kind == TD_T_RANGE;
    if (row->fn == fn_slice)
        return x->type->kind == TD_T_SLICE;
    if (row->fn == fn_list && x->listed)
        return true;
    return box_is(x, which) && box_site(w, x)->typed == (row->fn == fn_typed_box);
}

static bool
has_class(const td_intrinsic_row *row)
{
    static intrinsic_fn *const classes[] = {fn_tuple, fn_text, fn_range, fn_slice,
                                            fn_list,  fn_dict, fn_set,   fn_typed_box};

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (row->fn == classes[i])
            return true;
    return false;
}

/* Is x of the class with that repr: NumPy's classes that are not dtypes, and None's?  1, 0; -1: another class. */
static int
is_of_named(const thing *x, const char *repr)
{
    bool num = is_num(x) && !x->type->weak && x->type->dt != TD_BOOL,
         is_float = num && td_dtype_is_float(x->type->dt),
         is_whole = num && td_dtype_is_int(x->type->dt),
         pair = num && td_dtype_is_complex(x->type->dt);
    const struct {
        const char *repr;
        bool yes;
    } rows[] = {
        {"<class 'numpy.ndarray'>", x->type->kind == TD_T_ARRAY && x->type->ndim},
        {"<class 'numpy.generic'>", num},
        {"<class 'numpy.number'>", is_float || is_whole || pair},
        {"<class 'numpy.integer'>", is_whole},
        {"<class 'numpy.signedinteger'>", is_whole && td_dtab[x->type->dt].kind == 'i'},
        {"<class 'numpy.unsignedinteger'>", is_whole && td_dtab[x->type->dt].kind == 'u'},
        {"<class 'numpy.inexact'>", is_float || pair},
        {"<class 'numpy.floating'>", is_float},
        {"<class 'numpy.complexfloating'>", pair},
        {"<class 'NoneType'>", is_none(x)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].repr, repr) == 0)
            return rows[i].yes;
    return -1;
}

static bool
is_instance(const walk *w, const thing *x, const td_objinfo *cls)
{
    const td_type *t = cls->type;

    if (cls->kind != TD_OBJ_TYPE || !t || t->kind != TD_T_NUM || !is_num(x))
        return false;
    if (w->library && t->weak && t->dt == TD_I64) /* of our own functions, for any argument */
        return is_int(x);
    if (w->numba) /* Python's classes are NumPy's of 64 bits there */
        return x->type->dt == t->dt;
    if (!t->weak)
        return !x->type->weak && x->type->dt == t->dt;
    if (t->dt == TD_I64) /* NumPy's integers are no ints, True is one */
        return is_int(x) && (x->type->weak || x->type->dt == TD_BOOL);
    return t->dt == TD_F64 ? x->type->dt == TD_F64 : x->type->dt == TD_C128;
}

td_status
fn_isinstance(walk *w, const call *c, int number, thing *out)
{
    const thing *cls;
    uint32_t n = 1;
    int named;
    bool yes = false;

    (void)number;
    TD_TRY(want_args(w, c, "isinstance", 2, 2));
    cls = &c->arg[1];
    if (cls->type->kind == TD_T_TUPLE) {
        n = cls->type->n;
        cls = cls->item;
    }
    for (uint32_t i = 0; i < n; i++) {
        td_objinfo info = {0};

        if (cls[i].type->kind != TD_T_OBJECT)
            return bad(w, c->node, TD_ERR_TYPE, "isinstance needs a class or a tuple of classes");
        TD_TRY(w->host->describe(w->host->ctx, cls[i].type->object, &info));
        yes = yes ||
              (info.kind == TD_OBJ_NAMED && c->arg[0].type->kind == TD_T_TUPLE &&
               c->arg[0].type->object == cls[i].type->object) ||
              (info.kind == TD_OBJ_TYPE && is_box(&c->arg[0]) && info.type == c->arg[0].type) ||
              is_instance(w, &c->arg[0], &info) ||
              (info.kind == TD_OBJ_INTRINSIC &&
               is_made_by(w, &c->arg[0], &td_intrinsics[info.number]));
        if (info.kind == TD_OBJ_OTHER && (named = is_of_named(&c->arg[0], info.text)) >= 0)
            yes = yes || named;
        else if (info.kind == TD_OBJ_OTHER ||
                 (info.kind == TD_OBJ_INTRINSIC && !has_class(&td_intrinsics[info.number])))
            return bad(w, c->node, TD_ERR_TYPE,
                       "isinstance knows numbers, tuples, lists, dicts, "
                       "sets, strings, arrays and instances of jitclass here, not %s",
                       cls[i].type->name);
    }
    *out = num_bool(yes);
    return TD_OK;
}
