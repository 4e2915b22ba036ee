/* rowrun.c - the schedule of a row kernel, and its launch. */
#include "array/form/launch.h"
#include "array/form/row.h"
#include "array/plan/gen.h"
#include "array/plan/tune.h"

#include <string.h>

enum {
    TEAM_MAX = 1024,  /* GPU: threads a row */
    ROUND_WORDS = 16, /* GPU: words whose loads a thread issues together if it does not keep them */
    REGS_ALL = 65536, /* GPU: 32-bit registers of a multiprocessor */
    BLOCKS_MAX = 32,  /* GPU: blocks that a multiprocessor holds at once */
    CPU_PARALLEL = 50000,  /* elements times steps below which one thread is quicker */
    SCRATCH_LEN = 1 << 13, /* CPU: elements of rows that carry values, on the thread's stack */
    SCRATCH_MAX = 2,
};

/* Operations that take longer than a load from a cache. */
static const bool dear_op[TD_OPS] = {
#define BIN(s, u, f)                                                  0
#define CMP(s, u, f)                                                  0
#define INTRIN(name)                                                  0
#define MATH(name)                                                    1
#define SPECIAL(name)                                                 0
#define EXPR(name)                                                    0
#define OP(name, arity, kinds, result, flags, meaning, lowering, ...) [OP_##name] = lowering,
#include "ir/core/ops.def"
#undef BIN
#undef CMP
#undef INTRIN
#undef MATH
#undef SPECIAL
#undef EXPR
};

static int
earlier(int a, int b)
{
    return a < b ? a : b;
}

static int
later(int a, int b)
{
    return a > b ? a : b;
}

/* For each step the first and the last pass that read its elements. */
static void
find_passes(td_row *r)
{
    const td_plan *p = r->p;

    memset(r->need, UINT8_MAX, sizeof r->need);
    for (int k = 0; k < p->nopnd; k++)
        if (p->opnd[k].role == TD_ROLE_STORE) {
            int i = p->store_step[k], stage = p->step[i].stage;

            r->need[i] = (uint8_t)earlier(r->need[i], stage);
            r->last[i] = (uint8_t)later(r->last[i], stage);
        }
    for (int i = p->nstep - 1; i >= 0; i--) {
        const td_step *s = &p->step[i];
        bool fold = s->kind == TD_N_REDUCE;

        r->passes = later(r->passes, s->stage + 1);
        for (int k = 0; k < s->nsrc; k++) {
            int at = s->src[k];

            r->need[at] = (uint8_t)earlier(r->need[at], fold ? s->stage - 1 : r->need[i]);
            r->last[at] = (uint8_t)later(r->last[at], fold ? s->stage - 1 : r->need[i]);
        }
    }
}

/* 32-bit words of registers that an element takes from pass to pass. */
static int
held_words(const td_row *r)
{
    const td_plan *p = r->p;
    int most = 1;

    for (int pass = 0; pass < r->passes; pass++) {
        int words = 0;

        for (int i = 0; i < p->nstep; i++)
            if (!p->step[i].uniform && r->need[i] <= pass && pass < r->last[i])
                words += (int)(td_dtype_size(td_gen_compute((td_dtype)p->step[i].dt)) + 3) / 4;
        most = later(most, words);
    }
    return most;
}

/* Lanes of one 16-byte access, if rows are whole numbers of them. */
static int
gpu_lanes(const td_plan *p)
{
    size_t widest = 1;
    int lanes;

    for (uint16_t k = 0; k < p->nopnd; k++)
        if (p->opnd[k].role != TD_ROLE_INDEX && td_dtype_size((td_dtype)p->opnd[k].dt) > widest)
            widest = td_dtype_size((td_dtype)p->opnd[k].dt);
    lanes = (int)(16 / widest);
    while (lanes > 1 && (p->dim[p->nd - 1] % lanes || !td_plan_aligned(p, lanes)))
        lanes /= 2;
    return lanes;
}

/* So many threads that each holds its part of a row in `most` words; at most TEAM_MAX. */
static int
team_of(const td_nest *n, int64_t vectors, int words, int most)
{
    int team = 1;

    while (team < n->warp && team < vectors)
        team *= 2;
    while (team < TEAM_MAX && td_ceil_div(vectors, team) * words > most)
        team *= 2;
    return team;
}

/* A warp takes a row that fits its registers, larger teams longer ones, up to a block.  Rows that are longer still are read
 * again in each pass, from the second-level cache. */
static void
form_gpu(td_row *r, int64_t rows, int64_t length)
{
    int units = td_dev_info(r->p->dev)->units, words = held_words(r), regs;
    int most = td_tune[TD_TUNE_row_words];
    int64_t vectors, each;
    td_nest *n = &r->nest;

    r->lanes = gpu_lanes(r->p);
    vectors = length / r->lanes;
    n->team = team_of(n, vectors, r->lanes * words, most / 2);
    if (n->team > TEAM_MAX / 2) /* the largest team leaves no other room on its multiprocessor */
        n->team = team_of(n, vectors, r->lanes * words, most);
    else
        most /= 2;
    each = td_ceil_div(vectors, n->team);
    r->held = each * r->lanes * words <= later(most, 32);
    if (!r->held) {
        int64_t most_each = later(1, ROUND_WORDS / (r->lanes * words));

        each = td_ceil_div(vectors, n->team * td_ceil_div(vectors, n->team * most_each));
        words = r->lanes * words * (int)each;
    } else {
        words = (int)each * r->lanes * words;
    }
    r->each = (int)each;
    r->ragged = vectors % (each * n->team) != 0;
    n->block = n->team > n->warp ? n->team : td_tune[TD_TUNE_row_block];
    while (n->block > n->warp && n->block > n->team &&
           td_ceil_div(rows * n->team, n->block) < 2 * units)
        n->block /= 2;
    regs = td_tune[words <= most / 2 ? TD_TUNE_row_regs_few : TD_TUNE_row_regs];
    r->resident = later(1, REGS_ALL / regs / n->block);
    r->resident = earlier(r->resident, earlier(2048 / n->block, BLOCKS_MAX));
}

/* Expensive values that a later pass reads again are carried in an array on the stack. */
static void
form_cpu(td_row *r, int64_t length)
{
    const td_plan *p = r->p;
    bool dear[TD_PLAN_STEPS];
    int n = 0;

    r->lanes = td_jit_lanes(p->dev, 2);
    while (r->lanes > 1 && r->lanes / 2 >= p->dim[p->nd - 1])
        r->lanes /= 2;
    for (int i = 0; i < p->nstep && length <= SCRATCH_LEN; i++) {
        const td_step *s = &p->step[i];

        dear[i] = s->kind == TD_N_RANDOM || s->kind == TD_N_SEARCH ||
                  (s->kind == TD_N_OP && dear_op[s->op]);
        for (int k = 0; k < s->nsrc; k++)
            dear[i] |= dear[s->src[k]];
        dear[i] &= !s->uniform;
        if (dear[i] && r->need[i] < r->last[i] && n < SCRATCH_MAX) {
            r->saved[i] = (uint8_t)++n;
            dear[i] = false;
        }
    }
    if (!n)
        return;
    for (r->scratch = 256; r->scratch < length;)
        r->scratch *= 2;
}

static td_hash
key_of(const td_row *r)
{
    td_hash h = td_nest_key(td_plan_key(r->p), &r->nest);

    h = td_hash_u64(h, (uint64_t)r->lanes << 48 | (uint64_t)r->resident << 8 |
                           (uint64_t)r->held << 1 | r->ragged);
    h = td_hash_u64(h, (uint64_t)r->each << 32 | (uint64_t)r->scratch);
    return td_hash_u64(h, 0x5f0a);
}

static bool
places_count(const td_plan *p)
{
    for (int i = 0; i < p->nstep; i++)
        if (p->step[i].kind == TD_N_REDUCE &&
            (p->step[i].op == TD_RED_argmin || p->step[i].op == TD_RED_argmax))
            return true;
    return false;
}

td_status
td_row_eval(td_plan *p)
{
    td_row r = {.p = p, .nest = td_nest_on(p->dev, 1, 1)};
    uint64_t words[TD_ROW_EXTRAS];
    int64_t length = 1, rows;

    td_plan_collapse(p, p->axes, places_count(p));
    for (int d = p->nk; d < p->nd; d++)
        length *= p->dim[d];
    rows = p->total / length;
    find_passes(&r);
    if (r.nest.simt)
        form_gpu(&r, rows, length);
    else
        form_cpu(&r, length);
    td_nest_deal(&r.nest, rows, td_nest_shares(p->dev, p->total * p->nstep, CPU_PARALLEL));
    words[TD_ROW_ROWS] = (uint64_t)rows;
    words[TD_ROW_LENGTH] = (uint64_t)length;
    words[TD_ROW_PER] = (uint64_t)r.nest.per;
    return td_form_launch_plan(p, &(td_code){key_of(&r), td_row_build, &r}, &r.nest,
                               &(td_more){.word = words, .n = TD_ROW_EXTRAS});
}
