/* reduced.c - finds in the text the variables that the iterations of a prange combine.
 *
 * A variable is reduced if every place in the loop's body that names it is part of a change by
 * one operation that gives the same in any order: s += x, s = x + s, m = min(m, x), if x < m: m =
 * x, f = True.  Any other use would see what other iterations have left in it, which depends on
 * their order.
 */
#include "front/infer/walk.h"

#include <string.h>

typedef struct found {
    uint32_t loop, name;
    uint32_t at; /* places that name it and are part of a change */
    uint32_t nown,
        *own; /* names that differ from iteration to iteration; NULL: not looked for yet */
    reducing how;
} found;

static bool
is_name(const walk *w, uint32_t node, uint32_t name)
{
    return kind_of(w, node) == TD_SYN_Name && F(node, Name_id) == name;
}

/* How often the subtree at node names it. */
static uint32_t
count_uses(const walk *w, uint32_t node, uint32_t name)
{
    uint32_t at = node + TD_SYN_HEAD, n = is_name(w, node, name);

    for (const char *p = node ? td_syntab[kind_of(w, node)].fields : ""; *p; at++) {
        const char *what = strchr(p, ':') + 1;
        uint32_t v = field_of(w, at, 0);

        if (*what == 'n' && v)
            n += count_uses(w, v, name);
        for (uint32_t i = 0; *what == 'l' && i < count_of(w, v); i++)
            n += count_uses(w, item_of(w, v, i), name);
        p = what[1] ? what + 2 : what + 1;
    }
    return n;
}

static uint32_t
named_in(const walk *w, uint32_t list, uint32_t name)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count_of(w, list); i++)
        n += count_uses(w, item_of(w, list, i), name);
    return n;
}

/* x - a - b subtracts the sum of a and b, x / a / b divides by a product. */
static td_syn
group(td_syn op)
{
    switch (op) {
    case TD_SYN_Add:
    case TD_SYN_Sub:    return TD_SYN_Add;
    case TD_SYN_Mult:
    case TD_SYN_Div:    return TD_SYN_Mult;
    case TD_SYN_BitAnd:
    case TD_SYN_BitOr:
    case TD_SYN_BitXor: return op;
    default:            return TD_SYN_NONE;
    }
}

/* A number, with a sign or without. */
static uint32_t
is_number_node(const walk *w, uint32_t node)
{
    if (kind_of(w, node) == TD_SYN_UnaryOp && kind_of(w, F(node, UnaryOp_op)) == TD_SYN_USub)
        return kind_of(w, F(node, UnaryOp_operand)) == TD_SYN_Constant ? node : 0;
    return kind_of(w, node) == TD_SYN_Constant ? node : 0;
}

static bool
same_constant(walk *w, uint32_t a, uint32_t b)
{
    thing x, y;

    if (kind_of(w, a) != kind_of(w, b))
        return false;
    if (kind_of(w, a) == TD_SYN_UnaryOp)
        return same_constant(w, F(a, UnaryOp_operand), F(b, UnaryOp_operand));
    if (F(a, Constant_value) == F(b, Constant_value))
        return true;
    if (object(w, F(a, Constant_value), a, &x) || object(w, F(b, Constant_value), b, &y))
        return false;
    if (!x.known || !y.known || x.type != y.type || td_dtype_is_complex(x.type->dt))
        return false;
    return is_int(&x) ? x.lit.i == y.lit.i : as_double(&x) == as_double(&y);
}

/* Does the call give the same result for the same arguments: is it a function of numbers? */
static bool
is_pure_call(const walk *w, uint32_t node)
{
    static const char *const names[] = {"abs", "min", "max", "float", "int", "math", "np", "numpy"};
    uint32_t func = F(node, Call_func);
    bool member = kind_of(w, func) == TD_SYN_Attribute;
    uint32_t base = member ? F(func, Attribute_value) : func;

    if (kind_of(w, base) != TD_SYN_Name || F(node, Call_keywords))
        return false;
    for (size_t k = member ? 5 : 0; k < (member ? sizeof names / sizeof *names : 5); k++)
        if (strcmp(name_of(w, F(base, Name_id)), names[k]) == 0)
            return true;
    return false;
}

/* Do two expressions, computed one after the other, give the same? */
static bool
same_tree(walk *w, uint32_t a, uint32_t b)
{
    td_syn kind = kind_of(w, a);
    uint32_t at = TD_SYN_HEAD;

    if (kind != kind_of(w, b) || kind == TD_SYN_NamedExpr ||
        (kind == TD_SYN_Call && !is_pure_call(w, a)))
        return false;
    if (kind == TD_SYN_Constant)
        return same_constant(w, a, b);
    for (const char *p = kind ? td_syntab[kind].fields : ""; *p; at++) {
        const char *what = strchr(p, ':') + 1;
        uint32_t x = field_of(w, a, (int)at), y = field_of(w, b, (int)at);

        if (*what == 'l') {
            if (count_of(w, x) != count_of(w, y))
                return false;
            for (uint32_t i = 0; i < count_of(w, x); i++)
                if (!same_tree(w, item_of(w, x, i), item_of(w, y, i)))
                    return false;
        } else if (*what == 'n' ? !same_tree(w, x, y) : x != y) {
            return false;
        }
        p = what[1] ? what + 2 : what + 1;
    }
    return true;
}

/* Is the index the same in all iterations, which assign the names `own`? */
static bool
is_fixed(const walk *w, uint32_t node, const uint32_t *own, uint32_t n)
{
    uint32_t list = kind_of(w, node) == TD_SYN_Tuple ? F(node, Tuple_elts) : 0;

    switch (kind_of(w, node)) {
    case TD_SYN_NONE:
    case TD_SYN_Constant: return true;
    case TD_SYN_Name:
        for (uint32_t i = 0; i < n; i++)
            if (own[i] == F(node, Name_id))
                return false;
        return true;
    case TD_SYN_UnaryOp: return is_fixed(w, F(node, UnaryOp_operand), own, n);
    case TD_SYN_BinOp:
        return is_fixed(w, F(node, BinOp_left), own, n) &&
               is_fixed(w, F(node, BinOp_right), own, n);
    case TD_SYN_Slice:
        return is_fixed(w, F(node, Slice_lower), own, n) &&
               is_fixed(w, F(node, Slice_upper), own, n) &&
               is_fixed(w, F(node, Slice_step), own, n);
    case TD_SYN_Tuple:
        for (uint32_t i = 0; i < count_of(w, list); i++)
            if (!is_fixed(w, item_of(w, list, i), own, n))
                return false;
        return true;
    default: return false;
    }
}

/* for name in range(…) of what is the same in all iterations, or another name's loop. */
static bool
counts_alike(const walk *w, uint32_t node, uint32_t name, const found *x)
{
    uint32_t iter = F(node, For_iter);
    uint32_t args = kind_of(w, iter) == TD_SYN_Call ? F(iter, Call_args) : 0;

    if (!count_uses(w, F(node, For_target), name))
        return true;
    for (uint32_t i = 0; i < count_of(w, args); i++)
        if (!is_fixed(w, item_of(w, args, i), x->own, x->nown))
            return false;
    return args && is_name(w, F(node, For_target), name) &&
           kind_of(w, F(iter, Call_func)) == TD_SYN_Name;
}

/* Is the name assigned by such loops alone? */
static bool
is_counter(walk *w, uint32_t list, uint32_t name, const found *x)
{
    for (uint32_t i = 0; i < count_of(w, list); i++) {
        uint32_t node = item_of(w, list, i), n, *id;
        td_syn kind = kind_of(w, node);

        if (kind == TD_SYN_For) {
            if (!counts_alike(w, node, name, x) || !is_counter(w, F(node, For_body), name, x) ||
                !is_counter(w, F(node, For_orelse), name, x))
                return false;
            continue;
        }
        if (kind == TD_SYN_If && is_counter(w, F(node, If_body), name, x) &&
            is_counter(w, F(node, If_orelse), name, x))
            continue;
        id = assigned_by(w, node, &n);
        for (uint32_t j = 0; j < n; j++)
            if (id[j] == name)
                return false;
    }
    return true;
}

/* Finds the names that differ between iterations: those that the loop assigns, except counters
 * of inner loops that take the same values in every iteration. */
static void
find_own(walk *w, found *x)
{
    uint32_t keep = 0, body = F(x->loop, For_body), target = F(x->loop, For_target);

    x->own = assigned(w, body, target, &x->nown);
    for (uint32_t i = 0; i < x->nown; i++)
        if (count_uses(w, target, x->own[i]) || !is_counter(w, body, x->own[i], x))
            x->own[keep++] = x->own[i];
    x->nown = keep;
}

/* ---- values that the variable is set to ---- */

/* min(…) or max(…), the builtin ones or NumPy's, with the variable among the arguments. */
static td_syn
reduced_extreme(walk *w, uint32_t value, uint32_t name)
{
    uint32_t args = F(value, Call_args), func = F(value, Call_func), mine = 0;
    bool member = kind_of(w, func) == TD_SYN_Attribute;
    const char *what, *of;

    for (uint32_t i = 0; i < count_of(w, args); i++)
        mine += is_name(w, item_of(w, args, i), name);
    if (mine != 1 || count_of(w, args) < 2 || F(value, Call_keywords) ||
        kind_of(w, member ? F(func, Attribute_value) : func) != TD_SYN_Name)
        return TD_SYN_NONE;
    what = name_of(w, member ? F(func, Attribute_attr) : F(func, Name_id));
    of = member ? name_of(w, F(F(func, Attribute_value), Name_id)) : "";
    if (!member && w->fr->local[F(func, Name_id)])
        return TD_SYN_NONE;
    if (member && ((strcmp(of, "np") != 0 && strcmp(of, "numpy") != 0) || count_of(w, args) != 2))
        return TD_SYN_NONE;
    if (strcmp(what, member ? "minimum" : "min") == 0)
        return TD_SYN_Lt;
    return strcmp(what, member ? "maximum" : "max") == 0 ? TD_SYN_Gt : TD_SYN_NONE;
}

/* A comparison of the variable with *other: Lt when it holds where *other is less. */
static td_syn
reduced_comparison(const walk *w, uint32_t test, uint32_t name, uint32_t *other)
{
    uint32_t left, right;
    td_syn op;

    if (kind_of(w, test) != TD_SYN_Compare || count_of(w, F(test, Compare_ops)) != 1)
        return TD_SYN_NONE;
    left = F(test, Compare_left);
    right = item_of(w, F(test, Compare_comparators), 0);
    op = kind_of(w, item_of(w, F(test, Compare_ops), 0));
    op = op == TD_SYN_LtE ? TD_SYN_Lt : op == TD_SYN_GtE ? TD_SYN_Gt : op;
    if ((op != TD_SYN_Lt && op != TD_SYN_Gt) || is_name(w, left, name) == is_name(w, right, name))
        return TD_SYN_NONE;
    *other = is_name(w, right, name) ? left : right;
    return is_name(w, right, name) ? op : op == TD_SYN_Lt ? TD_SYN_Gt : TD_SYN_Lt;
}

static td_syn reduced_value(walk *w, uint32_t value, uint32_t name);

/* x if x < m else m, m if m < x else x, and s + x if c else s. */
static td_syn
chosen(walk *w, uint32_t value, uint32_t name)
{
    uint32_t body = F(value, IfExp_body), orelse = F(value, IfExp_orelse), other;
    bool first = is_name(w, body, name);
    td_syn op = reduced_comparison(w, F(value, IfExp_test), name, &other);

    if (first == is_name(w, orelse, name))
        return TD_SYN_NONE;
    if (op && same_tree(w, other, first ? orelse : body))
        return !first ? op : op == TD_SYN_Lt ? TD_SYN_Gt : TD_SYN_Lt;
    return count_uses(w, F(value, IfExp_test), name)
               ? TD_SYN_NONE
               : reduced_value(w, first ? orelse : body, name);
}

/* Sums, products and the like of the variable and others: by which operation; NONE: it is no such. */
static td_syn
reduced_value(walk *w, uint32_t value, uint32_t name)
{
    uint32_t side;
    td_syn op, in;

    switch (kind_of(w, value)) {
    case TD_SYN_Call:  return reduced_extreme(w, value, name);
    case TD_SYN_IfExp: return chosen(w, value, name);
    case TD_SYN_BoolOp: /* f or c, c or f */
        for (uint32_t i = 0; i < count_of(w, F(value, BoolOp_values)); i++)
            if (is_name(w, item_of(w, F(value, BoolOp_values), i), name))
                return kind_of(w, F(value, BoolOp_op));
        return TD_SYN_NONE;
    case TD_SYN_BinOp: break;
    default:           return TD_SYN_NONE;
    }
    op = kind_of(w, F(value, BinOp_op));
    side = F(value, BinOp_left);
    if (!count_uses(w, side, name) && op != TD_SYN_Sub && op != TD_SYN_Div)
        side = F(value, BinOp_right);
    if (is_name(w, side, name))
        return group(op);
    in = kind_of(w, side) == TD_SYN_BinOp ? reduced_value(w, side, name) : TD_SYN_NONE;
    return in == group(op) ? in : TD_SYN_NONE;
}

/* ---- statements ---- */

/* Another change: all must be by one operation, and set what they set to one constant. */
static bool
reduced_take(walk *w, found *x, td_syn op, uint32_t same, uint32_t at)
{
    if (!op || (x->how.op && x->how.op != op) ||
        (x->how.same && same && !same_constant(w, x->how.same, same)))
        return false;
    x->how.op = op;
    x->how.same = same;
    x->at += at;
    return true;
}

/* if e < m: m = e, where the condition may ask for more. */
static bool
take_if(walk *w, found *x, uint32_t node)
{
    uint32_t test = F(node, If_test), body = F(node, If_body), other, set = item_of(w, body, 0);
    uint32_t values = kind_of(w, test) == TD_SYN_BoolOp ? F(test, BoolOp_values) : 0;
    td_syn op = TD_SYN_NONE;

    if (count_of(w, body) != 1 || count_of(w, F(node, If_orelse)) ||
        kind_of(w, set) != TD_SYN_Assign || count_of(w, F(set, Assign_targets)) != 1 ||
        !is_name(w, item_of(w, F(set, Assign_targets), 0), x->name) ||
        count_uses(w, test, x->name) != 1 ||
        (values && kind_of(w, F(test, BoolOp_op)) != TD_SYN_And))
        return false;
    if (!values)
        op = reduced_comparison(w, test, x->name, &other);
    for (uint32_t i = 0; i < count_of(w, values) && !op; i++)
        op = reduced_comparison(w, item_of(w, values, i), x->name, &other);
    return op && same_tree(w, other, F(set, Assign_value)) && reduced_take(w, x, op, 0, 2);
}

/* a, or a[k] with a k that is the same in all iterations. */
static bool
is_target(walk *w, found *x, uint32_t target)
{
    if (kind_of(w, target) != TD_SYN_Subscript)
        return is_name(w, target, x->name);
    if (!is_name(w, F(target, Subscript_value), x->name))
        return false;
    if (!x->own)
        find_own(w, x);
    return !count_uses(w, F(target, Subscript_slice), x->name) &&
           is_fixed(w, F(target, Subscript_slice), x->own, x->nown);
}

static void
take_change(walk *w, found *x, uint32_t node)
{
    uint32_t value;

    if (kind_of(w, node) == TD_SYN_AugAssign && is_target(w, x, F(node, AugAssign_target))) {
        if (!count_uses(w, F(node, AugAssign_value), x->name))
            reduced_take(w, x, group(kind_of(w, F(node, AugAssign_op))), 0, 1);
        return;
    }
    if (kind_of(w, node) != TD_SYN_Assign || count_of(w, F(node, Assign_targets)) != 1 ||
        !is_name(w, item_of(w, F(node, Assign_targets), 0), x->name))
        return;
    x->how.renames = true;
    value = F(node, Assign_value);
    if (is_number_node(w, value))
        reduced_take(w, x, TD_SYN_Eq, value, 1);
    else if (count_uses(w, value, x->name) == (kind_of(w, value) == TD_SYN_IfExp ? 2 : 1))
        reduced_take(w, x, reduced_value(w, value, x->name), 0, 1 + count_uses(w, value, x->name));
}

static void
take_all(walk *w, found *x, uint32_t list)
{
    for (uint32_t i = 0; i < count_of(w, list); i++) {
        uint32_t node = item_of(w, list, i);

        switch (kind_of(w, node)) {
        case TD_SYN_If:
            if (take_if(w, x, node)) {
                x->how.renames = true;
                break;
            }
            take_all(w, x, F(node, If_body));
            take_all(w, x, F(node, If_orelse));
            break;
        case TD_SYN_For:
            take_all(w, x, F(node, For_body));
            take_all(w, x, F(node, For_orelse));
            break;
        case TD_SYN_While:
            take_all(w, x, F(node, While_body));
            take_all(w, x, F(node, While_orelse));
            break;
        default: take_change(w, x, node);
        }
    }
}

bool
find_reducing(walk *w, uint32_t node, uint32_t name, reducing *out)
{
    uint32_t body = F(node, For_body);
    found x = {.loop = node, .name = name};

    take_all(w, &x, body);
    *out = x.how;
    return x.how.op && x.at == named_in(w, body, name) && !count_uses(w, F(node, For_target), name);
}

/* Names of arrays that are not the iterations' own, of which every iteration changes the same elements. */
static void
shared_in(walk *w, uint32_t list, const found *x, uint32_t *name, uint32_t *at, uint32_t *n)
{
    for (uint32_t i = 0; i < count_of(w, list); i++) {
        uint32_t node = item_of(w, list, i), target, k = 0;
        td_syn kind = kind_of(w, node);

        if (kind == TD_SYN_If || kind == TD_SYN_For || kind == TD_SYN_While) {
            int body = kind == TD_SYN_If    ? syn_If_body
                       : kind == TD_SYN_For ? syn_For_body
                                            : syn_While_body;

            shared_in(w, field_of(w, node, body), x, name, at, n);
            shared_in(w, field_of(w, node, body + 1), x, name, at, n); /* orelse */
        }
        target = kind == TD_SYN_AugAssign ? F(node, AugAssign_target) : 0;
        if (kind_of(w, target) != TD_SYN_Subscript ||
            kind_of(w, F(target, Subscript_value)) != TD_SYN_Name ||
            !is_fixed(w, F(target, Subscript_value), x->own, x->nown) ||
            !is_fixed(w, F(target, Subscript_slice), x->own, x->nown))
            continue;
        while (k < *n && name[k] != F(F(target, Subscript_value), Name_id))
            k++;
        name[k] = F(F(target, Subscript_value), Name_id);
        at[k] = node;
        *n += k == *n;
    }
}

uint32_t
find_shared(walk *w, uint32_t node, uint32_t **name, uint32_t **at)
{
    uint32_t n = 0;
    found x = {.loop = node};

    find_own(w, &x);
    *name = td_alloc(w->mem, (w->fr->s->nnames + 1) * sizeof **name);
    *at = td_alloc(w->mem, (w->fr->s->nnames + 1) * sizeof **at);
    shared_in(w, F(node, For_body), &x, *name, *at, &n);
    return n;
}
