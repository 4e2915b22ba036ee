/* call.c - calls: binds arguments to parameters, and walks the called function's body at the place of the call. */
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

#include <string.h>

enum { MAX_CALLS = 64 }; /* the deepest nesting of calls that are walked in place */

/* ---- parameters ---- */

static const thing *
keyword(const call *c, const char *name, bool *used)
{
    for (uint32_t i = 0; i < c->nkw; i++)
        if (strcmp(c->kw[i], name) == 0) {
            used[i] = true;
            return &c->kwarg[i];
        }
    return NULL;
}

/* The name of parameter i among posonlyargs and args. */
static uint32_t
param_name(const walk *w, uint32_t args, uint32_t i)
{
    uint32_t first = F(args, arguments_posonlyargs), n = count_of(w, first);
    uint32_t arg = i < n ? item_of(w, first, i) : item_of(w, F(args, arguments_args), i - n);

    return F(arg, arg_arg);
}

/* Converts x to the declared type t: numbers are cast, arrays must have that type. */
td_status
as_declared(walk *w, const char *what, const td_type *t, thing *x)
{
    bool fits = x->type->kind == t->kind;

    TD_TRY(loaded(w, x));
    if (t->kind == TD_T_NUM && is_num(x)) {
        if (td_dtype_is_complex(x->type->dt) && !td_dtype_is_complex(t->dt))
            return bad(w, w->node, TD_ERR_TYPE,
                       "%s: %s is declared as %s, and %s does not go into that", w->fr->s->name,
                       what, t->name, x->type->name);
        if (x->type->dt != t->dt || x->type->weak != t->weak)
            *x = num_convert(w, x, t);
        return TD_OK;
    }
    if (fits && t->kind == TD_T_ARRAY)
        fits = x->type->item[0] == t->item[0] && x->type->ndim == t->ndim;
    if (fits)
        return TD_OK;
    return bad(w, w->node, TD_ERR_TYPE, "%s: %s is declared as %s, and is %s", w->fr->s->name, what,
               t->name, x->type->name);
}

/* as_declared; of an ordinary function's types only those of numbers are followed. */
static td_status
follow(walk *w, const char *what, const td_type *t, thing *x)
{
    return w->fr->s->device || (t->kind == TD_T_NUM && is_num(x)) ? as_declared(w, what, t, x)
                                                                  : TD_OK;
}

/* Does x have the type, or (exact false) is it a number that goes into it? */
static bool
meets(const thing *x, const td_type *t, bool exact)
{
    if (x->type->kind != t->kind)
        return false;
    if (t->kind == TD_T_ARRAY)
        return x->type->item[0] == t->item[0] && x->type->ndim == t->ndim;
    if (t->kind != TD_T_NUM)
        return x->type == t;
    return x->type->dt == t->dt ||
           (!exact && td_promote((td_dtype)x->type->dt, (td_dtype)t->dt) == (td_dtype)t->dt);
}

/* The declared signature that a call with these arguments follows; NULL: none. */
static const td_signature *
declared_for(const td_source *s, const call *c)
{
    if (s->nsignature == 1)
        return s->signature;
    for (int exact = 1; exact >= 0; exact--)
        for (uint32_t k = 0; k < s->nsignature; k++) {
            const td_signature *g = &s->signature[k];
            bool all = c && !c->nkw && g->narg == c->n;

            for (uint32_t i = 0; i < g->narg && all; i++)
                all = meets(&c->arg[i], g->type[i], exact);
            if (all)
                return g;
        }
    return NULL;
}

static td_status
bind_one(walk *w, uint32_t name, const thing *x)
{
    thing own = *x;

    TD_TRY(settle(w, &own));
    TD_TRY(box_named(w, name, &own));
    w->fr->var[name] = own;
    x = &own;
    if (x->view && !x->view->name) {
        x->view->name = name_of(w, name);
        note_name(w, x);
    }
    return TD_OK;
}

static td_status
bind_positional(walk *w, uint32_t args, const call *c, bool *used)
{
    uint32_t n = count_of(w, F(args, arguments_posonlyargs)) + count_of(w, F(args, arguments_args));
    uint32_t first_default = n - w->fr->s->ndefault;

    if (c->n > n && !F(args, arguments_vararg))
        return bad(w, w->fr->s->root, TD_ERR_TYPE, "%s takes %u arguments, not %u", w->fr->s->name,
                   n, c->n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t name = param_name(w, args, i);
        const thing *k = keyword(c, name_of(w, name), used);
        thing x;

        if (i < c->n && k)
            return bad(w, w->fr->s->root, TD_ERR_TYPE, "%s: argument %s is given twice",
                       w->fr->s->name, name_of(w, name));
        if (i < c->n)
            x = c->arg[i];
        else if (k)
            x = *k;
        else if (i < first_default)
            return bad(w, w->fr->s->root, TD_ERR_TYPE, "%s: argument %s is missing", w->fr->s->name,
                       name_of(w, name));
        else if (w->fr->nested)
            x = *nested_default(w->fr->nested, i - first_default, false);
        else
            TD_TRY(object(w, w->fr->s->defaults[i - first_default], w->fr->s->root, &x));
        if (w->fr->as && i < w->fr->as->narg)
            TD_TRY(follow(w, name_of(w, name), w->fr->as->type[i], &x));
        TD_TRY(bind_one(w, name, &x));
    }
    if (F(args, arguments_vararg)) {
        thing rest = tuple_of(w, c->arg + (c->n < n ? c->n : n), c->n < n ? 0 : c->n - n);

        TD_TRY(bind_one(w, F(F(args, arguments_vararg), arg_arg), &rest));
    }
    return TD_OK;
}

td_status
bind_params(walk *w, uint32_t args, const call *c)
{
    bool used[64] = {false};
    uint32_t only = F(args, arguments_kwonlyargs);

    if (c->nkw > 64 || F(args, arguments_kwarg))
        return bad(w, w->fr->s->root, TD_ERR_TYPE, "%s: ** parameters are not supported in kernels",
                   w->fr->s->name);
    TD_TRY(bind_positional(w, args, c, used));
    for (uint32_t i = 0; i < count_of(w, only); i++) {
        uint32_t name = F(item_of(w, only, i), arg_arg);
        const thing *k = keyword(c, name_of(w, name), used);
        thing x;

        if (k)
            x = *k;
        else if (w->fr->nested && nested_default(w->fr->nested, i, true))
            x = *nested_default(w->fr->nested, i, true);
        else if (w->fr->s->kwdefaults && w->fr->s->kwdefaults[i])
            TD_TRY(object(w, w->fr->s->kwdefaults[i], w->fr->s->root, &x));
        else
            return bad(w, w->fr->s->root, TD_ERR_TYPE, "%s: argument %s is missing", w->fr->s->name,
                       name_of(w, name));
        TD_TRY(bind_one(w, name, &x));
    }
    for (uint32_t i = 0; i < c->nkw; i++)
        if (!used[i])
            return bad(w, w->fr->s->root, TD_ERR_TYPE, "%s has no argument %s", w->fr->s->name,
                       c->kw[i]);
    return TD_OK;
}

/* ---- bodies ---- */

static uint32_t
count_returns(const walk *w, uint32_t list)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count_of(w, list); i++) {
        uint32_t node = item_of(w, list, i);

        switch (kind_of(w, node)) {
        case TD_SYN_Return: n++; break;
        case TD_SYN_If:
            n += count_returns(w, F(node, If_body)) + count_returns(w, F(node, If_orelse));
            break;
        case TD_SYN_For:
            n += count_returns(w, F(node, For_body)) + count_returns(w, F(node, For_orelse));
            break;
        case TD_SYN_While:
            n += count_returns(w, F(node, While_body)) + count_returns(w, F(node, While_orelse));
            break;
        case TD_SYN_Try:
            n += count_returns(w, F(node, Try_body)) + count_returns(w, F(node, Try_orelse)) +
                 count_returns(w, F(node, Try_finalbody));
            for (uint32_t k = 0; k < count_of(w, F(node, Try_handlers)); k++)
                n += count_returns(w, F(item_of(w, F(node, Try_handlers), k), ExceptHandler_body));
            break;
        default: break;
        }
    }
    return n;
}

static void
find_locals(walk *w, uint32_t body)
{
    uint32_t n, *id = assigned(w, body, 0, &n);

    for (uint32_t i = 0; i < n; i++)
        w->fr->local[id[i]] = true;
    for (uint32_t i = 0; i < count_of(w, body); i++) {
        uint32_t node = item_of(w, body, i);

        if (kind_of(w, node) == TD_SYN_Global)
            for (uint32_t j = 0; j < count_of(w, F(node, Global_names)); j++)
                w->fr->local[item_of(w, F(node, Global_names), j)] = false;
    }
}

/* Is the function's last statement its only `return`, or has it none? */
static bool
returns_at_end(walk *w, uint32_t body)
{
    uint32_t n = count_of(w, body),
             most = n && kind_of(w, item_of(w, body, n - 1)) == TD_SYN_Return;

    return count_returns(w, body) == most;
}

td_hash
result_key(const walk *w)
{
    return join_key_at(w->fr->entered, w->fr->s->root, 0);
}

static td_status
body_of_function(walk *w, uint32_t body, thing *out)
{
    frame *fr = w->fr;
    td_hash key = result_key(w);
    join *j = join_get(w, key);
    thing none = {.type = td_type_none()};

    fr->blocked = !returns_at_end(w, body);
    if (!fr->blocked) {
        fr->result = none;
        TD_TRY(stmts(w, body));
        *out = fr->result;
        w->dead = false;
        return TD_OK;
    }
    if (j)
        fr->results = place_empty(w, j);
    fr->depth_return = w->depth;
    open_block(w);
    TD_TRY(stmts(w, body));
    if (!w->dead) {
        TD_TRY(join_add(w, key, &none, fr->s->root, "the value returned"));
        if (j)
            TD_TRY(place_set(w, &fr->results, &none));
    }
    close_region(w);
    w->dead = false;
    j = join_get(w, key);
    *out = fr->results.slots.type ? place_get(w, &fr->results) : j ? stand_in(w, j->type) : none;
    return TD_OK;
}

/* What it gives is what `return` would: a list that is written out is no tuple, and None may be a value. */
static td_status
body_of_lambda(walk *w, uint32_t body, thing *out)
{
    TD_TRY(expr_optional(w, body, out));
    return box_may(w) && out->type->kind != TD_T_OBJECT ? boxed(w, out) : TD_OK;
}

td_status
walk_body(walk *w, frame *fr, const call *c, thing *out)
{
    bool lambda;
    uint32_t root = fr->s->root, called = w->node, args, body;
    td_status st = TD_OK;

    fr->up = w->fr;
    fr->entered = fr->path;
    fr->as = declared_for(fr->s, c);
    fr->var = td_alloc(w->mem, (fr->s->nnames + 1) * sizeof *fr->var);
    fr->local = td_alloc(w->mem, fr->s->nnames + 1);
    w->fr = fr;
    w->node = root; /* a node belongs to its function's tree */
    enter_function(w, fr);
    lambda = kind_of(w, root) == TD_SYN_Lambda;
    args = lambda ? F(root, Lambda_args) : F(root, FunctionDef_args);
    body = lambda ? F(root, Lambda_body) : F(root, FunctionDef_body);
    if (kind_of(w, root) == TD_SYN_AsyncFunctionDef)
        st = bad(w, root, TD_ERR_TYPE, "async functions cannot be compiled");
    else if (!lambda)
        find_locals(w, body);
    for (uint32_t i = 0; fr->bound && i <= fr->s->nnames; i++)
        fr->var[i] = fr->bound[i];
    if (!st && !fr->bound)
        st = bind_params(w, args, c);
    if (!st)
        st = lambda ? body_of_lambda(w, body, out) : body_of_function(w, body, out);
    if (!st && fr->as && fr->as->result && (fr->inlined || !fr->s->device) &&
        !(fr->skipped && is_none(out)))
        st = follow(w, "the result", fr->as->result, out);
    w->fr = fr->up;
    w->node = called;
    return st;
}

td_status
call_defined(walk *w, const td_source *s, const nested *n, const call *c, thing *out)
{
    frame fr = {.s = s, .nested = n, .call = c->node, .inlined = true};
    td_status st;

    fr.path = td_mix64(w->fr->path ^ ((uint64_t)c->node << 20) ^ (uintptr_t)s->tree ^ s->root);
    st = walk_body(w, &fr, c, out);
    w->node = c->node;
    at_line(w, c->node);
    return !st && fr.skipped && w->again && is_none(out) ? TD_SKIP : st;
}

static td_status
call_source(walk *w, const td_source *s, const call *c, thing *out)
{
    uint32_t depth = 0;

    if (generator_new(w, s, NULL, c, out))
        return TD_OK;
    for (frame *up = w->fr; up; up = up->up) {
        if (++depth > MAX_CALLS)
            return bad(w, c->node, TD_ERR_TYPE, "%s: more than %d functions call each other",
                       s->name, MAX_CALLS);
        if (up->s == s && up->up && !is_recursive(w, s)) /* the outermost frame is not a call */
            recursive_found(w, s);
    }
    if (is_recursive(w, s))
        return call_recursive(w, s, c, out);
    return call_defined(w, s, NULL, c, out);
}

/* What stands for a function of NumPy's computes as NumPy does. A function that was compiled with options of its own
 * keeps what they say of dividing by zero. */
static td_status
call_described(walk *w, const td_objinfo *info, const call *c, thing *out)
{
    bool numba = w->numba, library = w->library, checked = w->checked;
    td_status st;

    if (info->stand_in) {
        w->numba = false;
        w->library = true;
    }
    if (info->division)
        w->checked = info->division == 'r';
    st = call_source(w, info->source, c, out);
    w->numba = numba;
    w->library = library;
    w->checked = checked;
    return st;
}

/* ---- calls ---- */

static td_status
collect_arguments(walk *w, uint32_t node, call *c)
{
    uint32_t list = F(node, Call_args), kws = F(node, Call_keywords), cap = count_of(w, list) + 1,
             n = 0;

    c->node = node;
    c->arg = td_alloc(w->mem, cap * sizeof *c->arg);
    for (uint32_t i = 0; i < count_of(w, list); i++) {
        uint32_t a = item_of(w, list, i);
        thing x, *more;

        if (kind_of(w, a) != TD_SYN_Starred) {
            TD_TRY(expr_optional(w, a, &c->arg[n++]));
            continue;
        }
        TD_TRY(expr(w, F(a, Starred_value), &x));
        if (x.type->kind != TD_T_TUPLE)
            return bad(w, a, TD_ERR_TYPE, "only a tuple can be passed by *, not %s", x.type->name);
        cap += x.type->n;
        more = td_alloc(w->mem, cap * sizeof *more);
        memcpy(more, c->arg, n * sizeof *more);
        copy_things(more + n, x.item, x.type->n);
        c->arg = more;
        n += x.type->n;
    }
    c->n = n;
    c->nkw = count_of(w, kws);
    c->kw = td_alloc(w->mem, (c->nkw + 1) * sizeof *c->kw);
    c->kwarg = td_alloc(w->mem, (c->nkw + 1) * sizeof *c->kwarg);
    for (uint32_t i = 0; i < c->nkw; i++) {
        uint32_t k = item_of(w, kws, i);

        if (!F(k, keyword_arg))
            return bad(w, k, TD_ERR_TYPE, "** arguments are not supported in kernels");
        c->kw[i] = name_of(w, F(k, keyword_arg));
        TD_TRY(expr_optional(w, F(k, keyword_value), &c->kwarg[i]));
    }
    w->node = node;
    return TD_OK;
}

/* int(x), np.float32(x): calling a type converts x. */
static td_status
convert_call(walk *w, const td_type *t, const call *c, thing *out)
{
    thing x;

    if (c->nkw)
        return bad(w, c->node, TD_ERR_TYPE, "%s takes no %s= here: write it in its place", t->name,
                   c->kw[0]);
    if (c->n == 2 && t->kind == TD_T_NUM && t->dt == TD_C128)
        return complex_parts(w, t, c, out);
    TD_TRY(want_args(w, c, t->name, 0, 1));
    if (c->n == 1 && is_array(c->arg) && t->kind == TD_T_NUM)
        return bad(w, c->node, TD_ERR_TYPE, "%s converts one number: write a.astype(%s) for %s",
                   t->name, t->name, c->arg->type->name);
    if (t->kind != TD_T_NUM)
        return bad(w, c->node, TD_ERR_TYPE, "%s cannot be made by a call in a kernel", t->name);
    if (c->n == 0) {
        thing zero = num_int(0);

        *out = num_convert(w, &zero, t);
        return TD_OK;
    }
    x = c->arg[0];
    TD_TRY(loaded(w, &x));
    if (box_is(&x, TD_BOX_OBJECT))
        return object_number(w, &x, t, out);
    if (box_may(w) && is_text(w, &x) && t->weak && t->dt != TD_C128)
        return text_number(w, &x, t->dt == TD_I64, out);
    if (t->dt == TD_BOOL)
        return truth(w, &x, out);
    if (!is_num(&x))
        return bad(w, c->node, TD_ERR_TYPE, "%s cannot convert %s", t->name, x.type->name);
    if (td_dtype_is_complex(x.type->dt) && !td_dtype_is_complex(t->dt))
        return bad(w, c->node, TD_ERR_TYPE, "%s cannot convert %s: take its .real or .imag",
                   t->name, x.type->name);
    *out = num_convert(w, &x, t);
    return TD_OK;
}

/* numpy.add(x, y, r) is numpy.add(x, y, out=r): the ufunc's nin says how many arguments are inputs. */
static td_status
call_ufunc(walk *w, const thing *f, int number, const call *c, thing *out)
{
    td_objinfo nin = {0};
    uint32_t o;
    call own;

    /* abs(x), hash(x) of an instance call its class's method */
    if (c->n == 1 && box_is(c->arg, TD_BOX_OBJECT)) {
        td_status st = object_builtin(w, td_intrinsics[number].names, c, out);

        if (st != TD_SKIP)
            return st;
    }
    if (c->n < 2 || w->exact || w->host->attr(w->host->ctx, f->type->object, "nin", &o))
        return call_intrinsic(w, number, c, out);
    if (w->numba &&
        !w->ufunc) { /* its numbers meet as arrays do, not as Python's operators let them */
        td_status st;

        w->ufunc = true;
        st = call_ufunc(w, f, number, c, out);
        w->ufunc = false;
        return st;
    }
    TD_TRY(w->host->describe(w->host->ctx, o, &nin));
    if (nin.kind != TD_OBJ_INT || c->n != (uint32_t)nin.num.i + 1)
        return call_intrinsic(w, number, c, out);
    own = out_by_name(w, c);
    return call_intrinsic(w, number, &own, out);
}

/* Functions that are not the program's take values, not None. */
static td_status
take_values(walk *w, const call *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        TD_TRY(optional_value(w, &c->arg[i]));
    for (uint32_t i = 0; i < c->nkw; i++)
        TD_TRY(optional_value(w, &c->kwarg[i]));
    return TD_OK;
}

/* An argument's type as the host knows it; of a list, dict or set into which nothing was put so far only the kind. */
static td_status
outside_type(walk *w, const thing *x, const td_type **out)
{
    bool map = is_box(x) && x->type->ndim == TD_BOX_DICT;

    *out = x->type;
    if (!is_box(x) || x->type->ndim == TD_BOX_STR || x->type->ndim == TD_BOX_OBJECT ||
        !box_elem(w, x, BOX_ELEM) || (map && !box_elem(w, x, BOX_VALUE)))
        return TD_OK;
    return box_outside(w, x->type, out);
}

/* A function that numba.extending.overload has implementations of, chosen by the types.  TD_SKIP: it is called itself. */
static td_status
call_overload(walk *w, const thing *f, const call *c, thing *out)
{
    const td_type **type = td_alloc(w->mem, (c->n + c->nkw + 1) * sizeof *type);
    thing chosen;
    uint32_t o;

    for (uint32_t i = 0; i < c->n; i++)
        TD_TRY(outside_type(w, &c->arg[i], &type[i]));
    for (uint32_t i = 0; i < c->nkw; i++)
        TD_TRY(outside_type(w, &c->kwarg[i], &type[c->n + i]));
    TD_TRY(
        w->host->overload(w->host->ctx, f->type->object, type, c->n + c->nkw, c->kw, c->nkw, &o));
    if (o == f->type->object) /* it implements itself */
        return TD_SKIP;
    chosen = (thing){.type = td_type_object(o, f->type->name)};
    return call_object(w, &chosen, c, out);
}

/* Does it take a value that may be None as it is?  bool(None) is False, print(None) prints it, and a slice keeps it. */
static bool
takes_none(const td_objinfo *info)
{
    if (info->kind == TD_OBJ_INTRINSIC)
        return td_intrinsics[info->number].fn == fn_print ||
               td_intrinsics[info->number].fn == fn_slice;
    return info->kind == TD_OBJ_TYPE && info->type->kind == TD_T_NUM && info->type->dt == TD_BOOL;
}

static td_status
cannot_call(walk *w, const thing *f, const call *c)
{
    const char *advice = w->host->advice ? w->host->advice(w->host->ctx, f->type->object) : NULL;

    return bad(w, c->node, TD_ERR_TYPE, "%s cannot be called in a kernel: %s", f->type->name,
               advice ? advice : "it is no function that treadle knows or can compile");
}

td_status
call_object(walk *w, const thing *f, const call *c, thing *out)
{
    td_objinfo info = {0};
    uint32_t ufunc, spelled;
    td_status st;

    if (box_is(f, TD_BOX_OBJECT))
        return object_method(w, f, "__call__", c, out);
    if (is_nested(f))
        return call_nested(w, f, c, out);
    if (f->type->kind != TD_T_OBJECT)
        return bad(w, c->node, TD_ERR_TYPE, "%s cannot be called", f->type->name);
    if (w->host->overload && (st = call_overload(w, f, c, out)) != TD_SKIP)
        return st;
    TD_TRY(w->host->describe(w->host->ctx, f->type->object, &info));
    if (w->exact && !(info.kind == TD_OBJ_INTRINSIC && exact_has_rule(info.number, c)) &&
        !w->host->spelled(w->host->ctx, f->type->object, &spelled)) {
        if (w->exact->numpy) /* Python adds NumPy scalars differently from its own floats */
            return bad(w, c->node, TD_ERR_TYPE, "%s of NumPy's numbers is Python's alone",
                       f->type->name);
        TD_TRY(w->host->describe(w->host->ctx, spelled, &info));
    }
    if (info.kind != TD_OBJ_FUNCTION && !takes_none(&info))
        TD_TRY(take_values(w, c));
    switch (info.kind) {
    case TD_OBJ_INTRINSIC:
        if (w->exact && w->exact->numpy &&
            !w->host->attr(w->host->ctx, f->type->object, "nin", &ufunc))
            return numpy_ufunc(w, info.number, c, out);
        if (w->exact && !w->host->attr(w->host->ctx, f->type->object, "nin", &ufunc))
            return bad(w, c->node, TD_ERR_TYPE, "%s gives NumPy's numbers", f->type->name);
        return call_ufunc(w, f, info.number, c, out);
    case TD_OBJ_FUNCTION:
        if (w->exact && info.stand_in)
            return bad(w, c->node, TD_ERR_TYPE, "%s gives NumPy's numbers", f->type->name);
        return call_described(w, &info, c, out);
    case TD_OBJ_TYPE:
        if (info.type->kind == TD_T_BOX && info.type->ndim == TD_BOX_OBJECT)
            return object_new(w, info.type, c, out);
        return w->exact ? exact_convert(w, info.type, c, out) : convert_call(w, info.type, c, out);
    case TD_OBJ_NAMED: return call_named(w, &info, f->type->object, c, out);
    default:           return cannot_call(w, f, c);
    }
}

td_status
expr_call(walk *w, uint32_t node, thing *out)
{
    uint32_t func = F(node, Call_func);
    call c = {0};
    thing f, self = {0};
    const char *method = NULL;

    if (kind_of(w, func) == TD_SYN_Attribute) {
        TD_TRY(expr(w, F(func, Attribute_value), &self));
        if (self.type->kind != TD_T_OBJECT || (box_may(w) && is_text(w, &self)))
            method = name_of(w, F(func, Attribute_attr));
    }
    if (!method)
        TD_TRY(expr(w, func, &f));
    TD_TRY(collect_arguments(w, node, &c));
    w->node = node;
    if (!method)
        return call_object(w, &f, &c, out);
    TD_TRY(take_values(w, &c));
    return call_method(w, &self, method, &c, out);
}
