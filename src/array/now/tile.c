/* tile.c - runs steps over elements in memory: converts a tile to words, computes, writes. */
#include "array/now/steps.h"

#include <string.h>

enum { TILE = TD_STEPS_TILE };

/* ---- places ---- */

/* walk - one operand's cursor, in the order in which `out` lies; dims and steps of all walks
 * are merged in the same way. */
typedef struct walk {
    char *at;
    int64_t step[TD_MAXDIM]; /* bytes */
} walk;

/* space - the axes that all walks share, outermost first, and the position of the next tile. */
typedef struct space {
    int nd;
    int64_t dim[TD_MAXDIM], pos[TD_MAXDIM];
} space;

/* Orders the axes from out's longest step to its shortest, without those of extent 1. */
static int
order_of(const td_view *out, int axis[])
{
    int n = 0;

    for (int i = 0; i < out->shape.ndim; i++) {
        int k;

        if (out->shape.dim[i] == 1)
            continue;
        for (k = n++; k > 0; k--) {
            int64_t before = out->stride[axis[k - 1]], own = out->stride[i];

            if ((before < 0 ? -before : before) >= (own < 0 ? -own : own))
                break;
            axis[k] = axis[k - 1];
        }
        axis[k] = i;
    }
    return n;
}

static void
place(walk *w, const td_few *x, const td_view *out, const int axis[], int n)
{
    int64_t size = (int64_t)td_dtype_size(x->dt);
    int lead = out->shape.ndim - x->view->shape.ndim;

    w->at = x->at + x->view->offset * size;
    for (int k = 0; k < n; k++) {
        int own = axis[k] - lead; /* broadcasting aligns shapes at their last axes */

        w->step[k] = own < 0 || x->view->shape.dim[own] == 1 ? 0 : x->view->stride[own] * size;
    }
}

static bool
joins(const walk *w, int nw, int k, int64_t inner)
{
    for (int i = 0; i < nw; i++)
        if (w[i].step[k] != w[i].step[k + 1] * inner)
            return false;
    return true;
}

/* Merges neighbouring axes that every walk passes with a single stride. */
static void
merge_axes(space *s, walk *w, int nw)
{
    for (int k = s->nd - 2; k >= 0; k--) {
        if (!joins(w, nw, k, s->dim[k + 1]))
            continue;
        s->dim[k] *= s->dim[k + 1];
        for (int i = 0; i < nw; i++)
            w[i].step[k] = w[i].step[k + 1];
        for (int j = k + 1; j + 1 < s->nd; j++) {
            s->dim[j] = s->dim[j + 1];
            for (int i = 0; i < nw; i++)
                w[i].step[j] = w[i].step[j + 1];
        }
        s->nd--;
    }
    if (!s->nd) {
        s->nd = 1;
        s->dim[0] = 1;
        for (int i = 0; i < nw; i++)
            w[i].step[0] = 0;
    }
}

/* ---- words ---- */

/* The compiler makes vectors of the loop whose step is a constant. */
#define READ(e, T, m) READ_AS(e, T, m, v)
#define READ_AS(e, T, m, value)                                                                    \
    case TD_##e:                                                                                   \
        if (step == sizeof(T))                                                                     \
            READ_LOOP(T, m, value, sizeof(T))                                                      \
        else                                                                                       \
            READ_LOOP(T, m, value, step)                                                           \
        break;
#define READ_LOOP(T, m, value, by)                                                                 \
    for (int l = 0; l < n; l++) {                                                                  \
        T v;                                                                                       \
        memcpy(&v, at + (int64_t)(by) * l, sizeof v);                                              \
        out[l].m = value;                                                                          \
    }

void
td_words_read(td_dtype dt, const char *at, int64_t step, int n, td_word *out)
{
    switch (dt) {
        READ_AS(BOOL, uint8_t, u, v != 0) /* any non-zero byte is true */
        READ(I8, int8_t, i)
        READ(I16, int16_t, i)
        READ(I32, int32_t, i)
        READ(U8, uint8_t, u)
        READ(U16, uint16_t, u)
        READ(F16, uint16_t, u)
        READ(BF16, uint16_t, u)
        READ(U32, uint32_t, u)
        READ(F32, float, f)
    case TD_I64:
    case TD_U64:
    case TD_F64:
    default:
        for (int l = 0; l < n; l++, at += step)
            memcpy(&out[l], at, sizeof *out);
    }
}

#define WRITE(size)                                                                                \
    if (step == (size))                                                                            \
        WRITE_LOOP(size, size)                                                                     \
    else                                                                                           \
        WRITE_LOOP(size, step)
#define WRITE_LOOP(size, by)                                                                       \
    for (int l = 0; l < n; l++)                                                                    \
        memcpy(at + (int64_t)(by) * l, &w[l], size);

void
td_words_write(size_t size, char *at, int64_t step, int n, const td_word *w)
{
    switch (size) {
    case 1:  WRITE(1) break;
    case 2:  WRITE(2) break;
    case 4:  WRITE(4) break;
    default: WRITE(8)
    }
}

/* ---- runs ---- */

/* running - where registers lie: in memory of its own, or in an operand's memory if its
 * elements are contiguous words. straight: the last step writes into the result's memory. */
typedef struct running {
    const td_steps *p;
    bool straight;
    td_word *reg[TD_STEPS_REGS], own[TD_STEPS_REGS][TILE];
} running;

void
td_steps_compute(const td_steps *p, td_word *const *reg, int n)
{
    for (int k = 0; k < p->nstep; k++) {
        const td_step_of *t = &p->step[k];

        if (t->fn) {
            t->fn(reg[t->out], reg[t->arg[0]], reg[t->arg[1]], reg[t->arg[2]], n);
            continue;
        }
        for (int l = 0; l < n; l++)
            reg[t->out][l] = td_interp_word((td_dtype)t->bits, &reg[t->arg[0]][l]);
    }
}

/* Are the elements contiguous words? */
static bool
are_words(td_dtype dt, int64_t step)
{
    return step == sizeof(td_word) && td_dtype_size(dt) == sizeof(td_word);
}

/* Computes n elements along the last axis, `from` elements after the walks' position. */
static void
compute_row_tile(running *r, const td_few *x, const walk *w, int nsrc, int last, int64_t from,
                 int n)
{
    const walk *o = &w[nsrc];
    size_t size = td_dtype_size(x[nsrc].dt);
    bool pair = td_dtype_is_complex(x[nsrc].dt);
    int reg = 0;

    for (int i = 0; i < nsrc; i++) {
        bool parts = td_dtype_is_complex(x[i].dt);
        td_dtype dt = td_dtype_real_of(x[i].dt);
        char *at = w[i].at + from * w[i].step[last];

        if (are_words(dt, w[i].step[last])) {
            r->reg[reg++] = (td_word *)(void *)at;
            continue;
        }
        for (int k = 0; k <= (int)parts; k++)
            td_words_read(dt, at + k * (int)td_dtype_size(dt), w[i].step[last], n, r->own[reg++]);
    }
    if (r->straight)
        r->reg[r->p->out[0]] = (td_word *)(void *)(o->at + from * o->step[last]);
    td_steps_compute(r->p, r->reg, n);
    for (int k = 0; k <= (int)pair && !r->straight; k++)
        td_words_write(size >> pair, o->at + from * o->step[last] + k * (int)(size >> 1),
                       o->step[last], n, r->reg[r->p->out[k]]);
}

static void
start(running *r, const td_steps *p, int most)
{
    r->p = p;
    for (int i = 0; i < p->nreg; i++)
        r->reg[i] = r->own[i];
    for (int k = 0; k < p->nconst; k++)
        for (int l = 0; l < most; l++)
            r->own[p->constant[k].reg][l] = p->constant[k].word;
}

/* Moves the walks to the next row; false: that was the last one. */
static bool
next_row(space *s, walk *w, int nw)
{
    for (int k = s->nd - 2; k >= 0; k--) {
        for (int i = 0; i < nw; i++)
            w[i].at += w[i].step[k];
        if (++s->pos[k] < s->dim[k])
            return true;
        for (int i = 0; i < nw; i++)
            w[i].at -= w[i].step[k] * s->dim[k];
        s->pos[k] = 0;
    }
    return false;
}

/* Writes x as one or two words; returns the end. */
static td_word *
number_words(const td_scalar *x, td_word *out)
{
    td_dtype part = td_dtype_real_of(x->dt);
    uint64_t bits[2];

    td_scalar_bits(*x, x->dt, bits);
    *out++ = td_interp_word(part, bits);
    if (part != x->dt)
        *out++ = td_interp_word(part, (const char *)bits + td_dtype_size(part));
    return out;
}

td_scalar
td_steps_number(const td_steps *p, const td_scalar *x, int n, td_dtype result)
{
    td_word reg[TD_STEPS_REGS], *place[TD_STEPS_REGS], *at = reg;
    td_scalar r, im;

    for (int i = 0; i < n; i++)
        at = number_words(&x[i], at);
    for (int k = 0; k < p->nconst; k++)
        reg[p->constant[k].reg] = p->constant[k].word;
    for (int k = 0; k < p->nreg; k++)
        place[k] = &reg[k];
    td_steps_compute(p, place, 1);
    r = td_scalar_load(td_dtype_real_of(result), &reg[p->out[0]]);
    if (td_dtype_is_complex(result)) {
        im = td_scalar_load(td_dtype_real_of(result), &reg[p->out[1]]);
        r.f[1] = im.f[0];
        r.dt = result;
    }
    return r;
}

/* Computes by p's loop, row by row. */
static void
run_loop(const td_steps *p, space *s, walk *w, int nw)
{
    intptr_t n = (intptr_t)s->dim[s->nd - 1], step[4];
    char *at[4];

    for (int i = 0; i < nw; i++)
        step[i] = (intptr_t)w[i].step[s->nd - 1];
    do {
        for (int i = 0; i < nw; i++)
            at[i] = w[i].at;
        p->loop(at, &n, step, p->data);
    } while (next_row(s, w, nw));
}

void
td_steps_run(const td_steps *p, const td_few *src, int n, const td_few *out)
{
    td_few x[4];
    walk w[4];
    space s = {0};
    int axis[TD_MAXDIM], last;
    running r;

    memcpy(x, src, (size_t)n * sizeof *x);
    x[n] = *out;
    s.nd = order_of(out->view, axis);
    for (int k = 0; k < s.nd; k++)
        s.dim[k] = out->view->shape.dim[axis[k]];
    for (int i = 0; i <= n; i++)
        place(&w[i], &x[i], out->view, axis, s.nd);
    merge_axes(&s, w, n + 1);
    if (p->loop) {
        run_loop(p, &s, w, n + 1);
        return;
    }
    last = s.nd - 1;
    r.straight = are_words(td_dtype_real_of(out->dt), w[n].step[last]) && p->nstep &&
                 p->step[p->nstep - 1].out == p->out[0];
    start(&r, p, s.dim[last] < TILE ? (int)s.dim[last] : TILE);
    do
        for (int64_t at = 0; at < s.dim[last]; at += TILE)
            compute_row_tile(&r, x, w, n, last, at,
                             s.dim[last] - at < TILE ? (int)(s.dim[last] - at) : TILE);
    while (next_row(&s, w, n + 1));
}
