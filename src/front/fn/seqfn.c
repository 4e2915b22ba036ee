/* seqfn.c - functions of tuples and strings, the number of the thread, and what kernels refuse with advice. */
#include "front/infer/box.h"
#include "front/infer/lazy.h"

#include <string.h>

td_status
fn_ord(walk *w, const call *c, int number, thing *out)
{
    td_objinfo info = {0};
    const unsigned char *s;
    uint32_t code, more;

    (void)number;
    TD_TRY(want_args(w, c, "ord", 1, 1));
    if (box_is(c->arg, TD_BOX_STR))
        return text_code(w, c->arg, out);
    if (c->arg->type->kind == TD_T_OBJECT)
        TD_TRY(w->host->describe(w->host->ctx, c->arg->type->object, &info));
    if (info.kind != TD_OBJ_STR)
        return bad(w, c->node, TD_ERR_TYPE, "ord takes a constant string of one character, not %s",
                   c->arg->type->name);
    s = (const unsigned char *)info.text;
    more = *s < 0x80 ? 0 : *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
    code = more ? *s & (0x3f >> more) : *s;
    for (uint32_t i = 1; i <= more; i++)
        code = code << 6 | (s[i] & 0x3f);
    if (!*s || s[1 + more])
        return bad(w, c->node, TD_ERR_TYPE, "ord takes a string of one character");
    *out = num_int(code);
    return TD_OK;
}

td_status
fn_refuse(walk *w, const call *c, int number, thing *out)
{
    static const char *const advice[] = {
        "type: of a number alone; use isinstance(x, …)",
        "hash and id speak of Python's objects, which kernels have not: compare numbers",
        "kernels make no strings: print(…) takes numbers and constant strings",
        "kernels have no lists, dicts, sets or files: use tuples and arrays",
        "this needs the array's elements in order: sort before the call, with treadle or NumPy",
    };

    (void)out;
    return bad(w, c->node, TD_ERR_TYPE, "%s", advice[td_intrinsics[number].row]);
}

/* type(x) of a number of a dtype: the dtype, which converts when it is called. */
td_status
fn_type(walk *w, const call *c, int number, thing *out)
{
    uint32_t obj;
    thing x;

    TD_TRY(want_args(w, c, "type", 1, 1));
    x = c->arg[0];
    TD_TRY(loaded(w, &x));
    if (!is_num(&x) || (x.type->weak && !w->numba) || !w->host->dtype ||
        w->host->dtype(w->host->ctx, td_type_num(x.type->dt), &obj))
        return fn_refuse(w, c, number, out);
    *out = (thing){.type = td_type_object(obj, td_dtype_name(x.type->dt))};
    return TD_OK;
}

/* The number of the thread that runs an iteration: a program keeps one buffer for each.  Iterations in order have one. */
td_status
fn_thread_id(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "get_thread_id", 0, 0));
    iterations_ordered(w, "it asks for its thread's number");
    recursive_touch(w);
    *out = num_int(0);
    out->nonneg = true;
    return TD_OK;
}

/* tuple(), tuple(t) */
td_status
fn_tuple(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "tuple", 0, 1));
    *out = tuple_of(w, NULL, 0);
    if (c->n == 0)
        return TD_OK;
    TD_TRY(iter_of(w, c->arg, c->node, out));
    if (out->type->kind != TD_T_TUPLE)
        return bad(w, c->node, TD_ERR_TYPE,
                   "tuple(%s): a tuple's length must be known when compiling", c->arg->type->name);
    out->listed = 0;
    return TD_OK;
}

/* t.index(x) (row 0), t.count(x) */
td_status
fn_tuple_index(walk *w, const call *c, int number, thing *out)
{
    bool counts = td_intrinsics[number].row;
    const thing *t = c->arg;
    thing same, k, found = num_bool(false);

    TD_TRY(want_args(w, c, counts ? "count" : "index", 2, 2));
    if (t->type->kind != TD_T_TUPLE)
        return bad(w, c->node, TD_ERR_TYPE, "index and count are tuples' methods, not %s's",
                   t->type->name);
    *out = num_int(0);
    for (uint32_t i = t->type->n; i-- > 0;) {
        TD_TRY(num_compare(w, TD_SYN_Eq, &t->item[i], &c->arg[1], &same));
        if (counts) {
            TD_TRY(num_binary(w, TD_SYN_Add, out, &same, out));
            continue;
        }
        k = num_int(i);
        if (same.known) {
            *out = same.lit.i ? k : *out;
            found = same.lit.i ? same : found;
            continue;
        }
        TD_TRY(num_op(w, OP_select, (thing[]){same, k, *out}, 3, out));
        TD_TRY(num_op(w, OP_logical_or, (thing[]){found, same}, 2, &found));
    }
    out->nonneg = true;
    if (counts || (found.known && found.lit.i))
        return TD_OK;
    if (found.known)
        return bad(w, c->node, TD_ERR_VALUE, "tuple.index(x): x is not in the tuple");
    return must(w, val_as(w, &found, TD_BOOL), TD_REPORT_ABSENT, "tuple.index(x)", NULL, 0);
}
