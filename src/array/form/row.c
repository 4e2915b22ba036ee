/* row.c - code for a kernel that owns rows.
 *
 * Each pass over a row feeds the reductions of its stage.  Then the threads of the row merge their accumulators, and all of
 * them know the results.  The last pass writes.  On a GPU the vectors of a thread lie `team` vectors apart; on a CPU lanes run
 * along the row.
 */
#include "array/form/row.h"

#include "array/form/acc.h"
#include "array/plan/gen.h"

#include <string.h>

enum { SCRATCH_MAX = 2 };

typedef struct build {
    const td_row *r;
    td_gen g;
    td_val home[TD_PLAN_OPNDS]; /* bases of the row */
    td_val tid, lane;           /* GPU: the thread's place in the block, in its team */
    td_val there;               /* GPU: does the row exist?  TD_NONE: yes */
    td_val e, ok; /* the number of lane 0's element in the row; does it exist?  TD_NONE: yes */
    td_val chunk; /* GPU: the first element of this round */
    td_num (*kept)
        [TD_PLAN_STEPS]; /* for each vector of a thread the values of its steps; {0}: not computed yet */
    td_val scratch[SCRATCH_MAX];
    bool want[TD_PLAN_STEPS]; /* steps whose elements the pass computes */
    td_val slot[TD_PLAN_STEPS][TD_MAXACC], acc[TD_PLAN_STEPS][TD_MAXACC],
        mem[TD_PLAN_STEPS][TD_MAXACC]; /* of the pass's reductions */
    td_num shift[TD_PLAN_STEPS];       /* TD_NONE: nothing */
} build;

/* Lanes of the accumulators.  A GPU's thread merges the lanes of a vector first: its registers are for elements. */
static int
acc_lanes(const td_row *r)
{
    return r->nest.simt ? 1 : r->lanes;
}

static bool
feeds(const build *b, int i, int pass)
{
    const td_step *s = &b->r->p->step[i];

    return s->kind == TD_N_REDUCE && s->stage == pass + 1;
}

/* The dtypes of a reduction's accumulators; returns whether they are those of a complex number. */
static bool
acc_dtypes(const td_plan *p, const td_step *s, td_dtype dt[])
{
    td_dtype in = (td_dtype)p->step[s->src[0]].dt, out = (td_dtype)s->dt;
    bool pair = td_red_pair((td_red)s->op, in, out);

    for (int i = 0; i < td_red_nacc((td_red)s->op, pair); i++)
        dt[i] = td_red_acc((td_red)s->op, i, in, out);
    return pair;
}

/* A store of one value a row. */
static bool
row_store(const td_plan *p, int k)
{
    for (int d = p->nk; d < p->nd; d++)
        if (p->opnd[k].stride[d])
            return false;
    return true;
}

static bool
stored_in(const build *b, int k, int pass, bool of_row)
{
    const td_plan *p = b->r->p;

    return p->opnd[k].role == TD_ROLE_STORE && p->step[p->store_step[k]].stage == pass &&
           row_store(p, k) == of_row;
}

static td_dtype
step_dtype(const build *b, int i)
{
    return td_gen_compute((td_dtype)b->r->p->step[i].dt);
}

/* Is step i's value at hand from an earlier pass? */
static bool
carried(const build *b, int i, int pass)
{
    return b->r->held ? b->kept[0][i].re.i != 0 : b->r->saved[i] && b->r->need[i] < pass;
}

/* Marks the steps from which the wanted ones are computed. */
static void
close_over(const build *b, int pass, bool anew, bool want[])
{
    const td_plan *p = b->r->p;

    for (int i = p->nstep - 1; i >= 0; i--) {
        const td_step *s = &p->step[i];

        want[i] &= !s->uniform;
        if (!want[i] || (!anew && carried(b, i, pass)))
            continue;
        for (int k = 0; k < s->nsrc; k++)
            want[s->src[k]] = true;
    }
}

/* Marks the steps whose elements this pass needs.  False: it needs none, so there is no need to pass over the row. */
static bool
find_wanted(build *b, int pass)
{
    const td_plan *p = b->r->p;
    bool any = false;

    memset(b->want, 0, sizeof b->want);
    for (int i = 0; i < p->nstep; i++)
        if (feeds(b, i, pass))
            any = b->want[p->step[i].src[0]] = true;
    for (int k = 0; k < p->nopnd; k++)
        if (stored_in(b, k, pass, false))
            any = b->want[p->store_step[k]] = true;
    close_over(b, pass, false, b->want);
    return any;
}

/* ---- values that a row has one of ---- */

/* Computes the row's values that depend on the reductions of the passes before, and stores those that are results. */
static void
row_values(build *b, int pass)
{
    td_gen *g = &b->g;
    const td_plan *p = b->r->p;
    bool any = false;

    memcpy(g->base, b->home, sizeof b->home);
    g->lanes = 1;
    g->mask = TD_NONE;
    g->j = td_gen_int(g, 0);
    for (int i = 0; i < p->nstep; i++)
        if (p->step[i].uniform && p->step[i].stage == pass && p->step[i].kind != TD_N_REDUCE)
            g->val[i] = td_gen_step(g, i);
    for (int k = 0; k < p->nopnd; k++)
        any |= stored_in(b, k, pass, true);
    if (!any)
        return;
    if (b->r->nest.simt) {
        td_val first = TD_G2(g, equal, b->lane, td_gen_int(g, 0));

        if (b->there.i != UINT32_MAX)
            first = TD_G2(g, logical_and, first, b->there);
        td_if(g->f, first);
    }
    for (int k = 0; k < p->nopnd; k++)
        if (stored_in(b, k, pass, true))
            td_gen_store(g, k);
    if (b->r->nest.simt)
        td_end(g->f);
}

/* Computes the row's first element for reductions that subtract it from all elements. */
static void
find_shifts(build *b, int pass)
{
    const td_plan *p = b->r->p;
    bool want[TD_PLAN_STEPS] = {false}, any = false;
    td_dtype dt[TD_MAXACC];
    td_gen g = b->g;

    for (int i = 0; i < p->nstep; i++) {
        b->shift[i] = td_num_of(TD_NONE);
        if (feeds(b, i, pass) && td_red_shifts((td_red)p->step[i].op))
            any = want[p->step[i].src[0]] = true;
    }
    if (!any)
        return;
    close_over(b, pass, true, want);
    g.lanes = 1;
    for (int i = 0; i < p->nstep; i++)
        if (want[i])
            g.val[i] = td_gen_step(&g, i);
    for (int i = 0; i < p->nstep; i++)
        if (feeds(b, i, pass) && td_red_shifts((td_red)p->step[i].op))
            b->shift[i] =
                td_acc_shift(g.f, acc_dtypes(p, &p->step[i], dt), g.val[p->step[i].src[0]]);
}

static void
row_start(build *b, int pass)
{
    const td_plan *p = b->r->p;
    td_dtype dt[TD_MAXACC];
    bool pair;

    find_shifts(b, pass);
    for (int i = 0; i < p->nstep; i++) {
        if (!feeds(b, i, pass))
            continue;
        pair = acc_dtypes(p, &p->step[i], dt);
        td_acc_start(b->g.f, (td_red)p->step[i].op, pair, dt, acc_lanes(b->r), b->slot[i]);
    }
}

/* Ends the pass's reductions: merges the accumulators of all threads of the row into the steps' values. */
static void
bring_together(build *b, int pass)
{
    const td_plan *p = b->r->p;
    const td_nest *n = &b->r->nest;
    bool warps = n->team > n->warp; /* a row has several */
    td_fn *f = b->g.f;
    td_dtype dt[TD_MAXACC];
    td_num v;
    bool pair;

    for (int i = 0; i < p->nstep; i++) {
        td_red red = (td_red)p->step[i].op;

        if (!feeds(b, i, pass))
            continue;
        pair = acc_dtypes(p, &p->step[i], dt);
        td_acc_get(f, red, pair, b->slot[i], b->acc[i]);
        td_acc_lanes(f, red, pair, acc_lanes(b->r), b->acc[i]);
        if (n->simt)
            td_acc_warp(f, red, pair, warps ? n->warp : n->team, b->acc[i]);
        if (warps)
            td_acc_put(f, red, pair, dt, b->acc[i], n, b->tid, b->mem[i]);
    }
    if (warps)
        td_barrier(f);
    for (int i = 0; i < p->nstep; i++) {
        const td_step *s = &p->step[i];

        if (!feeds(b, i, pass))
            continue;
        pair = acc_dtypes(p, s, dt);
        if (warps)
            td_acc_take(f, (td_red)s->op, pair, dt, b->mem[i], n, b->tid, b->acc[i]);
        v = td_red_finish(f, (td_red)s->op, pair, b->acc[i], b->g.extra[TD_ROW_LENGTH],
                          b->g.scalar[s->scalar], (td_dtype)s->dt);
        b->g.val[i] = td_num_cast(f, v, td_gen_compute((td_dtype)s->dt));
    }
}

/* ---- elements ---- */

/* Moves to the thread's u-th vector of this round.  A vector behind the end reads the row's start instead. */
static void
row_place(build *b, int u)
{
    const td_row *r = b->r;
    const td_plan *p = r->p;
    td_gen *g = &b->g;
    bool unsure = r->ragged && (!r->held || u == r->each - 1);

    if (!r->nest.simt)
        return;
    b->e = TD_G2(g, multiply, b->lane, td_gen_int(g, r->lanes));
    b->e = TD_G2(g, add, b->chunk,
                 TD_G2(g, add, b->e, td_gen_int(g, (int64_t)u * r->nest.team * r->lanes)));
    b->ok = TD_NONE;
    if (unsure) {
        b->ok = TD_G2(g, less, b->e, g->extra[TD_ROW_LENGTH]);
        b->e = TD_E3(g->f, select, b->ok, b->e, td_gen_int(g, 0));
    }
    memcpy(g->base, b->home, sizeof b->home);
    g->j = b->e;
    if (p->nd - p->nk > 1)
        td_gen_row(g, td_gen_divide(g, b->e, p->nd - 1, &g->j), p->nk, p->nd - 1, true);
}

static td_num
fetch(build *b, int i)
{
    td_gen *g = &b->g;

    return td_num_load(g->f, b->scratch[b->r->saved[i] - 1], step_dtype(b, i), b->e, g->mask,
                       g->lanes, 0);
}

static void
save(build *b, int i, td_num v)
{
    td_gen *g = &b->g;

    td_num_store(g->f, b->scratch[b->r->saved[i] - 1], step_dtype(b, i), b->e,
                 td_num_splat(g->f, v, g->lanes), g->mask, 0);
}

/* Computes the wanted steps of vector u that are not kept from before; early: only loads that stay in registers. */
static void
compute(build *b, int u, int pass, bool early)
{
    const td_plan *p = b->r->p;
    td_gen *g = &b->g;
    td_num *kept = b->kept[u];

    for (int i = 0; i < p->nstep; i++) {
        if (!b->want[i] ||
            (early && (p->step[i].kind != TD_N_LEAF || (b->r->held && b->r->last[i] == pass))))
            continue;
        if (!kept[i].re.i && b->r->saved[i] && b->r->need[i] < pass)
            kept[i] = fetch(b, i);
        else if (!kept[i].re.i)
            kept[i] = td_gen_step(g, i);
        g->val[i] = kept[i];
        if (b->r->saved[i] && b->r->need[i] == pass)
            save(b, i, kept[i]);
    }
}

static void
accumulate(build *b, int i)
{
    const td_step *s = &b->r->p->step[i];
    td_red red = (td_red)s->op;
    td_gen *g = &b->g;
    td_val index = TD_G2(g, add, b->e, td_iota(g->f, TD_I64, g->lanes)), lifted[TD_MAXACC];
    td_dtype dt[TD_MAXACC];
    bool pair = acc_dtypes(b->r->p, s, dt);
    td_num x = td_acc_shifted(g->f, pair, g->val[s->src[0]], b->shift[i]);

    td_red_lift(g->f, red, pair, dt, x, index, lifted);
    for (int k = 0; k < td_red_nacc(red, pair); k++)
        lifted[k] = td_splat(g->f, lifted[k], g->lanes);
    if (acc_lanes(b->r) < g->lanes)
        td_acc_lanes(g->f, red, pair, g->lanes, lifted);
    td_acc_add(g->f, red, pair, b->slot[i], lifted, b->r->nest.simt ? b->ok : g->mask);
}

static void
write(build *b, int pass)
{
    const td_plan *p = b->r->p;
    td_val guard = b->r->nest.simt ? b->ok : TD_NONE;
    bool any = false;

    for (int k = 0; k < p->nopnd; k++)
        any |= stored_in(b, k, pass, false);
    if (!any)
        return;
    if (b->r->nest.simt && b->there.i != UINT32_MAX)
        guard = guard.i == UINT32_MAX ? b->there : TD_G2(&b->g, logical_and, guard, b->there);
    if (guard.i != UINT32_MAX)
        td_if(b->g.f, guard);
    for (int k = 0; k < p->nopnd; k++)
        if (stored_in(b, k, pass, false))
            td_gen_store(&b->g, k);
    if (guard.i != UINT32_MAX)
        td_end(b->g.f);
}

/* Visits n vectors.  All loads that stay in registers anyway are issued before the first value is used. */
static void
visit(build *b, int pass, int n)
{
    if (!b->r->held)
        memset(b->kept, 0, (size_t)n * sizeof *b->kept);
    for (int u = 0; u < n && n > 1; u++) {
        row_place(b, u);
        compute(b, u, pass, true);
    }
    for (int u = 0; u < n; u++) {
        row_place(b, u);
        compute(b, u, pass, false);
        for (int i = 0; i < b->r->p->nstep; i++)
            if (feeds(b, i, pass))
                accumulate(b, i);
        write(b, pass);
    }
}

static void
pass_gpu(build *b, int pass)
{
    const td_row *r = b->r;
    td_gen *g = &b->g;
    int64_t round = (int64_t)r->each * r->nest.team * r->lanes;

    b->chunk = td_gen_int(g, 0);
    if (r->held) {
        visit(b, pass, r->each);
        return;
    }
    b->chunk = td_for(g->f, b->chunk, g->extra[TD_ROW_LENGTH], td_gen_int(g, round));
    visit(b, pass, r->each);
    td_end(g->f);
}

/* Neighbouring elements that a pass visits; the first is number `first` of the row. */
typedef struct run {
    build *b;
    int pass;
    td_val first;
} run;

static void
visit_vector(void *ctx, td_val at, td_val mask)
{
    const run *r = ctx;
    td_gen *g = &r->b->g;

    g->j = at;
    g->mask = mask;
    r->b->e = TD_G2(g, add, r->first, at);
    visit(r->b, r->pass, 1);
}

static void
run_cpu(build *b, int pass, td_val n, td_val first)
{
    td_nest_lanes(b->g.f, td_gen_int(&b->g, 0), n, b->r->lanes, visit_vector,
                  &(run){.b = b, .pass = pass, .first = first});
    b->g.mask = TD_NONE;
}

static void
pass_cpu(build *b, int pass)
{
    const td_plan *p = b->r->p;
    td_gen *g = &b->g;
    td_val n = g->dim[p->nd - 1], at, zero = td_gen_int(g, 0);

    if (p->nd - p->nk == 1) {
        run_cpu(b, pass, n, zero);
        return;
    }
    at = td_for(g->f, zero, g->extra[TD_ROW_LENGTH], n);
    memcpy(g->base, b->home, sizeof b->home);
    td_gen_row(g, td_gen_divide(g, at, p->nd - 1, NULL), p->nk, p->nd - 1, true);
    run_cpu(b, pass, n, at);
    td_end(g->f);
}

static void
all_passes(build *b)
{
    td_gen *g = &b->g;

    memcpy(b->home, g->base, sizeof b->home);
    for (int pass = 0; pass < b->r->passes; pass++) {
        row_values(b, pass);
        if (!find_wanted(b, pass))
            continue;
        row_start(b, pass);
        g->lanes = b->r->lanes;
        if (b->r->nest.simt)
            pass_gpu(b, pass);
        else
            pass_cpu(b, pass);
        bring_together(b, pass);
    }
}

static void
build_gpu(build *b)
{
    const td_row *r = b->r;
    td_gen *g = &b->g;
    td_place at = td_nest_open(g->f, &r->nest, TD_NONE, TD_NONE);
    td_val row = at.unit, last;

    b->tid = at.tid;
    b->lane = at.lane;
    b->there = TD_NONE;
    if (r->nest.block >
        r->nest.team) { /* threads without a row repeat the last: shuffles need whole warps */
        b->there = TD_G2(g, less, row, g->extra[TD_ROW_ROWS]);
        last = TD_G2(g, subtract, g->extra[TD_ROW_ROWS], td_gen_int(g, 1));
        row = TD_G2(g, minimum, row, last);
    }
    td_gen_row(g, row, 0, r->p->nk, false);
    all_passes(b);
}

static void
build_cpu(build *b)
{
    const td_row *r = b->r;
    td_gen *g = &b->g;
    td_val row;

    for (int i = 0; i < r->p->nstep; i++)
        if (r->saved[i])
            b->scratch[r->saved[i] - 1] =
                td_num_shared(g->f, step_dtype(b, i), (uint64_t)r->scratch);
    b->ok = b->there = TD_NONE;
    row = td_nest_open(g->f, &r->nest, g->extra[TD_ROW_ROWS], g->extra[TD_ROW_PER]).unit;
    td_gen_row(g, row, 0, r->p->nk, false);
    all_passes(b);
    td_nest_close(g->f, &r->nest);
}

td_status
td_row_build(void *ctx, td_fn *f)
{
    const td_row *r = ctx;
    build *b = td_alloc_big(f->mem, sizeof *b);
    int vectors = r->nest.simt ? r->each : 1;

    if (!b)
        return td_fail(TD_ERR_NOMEM, "row kernel: out of host memory");
    b->kept = td_alloc_big(f->mem, (size_t)vectors * sizeof *b->kept);
    if (!b->kept)
        return td_fail(TD_ERR_NOMEM, "row kernel: out of host memory");
    b->r = r;
    b->g.f = f;
    b->g.p = r->p;
    b->g.aligned = r->nest.simt && r->lanes > 1;
    td_gen_params(&b->g, TD_ROW_EXTRAS);
    f->threads = (uint32_t)r->nest.block;
    f->resident = (uint32_t)r->resident;
    if (r->nest.simt)
        build_gpu(b);
    else
        build_cpu(b);
    return f->st;
}
