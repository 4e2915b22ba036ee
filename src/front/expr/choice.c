/* choice.c - values under a condition: conditional expressions, and, or. */
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

/* May the value be computed even if the program does not ask for it: no memory access, no
 * calls, no division? */
static bool
is_pure(const walk *w, uint32_t node)
{
    switch (kind_of(w, node)) {
    case TD_SYN_Name: {
        const thing *x = &w->fr->var[F(node, Name_id)];

        return x->type ? !x->maybe && !is_optional(x) : !w->fr->local[F(node, Name_id)];
    }
    case TD_SYN_Constant:  return true;
    case TD_SYN_Attribute: return is_pure(w, F(node, Attribute_value));
    case TD_SYN_UnaryOp:   return is_pure(w, F(node, UnaryOp_operand));
    case TD_SYN_BinOp:     {
        td_syn op = kind_of(w, F(node, BinOp_op));

        return !w->exact &&
               (op == TD_SYN_Add || op == TD_SYN_Sub || op == TD_SYN_Mult || op == TD_SYN_BitAnd ||
                op == TD_SYN_BitOr || op == TD_SYN_BitXor) &&
               is_pure(w, F(node, BinOp_left)) && is_pure(w, F(node, BinOp_right));
    }
    case TD_SYN_Compare: {
        uint32_t more = F(node, Compare_comparators);

        for (uint32_t i = 0; i < count_of(w, more); i++)
            if (!is_pure(w, item_of(w, more, i)))
                return false;
        return is_pure(w, F(node, Compare_left));
    }
    case TD_SYN_BoolOp: {
        uint32_t list = F(node, BoolOp_values);

        for (uint32_t i = 0; i < count_of(w, list); i++)
            if (!is_pure(w, item_of(w, list, i)))
                return false;
        return true;
    }
    default: return false;
    }
}

/* One branch of a choice: joins its value with the others' and stores it in the place. */
static td_status
choice_branch(walk *w, td_hash key, const place *p, uint32_t node, const thing *have)
{
    thing x = {0};

    if (have)
        x = *have;
    else
        TD_TRY(expr_optional(w, node, &x));
    TD_TRY(settle(w, &x));
    if (x.listed) /* the branches may give lists of different lengths */
        TD_TRY(boxed(w, &x));
    TD_TRY(join_add(w, key, &x, node ? node : w->node, "the value"));
    return p ? place_set(w, p, &x) : TD_OK;
}

/* One of two values, by a condition that only the running program knows.  other 0: the second value is `have`. */
static td_status
choose_between(walk *w, uint32_t node, const thing *cond, uint32_t then, uint32_t other,
               const thing *have, thing *out)
{
    td_hash key = join_key(w, node, 0);
    join *j = join_get(w, key);
    place p = {0};
    meeting m = {0}; /* of the names that := assigns */
    uint32_t *one, *two, none, ntwo;
    td_status st;

    if (j)
        p = place_new(w, j);
    one = assigned_by(w, then, &none);
    two = other ? assigned_by(w, other, &ntwo) : (ntwo = 0, NULL);
    m.name = names_of_two(w, one, none, two, ntwo, &m.n);
    meet_begin(w, node, &m);
    td_if(w->f, cond->num.re);
    st = choice_branch(w, key, j ? &p : NULL, then, NULL);
    if (st != TD_SKIP ||
        !w->again) /* a branch whose type only the next walk knows leaves the type to the other branch */
        TD_TRY(st);
    TD_TRY(meet_path(w, node, &m));
    td_else(w->f);
    meet_again(w, &m);
    st = choice_branch(w, key, j ? &p : NULL, other, have);
    if (st != TD_SKIP || !w->again)
        TD_TRY(st);
    TD_TRY(meet_path(w, node, &m));
    td_end(w->f);
    meet_end(w, node, &m);
    if (!join_get(w, key))
        return TD_SKIP;
    *out = j ? place_get(w, &p) : stand_in(w, join_get(w, key)->type);
    return built(w, node);
}

td_status
choose(walk *w, uint32_t node, const thing *cond, uint32_t then, uint32_t other, thing *out)
{
    if (cond->known)
        return expr_optional(w, cond->lit.i ? then : other, out);
    if (is_pure(w, then) && is_pure(w, other)) {
        thing x[3] = {*cond};

        TD_TRY(expr(w, then, &x[1]));
        TD_TRY(expr(w, other, &x[2]));
        if (w->exact && is_num(&x[1]) && is_num(&x[2]))
            return exact_select(w, &x[0], &x[1], &x[2], out);
        if (is_num(&x[1]) && is_num(&x[2])) {
            bool nonneg = x[1].nonneg && x[2].nonneg;

            TD_TRY(num_op(w, OP_select, x, 3, out));
            out->nonneg = out->nonneg || nonneg;
            return TD_OK;
        }
    }
    return choose_between(w, node, cond, then, other, NULL, out);
}

td_status
expr_ifexp(walk *w, uint32_t node, thing *out)
{
    thing c;

    TD_TRY(expr_optional(w, F(node, IfExp_test), &c));
    TD_TRY(truth(w, &c, &c));
    return choose(w, node, &c, F(node, IfExp_body), F(node, IfExp_orelse), out);
}

/* `a and b`, `a or b`: the value of the operand that decides.  b is evaluated only if it is needed, or if it is pure. */
td_status
expr_boolop(walk *w, uint32_t node, thing *out)
{
    bool is_and = kind_of(w, F(node, BoolOp_op)) == TD_SYN_And;
    uint32_t list = F(node, BoolOp_values);
    thing x, c;

    TD_TRY(expr_optional(w, item_of(w, list, 0), &x));
    for (uint32_t i = 1; i < count_of(w, list); i++) {
        uint32_t right = item_of(w, list, i);

        TD_TRY(truth(w, &x, &c));
        if (c.known) {
            if ((bool)c.lit.i != is_and)
                break;
            TD_TRY(expr_optional(w, right, &x));
            continue;
        }
        if (is_pure(w, right)) {
            thing y;

            TD_TRY(expr(w, right, &y));
            if (is_num(&y) && x.type->dt == TD_BOOL && y.type->dt == TD_BOOL && !is_mixed(&x) &&
                !is_mixed(&y)) {
                TD_TRY(num_op(w, is_and ? OP_logical_and : OP_logical_or, (thing[]){x, y}, 2, &x));
                continue;
            }
        }
        if (!is_and)
            TD_TRY(num_op(w, OP_logical_not, &c, 1, &c));
        TD_TRY(choose_between(w, right, &c, right, 0, &x, &x));
    }
    *out = x;
    return TD_OK;
}
