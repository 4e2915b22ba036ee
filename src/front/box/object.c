/* object.c - instances of jitclass's classes: fields, methods, properties, and operators.
 *
 * The host gives a class's functions as attributes of its object: "_td_methods.NAME", and so on for _td_statics,
 * _td_getters and _td_setters.  A reference may be None, which is the address 0: to read a field of that raises.
 */
#include "front/infer/box.h"

#include <stdio.h>
#include <string.h>

/* Finds a function of the class; *found: is there one? */
static td_status
member(walk *w, const td_type *class, const char *where, const char *name, bool *found, thing *out)
{
    uint32_t f;
    char full[200];

    *found = false;
    snprintf(full, sizeof full, "%s.%s", where, name);
    if (w->host->attr(w->host->ctx, class->object, full, &f)) {
        snprintf(full, sizeof full, "%s._%s%s", where, class->name, name);
        if (strncmp(name, "__", 2) != 0 || w->host->attr(w->host->ctx, class->object, full, &f))
            return TD_OK;
    }
    *found = true;
    *out = (thing){.type = td_type_object(f, name)};
    return TD_OK;
}

/* The field's number; *at: the word of the instance where it begins.  -1: there is no such field. */
static int
field_at(walk *w, const td_type *class, const char *name, uint32_t *at)
{
    char private[160];

    snprintf(private, sizeof private, "_%s%s", class->name, name);
    *at = 0;
    for (uint32_t i = 0; i < class->size; i++) {
        const td_field *f = &class->field[i];

        if (strcmp(f->name, name) == 0 ||
            (strncmp(name, "__", 2) == 0 && strcmp(f->name, private) == 0))
            return (int)i;
        *at += box_words(box_inside(w, f->type));
    }
    return -1;
}

/* Pointer to the fields' words. */
static td_val
fields_of(walk *w, const thing *self)
{
    return td_pointer(w->f, td_cast(w->f, box_head(w, self, offsetof(td_box, data)), TD_U64),
                      TD_U64);
}

static td_status
not_none(walk *w, const thing *x)
{
    return box_fail_unless(w, TD_E2(w->f, not_equal, x->num.re, td_const_int(w->f, TD_U64, 0)),
                           TD_REPORT_ABSENT, x->type->name, NULL, 0);
}

static td_status
call_with(walk *w, const thing *f, const thing *self, const thing *x, uint32_t n, thing *out)
{
    call c = {.node = w->node, .n = n + 1};

    c.arg = td_alloc(w->mem, (n + 1) * sizeof *c.arg);
    c.arg[0] = *self;
    for (uint32_t i = 0; i < n; i++)
        c.arg[i + 1] = x[i];
    return call_object(w, f, &c, out);
}

td_status
object_attribute(walk *w, const thing *self, const char *name, uint32_t node, thing *out)
{
    uint32_t at;
    int i = field_at(w, self->type, name, &at);
    const td_type *t;
    bool found;
    thing f;

    w->node = node;
    box_note(w);
    if (i < 0) {
        TD_TRY(member(w, self->type, "_td_getters", name, &found, &f));
        if (found)
            return call_with(w, &f, self, NULL, 0, out);
        return bad(w, node, TD_ERR_VALUE, "%s has no field or property %s", self->type->name, name);
    }
    TD_TRY(not_none(w, self));
    t = box_inside(w, self->type->field[i].type);
    TD_TRY(box_get_as(w, t, fields_of(w, self), at, out));
    if (is_box(out) && !box_is(out, TD_BOX_OBJECT))
        TD_TRY(box_fail_unless(w,
                               TD_E2(w->f, not_equal, out->num.re, td_const_int(w->f, TD_U64, 0)),
                               TD_REPORT_UNBOUND, self->type->field[i].name, NULL, 0));
    return built(w, node);
}

td_status
object_assign(walk *w, const thing *self, const char *name, uint32_t node, const thing *x)
{
    uint32_t at;
    int i = field_at(w, self->type, name, &at);
    bool found;
    thing f, none;

    w->node = node;
    box_note(w);
    if (i < 0) {
        TD_TRY(member(w, self->type, "_td_setters", name, &found, &f));
        if (found)
            return call_with(w, &f, self, x, 1, &none);
        return bad(w, node, TD_ERR_VALUE, "%s has no field %s: its spec names all fields",
                   self->type->name, name);
    }
    TD_TRY(not_none(w, self));
    return box_put_as(w, box_inside(w, self->type->field[i].type), fields_of(w, self), at, x, name);
}

td_status
object_method(walk *w, const thing *self, const char *name, const call *c, thing *out)
{
    call own = *c;
    bool found;
    thing f;

    TD_TRY(member(w, self->type, "_td_statics", name, &found, &f));
    if (found)
        return call_object(w, &f, c, out);
    TD_TRY(member(w, self->type, "_td_methods", name, &found, &f));
    if (!found)
        return bad(w, c->node, TD_ERR_VALUE, "%s has no method %s", self->type->name, name);
    own.n = c->n + 1;
    own.arg = td_alloc(w->mem, (own.n + 1) * sizeof *own.arg);
    own.arg[0] = *self;
    if (c->n)
        memcpy(own.arg + 1, c->arg, c->n * sizeof *own.arg);
    return call_object(w, &f, &own, out);
}

td_status
object_new(walk *w, const td_type *class, const call *c, thing *out)
{
    uint32_t words = 0;
    td_val in[5], got;
    thing self, none;
    bool found;

    TD_TRY(box_here(w, c->node, class->name));
    for (uint32_t i = 0; i < class->size; i++)
        words += box_words(box_inside(w, class->field[i].type));
    in[0] = td_const_int(w->f, TD_I64, TD_BOX_OBJECT);
    in[1] = td_const_int(w->f, TD_I64, words);
    in[2] = in[3] = in[4] = td_const_int(w->f, TD_I64, 0);
    TD_TRY(box_ask(w, TD_ASK_NEW, in, 5, &got));
    self = box_thing(w, class, box_word(w, got, 0, TD_U64));
    TD_TRY(member(w, class, "_td_methods", "__init__", &found, &none));
    if (found)
        TD_TRY(object_method(w, &self, "__init__", c, &none));
    else
        TD_TRY(want_args(w, c, class->name, 0, 0));
    *out = self;
    return built(w, c->node);
}

/* ---- operators ---- */

td_status
object_special(walk *w, const thing *self, const char *name, const thing *x, uint32_t n, thing *out)
{
    bool found;
    thing f;

    TD_TRY(member(w, self->type, "_td_methods", name, &found, &f));
    return found ? call_with(w, &f, self, x, n, out) : TD_SKIP;
}

static td_status
want_special(walk *w, const thing *self, const char *name, const thing *x, uint32_t n, thing *out)
{
    td_status st = object_special(w, self, name, x, n, out);

    if (st != TD_SKIP || w->again)
        return st;
    return bad(w, w->node, TD_ERR_TYPE, "%s has no %s", self->type->name, name);
}

td_status
object_truth(walk *w, const thing *x, thing *out)
{
    td_status st = object_special(w, x, "__bool__", NULL, 0, out);

    if (st == TD_SKIP)
        st = object_special(w, x, "__len__", NULL, 0, out);
    if (st != TD_SKIP)
        return st ? st : truth(w, out, out);
    *out = num_val(TD_BOOL, TD_E2(w->f, not_equal, x->num.re, td_const_int(w->f, TD_U64, 0)));
    return built(w, w->node);
}

td_status
object_length(walk *w, const thing *x, thing *out)
{
    return want_special(w, x, "__len__", NULL, 0, out);
}

td_status
object_index(walk *w, const thing *x, const thing *key, thing *out)
{
    return want_special(w, x, "__getitem__", key, 1, out);
}

td_status
object_set_item(walk *w, const thing *x, const thing *key, const thing *value)
{
    thing none;

    return want_special(w, x, "__setitem__", (thing[]){*key, *value}, 2, &none);
}

td_status
object_has(walk *w, const thing *b, const thing *x, thing *out)
{
    TD_TRY(want_special(w, b, "__contains__", x, 1, out));
    return truth(w, out, out);
}

static const struct {
    td_syn op;
    const char *name, *reverse;
} operators[] = {
    {TD_SYN_Add, "add", "radd"},
    {TD_SYN_Sub, "sub", "rsub"},
    {TD_SYN_Mult, "mul", "rmul"},
    {TD_SYN_Div, "truediv", "rtruediv"},
    {TD_SYN_FloorDiv, "floordiv", "rfloordiv"},
    {TD_SYN_Mod, "mod", "rmod"},
    {TD_SYN_Pow, "pow", "rpow"},
    {TD_SYN_MatMult, "matmul", "rmatmul"},
    {TD_SYN_LShift, "lshift", "rlshift"},
    {TD_SYN_RShift, "rshift", "rrshift"},
    {TD_SYN_BitAnd, "and", "rand"},
    {TD_SYN_BitOr, "or", "ror"},
    {TD_SYN_BitXor, "xor", "rxor"},
    {TD_SYN_Eq, "eq", "eq"},
    {TD_SYN_NotEq, "ne", "ne"},
    {TD_SYN_Lt, "lt", "gt"},
    {TD_SYN_LtE, "le", "ge"},
    {TD_SYN_Gt, "gt", "lt"},
    {TD_SYN_GtE, "ge", "le"},
};

/* Calls __add__ of a, else __radd__ of b; in_place: __iadd__ of a before these. */
static td_status
operate(walk *w, td_syn op, const thing *a, const thing *b, bool in_place, thing *out)
{
    char name[32];
    td_status st = TD_SKIP;
    size_t i = 0;

    while (i < sizeof operators / sizeof *operators && operators[i].op != op)
        i++;
    if (i == sizeof operators / sizeof *operators)
        return TD_SKIP;
    if (in_place && box_is(a, TD_BOX_OBJECT)) {
        snprintf(name, sizeof name, "__i%s__", operators[i].name);
        st = object_special(w, a, name, b, 1, out);
    }
    snprintf(name, sizeof name, "__%s__", operators[i].name);
    if (st == TD_SKIP && box_is(a, TD_BOX_OBJECT))
        st = object_special(w, a, name, b, 1, out);
    snprintf(name, sizeof name, "__%s__", operators[i].reverse);
    if (st == TD_SKIP && box_is(b, TD_BOX_OBJECT))
        st = object_special(w, b, name, a, 1, out);
    return st;
}

td_status
object_binary(walk *w, td_syn op, const thing *a, const thing *b, bool in_place, thing *out)
{
    td_status st = operate(w, op, a, b, in_place, out);

    if (st != TD_SKIP || w->again)
        return st;
    return bad(w, w->node, TD_ERR_TYPE, "%s and %s have no method for this operator", a->type->name,
               b->type->name);
}

td_status
object_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    bool same = op == TD_SYN_Eq || op == TD_SYN_NotEq;
    td_status st = operate(w, op, a, b, false, out);

    if (st != TD_SKIP || w->again)
        return st;
    if (op == TD_SYN_NotEq && (st = operate(w, TD_SYN_Eq, a, b, false, out)) != TD_SKIP)
        return st ? st : num_unary(w, TD_SYN_Not, out, out);
    if (!same || a->type != b->type)
        return bad(w, w->node, TD_ERR_TYPE, "%s and %s are not compared here", a->type->name,
                   b->type->name);
    *out = num_val(TD_BOOL, op == TD_SYN_Eq ? TD_E2(w->f, equal, a->num.re, b->num.re)
                                            : TD_E2(w->f, not_equal, a->num.re, b->num.re));
    return built(w, w->node);
}

td_status
object_number(walk *w, const thing *x, const td_type *t, thing *out)
{
    static const char *const names[][4] = {{"__int__", "__index__", NULL},
                                           {"__float__", "__index__", NULL},
                                           {"__complex__", "__float__", "__index__", NULL}};
    const char *const *name = names[td_dtype_is_complex(t->dt) ? 2 : td_dtype_is_float(t->dt)];
    td_status st = TD_SKIP;

    if (t->dt == TD_BOOL)
        return object_truth(w, x, out);
    for (; st == TD_SKIP && *name; name++)
        st = object_special(w, x, *name, NULL, 0, out);
    if (st)
        return st != TD_SKIP || w->again
                   ? st
                   : bad(w, w->node, TD_ERR_TYPE, "%s cannot convert %s", t->name, x->type->name);
    TD_TRY(loaded(w, out));
    if (!is_num(out))
        return bad(w, w->node, TD_ERR_TYPE, "%s cannot convert %s", t->name, out->type->name);
    *out = num_convert(w, out, t);
    return built(w, w->node);
}

td_status
object_unary(walk *w, td_syn op, const thing *x, thing *out)
{
    const char *name = op == TD_SYN_USub ? "__neg__" : op == TD_SYN_UAdd ? "__pos__" : "__invert__";

    return want_special(w, x, name, NULL, 0, out);
}

/* abs(x) and its like call the method of that name. */
td_status
object_builtin(walk *w, const char *names, const call *c, thing *out)
{
    static const char prefix[] = "builtins.";
    char name[32];

    if (strncmp(names, prefix, sizeof prefix - 1) != 0)
        return TD_SKIP;
    names += sizeof prefix - 1;
    snprintf(name, sizeof name, "__%.*s__", (int)strcspn(names, " "), names);
    return object_special(w, c->arg, name, NULL, 0, out);
}

/* x is y of instances, or of one and None. */
td_status
object_is(walk *w, const thing *a, const thing *b, bool negated, thing *out)
{
    td_val zero = td_const_int(w->f, TD_U64, 0), x = is_none(a) ? zero : a->num.re,
           y = is_none(b) ? zero : b->num.re;

    *out = num_val(TD_BOOL, negated ? TD_E2(w->f, not_equal, x, y) : TD_E2(w->f, equal, x, y));
    return built(w, w->node);
}
