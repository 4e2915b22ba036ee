/* space.c - the plan's iteration space: order of dims, merging, keys, arguments. */
#include "array/plan/plan.h"

#include "array/graph/reduce.h"
#include "dev/core/trace.h"

#include <stdio.h>
#include <string.h>

typedef struct order {
    int n, nk, axis[TD_MAXDIM]; /* shape axes in the plan's order */
    bool tail;
} order;

/* The operand whose memory decides the order of dims: a store of a map, or a load of a reduction; of several the first that
 * moves along most axes. */
static const td_opnd *
guide(const td_plan *p, bool map)
{
    const td_opnd *best = NULL;
    int most = 0;

    for (uint16_t k = 0; k < p->nopnd; k++) {
        const td_opnd *o = &p->opnd[k];
        int moving = 0;

        for (int i = 0; i < p->shape.ndim; i++)
            moving += o->stride[i] != 0 && p->shape.dim[i] > 1;
        if (o->role == (map ? TD_ROLE_STORE : TD_ROLE_LOAD) && moving > most) {
            best = o;
            most = moving;
        }
    }
    return best;
}

static int64_t
span(const td_opnd *o, int axis)
{
    return o->stride[axis] < 0 ? -o->stride[axis] : o->stride[axis];
}

/* Longest strides first; equal ones keep their order. */
static void
sort_axes(const td_opnd *o, int *axis, int n)
{
    for (int i = 1; i < n && o; i++) {
        int own = axis[i], at = i;

        for (; at > 0 && span(o, axis[at - 1]) < span(o, own); at--)
            axis[at] = axis[at - 1];
        axis[at] = own;
    }
}

enum { TAIL = 16, ROWS = 4096, FEW = 1024, LONG = 4096 };

/* Is a kept axis too short for a GPU's lanes, while the other kept axes give rows enough for all its threads, or are there few
 * results of long sums?  Then teams of threads read along the reduced axes, whose elements lie a few apart. */
static bool
is_short_tail(const td_plan *p, uint32_t axes, int last)
{
    int64_t rows = 1, own = p->shape.dim[last], reduced;

    for (int i = 0; i < p->shape.ndim; i++)
        rows *= i == last || axes >> i & 1 ? 1 : p->shape.dim[i];
    reduced = p->total / (rows * own);
    return td_dev_info(p->dev)->simt && own < TAIL &&
           (rows >= ROWS || (rows * own < FEW && reduced >= LONG));
}

/* Kept axes, then reduced ones.  When memory is shortest-strided along the last kept axis, that axis goes
 * to the very end, so that lanes run along memory.  Kept axes of a reduction keep their order (results
 * are numbered by it), reduced ones do unless places matter. */
static order
arrange(const td_plan *p, uint32_t axes, bool places)
{
    const td_shape *s = &p->shape;
    const td_opnd *o = guide(p, !axes);
    order r = {0};
    int last = -1, kept = -1;
    bool reduced = false;

    for (int i = 0; i < s->ndim; i++) {
        if (s->dim[i] == 1)
            continue;
        if (last < 0 || !o || !span(o, last) || (span(o, i) && span(o, i) <= span(o, last)))
            last = i; /* a broadcast axis has no place in memory */
        if (!(axes >> i & 1))
            kept = i;
        else
            reduced = true;
    }
    if (axes && !reduced) /* nothing is reduced: lanes run along the kept axis */
        last = kept;
    r.tail = axes && last >= 0 && last == kept && !is_short_tail(p, axes, last);
    for (int i = 0; i < s->ndim; i++)
        if (s->dim[i] != 1 && !(axes >> i & 1) && !(r.tail && i == last))
            r.axis[r.n++] = i;
    r.nk = r.n;
    if (!axes && !places)
        sort_axes(o, r.axis, r.n);
    for (int i = 0; i < s->ndim; i++)
        if (s->dim[i] != 1 && (axes >> i & 1))
            r.axis[r.n++] = i;
    if (!places)
        sort_axes(o, r.axis + r.nk, r.n - r.nk);
    if (r.tail)
        r.axis[r.n++] = last;
    return r;
}

bool
td_plan_across(const td_plan *p, uint32_t axes)
{
    return arrange(p, axes, false).tail;
}

static bool
mergeable(const td_plan *p, int outer, int inner_axis)
{
    for (uint16_t k = 0; k < p->nopnd; k++) {
        const td_opnd *o = &p->opnd[k];

        if (o->stride[outer] != o->stride[inner_axis] * p->shape.dim[inner_axis])
            return false;
    }
    return true;
}

/* Does the operand have stride 0 along the last dim and, in a plan of rows, along all reduced dims? */
static bool
still(const td_plan *p, const td_opnd *o)
{
    bool r = o->inner == 0;

    for (int d = p->nk; d < p->nd && p->axes; d++)
        r &= o->stride[d] == 0;
    return r;
}

static void
find_uniform(td_plan *p)
{
    for (uint16_t i = 0; i < p->nstep; i++) {
        td_step *s = &p->step[i];

        s->uniform = s->varies
                         ? false
                         : s->kind == TD_N_SCALAR || s->kind == TD_N_OP || s->kind == TD_N_CAST ||
                               s->kind == TD_N_REDUCE || still(p, &p->opnd[s->opnd]);
        for (int j = 0; j < s->nsrc && s->kind != TD_N_REDUCE; j++)
            s->uniform &= p->step[s->src[j]].uniform;
    }
}

static bool
is_near(int64_t stride)
{
    return stride <= TD_PLAN_NEAR && stride >= -TD_PLAN_NEAR;
}

void
td_plan_collapse(td_plan *p, uint32_t axes, bool places)
{
    order r = arrange(p, axes, places);
    int64_t stride[TD_MAXDIM];
    int from[TD_MAXDIM], nd = 0, nk = 0;

    td_plan_close(p);
    for (int i = 0; i < r.n; i++) {
        bool edge = i == r.nk || (r.tail && i == r.n - 1);

        if (nd && !edge && mergeable(p, from[nd - 1], r.axis[i])) {
            p->dim[nd - 1] *= p->shape.dim[r.axis[i]];
            from[nd - 1] = r.axis[i]; /* a merged dim steps as its innermost axis */
        } else {
            p->dim[nd] = p->shape.dim[r.axis[i]];
            from[nd++] = r.axis[i];
        }
        if (i < r.nk)
            nk = nd;
    }
    p->nd = nd;
    p->nk = nk;
    p->tail_kept = r.tail;
    for (uint16_t k = 0; k < p->nopnd; k++) {
        td_opnd *o = &p->opnd[k];

        for (int d = 0; d < nd; d++)
            stride[d] = o->stride[from[d]];
        memcpy(o->stride, stride, (size_t)nd * sizeof *stride);
        o->inner = nd == 0 || stride[nd - 1] == 0 ? 0 : stride[nd - 1] == 1 ? 1 : 2;
        if (nd && o->role == TD_ROLE_STORE && o->inner == 0 && p->dim[nd - 1] > 1 && !axes)
            o->inner = 2;
        if (o->inner == 2 && o->role == TD_ROLE_LOAD && !td_dev_info(p->dev)->simt &&
            is_near(stride[nd - 1]))
            o->near[0] = (int8_t)stride[nd - 1];
    }
    find_uniform(p);
}

enum { PERIOD_STEPS = 96 }; /* steps of all vectors of a period together, at most */

int
td_plan_phases(const td_plan *p, int lanes)
{
    int both = p->period;

    for (int a = lanes; a;) { /* the greatest common divisor */
        int rest = both % a;

        both = a;
        a = rest;
    }
    return p->period / both;
}

/* The class of the operand's stride over the whole space. */
static uint8_t
flat_class(const td_plan *p, const td_opnd *o)
{
    int64_t step = 1;
    bool dense = true, all_still = true;

    for (int d = p->nd - 1; d >= 0; d--) {
        dense &= o->stride[d] == step;
        all_still &= o->stride[d] == 0;
        step *= p->dim[d];
    }
    return all_still ? 0 : dense ? 1 : 2;
}

void
td_plan_flatten(td_plan *p, int lanes)
{
    if (p->nd < 2 || p->dim[p->nd - 1] >= lanes || !td_plan_narrow(p))
        return;
    p->flat = true;
    for (uint16_t k = 0; k < p->nopnd; k++) {
        p->opnd[k].inner = flat_class(p, &p->opnd[k]);
        p->opnd[k].near[0] = 0;
    }
    find_uniform(p);
}

bool
td_plan_repeat(td_plan *p, int lanes)
{
    if (p->nd != 2 || p->put || p->rounds.to > p->rounds.from || p->dim[1] > lanes / 2 ||
        !td_plan_narrow(p))
        return false;
    for (uint16_t k = 0; k < p->nopnd; k++) {
        const td_opnd *o = &p->opnd[k];

        if (flat_class(p, o) == 2 && ((o->role != TD_ROLE_LOAD && o->role != TD_ROLE_INDEX) ||
                                      !is_near(o->stride[0]) || !is_near(o->stride[1])))
            return false;
    }
    p->period = (uint8_t)p->dim[1];
    if (td_plan_phases(p, lanes) * p->nstep > PERIOD_STEPS) {
        p->period = 0;
        return false;
    }
    td_plan_flatten(p, lanes);
    for (uint16_t k = 0; k < p->nopnd; k++)
        for (int d = 0; d < 2; d++)
            p->opnd[k].near[d] = p->opnd[k].inner == 2 ? (int8_t)p->opnd[k].stride[1 - d] : 0;
    return true;
}

bool
td_plan_aligned(const td_plan *p, int lanes)
{
    for (uint16_t k = 0; k < p->nopnd; k++) {
        const td_opnd *o = &p->opnd[k];

        if (o->inner != 1 || o->role == TD_ROLE_INDEX)
            continue;
        if (o->ptr % ((uintptr_t)lanes * td_dtype_size((td_dtype)o->dt)))
            return false;
        for (int d = 0; d + 1 < p->nd; d++)
            if (o->stride[d] % lanes)
                return false;
    }
    return true;
}

/* q = e / d for e < 2^31 and d >= 2 as (e * magic >> 32) >> shift: with 2^s >= d the error of
 * magic = ceil(2^(31 + s) / d) stays below one part in 2^31 (Granlund and Montgomery, 1994). */
static void
magic_of(int64_t d, uint64_t *magic, uint64_t *shift)
{
    int s = 64 - __builtin_clzll((uint64_t)d - 1);

    *magic = (((uint64_t)1 << (31 + s)) + (uint64_t)d - 1) / (uint64_t)d;
    *shift = (uint64_t)s - 1;
}

static td_hash
rounds_key(td_hash h, const td_rounds *r)
{
    h = td_hash_u64(h, (uint64_t)r->from << 48 | (uint64_t)r->to << 32 | (uint64_t)r->count << 16 |
                           r->ncarry);
    h = td_hash_u64(h, (uint64_t)r->nvary << 16 | (r->nvary ? r->table : 0));
    h = td_hash_add(h, r->carry, r->ncarry * sizeof *r->carry);
    for (int i = 0; i < r->nvary; i++)
        h = td_hash_u64(h, (uint64_t)r->vary[i].at << 1 | r->vary[i].moves);
    return h;
}

td_hash
td_plan_key(const td_plan *p)
{
    td_hash h =
        td_hash_u64(TD_HASH_INIT, (uint64_t)p->nd << 32 | (uint64_t)p->nk << 16 |
                                      (uint64_t)td_plan_narrow(p) << 2 | (uint64_t)p->flat << 1 |
                                      p->tail_kept | (uint64_t)p->period << 56);

    if (p->put)
        h = td_hash_u64(h, (uint64_t)p->put << 48 | (uint64_t)p->put_op << 32 |
                               (uint64_t)p->put_at << 16 | p->put_guard);
    h = td_hash_u64(h, (uint64_t)p->nstep << 48 | (uint64_t)p->nopnd << 32 | p->nscalar);
    h = td_hash_add(h, p->step, p->nstep * sizeof *p->step);
    h = td_hash_add(h, p->scalar_dt, p->nscalar);
    if (p->rounds.to > p->rounds.from)
        h = rounds_key(h, &p->rounds);
    for (uint16_t k = 0; k < p->nopnd; k++) {
        const td_opnd *o = &p->opnd[k];

        h = td_hash_u64(h, (uint64_t)(uint8_t)o->near[0] << 56 |
                               (uint64_t)(uint8_t)o->near[1] << 16 | (uint64_t)o->role << 48 |
                               (uint64_t)o->dt << 40 | (uint64_t)o->inner << 32 |
                               (o->role == TD_ROLE_STORE ? p->store_step[k] : 0));
    }
    return h;
}

int
td_plan_words(const td_plan *p, uint64_t *words)
{
    int n = 0;

    for (uint16_t k = 0; k < p->nopnd; k++)
        if (p->opnd[k].role != TD_ROLE_INDEX)
            words[n++] = p->opnd[k].ptr;
    for (int d = 0; d < p->nd; d++)
        words[n++] = (uint64_t)p->dim[d];
    for (int d = 1; d < p->nd && td_plan_narrow(p); d++, n += 2)
        magic_of(p->dim[d], &words[n], &words[n + 1]);
    for (uint16_t k = 0; k < p->nopnd; k++) {
        for (int d = 0; d + 1 < p->nd; d++)
            words[n++] = (uint64_t)p->opnd[k].stride[d];
        if (p->opnd[k].inner == 2)
            words[n++] = (uint64_t)p->opnd[k].stride[p->nd - 1];
    }
    for (uint16_t i = 0; i < p->nscalar; i++)
        words[n++] = p->scalar[i];
    return n;
}

/* Elements that the kernel reads or writes of operand k.  Gathers and searches count one for each of their results. */
static int64_t
elements_of(const td_plan *p, uint16_t k)
{
    int64_t n = 1;

    for (uint16_t i = 0; i < p->nstep; i++)
        if ((p->step[i].kind == TD_N_GATHER || p->step[i].kind == TD_N_SEARCH) &&
            p->step[i].opnd == k)
            return p->total;
    for (int d = 0; d < p->nd; d++)
        n *= p->opnd[k].stride[d] ? p->dim[d] : 1;
    return n;
}

static bool
has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = text; (p = strstr(p, word)); p++)
        if ((p == text || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

/* "sum of multiply add": each operation once, in the order of computation. */
static const char *
label(const td_plan *p, const char *head)
{
    static const char *const kinds[] = {[TD_N_CAST] = "cast",
                                        [TD_N_IOTA] = "arange",
                                        [TD_N_RANDOM] = "random",
                                        [TD_N_GATHER] = "take",
                                        [TD_N_SEARCH] = "search"};
    char text[96];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", head), from = n;

    for (uint16_t i = 0; i < p->nstep; i++) {
        const td_step *s = &p->step[i];
        const char *name =
            s->kind == TD_N_OP       ? td_optab[s->op].name
            : s->kind == TD_N_REDUCE ? td_redtab[s->op].name
            : s->kind == TD_N_LEAF || s->kind == TD_N_SCALAR || s->kind == TD_STEP_CARRY
                ? NULL
                : kinds[s->kind];

        if (!name || has_word(text + from, name))
            continue;
        if (n + strlen(name) + 5 > sizeof text) {
            memcpy(text + n, " …", 5); /* with its NUL */
            break;
        }
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n > from ? " " : "", name);
    }
    if (n == from) /* there are only loads */
        snprintf(text + n, sizeof text - n, "%s", !n ? "copy" : text[n - 1] == ' ' ? "values" : "");
    return td_name_text(td_name_id(text));
}

void
td_plan_dims(const td_plan *p, td_kernel *k, const char *head, td_dims *dims)
{
    if (!td_jit_label(k))
        td_jit_set_label(k, label(p, head));
    dims->what = td_jit_label(k);
    dims->site = p->site;
    if (!td_watched())
        return;
    for (uint16_t i = 0; i < p->nopnd; i++) {
        if (p->opnd[i].role == TD_ROLE_INDEX)
            continue;
        dims->first++;
        dims->nbytes += (size_t)elements_of(p, i) * td_dtype_size((td_dtype)p->opnd[i].dt);
    }
}

static size_t
width(td_dtype dt, bool parts)
{
    return td_dtype_size(parts ? td_dtype_real_of(dt) : dt);
}

int
td_plan_widest(const td_plan *p, bool parts)
{
    size_t w = 1;

    for (uint16_t k = 0; k < p->nopnd; k++)
        if (p->opnd[k].role != TD_ROLE_INDEX && p->opnd[k].role != TD_ROLE_TABLE &&
            width((td_dtype)p->opnd[k].dt, parts) > w)
            w = width((td_dtype)p->opnd[k].dt, parts);
    for (uint16_t i = 0; i < p->nstep; i++) {
        td_dtype dt = (td_dtype)p->step[i].dt;
        size_t s = td_dtype_is_half(dt) ? 4 : width(dt, parts);

        if (p->step[i].kind != TD_N_SCALAR && s > w)
            w = s;
    }
    return (int)w;
}

bool
td_plan_complex(const td_plan *p)
{
    for (uint16_t k = 0; k < p->nopnd; k++)
        if (td_dtype_is_complex((td_dtype)p->opnd[k].dt))
            return true;
    for (uint16_t i = 0; i < p->nstep; i++)
        if (td_dtype_is_complex((td_dtype)p->step[i].dt))
            return true;
    return false;
}
