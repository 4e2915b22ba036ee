/* known.c - what is known of a value at a place: what it was computed from, and the conditions around the place. */
#include "ir/passes/look.h"

#include <stdlib.h>

/* ---- values ---- */

bool
is_number(const td_inst *s)
{
    return s->lanes == 1 && !(s->flags & TD_INST_PTR) &&
           (s->dt == TD_BOOL || td_dtype_is_int((td_dtype)s->dt));
}

static range
of_bits(td_dtype dt, uint64_t bits)
{
    td_scalar x = td_scalar_load(dt, &bits);

    if (dt == TD_BOOL)
        return (range){bits & 1, bits & 1};
    return dt == TD_U64 && x.i < 0 ? range_any(dt) : (range){x.i, x.i};
}

static range
of_place(const look *k, const td_inst *s)
{
    const uint32_t *all = s->op == OP_bid || s->op == OP_gdim ? k->grid : k->block;
    int64_t n = all ? all[s->imm] : INT32_MAX;

    if (s->op == OP_bdim || s->op == OP_gdim)
        return (range){all ? n : 1, n};
    return (range){0, n - 1};
}

static range
of_cast(look *k, const td_inst *s, int depth)
{
    const td_inst *from = td_at(k->f, s->arg[0]);
    range r;

    if (!is_number(from) || s->dt == TD_BOOL)
        return range_any((td_dtype)s->dt);
    r = look_at(k, s->arg[0], depth);
    return range_fit((td_dtype)s->dt, r, is_any((td_dtype)from->dt, r));
}

/* An arm of a select, where its condition is so. */
static range
of_arm(look *k, const td_inst *s, bool first, int depth)
{
    uint32_t mark = k->ntrail;
    range r = {1, 0};

    if (assume(k, s->arg[0], first, depth))
        r = look_at(k, s->arg[first ? 1 : 2], depth);
    go_back(k, mark);
    return r;
}

/* What instruction s gives, from what is known of its operands here. */
range
evaluate(look *k, const td_inst *s, int depth)
{
    range a, b;
    td_dtype dt = (td_dtype)s->dt, from;

    switch (s->op) {
    case OP_param:  return s->imm < k->nword ? of_bits(dt, k->word[s->imm]) : range_any(dt);
    case OP_const:  return of_bits(dt, s->imm);
    case OP_cast:   return of_cast(k, s, depth);
    case OP_tid:
    case OP_bid:
    case OP_bdim:
    case OP_gdim:   return of_place(k, s);
    case OP_lane:   return (range){0, k->f->warp - 1};
    case OP_select: return range_join(of_arm(k, s, true, depth), of_arm(k, s, false, depth));
    }
    if (s->op >= TD_OPS || !td_optab[s->op].arity || !is_number(td_at(k->f, s->arg[0])))
        return range_any(dt);
    from = (td_dtype)td_at(k->f, s->arg[0])->dt;
    a = look_at(k, s->arg[0], depth);
    if (s->op == OP_logical_not)
        return (range){!a.hi, !a.lo};
    if (s->op == OP_negative && a.lo > INT64_MIN && !is_any(dt, a))
        return range_fit(dt, (range){-a.hi, -a.lo}, false);
    if (s->op == OP_absolute && a.lo > INT64_MIN && dt != TD_BOOL)
        return range_fit(dt, a.lo >= 0 ? a : (range){0, -a.lo > a.hi ? -a.lo : a.hi},
                         is_any(dt, a));
    if (td_optab[s->op].arity != 2)
        return range_any(dt);
    b = look_at(k, s->arg[1], depth);
    if (td_op_compares((td_op)s->op))
        return is_any(from, a) || is_any(from, b) ? range_any(dt) : range_compare(s->op, a, b);
    return dt == TD_BOOL ? range_of_bools(s->op, a, b) : range_of_two(s->op, dt, a, b);
}

/* Does s compute from its operands alone, so that it gives now what it gave? */
bool
is_pure(const td_inst *s)
{
    return s->op < TD_OPS || s->op == OP_cast;
}

/* What is known of v here: conditions may have told of its operands since it was computed. */
range
look_at(look *k, td_val v, int depth)
{
    const td_inst *s = td_at(k->f, v);
    range r = k->v[v.i];

    if (!is_any((td_dtype)s->dt, k->told[k->class[v.i]]))
        r = range_meet(r, k->told[k->class[v.i]]);
    if (!is_number(s) || depth == 0 || !is_pure(s) || r.lo >= r.hi || k->steps > TD_LOOK_STEPS)
        return r;
    k->steps++;
    return range_meet(r, evaluate(k, s, depth - 1));
}

/* ---- conditions ---- */

/* Of an instruction; behind them of a slot's number; behind those of a class. */
static range *
known_of(look *k, uint32_t i)
{
    uint32_t n = k->f->n;

    return i < n ? &k->v[i] : i < 2 * n ? &k->now[i - n] : &k->told[i - 2 * n];
}

static void
remember(look *k, uint32_t i)
{
    if (k->ntrail == k->captrail) {
        undo *more = realloc(k->trail, (k->captrail = 2 * k->captrail + 64) * sizeof *more);

        if (!more) {
            k->failed = true;
            k->captrail = k->ntrail;
            return;
        }
        k->trail = more;
    }
    k->trail[k->ntrail++] = (undo){i, *known_of(k, i)};
}

void
go_back(look *k, uint32_t mark)
{
    while (k->ntrail > mark) {
        undo u = k->trail[--k->ntrail];

        *known_of(k, u.i) = u.was;
    }
}

/* v lies within r here.  false: no value does. */
static bool
narrow(look *k, td_val v, range r, int depth)
{
    const td_inst *s = td_at(k->f, v);
    range own = k->v[v.i], met = is_any((td_dtype)s->dt, own) ? r : range_meet(own, r);
    uint32_t slot;

    if (met.lo > met.hi)
        return false;
    if (k->failed || is_within(k->told[k->class[v.i]], met))
        return true;
    remember(k, 2 * k->f->n + k->class[v.i]);
    remember(k, v.i);
    if (k->failed)
        return true;
    k->told[k->class[v.i]] = met;
    k->v[v.i] = met;
    if (s->op == OP_get) {
        slot = k->slot[s->arg[0].i];
        if (k->seen[v.i] == k->last[slot]) {
            remember(k, k->f->n + slot);
            k->now[slot] = met;
        }
    }
    if (depth && s->op == OP_cast && is_number(td_at(k->f, s->arg[0]))) {
        td_dtype from = (td_dtype)td_at(k->f, s->arg[0])->dt;
        range had = k->v[s->arg[0].i];

        /* a cast that keeps the values there are */
        if (!is_any(from, had) && is_within(had, range_any((td_dtype)s->dt)) &&
            (s->dt != TD_U64 || had.lo >= 0))
            return narrow(k, s->arg[0], met, depth - 1);
    }
    return true;
}

/* a < b, or with `equal` a <= b. */
static bool
assume_less(look *k, td_val a, td_val b, bool equal, int depth)
{
    td_dtype dt = (td_dtype)td_at(k->f, a)->dt;
    range ra = look_at(k, a, depth), rb = look_at(k, b, depth), least = {0, INT64_MAX};
    bool any_a = is_any(dt, ra), any_b = is_any(dt, rb);
    int64_t strict = !equal;

    if (any_b) /* it may be more than an int64 holds */
        return true;
    if (rb.hi < INT64_MIN + strict)
        return false;
    if (any_a)
        ra = least;
    if (!narrow(k, a, range_meet(ra, (range){INT64_MIN, rb.hi - strict}), depth))
        return false;
    if (any_a || ra.lo > INT64_MAX - strict)
        return any_a;
    return narrow(k, b, range_meet(rb, (range){ra.lo + strict, INT64_MAX}), depth);
}

static bool
assume_equal(look *k, td_val a, td_val b, bool truth, int depth)
{
    td_dtype dt = (td_dtype)td_at(k->f, a)->dt;
    range ra = look_at(k, a, depth), rb = look_at(k, b, depth), both = range_meet(ra, rb);

    if (is_any(dt, ra) || is_any(dt, rb))
        return true;
    if (truth)
        return both.lo <= both.hi && narrow(k, a, both, depth) && narrow(k, b, both, depth);
    if (rb.lo != rb.hi || ra.lo == ra.hi)
        return !(rb.lo == rb.hi && ra.lo == ra.hi && ra.lo == rb.lo);
    return narrow(k, a, (range){ra.lo + (ra.lo == rb.lo), ra.hi - (ra.hi == rb.lo)}, depth);
}

/* Of `a and b` (with both), else of `a or b`. */
static bool
assume_both(look *k, td_val a, td_val b, bool truth, bool both, int depth)
{
    range first = look_at(k, a, depth);

    if (truth == both)
        return assume(k, a, truth, depth) && assume(k, b, truth, depth);
    return first.lo != first.hi || first.lo != both || assume(k, b, truth, depth);
}

/* c is so here.  false: it cannot be, so no thread comes here. */
bool
assume(look *k, td_val c, bool truth, int depth)
{
    const td_inst *s = td_at(k->f, c), *x;
    range r = look_at(k, c, depth);
    const td_val *a = s->arg;

    if (truth ? !r.hi : r.lo)
        return false;
    if (!narrow(k, c, (range){truth, truth}, depth) || !depth || s->lanes > 1)
        return true;
    depth--;
    if (s->op == OP_get && k->slot[a[0].i] != UINT32_MAX) {
        const meant *m = &k->means[k->slot[a[0].i]];

        return !m->set || m->set != k->seen[c.i] ||
               assume_both(k, m->first, m->second, truth, m->both, depth);
    }
    if (s->op >= TD_OPS)
        return true;
    x = td_at(k->f, a[0]);
    if (td_op_compares((td_op)s->op) && (!is_number(x) || x->dt == TD_BOOL))
        return true;
    switch (s->op) {
    case OP_less:
        return truth ? assume_less(k, a[0], a[1], false, depth)
                     : assume_less(k, a[1], a[0], true, depth);
    case OP_greater_equal:
        return truth ? assume_less(k, a[1], a[0], true, depth)
                     : assume_less(k, a[0], a[1], false, depth);
    case OP_greater:
        return truth ? assume_less(k, a[1], a[0], false, depth)
                     : assume_less(k, a[0], a[1], true, depth);
    case OP_less_equal:
        return truth ? assume_less(k, a[0], a[1], true, depth)
                     : assume_less(k, a[1], a[0], false, depth);
    case OP_equal:
    case OP_not_equal:   return assume_equal(k, a[0], a[1], truth == (s->op == OP_equal), depth);
    case OP_logical_not: return assume(k, a[0], !truth, depth);
    case OP_logical_and:
    case OP_bitwise_and: return assume_both(k, a[0], a[1], truth, true, depth);
    case OP_logical_or:
    case OP_bitwise_or:  return assume_both(k, a[0], a[1], truth, false, depth);
    case OP_bitwise_xor: /* with true is how a negation is spelled */
        r = k->v[a[1].i];
        return r.lo != r.hi || assume(k, a[0], truth != (r.lo == 1), depth);
    default: return true;
    }
}
