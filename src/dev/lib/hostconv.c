/* hostconv.c - convolutions on the CPU.
 *
 * A task gathers the windows of some output places and some channels as columns, in memory that
 * stays in its core's cache, and has the library multiply them.  The places are those of a piece
 * of one image, or of several small images side by side.
 */
#include "base/parallel.h"
#include "base/scratch.h"
#include "dev/core/conv.h"
#include "dev/core/devops.h"
#include "dev/core/tape.h"
#include "dev/core/trace.h"
#include "dev/lib/hostblas.h"

#include <stdlib.h>
#include <string.h>

enum {
    TILE = 1 << 18, /* most elements in a tile of columns, unless one place and channel need more */
    PLACES = 512,   /* places of a tile, if there are that many */
    /* WEIGHT: most pieces of the batch that are summed apart and added up at the end, */
    PARTS = 16,
    SUMS = 1 << 23, /* and most elements of all their sums */
};

/* plan - how a convolution is cut into tasks. */
typedef struct plan {
    const td_conv *c;
    int64_t size;                 /* bytes of an element */
    int64_t taps, places, pixels; /* elements of a kernel, an output, an input */
    /* of a tile: images side by side; or, of one image, rows of places */
    int64_t images, rows;
    int64_t pieces;           /* pieces of an image */
    int64_t channels, blocks; /* channels of a tile; blocks of them in a group */
    int64_t parts;            /* WEIGHT: parts of the batch */
    char *sums;               /* WEIGHT: one sum of w for each part */
    atomic_bool failed;       /* memory ran out */
} plan;

static int64_t
product(const int64_t *n)
{
    return n[0] * n[1] * n[2];
}

static int64_t
ceiling(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t
conv_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- columns ---- */

/* meeting - where a tap's row of pixels overlaps a row of places: places [first, end), the
 * first at pixel `from`. */
typedef struct meeting {
    int64_t first, end, from;
} meeting;

static meeting
meeting_of(const td_conv *c, int64_t tap)
{
    int64_t s = c->stride[2], shift = tap * c->dilation[2] - c->before[2];
    int64_t first = shift < 0 ? ceiling(-shift, s) : 0;
    int64_t end = shift < c->in[2] ? (c->in[2] - 1 - shift) / s + 1 : 0;

    end = conv_least(end, c->out[2]);
    first = conv_least(first, end);
    return (meeting){first, end, first * s + shift};
}

/* Copies a row of pixels to places, and adds it back. */
#define MOVES(T, name)                                                                             \
    static void gather_##name(const meeting *m, int64_t s, int64_t width, const T *x, T *to)       \
    {                                                                                              \
        memset(to, 0, (size_t)m->first * sizeof *to);                                              \
        if (s == 1)                                                                                \
            memcpy(to + m->first, x + m->from, (size_t)(m->end - m->first) * sizeof *to);          \
        else                                                                                       \
            for (int64_t p = m->first; p < m->end; p++)                                            \
                to[p] = x[m->from + (p - m->first) * s];                                           \
        memset(to + m->end, 0, (size_t)(width - m->end) * sizeof *to);                             \
    }                                                                                              \
                                                                                                   \
    static void scatter_##name(const meeting *m, int64_t s, const T *from, T *x)                   \
    {                                                                                              \
        for (int64_t p = m->first; p < m->end; p++)                                                \
            x[m->from + (p - m->first) * s] += from[p];                                            \
    }
MOVES(float, f32)
MOVES(double, f64)

/* cell - rows [row, row + rows) of places of one image, for one tap of one channel: a stretch
 * of one of the tile's rows. */
typedef struct cell {
    const plan *p;
    int64_t row, rows, depth, height; /* the tap's shifts along the outer dims */
    meeting m;
    char *image; /* of that channel */
    char *line;
} cell;

static void
set_tap(cell *l, int64_t tap)
{
    const td_conv *c = l->p->c;
    int64_t outer = tap / c->kernel[2];

    l->m = meeting_of(c, tap % c->kernel[2]);
    l->height = outer % c->kernel[1] * c->dilation[1] - c->before[1];
    l->depth = outer / c->kernel[1] * c->dilation[0] - c->before[0];
}

/* The row of pixels under place row h of depth d.  NULL: it lies outside the image. */
static char *
pixels_of(const cell *l, int64_t d, int64_t h)
{
    const td_conv *c = l->p->c;

    h = h * c->stride[1] + l->height;
    d = d * c->stride[0] + l->depth;
    if (h < 0 || h >= c->in[1] || d < 0 || d >= c->in[0])
        return NULL;
    return l->image + (d * c->in[1] + h) * c->in[2] * l->p->size;
}

/* x: a row of pixels, or NULL; places: a row of the tile. */
typedef void move_row(const cell *l, char *x, char *places);

static void
fill_row(const cell *l, char *x, char *places)
{
    const td_conv *c = l->p->c;

    if (!x)
        memset(places, 0, (size_t)(c->out[2] * l->p->size));
    else if (c->dt == TD_F32)
        gather_f32(&l->m, c->stride[2], c->out[2], (const float *)(void *)x,
                   (float *)(void *)places);
    else
        gather_f64(&l->m, c->stride[2], c->out[2], (const double *)(void *)x,
                   (double *)(void *)places);
}

static void
add_row(const cell *l, char *x, char *places)
{
    const td_conv *c = l->p->c;

    if (x && c->dt == TD_F32)
        scatter_f32(&l->m, c->stride[2], (const float *)(void *)places, (float *)(void *)x);
    else if (x)
        scatter_f64(&l->m, c->stride[2], (const double *)(void *)places, (double *)(void *)x);
}

static void
each_row(const cell *l, move_row *move)
{
    const td_conv *c = l->p->c;
    int64_t h = l->row % c->out[1], d = l->row / c->out[1];
    char *places = l->line;

    for (int64_t r = 0; r < l->rows; r++, places += c->out[2] * l->p->size) {
        move(l, pixels_of(l, d, h), places);
        if (++h == c->out[1]) {
            h = 0;
            d++;
        }
    }
}

/* tile - channels [channel, + channels) of a group; images [image, + images), of each the rows [row, + rows) of places. */
typedef struct tile {
    const plan *p;
    int64_t group, channel, channels, image, images, row, rows;
    char *columns; /* [channels taps, images places], */
    char *side;    /* and of as many places: outputs, or products */
} tile;

static int64_t
places_of(const tile *t)
{
    return t->rows * t->p->c->out[2];
}

/* Calls move for every row of a tile: fills it from x, or adds it to x. */
static void
each_cell(const tile *t, move_row *move)
{
    const plan *p = t->p;
    const td_conv *c = p->c;
    int64_t places = places_of(t) * p->size, pixels = p->pixels * p->size;
    cell l = {.p = p, .row = t->row, .rows = t->rows, .line = t->columns};

    for (int64_t k = 0; k < t->channels * p->taps; k++) {
        int64_t channel = t->group * c->channels + t->channel + k / p->taps;

        set_tap(&l, k % p->taps);
        for (int64_t i = 0; i < t->images; i++, l.line += places) {
            l.image = (char *)c->x + ((t->image + i) * c->groups * c->channels + channel) * pixels;
            each_row(&l, move);
        }
    }
}

/* The outputs of the group in the images of y, at the tile's places. */
static char *
outputs_of(const tile *t, int64_t image, int64_t output)
{
    const td_conv *c = t->p->c;
    int64_t plane = ((t->image + image) * c->groups + t->group) * c->outputs + output;

    return (char *)c->y + (plane * t->p->places + t->row * c->out[2]) * t->p->size;
}

/* Copies the outputs of all images side by side into t->side, or back.  A single image is used
 * where it lies. */
static void
copy_outputs(const tile *t, bool back)
{
    int64_t nbytes = places_of(t) * t->p->size;

    for (int64_t o = 0; o < t->p->c->outputs && t->images > 1; o++)
        for (int64_t i = 0; i < t->images; i++) {
            char *side = t->side + (o * t->images + i) * nbytes, *own = outputs_of(t, i, o);

            memcpy(back ? own : side, back ? side : own, (size_t)nbytes);
        }
}

/* The address of the outputs for the library, and the distance between two of them. */
static uintptr_t
conv_operand(const tile *t, int64_t *ld)
{
    *ld = t->images > 1 ? t->images * places_of(t) : t->p->places;
    return (uintptr_t)(t->images > 1 ? t->side : outputs_of(t, 0, 0));
}

static uintptr_t
weights_of(const tile *t, uintptr_t w)
{
    const td_conv *c = t->p->c;
    int64_t at = t->group * c->outputs * c->channels + t->channel;

    return w + (uintptr_t)(at * t->p->taps * t->p->size);
}

/* ---- the three products ---- */

static void
conv_forward(tile *t)
{
    const td_conv *c = t->p->c;
    int64_t k = t->channels * t->p->taps, n = t->images * places_of(t);
    td_gemm g = {.dt = c->dt, .m = c->outputs, .n = n, .k = k, .lda = k, .ldb = n, .batch = 1};

    each_cell(t, fill_row);
    g.a = weights_of(t, c->w);
    g.b = (uintptr_t)t->columns;
    g.c = conv_operand(t, &g.ldc);
    td_hostblas_product(&g);
    copy_outputs(t, true);
}

static void
input(tile *t)
{
    const td_conv *c = t->p->c;
    int64_t k = t->channels * t->p->taps, n = t->images * places_of(t);
    td_gemm g = {.dt = c->dt, .ta = true, .m = k, .n = n, .k = c->outputs, .ldc = n, .batch = 1};

    copy_outputs(t, false);
    g.a = weights_of(t, c->w);
    g.lda = c->channels * t->p->taps;
    g.b = conv_operand(t, &g.ldb);
    g.c = (uintptr_t)t->columns;
    td_hostblas_product(&g);
    each_cell(t, add_row);
}

/* to[i] += from[i], for rows of a matrix. */
static void
add_matrix(const td_gemm *g, uintptr_t to, int64_t ld)
{
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++)
            if (g->dt == TD_F32)
                ((float *)to)[i * ld + j] += ((const float *)g->c)[i * g->n + j];
            else
                ((double *)to)[i * ld + j] += ((const double *)g->c)[i * g->n + j];
}

static void
weight(tile *t, char *sum, uintptr_t product_of)
{
    const td_conv *c = t->p->c;
    int64_t k = t->channels * t->p->taps, n = t->images * places_of(t);
    td_gemm g = {
        .dt = c->dt, .tb = true, .m = c->outputs, .n = k, .k = n, .ldb = n, .ldc = k, .batch = 1};

    each_cell(t, fill_row);
    copy_outputs(t, false);
    g.a = conv_operand(t, &g.lda);
    g.b = (uintptr_t)t->columns;
    g.c = product_of;
    td_hostblas_product(&g);
    add_matrix(&g, weights_of(t, (uintptr_t)sum), c->channels * t->p->taps);
}

/* ---- tasks ---- */

/* Elements of a tile's columns, of its outputs side by side, of a product of weights. */
static void
sizes(const plan *p, int64_t size[3])
{
    int64_t places = p->images * (p->pieces > 1 ? p->rows * p->c->out[2] : p->places);

    size[0] = p->channels * p->taps * places;
    size[1] = p->images > 1 ? p->c->outputs * places : 0;
    size[2] = p->c->kind == TD_CONV_WEIGHT ? p->c->outputs * p->channels * p->taps : 0;
}

static void
run_tile(const plan *p, tile *t, char *sum, uintptr_t product_of)
{
    switch (p->c->kind) {
    case TD_CONV_FORWARD: conv_forward(t); break;
    case TD_CONV_INPUT:   input(t); break;
    case TD_CONV_WEIGHT:  weight(t, sum, product_of);
    }
}

/* Runs images [first, end) of a group's block of channels, tile by tile. */
static void
run_images(plan *p, int64_t group, int64_t block, int64_t first, int64_t end, int64_t piece,
           char *sum)
{
    const td_conv *c = p->c;
    int64_t size[3], rows = p->places / c->out[2];
    tile t = {.p = p, .group = group, .channel = block * p->channels};
    char *mem;

    sizes(p, size);
    if (!td_scratch_grow((size_t)((size[0] + size[1] + size[2]) * p->size))) {
        atomic_store(&p->failed, true);
        return;
    }
    mem = td_scratch();
    t.columns = mem;
    t.side = mem + size[0] * p->size;
    t.channels = conv_least(p->channels, c->channels - t.channel);
    for (t.image = first; t.image < end; t.image += p->images) {
        t.images = conv_least(p->images, end - t.image);
        for (int64_t k = piece < 0 ? 0 : piece; k < (piece < 0 ? p->pieces : piece + 1); k++) {
            t.row = k * p->rows;
            t.rows = conv_least(p->rows, rows - t.row);
            run_tile(p, &t, sum, (uintptr_t)(mem + (size[0] + size[1]) * p->size));
        }
    }
}

/* FORWARD: a task is an image, a piece and a group.  INPUT: an image, a group and a block of
 * channels, so no two tasks write the same memory. */
static void
by_images(void *ctx, int64_t i)
{
    plan *p = ctx;
    bool whole = p->c->kind == TD_CONV_INPUT;
    int64_t inner = whole ? p->blocks : p->pieces, at = i % inner, group = i / inner % p->c->groups;
    int64_t first = i / inner / p->c->groups * p->images;

    run_images(p, group, whole ? at : 0, first, conv_least(first + p->images, p->c->batch),
               whole ? -1 : at, NULL);
}

/* WEIGHT: a task is a part of the batch, a group and a block of channels. */
static void
conv_part(void *ctx, int64_t i)
{
    plan *p = ctx;
    int64_t block = i % p->blocks, group = i / p->blocks % p->c->groups,
            part = i / p->blocks / p->c->groups;
    int64_t first, end, all = p->c->groups * p->c->outputs * p->c->channels * p->taps * p->size;

    td_parallel_piece(0, ceiling(p->c->batch, p->images), p->parts, part, &first, &end);
    run_images(p, group, block, first * p->images, conv_least(end * p->images, p->c->batch), -1,
               p->sums + part * all);
}

/* Adds up the parts' sums of one row of w, in order. */
static void
add_parts(void *ctx, int64_t row)
{
    const plan *p = ctx;
    int64_t width = p->c->channels * p->taps, all = p->c->groups * p->c->outputs * width;
    td_gemm g = {.dt = p->c->dt, .m = 1, .n = width};
    uintptr_t to = p->c->w + (uintptr_t)(row * width * p->size);

    memcpy((void *)to, p->sums + row * width * p->size, (size_t)(width * p->size));
    for (int64_t k = 1; k < p->parts; k++) {
        g.c = (uintptr_t)(p->sums + (k * all + row * width) * p->size);
        add_matrix(&g, to, width);
    }
}

/* ---- cutting ---- */

static void
cut_conv(plan *p)
{
    const td_conv *c = p->c;
    int64_t rows = p->places / c->out[2], threads = td_parallel_cut(), most;

    p->channels = c->channels;
    if (c->kind != TD_CONV_FORWARD) { /* the product sums over all channels */
        most = TILE / (p->taps * conv_least(p->places, PLACES));
        p->channels = most < 1 ? 1 : conv_least(most, c->channels);
    }
    most = TILE / (p->channels * p->taps);
    p->images = p->places < PLACES ? conv_least(PLACES / p->places, most / p->places) : 1;
    p->images = conv_least(p->images, ceiling(c->batch, threads));
    p->images = p->images < 1 ? 1 : p->images;
    p->rows = p->images > 1 ? rows : conv_least(rows, conv_least(most, 2 * PLACES) / c->out[2]);
    p->rows = p->rows < 1 ? 1 : p->rows;
    p->pieces = ceiling(rows, p->rows);
    p->blocks = ceiling(c->channels, p->channels);
    most = SUMS / (c->groups * c->outputs * c->channels * p->taps);
    p->parts = conv_least(most < 1 ? 1 : conv_least(most, PARTS), ceiling(c->batch, p->images));
}

static td_status
run_conv(plan *p)
{
    const td_conv *c = p->c;
    int64_t tiles = ceiling(c->batch, p->images);

    if (c->kind == TD_CONV_WEIGHT) {
        int64_t all = c->groups * c->outputs * c->channels * p->taps;

        p->sums = calloc((size_t)p->parts, (size_t)(all * p->size));
        if (!p->sums)
            return TD_SKIP;
        td_parallel(p->parts * c->groups * p->blocks, conv_part, p);
        td_parallel(c->groups * c->outputs, add_parts, p);
        free(p->sums);
    } else {
        if (c->kind == TD_CONV_INPUT)
            memset((void *)c->x, 0,
                   (size_t)(c->batch * c->groups * c->channels * p->pixels * p->size));
        td_parallel(tiles * c->groups * (c->kind == TD_CONV_INPUT ? p->blocks : p->pieces),
                    by_images, p);
    }
    return atomic_load(&p->failed) ? TD_SKIP : TD_OK;
}

td_status
td_conv_run(td_stream *s, const td_conv *c)
{
    plan p = {.c = c, .size = (int64_t)td_dtype_size(c->dt)};
    td_gemm any = {.dt = c->dt};
    td_span span;
    td_status st;

    if (s->dev->info.kind != TD_DEV_CPU || (c->dt != TD_F32 && c->dt != TD_F64) || td_tape_now())
        return TD_SKIP;
    st = td_hostblas_open(&any);
    if (st)
        return st == TD_ERR_LIBRARY ? TD_SKIP : st;
    if (!td_hostblas_begin())
        return TD_SKIP;
    p.taps = product(c->kernel);
    p.places = product(c->out);
    p.pixels = product(c->in);
    cut_conv(&p);
    td_span_open(&span, TD_TRACE_gemm, s->dev, s);
    st = run_conv(&p);
    td_span_close(&span, st, "convolution", 0);
    td_hostblas_end();
    return st;
}
