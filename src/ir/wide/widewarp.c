/* widewarp.c - a warp is a group of 32 lanes: exchanges between its threads move lanes. */
#include "ir/wide/wide.h"

enum { WARP = 32 };

/* A bit for each lane at work that is one of the members. */
static td_val
present(wide *w, td_val members)
{
    td_fn *f = w->f;
    td_val mask = w_mask(w), bits;

    if (mask.i == UINT32_MAX)
        bits = w_int(w, TD_U32, UINT32_MAX);
    else
        bits = td_cast(f, td_bits(f, mask), TD_U32);
    return members.i == UINT32_MAX ? bits : TD_E2(f, bitwise_and, bits, members);
}

/* The value of another lane, one's own where that is not there. */
static td_val
moved(wide *w, td_val v, td_val from, td_val members)
{
    td_fn *f = w->f;
    td_val there = td_cast(f, present(w, members), TD_U64);

    there = td_permute(f, td_unbits(f, there, WARP), from);
    return w_select(w, there, td_permute(f, v, from), v);
}

/* Each lane's value is compared with all. */
static td_val
matches(wide *w, td_val v, td_val members)
{
    static const td_dtype same[] = {[1] = TD_U8, [2] = TD_U16, [4] = TD_U32, [8] = TD_U64};
    td_fn *f = w->f;
    td_val r = td_slot(f, TD_U32, WARP), there = present(w, members), i, bits;

    v = td_bitcast(f, v, same[td_dtype_size((td_dtype)td_at(f, v)->dt)]);
    i = td_for(f, w_int(w, TD_I32, 0), w_int(w, TD_I32, WARP), w_int(w, TD_I32, 1));
    bits = td_bits(f, TD_E2(f, equal, v, td_permute(f, v, td_splat(f, i, WARP))));
    bits = TD_E2(f, bitwise_and, td_cast(f, bits, TD_U32), there);
    td_set(f, r,
           TD_E3(f, select, TD_E2(f, equal, td_iota(f, TD_I32, WARP), i), td_splat(f, bits, WARP),
                 td_get(f, r)));
    td_end(f);
    return td_get(f, r);
}

void
w_warp(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    td_fn *f = w->f;
    td_val v;

    switch (s->op) {
    case OP_lane: w_defined(w, i, w_int(w, TD_I32, 0), TD_NONE); return;
    case OP_shuffle_xor:
        v = TD_E2(f, bitwise_xor, td_iota(f, TD_I32, WARP), w_int(w, TD_I32, (int64_t)s->imm));
        w_defined(w, i, TD_NONE, moved(w, w_vec(w, s->arg[0]), v, TD_NONE));
        return;
    case OP_shuffle:
        v = td_cast(f, w_vec(w, s->arg[1]), TD_I32);
        w_defined(w, i, TD_NONE, moved(w, w_vec(w, s->arg[0]), v, w_one(w, s->arg[2])));
        return;
    case OP_ballot:
        v = td_cast(f, td_bits(f, w_vec(w, s->arg[0])), TD_U32);
        w_defined(w, i, TD_E2(f, bitwise_and, v, present(w, w_one(w, s->arg[1]))), TD_NONE);
        return;
    case OP_match_any:
        w_defined(w, i, TD_NONE, matches(w, w_vec(w, s->arg[0]), w_one(w, s->arg[1])));
        return;
    case OP_activemask: w_defined(w, i, present(w, TD_NONE), TD_NONE); return;
    }
}
