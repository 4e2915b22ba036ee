/* intrin.c - calls of known functions, and methods of values. */
#include "front/expr/typed.h"
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/lazy.h"
#include "ir/interp/interp.h"

#include <stdio.h>
#include <string.h>

const td_intrinsic_row td_intrinsics[] = {
#define FN(fn, row, names)    {fn, names, row, INTRIN_FN, NULL, NULL},
#define VALUE(fn, row, names) {fn, names, row, INTRIN_VALUE, NULL, NULL},
#define PURE(fn, row, names)  {fn, names, row, INTRIN_PURE, NULL, NULL},
#define ELEM(fn, row, names)  {fn, names, row, INTRIN_ELEM, NULL, NULL},
#include "front/infer/intrinsic.def"
#define TYPED(names, sig, spell, how) {fn_typed, names, how, INTRIN_FN, sig, spell},
#include "front/infer/typed.def"
};

enum { COUNT = sizeof td_intrinsics / sizeof *td_intrinsics };

const char *
td_intrinsic(int number)
{
    return number >= 0 && number < COUNT ? td_intrinsics[number].names : NULL;
}

const char *
td_intrinsic_how(int number, const char **signature)
{
    static const char *const how[] = {[INTRIN_FN] = "function",
                                      [INTRIN_VALUE] = "value",
                                      [INTRIN_PURE] = "pure",
                                      [INTRIN_ELEM] = "elementwise"};

    *signature = td_intrinsics[number].sig;
    return how[td_intrinsics[number].how];
}

/* ---- known results of known numbers ---- */

enum { MAX_KNOWN = 8 }; /* the most numbers in a known result */

static bool
all_known(const thing *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (x[i].type->kind == TD_T_TUPLE ? !all_known(x[i].item, x[i].type->n)
                                          : !is_num(&x[i]) || !x[i].known)
            return false;
    return true;
}

static bool
holds_numbers(const thing *x)
{
    for (uint32_t i = 0; i < x->type->n && x->type->kind == TD_T_TUPLE; i++)
        if (!is_num(&x->item[i]))
            return false;
    return is_num(x) || (x->type->kind == TD_T_TUPLE && x->type->n <= MAX_KNOWN);
}

/* Runs w->f in the interpreter; its only parameter is the address of the result. */
static td_status
run_known(walk *w, td_val ptr, thing *part, uint32_t n)
{
    uint64_t word[2 * MAX_KNOWN], arg = (uint64_t)(uintptr_t)word;
    const uint32_t one[3] = {1, 1, 1};

    for (uint32_t i = 0; i < n; i++) {
        td_num v = num_as(w, &part[i], part[i].type->dt);

        td_num_store(w->f,
                     td_at_byte(w->f, ptr, td_const_int(w->f, TD_I64, 16 * (int64_t)i),
                                td_dtype_real_of(part[i].type->dt)),
                     part[i].type->dt, td_const_int(w->f, TD_I64, 0), v, TD_NONE, 0);
    }
    TD_TRY(td_fn_finish(w->f));
    TD_TRY(td_interp(w->f, one, one, &arg, 0, NULL));
    for (uint32_t i = 0; i < n; i++)
        part[i] = num_known(td_scalar_load(part[i].type->dt, &word[2 * i]), part[i].type);
    return TD_OK;
}

/* Computes the call now, since all its arguments are known: the compiled code then needs no float64 for math.pi / 180
 * or sqrt(2). TD_SKIP: the result cannot be known when compiling. */
static td_status
call_known(walk *w, const td_intrinsic_row *row, const call *c, int number, thing *out)
{
    td_fn own = td_fn_new(w->mem, "known"), *f = w->f;
    uint32_t nhidden = w->made->nhidden, nsite = w->made->nsite;
    td_val ptr;
    td_status st;

    w->f = &own;
    ptr = td_param_ptr(w->f, TD_U8);
    st = row->fn(w, c, number, out);
    if (!st && (!holds_numbers(out) || w->made->nhidden != nhidden || w->made->nsite != nsite))
        st = TD_SKIP;
    if (!st && out->type->kind == TD_T_TUPLE)
        st = run_known(w, ptr, out->item, out->type->n);
    else if (!st && !out->known)
        st = run_known(w, ptr, out, 1);
    w->f = f;
    return st;
}

/* Makes a call whose keyword argument k is out=: stores the result in that array, and returns the array. */
static td_status
call_into(walk *w, int number, const call *c, uint32_t k, thing *out)
{
    call own = *c;
    thing to = c->kwarg[k], r;
    const td_type *item;

    own.nkw--;
    own.kw = td_alloc(w->mem, (own.nkw + 1) * sizeof *own.kw);
    own.kwarg = td_alloc(w->mem, (own.nkw + 1) * sizeof *own.kwarg);
    for (uint32_t i = 0, n = 0; i < c->nkw; i++)
        if (i != k) {
            own.kw[n] = c->kw[i];
            own.kwarg[n++] = c->kwarg[i];
        }
    TD_TRY(call_intrinsic(w, number, &own, &r));
    if (to.type->kind == TD_T_TUPLE && to.type->n == 1)
        to = to.item[0];
    *out = is_none(&to) ? r : to;
    if (is_none(&to))
        return TD_OK;
    if (to.type->kind != TD_T_ARRAY || to.lazy || to.type->item[0]->kind != TD_T_NUM)
        return bad(w, c->node, TD_ERR_TYPE, "out= is an array of numbers, not %s", to.type->name);
    item = is_array(&r) ? r.type->item[0] : r.type;
    if (!item->weak && !td_can_cast(item->dt, to.type->item[0]->dt, 'k'))
        return bad(w, c->node, TD_ERR_TYPE, "out= of %s does not take %s: convert with .astype",
                   to.type->item[0]->name, item->name);
    if (td_intrinsics[number].fn == fn_np_round && own.n + own.nkw > 1 &&
        !td_dtype_is_int(item->dt) &&
        item->dt != to.type->item[0]->dt) /* NumPy rounds in the dtype of out= */
        return bad(w, c->node, TD_ERR_TYPE, "round to decimals: out= is of %s here", item->name);
    return to.type->ndim ? call_fill(w, &to, &r, c->node) : array_store(w, &to, &r, c->node);
}

/* Is the one argument of min or max a list of numbers, which are compared as they are? */
static bool
holds_numbers_alone(walk *w, const call *c)
{
    const td_type *item = c->n == 1 && !c->nkw ? box_elem(w, c->arg, BOX_ELEM) : NULL;

    return item && item->kind == TD_T_NUM;
}

/* Functions that take arrays also take lists of numbers: the array is a view of the list's memory. */
static td_status
lists_as_arrays(walk *w, const td_intrinsic_row *row, const call *c)
{
    static intrinsic_fn *const know[] = {fn_len,       fn_enumerate, fn_zip,    fn_reversed,
                                         fn_print,     fn_list,      fn_set,    fn_dict,
                                         fn_sorted,    fn_text,      fn_tuple,  fn_isinstance,
                                         fn_typed_box, fn_ord,       fn_refuse, fn_type};

    for (size_t i = 0; i < sizeof know / sizeof *know; i++)
        if (row->fn == know[i])
            return TD_OK;
    for (uint32_t i = 0; i < c->n; i++)
        if (box_is(&c->arg[i], TD_BOX_LIST) &&
            !(row->fn == fn_minmax && !holds_numbers_alone(w, c))) {
            TD_TRY(box_array(w, &c->arg[i], &c->arg[i]));
            if (row->fn == fn_asarray) /* the list may move */
                TD_TRY(array_copy(w, &c->arg[i], NULL, c->node, &c->arg[i]));
        }
    return TD_OK;
}

/* Refuses keywords that the function has not looked at: they would have no effect. */
static td_status
refuse_unasked(walk *w, const td_intrinsic_row *row, const call *c)
{
    for (uint32_t k = 0; k < c->nkw && k < 64; k++)
        if (!(*c->asked >> k & 1))
            return bad(w, c->node, TD_ERR_TYPE, "%.*s takes no %s= here",
                       (int)strcspn(row->names, " "), row->names, c->kw[k]);
    return TD_OK;
}

static td_status call_asked(walk *w, const td_intrinsic_row *row, int number, const call *c,
                            thing *out);

/* Where out= stands among the arguments of functions that are no ufuncs; 0: nowhere. */
static uint32_t
place_of_out(const td_intrinsic_row *row)
{
    return row->fn == fn_clip ? 3 : row->fn == fn_np_round ? 2 : row->fn == fn_infinite ? 1 : 0;
}

call
out_by_name(walk *w, const call *c)
{
    call own = *c;

    own.kw = td_alloc(w->mem, (c->nkw + 1) * sizeof *own.kw);
    own.kwarg = td_alloc(w->mem, (c->nkw + 1) * sizeof *own.kwarg);
    for (uint32_t i = 0; i < c->nkw; i++) {
        own.kw[i] = c->kw[i];
        own.kwarg[i] = c->kwarg[i];
    }
    own.kw[own.nkw] = "out";
    own.kwarg[own.nkw++] = c->arg[--own.n];
    return own;
}

/* Is the call a reduction along an axis that only the running program knows? */
static bool
axis_is_unknown(walk *w, const td_intrinsic_row *row, const call *c)
{
    static intrinsic_fn *const know[] = {fn_reduce, fn_nan_reduce, fn_nanmean, fn_var, fn_ptp};
    const thing *axis = arg_or_kw(c, 1, "axis");
    bool reduces = false;

    for (size_t i = 0; i < sizeof know / sizeof *know; i++)
        reduces = reduces || row->fn == know[i];
    return reduces && box_may(w) && c->n && is_array(c->arg) && axis && is_int(axis) &&
           !axis->known;
}

/* The same call with a known axis. */
static call
along(walk *w, const call *c, uint32_t axis)
{
    call own = *c;

    own.arg = td_alloc(w->mem, (c->n + 1) * sizeof *own.arg);
    own.kwarg = td_alloc(w->mem, (c->nkw + 1) * sizeof *own.kwarg);
    copy_things(own.arg, c->arg, c->n);
    copy_things(own.kwarg, c->kwarg, c->nkw);
    if (c->n > 1)
        own.arg[1] = num_int(axis);
    for (uint32_t k = 0; k < c->nkw; k++)
        if (strcmp(c->kw[k], "axis") == 0)
            own.kwarg[k] = num_int(axis);
    return own;
}

/* Tries one axis after the other; the results, which are of one type, meet in a place. */
static td_status
reduce_along_any(walk *w, int number, const call *c, thing *out)
{
    enum { AXIS = UINT32_MAX - 1 };
    td_hash key = join_key(w, c->node, AXIS);
    join *j = join_get(w, key);
    place p = {0};
    thing axis = *arg_or_kw(c, 1, "axis"), n, r, below;
    uint32_t ndim = c->arg[0].type->ndim;
    td_val at = val_as(w, &axis, TD_I64), zero = td_const_int(w->f, TD_I64, 0);

    TD_TRY(settle(w, &c->arg[0]));
    n = num_int(ndim);
    below = num_val(TD_BOOL, TD_E2(w->f, less, at, zero));
    at = TD_E3(w->f, select, below.num.re, TD_E2(w->f, add, at, val_as(w, &n, TD_I64)), at);
    TD_TRY(must(w,
                TD_E2(w->f, logical_and, TD_E2(w->f, greater_equal, at, zero),
                      TD_E2(w->f, less, at, val_as(w, &n, TD_I64))),
                TD_REPORT_VALUE, "axis is out of bounds for the array", NULL, 0));
    if (j)
        p = place_new(w, j);
    for (uint32_t i = 0; i < ndim; i++) {
        call one = along(w, c, i);

        if (i + 1 < ndim)
            td_if(w->f, TD_E2(w->f, equal, at, td_const_int(w->f, TD_I64, i)));
        TD_TRY(call_intrinsic(w, number, &one, &r));
        TD_TRY(settle(w, &r));
        TD_TRY(join_add(w, key, &r, c->node, "the value"));
        if (j)
            TD_TRY(place_set(w, &p, &r));
        if (i + 1 < ndim)
            td_else(w->f);
    }
    for (uint32_t i = 1; i < ndim; i++)
        td_end(w->f);
    *out = j ? place_get(w, &p) : join_stand_in(w, join_get(w, key));
    return built(w, c->node);
}

td_status
call_intrinsic(walk *w, int number, const call *c, thing *out)
{
    const td_intrinsic_row *row = &td_intrinsics[number];
    call own = *c;

    TD_ASSERT(number >= 0 && number < COUNT);
    if (w->exact)
        return exact_call(w, number, c, out);
    if (place_of_out(row) && c->n == place_of_out(row) + 1)
        own = out_by_name(w, c);
    c = &own;
    if (axis_is_unknown(w, row, c))
        return reduce_along_any(w, number, c, out);
    if (!c->nkw)
        return call_asked(w, row, number, c, out);
    own.asked = td_alloc(w->mem, sizeof *own.asked); /* lazy arrays keep the call */
    TD_TRY(call_asked(w, row, number, &own, out));
    return refuse_unasked(w, row, &own);
}

static bool
is_complex_array(const thing *a)
{
    const td_type *e = a->type->item[0];

    return e->kind == TD_T_NUM && td_dtype_is_complex(e->dt);
}

/* numpy.real(a) and numpy.imag(a), which are a's memory where that has such parts. */
static bool
is_part(const td_intrinsic_row *row, const call *c)
{
    const thing *a = c->arg;

    return row->fn == fn_row && (row->row == OP_real || row->row == OP_imag) && c->n == 1 &&
           !a->lazy && (row->row == OP_real || is_complex_array(a));
}

static td_status
call_asked(walk *w, const td_intrinsic_row *row, int number, const call *c, thing *out)
{
    if (box_may(w))
        TD_TRY(lists_as_arrays(w, row, c));
    for (uint32_t k = 0; row->how == INTRIN_ELEM && k < c->nkw; k++)
        if (strcmp(c->kw[k], "out") == 0) {
            *c->asked |= UINT64_MAX; /* the call without out= checks the other keywords */
            return call_into(w, number, c, k, out);
        }
    if (row->how == INTRIN_ELEM || row->how == INTRIN_PURE) {
        for (uint32_t i = 0; i < c->n; i++)
            TD_TRY(loaded(w, &c->arg[i]));
        /* positions in the whole array, not one result per element */
        if (row->fn == fn_where && c->n == 1)
            return row->fn(w, c, number, out);
        for (uint32_t i = 0; row->how == INTRIN_ELEM && i < c->n; i++)
            if (is_array(&c->arg[i]))
                return is_part(row, c)
                           ? array_attribute(w, &c->arg[0], row->row == OP_real ? "real" : "imag",
                                             c->node, out)
                           : lazy_call(w, number, c, out);
        if (c->n && all_known(c->arg, c->n) && all_known(c->kwarg, c->nkw)) {
            td_status st = call_known(w, row, c, number, out);

            if (st != TD_SKIP)
                return st;
        }
    }
    return row->fn(w, c, number, out);
}

td_status
call_row(walk *w, intrinsic_fn *fn, int row, const thing *x, uint32_t n, thing *out)
{
    call c = {.node = w->node, .n = n, .arg = td_alloc(w->mem, (n + 1) * sizeof *c.arg)};

    memcpy(c.arg, x, n * sizeof *x);
    for (int i = 0; i < COUNT; i++)
        if (td_intrinsics[i].fn == fn && td_intrinsics[i].row == row)
            return call_intrinsic(w, i, &c, out);
    return bad(w, w->node, TD_ERR_TYPE, "this operation is not defined for arrays");
}

td_status
value_intrinsic(walk *w, int number, uint32_t node, bool *is_value, thing *out)
{
    call c = {.node = node};

    TD_ASSERT(number >= 0 && number < COUNT);
    *is_value = td_intrinsics[number].how == INTRIN_VALUE;
    return *is_value ? td_intrinsics[number].fn(w, &c, number, out) : TD_OK;
}

const thing *
arg_or_kw(const call *c, uint32_t i, const char *name)
{
    if (i < c->n)
        return &c->arg[i];
    for (uint32_t k = 0; k < c->nkw; k++)
        if (strcmp(c->kw[k], name) == 0) {
            if (c->asked)
                *c->asked |= 1ull << (k & 63);
            return &c->kwarg[k];
        }
    return NULL;
}

td_status
want_args(walk *w, const call *c, const char *what, uint32_t least, uint32_t most)
{
    char many[32];

    if (c->n >= least && c->n <= most)
        return TD_OK;
    if (least == most)
        snprintf(many, sizeof many, "%u", least);
    else if (most == UINT32_MAX)
        snprintf(many, sizeof many, "%u or more", least);
    else
        snprintf(many, sizeof many, "%u to %u", least, most);
    return bad(w, c->node, TD_ERR_TYPE, "%s takes %s arguments, not %u", what, many, c->n);
}

/* A function that is a row of ops.def. */
td_status
fn_row(walk *w, const call *c, int number, thing *out)
{
    td_op op = (td_op)td_intrinsics[number].row;
    thing x[TD_MAXARG];

    TD_TRY(want_args(w, c, td_optab[op].name, td_optab[op].arity, td_optab[op].arity));
    for (uint32_t i = 0; i < c->n; i++) {
        x[i] = c->arg[i];
        TD_TRY(loaded(w, &x[i]));
    }
    return num_op(w, op, x, td_optab[op].arity, out);
}

/* ---- methods ---- */

/* Finds the row that has the name PREFIX.NAME; -1: there is none. */
static int
row_named(const char *prefix, const char *name)
{
    char dotted[80];
    int n = snprintf(dotted, sizeof dotted, "%s.%s", prefix, name);

    for (int i = 0; n < (int)sizeof dotted && i < COUNT; i++)
        for (const char *p = td_intrinsics[i].names; *p;) {
            size_t len = strcspn(p, " ");

            if (len == (size_t)n && memcmp(p, dotted, len) == 0)
                return i;
            p += len + strspn(p + len, " ");
        }
    return -1;
}

int
td_intrinsic_op(const char *ufunc)
{
    int row = row_named("numpy", ufunc);

    return row >= 0 && td_intrinsics[row].fn == fn_row ? td_intrinsics[row].row : -1;
}

/* Is it a method of Python's lists that changes them? */
static bool
grows(const char *name)
{
    static const char *const methods[] = {"append", "extend", "insert", "remove",
                                          "pop",    "clear",  "sort",   "reverse"};

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(name, methods[i]) == 0)
            return true;
    return false;
}

td_status
call_stand_in(walk *w, const char *name, const thing *self, const call *c, thing *out)
{
    uint32_t o;
    call own = *c;
    thing f;

    if (w->host->stand_in(w->host->ctx, name, &o))
        return TD_SKIP;
    own.n = c->n + 1;
    own.arg = td_alloc(w->mem, (own.n + 1) * sizeof *own.arg);
    own.arg[0] = *self;
    if (c->n)
        memcpy(own.arg + 1, c->arg, c->n * sizeof *own.arg);
    f = (thing){.type = td_type_object(o, name)};
    return call_object(w, &f, &own, out);
}

td_status
call_method(walk *w, const thing *self, const char *name, const call *c, thing *out)
{
    static const char *const of_numbers[] = {"numpy.generic", "builtins.float", "builtins.int",
                                             NULL},
                             *const of_arrays[] = {"numpy.ndarray", NULL},
                             *const of_tuples[] = {"builtins.tuple", NULL}, *const none[] = {NULL};
    const char *const *class = is_num(self)                     ? of_numbers
                               : self->type->kind == TD_T_ARRAY ? of_arrays
                               : self->type->kind == TD_T_TUPLE ? of_tuples
                                                                : none;
    call own = *c;
    int row = -1;

    if (is_list(self))
        return exact_list_method(w, self, name, c, out);
    if (self->type->kind == TD_T_OBJECT || (is_pieces(self) && box_may(w)))
        return text_method(w, self, name, c, out);
    if (is_box(self))
        return box_method(w, self, name, c, out);
    if (self->listed && box_may(w) && grows(name))
        return bad(w, c->node, TD_ERR_TYPE,
                   "%s would change a list that has no name of its own here: give it one before",
                   name);
    if (self->listed && box_may(w)) {
        thing list = *self;

        TD_TRY(boxed(w, &list));
        return box_method(w, &list, name, c, out);
    }
    if (self->type->kind == TD_T_ITER && self->type->object == ITER_GRID)
        return group_method(w, self, name, c, out);
    if (self->type->kind == TD_T_TUPLE && self->type->object && strcmp(name, "_replace") == 0)
        return named_replace(w, self, c, out);

    if (self->type->kind == TD_T_SLICE && strcmp(name, "indices") == 0) {
        thing parts = tuple_of(w, self->item, self->type->n);

        return call_stand_in(w, "slice.indices", &parts, c, out);
    }
    if (self->type->kind == TD_T_ARRAY && box_may(w)) {
        td_status st = call_stand_in(w, name, self, c, out);

        if (st != TD_SKIP)
            return st;
    }
    if (is_array(self) && strncmp(name, "conj", 4) == 0 && !c->n && !is_complex_array(self))
        return *out = *self, TD_OK; /* the array itself, where numpy.conj makes one */
    for (; *class && row < 0; class ++)
        row = row_named(*class, name);
    if (row < 0 && self->type->kind == TD_T_TUPLE && !self->type->object && grows(name))
        return bad(
            w, c->node, TD_ERR_VALUE,
            "lists are tuples here, which keep their items, and %s would change one: make an "
            "array of the most items that there can be, and count those it has",
            name);
    if (row < 0)
        return bad(w, c->node, TD_ERR_VALUE, "%s has no method %s in a kernel", self->type->name,
                   name);
    own.n = c->n + 1;
    own.arg = td_alloc(w->mem, (own.n + 1) * sizeof *own.arg);
    own.arg[0] = *self;
    if (c->n)
        memcpy(own.arg + 1, c->arg, c->n * sizeof *own.arg);
    return call_intrinsic(w, row, &own, out);
}

td_status
store_result_array(walk *w, const thing *x, td_val ptr, uint32_t *at)
{
    td_val base = td_address(w->f, x->view->base), zero = td_const_int(w->f, TD_I64, 0);
    uint32_t n = x->type->ndim;

    int64_t unit = is_records(x->type) ? 1 : td_type_size(x->type->item[0]);

    if (x->view->offset.i != UINT32_MAX)
        base = TD_E2(
            w->f, add, base,
            td_cast(w->f, TD_E2(w->f, multiply, x->view->offset, td_const_int(w->f, TD_I64, unit)),
                    TD_U64));
    for (uint32_t i = 0; i < td_type_words(x->type); i++, (*at)++) {
        td_val v = base,
               p = td_at_byte(w->f, ptr, td_const_int(w->f, TD_I64, 8 * (int64_t)*at), TD_U64);

        if (i >= 1 && i <= n)
            v = dim_val(w, &x->view->shape[i - 1]);
        if (i > n) {
            dim s = stride_of(w, x, i - 1 - n);

            v = dim_val(w, &s);
        }
        td_store(w->f, p, zero, td_cast(w->f, v, TD_U64), TD_NONE, 0);
    }
    note_written(w, x->view);
    return built(w, w->fr->s->root);
}
