/* widen.c - the pass: what is known, then the code. */
#include "ir/widen.h"

#include "ir/wide.h"

/* What no group of lanes does as it stands. */
static bool
refused(const td_inst *s)
{
    return s->lanes != 1 || s->op == OP_shuffle_xor;
}

td_status
td_fn_widen(const td_fn *in, int vector_bytes, td_fn *out, const char **why)
{
    wide w = {.in = in, .f = out};

    TD_ASSERT(!in->st);
    w.at = td_alloc_big(out->mem, (in->n + 1) * sizeof *w.at);
    if (!w.at)
        return td_fail(TD_ERR_NOMEM, "kernel %s: widening %u instructions", in->name, in->n);
    for (uint32_t i = 0; i < in->n; i++)
        if (refused(&in->ins[i])) {
            *why = "an instruction of the warp";
            return TD_SKIP;
        }
    TD_TRY(w_flow(&w));
    if (w_shapes(&w)) {
        *why = w.why;
        return TD_SKIP;
    }
    out->fast = in->fast;
    out->optimise = in->optimise;
    w.lanes = w_lanes(&w, vector_bytes);
    w_entry(&w);
    return td_fn_finish(out);
}
