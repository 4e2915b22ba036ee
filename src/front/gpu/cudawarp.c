/* cudawarp.c - operations of the threads of a block and of a warp: barriers, fences, shuffles, votes; bits of
 * integers. */
#include "front/infer/intrin.h"

static td_val
u32(walk *w, uint32_t v)
{
    return td_const_int(w->f, TD_U32, (int64_t)v);
}

static thing
nothing(void)
{
    return (thing){.type = td_type_none()};
}

static td_val
is_zero(walk *w, td_val mask)
{
    return TD_E2(w->f, equal, mask, u32(w, 0));
}

/* Argument i as a number; an element of an array is loaded. */
static td_status
cudawarp_number(walk *w, const call *c, uint32_t i, const char *what, thing *out)
{
    *out = c->arg[i];
    TD_TRY(loaded(w, out));
    return is_num(out) ? TD_OK
                       : bad(w, c->node, TD_ERR_TYPE, "%s takes numbers, not %s", what,
                             c->arg[i].type->name);
}

static td_status
warp_integer(walk *w, const call *c, uint32_t i, const char *what, thing *out)
{
    TD_TRY(cudawarp_number(w, c, i, what, out));
    return is_int(out) ? TD_OK
                       : bad(w, c->node, TD_ERR_TYPE, "%s takes an integer here, not %s", what,
                             out->type->name);
}

static td_status
condition(walk *w, const call *c, uint32_t i, td_val *out)
{
    thing x = c->arg[i];

    TD_TRY(loaded(w, &x));
    TD_TRY(truth(w, &x, &x));
    *out = val_as(w, &x, TD_BOOL);
    return TD_OK;
}

static td_status
members(walk *w, const call *c, const char *what, td_val *out)
{
    thing x;

    TD_TRY(warp_integer(w, c, 0, what, &x));
    *out = val_as(w, &x, TD_U32);
    w->made->warp = true;
    return TD_OK;
}

static td_val not(walk * w, td_val cond)
{
    return TD_E1(w->f, logical_not, cond);
}

/* ---- the block ---- */

td_status
fn_syncthreads(walk *w, const call *c, int number_, thing *out)
{
    (void)number_;
    TD_TRY(want_args(w, c, "syncthreads", 0, 0));
    *out = nothing();
    td_barrier(w->f);
    w->made->barrier = true;
    return built(w, c->node);
}

/* row: VOTE_COUNT, VOTE_ALL, VOTE_ANY */
td_status
fn_sync_vote(walk *w, const call *c, int number_, thing *out)
{
    int row = td_intrinsics[number_].row;
    td_val cond, n;

    TD_TRY(want_args(w, c, "this barrier", 1, 1));
    TD_TRY(condition(w, c, 0, &cond));
    w->made->barrier = true;
    n = td_barrier_count(w->f, row == VOTE_ALL ? not(w, cond) : cond);
    if (row != VOTE_COUNT) {
        td_val zero = td_const_int(w->f, TD_I32, 0);

        n = td_cast(w->f,
                    row == VOTE_ALL ? TD_E2(w->f, equal, n, zero) : TD_E2(w->f, not_equal, n, zero),
                    TD_I32);
    }
    *out = num_val(TD_I32, n);
    return built(w, c->node);
}

/* row: TD_FENCE_* */
td_status
fn_fence(walk *w, const call *c, int number_, thing *out)
{
    TD_TRY(want_args(w, c, "a fence", 0, 0));
    *out = nothing();
    td_fence(w->f, td_intrinsics[number_].row);
    return built(w, c->node);
}

/* ---- the warp ---- */

/* laneid; row 1: warpsize */
td_status
fn_lane(walk *w, const call *c, int number_, thing *out)
{
    if (td_intrinsics[number_].row)
        *out = num_int(32);
    else
        *out = num_index(td_cast(w->f, td_lane(w->f), TD_I64), true);
    return built(w, c->node);
}

td_status
fn_syncwarp(walk *w, const call *c, int number_, thing *out)
{
    td_val mask = u32(w, UINT32_MAX);

    (void)number_;
    TD_TRY(want_args(w, c, "syncwarp", 0, 1));
    if (c->n)
        TD_TRY(members(w, c, "syncwarp", &mask));
    w->made->warp = true;
    td_syncwarp(w->f, mask);
    *out = nothing();
    return built(w, c->node);
}

/* The lane that a shuffle reads; beyond the warp's ends a thread reads its own. */
static td_val
source_lane(walk *w, int row, td_val by)
{
    td_val here = td_lane(w->f), last = td_const_int(w->f, TD_I32, 31), from;

    by = TD_E2(w->f, bitwise_and, by, last);
    switch (row) {
    case SHUFFLE_UP:
        from = TD_E2(w->f, subtract, here, by);
        return TD_E3(w->f, select, TD_E2(w->f, less, from, td_const_int(w->f, TD_I32, 0)), here,
                     from);
    case SHUFFLE_DOWN:
        from = TD_E2(w->f, add, here, by);
        return TD_E3(w->f, select, TD_E2(w->f, greater, from, last), here, from);
    case SHUFFLE_XOR: return TD_E2(w->f, bitwise_xor, here, by);
    default:          return by;
    }
}

/* A shuffle up or down reads a lane outside of its members at one end, and nobody uses the value.  The thread reads
 * its own lane then, so that no checker reports it.  Other shuffles name their lane on purpose. */
static td_val
within_members(walk *w, int row, td_val lane, td_val mask)
{
    td_val bit, none = td_const_int(w->f, TD_U32, 0);

    if (row != SHUFFLE_UP && row != SHUFFLE_DOWN)
        return lane;
    bit = TD_E2(w->f, left_shift, td_const_int(w->f, TD_U32, 1), td_cast(w->f, lane, TD_U32));
    return TD_E3(w->f, select, TD_E2(w->f, equal, TD_E2(w->f, bitwise_and, mask, bit), none),
                 td_lane(w->f), lane);
}

/* row: SHUFFLE_* */
td_status
fn_shuffle(walk *w, const call *c, int number_, thing *out)
{
    td_val mask, lane;
    td_num v, got = td_num_of(TD_NONE);
    thing x, by;

    TD_TRY(want_args(w, c, "a shuffle", 3, 3));
    TD_TRY(members(w, c, "a shuffle", &mask));
    TD_TRY(cudawarp_number(w, c, 1, "a shuffle", &x));
    TD_TRY(warp_integer(w, c, 2, "a shuffle", &by));
    lane = source_lane(w, td_intrinsics[number_].row, val_as(w, &by, TD_I32));
    if (w->how->watched)
        lane = within_members(w, td_intrinsics[number_].row, lane, mask);
    v = num_as(w, &x, x.type->dt);
    got.re = td_shuffle(w->f, v.re, lane, mask);
    if (td_num_is_pair(v))
        got.im = td_shuffle(w->f, v.im, lane, mask);
    *out = num_of(x.type, got);
    out->nonneg = out->nonneg || x.nonneg;
    return built(w, c->node);
}

/* row: VOTE_ALL, VOTE_ANY, VOTE_SAME, VOTE_BALLOT */
td_status
fn_vote(walk *w, const call *c, int number_, thing *out)
{
    int row = td_intrinsics[number_].row;
    td_val mask, cond, yes, no;

    TD_TRY(want_args(w, c, "a vote", 2, 2));
    TD_TRY(members(w, c, "a vote", &mask));
    TD_TRY(condition(w, c, 1, &cond));
    if (row == VOTE_BALLOT) {
        *out = num_val(TD_U32, td_ballot(w->f, cond, mask));
        return built(w, c->node);
    }
    yes = row == VOTE_ALL ? TD_NONE : is_zero(w, td_ballot(w->f, cond, mask));
    no = row == VOTE_ANY ? TD_NONE : is_zero(w, td_ballot(w->f, not(w, cond), mask));
    *out = num_val(TD_BOOL, row == VOTE_ALL   ? no
                            : row == VOTE_ANY ? not(w, yes)
                                              : TD_E2(w->f, logical_or, yes, no));
    return built(w, c->node);
}

/* match_any_sync; row 1: match_all_sync */
td_status
fn_match(walk *w, const call *c, int number_, thing *out)
{
    td_val mask, same, all;
    thing x, pair[2];

    TD_TRY(want_args(w, c, "a match", 2, 2));
    TD_TRY(members(w, c, "a match", &mask));
    TD_TRY(cudawarp_number(w, c, 1, "a match", &x));
    if (td_dtype_is_complex(x.type->dt))
        return bad(w, c->node, TD_ERR_TYPE, "a match compares numbers of up to 8 bytes, not %s",
                   x.type->name);
    same = td_match_any(w->f, val_as(w, &x, x.type->dt), mask);
    *out = num_val(TD_U32, same);
    if (td_intrinsics[number_].row) {
        td_val here = td_ballot(w->f, td_const_int(w->f, TD_BOOL, 1), mask);

        all = TD_E2(w->f, equal, same, here);
        pair[0] = num_val(TD_U32, TD_E3(w->f, select, all, here, u32(w, 0)));
        pair[1] = num_val(TD_BOOL, all);
        *out = tuple_of(w, pair, 2);
    }
    return built(w, c->node);
}

td_status
fn_lanemask_lt(walk *w, const call *c, int number_, thing *out)
{
    td_val bit;

    (void)number_;
    TD_TRY(want_args(w, c, "lanemask_lt", 0, 0));
    bit = TD_E2(w->f, left_shift, u32(w, 1), td_cast(w->f, td_lane(w->f), TD_U32));
    *out = num_val(TD_U32, TD_E2(w->f, subtract, bit, u32(w, 1)));
    return built(w, c->node);
}

/* ---- bits ---- */

/* The argument, widened to at least 4 bytes. */
static td_status
word_of(walk *w, const call *c, const char *what, thing *out)
{
    TD_TRY(want_args(w, c, what, 1, 1));
    TD_TRY(warp_integer(w, c, 0, what, out));
    if (td_dtype_size(out->type->dt) < 4)
        *out =
            num_convert(w, out, td_type_num(td_dtype_kind(out->type->dt) == 'u' ? TD_U32 : TD_I32));
    return TD_OK;
}

/* row: an operation on bits; counts are int32 */
td_status
fn_bits(walk *w, const call *c, int number_, thing *out)
{
    td_op op = (td_op)td_intrinsics[number_].row;
    thing x;
    td_val v;

    TD_TRY(word_of(w, c, td_optab[op].name, &x));
    v = td_emit(w->f, op, (td_val[]){val_as(w, &x, x.type->dt)});
    if (op == OP_bit_reverse) {
        *out = num_of(x.type, td_num_of(v));
    } else {
        *out = num_val(TD_I32, td_cast(w->f, v, TD_I32));
        out->nonneg = true;
    }
    return built(w, c->node);
}

td_status
fn_ffs(walk *w, const call *c, int number_, thing *out)
{
    thing x;

    (void)number_;
    TD_TRY(word_of(w, c, "ffs", &x));
    x = num_val((td_dtype)x.type->dt, val_as(w, &x, x.type->dt));
    TD_TRY(spell_ffs(w, &x, 1, 0, x.type->dt, out));
    *out = num_convert(w, out, td_type_num(TD_I32));
    out->nonneg = true;
    return TD_OK;
}

td_status
fn_selp(walk *w, const call *c, int number_, thing *out)
{
    thing x[3];
    td_val cond;

    (void)number_;
    TD_TRY(want_args(w, c, "selp", 3, 3));
    TD_TRY(condition(w, c, 0, &cond));
    x[0] = num_val(TD_BOOL, cond);
    for (uint32_t i = 1; i < 3; i++)
        TD_TRY(cudawarp_number(w, c, i, "selp", &x[i]));
    return num_op(w, OP_select, x, 3, out);
}

/* ---- rows of core.def ---- */

/* Converts an argument as its letter in the row's args column says. */
static td_status
operand(walk *w, const call *c, uint32_t i, char letter, const char *what, td_val *out)
{
    thing x;

    switch (letter) {
    case 'c': return condition(w, c, i, out);
    case 'm':
    case 'i':
    case 'n':
        TD_TRY(warp_integer(w, c, i, what, &x));
        *out = val_as(w, &x, letter == 'm' ? TD_U32 : TD_I64);
        return TD_OK;
    default:
        TD_TRY(cudawarp_number(w, c, i, what, &x));
        *out = val_as(w, &x, x.type->dt);
        return TD_OK;
    }
}

/* row: an instruction that the call becomes */
td_status
fn_instruction(walk *w, const call *c, int number_, thing *out)
{
    const td_op op = (td_op)td_intrinsics[number_].row;
    const td_opinfo *o = &td_optab[op];
    td_val x[TD_MAXARG], v;

    TD_TRY(want_args(w, c, o->name, o->arity, o->arity));
    for (uint32_t i = 0; i < o->arity; i++)
        TD_TRY(operand(w, c, i, o->kinds[i], o->name, &x[i]));
    if (o->threads == TD_THREADS_WARP || o->threads == TD_THREADS_HERE)
        w->made->warp = true;
    v = td_core(w->f, op, x);
    *out = o->value ? num_val((td_dtype)o->type, v) : nothing();
    return built(w, c->node);
}
