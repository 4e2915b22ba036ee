/* widen.c - the widening pass: first the analyses, then the code. */
#include "ir/wide/widen.h"

#include "ir/wide/wide.h"

#include <string.h>

/* most bytes of a local array for all threads, which lies on the stack */
enum { LOCAL_MOST = 1 << 20 };

/* Why lanes cannot do s; NULL: they can. */
static const char *
refused(const wide *w, const td_inst *s)
{
    int members = td_op_members(s->op);

    if (s->lanes != 1)
        return "it has lanes of its own";
    switch (s->op) {
    case OP_grid_barrier: return w->host ? NULL : "threads of all blocks wait for each other";
    case OP_parallel:
    case OP_piece_end:
    case OP_piece:        return w->host ? NULL : "a thread cannot be cut into pieces";
    case OP_ask:          return "each thread has boxes of its own";
    case OP_take:
    case OP_release:      return "each thread takes memory of its own";
    case OP_at:
    case OP_address:      return w_is_local(w, s->arg[0]) ? "a local array's address is taken" : NULL;
    case OP_local:
        return w->barriers && s->imm * td_dtype_size((td_dtype)s->dt) * TD_WIDE_THREADS > LOCAL_MOST
                   ? "its local arrays are too large"
                   : NULL;
    }
    if (td_optab[s->op].value && members >= 0 && w->at[w_src(w, s->arg[members])].shape > W_GROUP)
        return "the members of an exchange differ between threads";
    return NULL;
}

/* Analyses one way of cutting a block's threads into groups. */
static td_status
know(wide *w, bool linear)
{
    w->linear = linear;
    w->exits = w->leaves = false;
    memset(w->at, 0, (w->in->n + 1) * sizeof *w->at);
    TD_TRY(w_flow(w));
    TD_TRY(w_shapes(w));
    for (uint32_t i = 0; i < w->in->n; i++)
        if ((w->why = refused(w, &w->in->ins[i])))
            return TD_SKIP;
    return TD_OK;
}

/* Warps are cut from the linear index.  Cutting rows gives the same if rows are whole warps. */
static td_status
both_ways(wide *w)
{
    td_fn *f = w->f;
    td_val one = w_int(w, TD_I32, 1), rows, whole;

    rows = TD_E2(f, less_equal, TD_E2(f, multiply, w->bdim[1], w->bdim[2]), one);
    whole = TD_E2(f, bitwise_and, w->bdim[0], w_int(w, TD_I32, w->lanes - 1));
    whole = TD_E2(f, equal, whole, w_int(w, TD_I32, 0));
    td_if(f, TD_E2(f, logical_or, rows, whole));
    w_blocks(w);
    td_else(f);
    TD_TRY(know(w, true));
    w_blocks(w);
    td_end(f);
    return TD_OK;
}

td_status
td_fn_widen(const td_fn *in, int vector_bytes, td_fn *out, const char **why)
{
    wide w = {.f = out};
    td_status st;
    bool waits;
    td_fn own;

    TD_ASSERT(!in->st);
    *why = "it has functions, which run a lane each";
    if (td_fn_has_functions(in))
        return TD_SKIP;
    TD_TRY(w_canon(in, out->mem, &own));
    TD_TRY(td_fn_waits(&own, out->mem, &waits));
    if (waits) {
        *why = "a loop waits for what another thread writes";
        return TD_SKIP;
    }
    w.in = &own;
    w.at = td_alloc_big(out->mem, (in->n + 1) * sizeof *w.at);
    if (!w.at)
        return td_fail(TD_ERR_NOMEM, "kernel %s: widening %u instructions", in->name, in->n);
    for (uint32_t i = 0; i < in->n; i++)
        w.warps |= w_is_warp(in->ins[i].op);
    out->fast = in->fast;
    out->libm = in->libm;
    out->optimise = in->optimise;
    st = know(&w, false);
    if (!st) {
        w.lanes = w_lanes(&w, vector_bytes);
        w_entry(&w);
        if (w.warps)
            st = both_ways(&w);
        else
            w_blocks(&w);
    }
    *why = w.why;
    return st ? st : td_fn_finish(out);
}

td_status
td_fn_widen_loops(const td_fn *in, int vector_bytes, td_fn *out)
{
    wide w = {.in = in, .f = out, .host = true};
    bool any = false;

    for (uint32_t i = 0; i < in->n; i++)
        any |= in->ins[i].op == OP_for && (in->ins[i].flags & TD_INST_EACH);
    if (!any || td_fn_has_functions(in))
        return TD_SKIP;
    w.at = td_alloc_big(out->mem, (in->n + 1) * sizeof *w.at);
    if (!w.at)
        return td_fail(TD_ERR_NOMEM, "kernel %s: widening %u instructions", in->name, in->n);
    TD_TRY(know(&w, false));
    w.lanes = w_lanes(&w, vector_bytes);
    out->fast = in->fast;
    out->libm = in->libm;
    out->optimise = in->optimise;
    w_function(&w);
    return td_fn_finish(out);
}
