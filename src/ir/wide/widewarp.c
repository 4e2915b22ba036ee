/* widewarp.c - warp instructions: a warp is a group of 32 lanes, so exchanges between its threads
 * move lanes.
 */
#include "ir/wide/wide.h"

/* A bit for each active lane that is a member. */
static td_val
present_lanes(wide *w, td_val members)
{
    td_fn *f = w->f;
    td_val mask = w_mask(w), bits;

    if (mask.i == UINT32_MAX)
        bits = w_int(w, TD_U32, UINT32_MAX);
    else
        bits = td_cast(f, td_bits(f, mask), TD_U32);
    return members.i == UINT32_MAX ? bits : TD_E2(f, bitwise_and, bits, members);
}

/* The value of another lane; the lane's own if that one takes no part. */
static td_val
exchange_lanes(wide *w, td_val v, td_val from, td_val members)
{
    td_fn *f = w->f;
    td_val there = td_cast(f, present_lanes(w, members), TD_U64);

    there = td_permute(f, td_unbits(f, there, TD_WARP), from);
    return w_select(w, there, td_permute(f, v, from), v);
}

/* Compares each lane's value with all lanes. */
static td_val
matches(wide *w, td_val v, td_val members)
{
    static const td_dtype same[] = {[1] = TD_U8, [2] = TD_U16, [4] = TD_U32, [8] = TD_U64};
    td_fn *f = w->f;
    td_val r = td_slot(f, TD_U32, TD_WARP), there = present_lanes(w, members), i, bits;

    v = td_bitcast(f, v, same[td_dtype_size((td_dtype)td_at(f, v)->dt)]);
    i = td_for(f, w_int(w, TD_I32, 0), w_int(w, TD_I32, TD_WARP), w_int(w, TD_I32, 1));
    bits = td_bits(f, TD_E2(f, equal, v, td_permute(f, v, td_splat(f, i, TD_WARP))));
    bits = TD_E2(f, bitwise_and, td_cast(f, bits, TD_U32), there);
    td_set(f, r,
           TD_E3(f, select, TD_E2(f, equal, td_iota(f, TD_I32, TD_WARP), i),
                 td_splat(f, bits, TD_WARP), td_get(f, r)));
    td_end(f);
    return td_get(f, r);
}

static td_val
shuffled(wide *w, const td_inst *s)
{
    td_val from = td_cast(w->f, w_vec(w, s->arg[1]), TD_I32);

    return exchange_lanes(w, w_vec(w, s->arg[0]), from, w_one(w, s->arg[2]));
}

static td_val
shuffled_xor(wide *w, const td_inst *s)
{
    td_fn *f = w->f;
    td_val from =
        TD_E2(f, bitwise_xor, td_iota(f, TD_I32, TD_WARP), w_int(w, TD_I32, (int64_t)s->imm));

    return exchange_lanes(w, w_vec(w, s->arg[0]), from, TD_NONE);
}

static td_val
balloted(wide *w, const td_inst *s)
{
    td_val bits = td_cast(w->f, td_bits(w->f, w_vec(w, s->arg[0])), TD_U32);

    return TD_E2(w->f, bitwise_and, bits, present_lanes(w, w_one(w, s->arg[1])));
}

static td_val
matched(wide *w, const td_inst *s)
{
    return matches(w, w_vec(w, s->arg[0]), w_one(w, s->arg[1]));
}

static td_val
active(wide *w, const td_inst *s)
{
    (void)s;
    return present_lanes(w, TD_NONE);
}

static td_val
first(wide *w, const td_inst *s)
{
    (void)s;
    return w_int(w, TD_I32, 0);
}

void
w_warp(wide *w, uint32_t i)
{
    static td_val (*const of[OP_COUNT])(wide *w, const td_inst *s) = {
        [OP_lane] = first,      [OP_shuffle] = shuffled,  [OP_shuffle_xor] = shuffled_xor,
        [OP_ballot] = balloted, [OP_match_any] = matched, [OP_activemask] = active,
    };
    const td_inst *s = &w->in->ins[i];
    td_val v;

    if (!of[s->op])
        return; /* the lanes are together */
    v = of[s->op](w, s);
    if (td_optab[s->op].wide == TD_WIDE_EACH)
        w_defined(w, i, TD_NONE, v);
    else
        w_defined(w, i, v, TD_NONE);
}
