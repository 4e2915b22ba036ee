/* rowrun.c - choosing the form of a row kernel and launching it. */
#include "array/form/row.h"
#include "array/plan/gen.h"
#include "array/plan/tune.h"
#include "jit/jit.h"

#include <string.h>

enum {
    TEAM_MAX = 1024,       /* GPU: threads a row */
    ROUND_WORDS = 16,      /* GPU: words that a thread reads side by side when they are not held */
    REGS_ALL = 65536,      /* GPU: 32-bit registers of a multiprocessor */
    BLOCKS_MAX = 32,       /* GPU: blocks that a multiprocessor holds at once */
    CPU_PARALLEL = 50000,  /* elements times steps below which one thread is quicker */
    OVERSPLIT = 4,         /* CPU: blocks a thread */
    SCRATCH_LEN = 1 << 13, /* CPU: elements of rows that carry values, on the thread's stack */
    SCRATCH_MAX = 2,
};

/* Operations that take longer than a cache's answer. */
static const bool dear_op[TD_OPS] = {
#define BIN(s, u, f)  0
#define CMP(s, u, f)  0
#define INTRIN(name)  0
#define MATH(name)    1
#define SPECIAL(name) 0
#define EXPR(name)    0
#define OP(name, arity, kinds, result, flags, meaning, lowering, slot, derivative)                 \
    [OP_##name] = lowering,
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

/* The first pass that reads each step's elements, and the last. */
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

/* 32-bit words that an element holds on to from pass to pass. */
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

static int64_t
ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
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

/* The threads of a team that hold a row in at most `most` words each; no more than TEAM_MAX. */
static int
team_of(int64_t vectors, int words, int most)
{
    int team = 1;

    while (team < 32 && team < vectors)
        team *= 2;
    while (team < TEAM_MAX && ceil_div(vectors, team) * words > most)
        team *= 2;
    return team;
}

/* A warp takes a row while its registers do; then larger teams, up to a block.  Rows longer still are read
 * again in each pass, from the second-level cache. */
static void
form_gpu(td_row *r, int64_t rows, int64_t length)
{
    int units = td_dev_info(r->p->dev)->units, words = held_words(r), regs;
    int most = td_tune[TD_TUNE_row_words];
    int64_t vectors, each;

    r->lanes = gpu_lanes(r->p);
    vectors = length / r->lanes;
    r->team = team_of(vectors, r->lanes * words, most / 2);
    if (r->team > TEAM_MAX / 2) /* the largest team leaves no other room on its multiprocessor */
        r->team = team_of(vectors, r->lanes * words, most);
    else
        most /= 2;
    each = ceil_div(vectors, r->team);
    r->held = each * r->lanes * words <= later(most, 32);
    if (!r->held) {
        int64_t most_each = later(1, ROUND_WORDS / (r->lanes * words));

        each = ceil_div(vectors, r->team * ceil_div(vectors, r->team * most_each));
        words = r->lanes * words * (int)each;
    } else {
        words = (int)each * r->lanes * words;
    }
    r->each = (int)each;
    r->ragged = vectors % (each * r->team) != 0;
    r->block = r->team > 32 ? r->team : td_tune[TD_TUNE_row_block];
    while (r->block > 32 && r->block > r->team && ceil_div(rows * r->team, r->block) < 2 * units)
        r->block /= 2;
    regs = td_tune[words <= most / 2 ? TD_TUNE_row_regs_few : TD_TUNE_row_regs];
    r->resident = later(1, REGS_ALL / regs / r->block);
    r->resident = earlier(r->resident, earlier(2048 / r->block, BLOCKS_MAX));
}

/* What is dear and read again by a later pass is written down. */
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
    td_hash h = td_plan_key(r->p);

    h = td_hash_u64(h, (uint64_t)r->lanes << 48 | (uint64_t)r->team << 32 |
                           (uint64_t)r->block << 16 | (uint64_t)r->resident << 8 |
                           (uint64_t)r->gpu << 2 | (uint64_t)r->held << 1 | r->ragged);
    h = td_hash_u64(h, (uint64_t)r->each << 32 | (uint64_t)r->scratch);
    return td_hash_u64(h, 0x5f0a);
}

static td_status
rowrun_launch(const td_row *r, td_kernel *k, int64_t rows, int64_t length)
{
    const td_plan *p = r->p;
    uint64_t words[TD_PLAN_WORDS + TD_ROW_EXTRAS];
    int nw = td_plan_words(p, words), units = td_dev_info(p->dev)->units;
    int64_t blocks, per = 1;
    td_dims dims = {.grid = {1, 1, 1}, .block = {1, 1, 1}};

    if (r->gpu) {
        blocks = ceil_div(rows, r->block / r->team);
        dims.block[0] = (uint32_t)r->block;
    } else {
        blocks = p->total * p->nstep < CPU_PARALLEL || units == 1 ? 1 : (int64_t)units * OVERSPLIT;
        per = ceil_div(rows, blocks);
        blocks = ceil_div(rows, per);
    }
    dims.grid[0] = (uint32_t)blocks;
    words[nw++] = (uint64_t)rows;
    words[nw++] = (uint64_t)length;
    words[nw++] = (uint64_t)per;
    td_plan_dims(p, k, "", &dims);
    return td_jit_launch(k, p->stream, &dims, words, nw);
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
    td_row r = {.p = p, .gpu = td_dev_info(p->dev)->kind != TD_DEV_CPU, .team = 1, .block = 1};
    int64_t length = 1;
    td_kernel *k;
    td_status st;
    void *token;

    td_plan_collapse(p, p->axes, places_count(p));
    if (p->nopnd * (p->nd + 1) + p->nscalar + 3 * p->nd > TD_PLAN_WORDS)
        return TD_SKIP;
    for (int d = p->nk; d < p->nd; d++)
        length *= p->dim[d];
    find_passes(&r);
    if (r.gpu)
        form_gpu(&r, p->total / length, length);
    else
        form_cpu(&r, length);
    token = td_graph_unlock();
    st = td_jit_get(p->dev, key_of(&r), td_row_build, &r, &k);
    if (!st)
        st = rowrun_launch(&r, k, p->total / length, length);
    td_graph_lock(token);
    return st;
}
