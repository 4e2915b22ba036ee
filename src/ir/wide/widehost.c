/* widehost.c - widens loops of independent iterations in a function that is not a kernel of
 * threads.  Code outside them stays as it is.
 */
#include "ir/wide/wide.h"

#include <string.h>

/* Emits the iterations from `first` on for the lanes of m. */
static void
run_iterations(wide *w, uint32_t i, td_val first, wmask m)
{
    uint32_t mark = w->nundo;

    w->m = m;
    w->epoch = ++w->runs;
    w_defined(w, i, first, TD_NONE);
    w_run_group(w, i + 1, w_end(w, i));
    w_close(w, mark);
    w->epoch = 0;
}

/* Emits the loop over whole groups, then the remaining iterations. */
static void
run_each(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    td_fn *f = w->f;
    td_dtype dt = (td_dtype)s->dt;
    td_val lanes = w_int(w, dt, w->lanes), zero = w_int(w, dt, 0), lo, hi, n, left, whole;

    w_do_once(w, i, w_end(w, i));
    w_storage(w, i + 1, w_end(w, i));
    lo = w_one(w, s->arg[0]);
    hi = w_one(w, s->arg[1]);
    n = TD_E3(f, select, TD_E2(f, less, lo, hi), TD_E2(f, subtract, hi, lo), zero);
    left = TD_E2(f, bitwise_and, n, w_int(w, dt, w->lanes - 1));
    whole = TD_E2(f, subtract, TD_E2(f, add, lo, n), left);
    run_iterations(w, i, td_for(f, lo, whole, lanes), (wmask){.kind = W_FULL, .any = true});
    td_end(f);
    td_if(f, TD_E2(f, less, zero, left));
    run_iterations(w, i, whole,
                   (wmask){.kind = W_COUNT, .any = true, .count = td_cast(f, left, TD_I32)});
    td_end(f);
}

/* Copies i unchanged. */
static void
copy_inst(wide *w, uint32_t i)
{
    const td_inst *s = &w->in->ins[i];
    td_inst own = *s;
    td_val v;

    w->f->line = s->line;
    for (int a = 0; a < TD_MAXARG; a++)
        if (s->arg[a].i != UINT32_MAX)
            own.arg[a] = w_one(w, s->arg[a]);
    v = td_push(w->f, own);
    if (td_optab[s->op].value)
        w_defined(w, i, v, TD_NONE);
}

void
w_function(wide *w)
{
    w->f->nparam = w->in->nparam;
    w->epoch = 0;
    w->alive = w->ended = w->tail = TD_NONE;
    for (uint32_t i = 0; i < w->in->n && !w->f->st; i++) {
        switch (w->in->ins[i].op) {
        case OP_slot: w_storage(w, i, i + 1); continue;
        case OP_get:
        case OP_set:  w_inst(w, i); continue;
        }
        if (!w->at[i].each) {
            copy_inst(w, i);
            continue;
        }
        w->f->line = w->in->ins[i].line;
        run_each(w, i);
        i = w_end(w, i);
    }
}
