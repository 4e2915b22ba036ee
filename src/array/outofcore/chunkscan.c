/* chunkscan.c - operations that carry something from one chunk to the next: cumulative ones, and
 * selection by a mask.
 */
#include "array/outofcore/chunk.h"
#include "array/run/eval.h"

#include <stdlib.h>

/* Are the sources of a and b (NULL: none) better loaded as a whole? */
static bool
better_whole(const td_array *a, const td_array *b)
{
    td_dev *d = td_array_dev(a);
    size_t nbytes = (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));

    nbytes += b ? (size_t)td_array_size(b) * td_dtype_size(td_array_dtype(b)) : 0;
    return !td_dev_info(d)->host && nbytes <= td_chunk_room(d) / 2;
}

/* ---- cumulative operations ---- */

typedef struct running {
    int axis;
    td_dtype acc; /* dtype in which partial results are carried on */
} running;

static td_dtype
carried_in(td_red red, td_dtype dt)
{
    if (red == TD_RED_min || red == TD_RED_max)
        return dt;
    return td_dtype_is_complex(dt) ? TD_C128 : td_dtype_is_float(dt) ? TD_F64 : dt;
}

static td_op
scan_op(const td_job *j)
{
    switch (j->red) {
    case TD_RED_max: return OP_maximum;
    case TD_RED_min: return OP_minimum;
    case TD_RED_sum: return j->dt == TD_BOOL ? OP_logical_or : OP_add;
    default:         return j->dt == TD_BOOL ? OP_logical_and : OP_multiply;
    }
}

/* The last of r's rows. */
static td_status
last_row(const td_job *j, const td_array *r, td_array *out)
{
    td_view v = td_view_slice(&r->view, j->axis[0], j->hi - j->lo - 1, 1, 1);
    td_array row = td_array_view(r, &v);
    td_status st = td_array_copy(&row, out);

    td_array_unref(&row);
    return st;
}

static td_status
accumulated(td_job *j, const td_array *x, td_array *out)
{
    const running *w = j->ctx;
    td_array r, sum;
    td_status st;

    TD_TRY(td_array_cumulate(j->red, x, w->axis, w->acc, &r));
    if (j->acc[0].store) {
        st = td_array_apply(scan_op(j), (td_operand[]){{.array = &j->acc[0]}, {.array = &r}}, 2,
                            &sum);
        td_array_unref(&r);
        TD_TRY(st);
        r = sum;
    }
    st = last_row(j, &r, &j->next[0]);
    if (!st)
        st = td_array_cast(&r, j->dt, out);
    td_array_unref(&r);
    return st;
}

/* cumulation - one along an axis that is not cut. */
typedef struct cumulation {
    td_red red;
    int axis;
    td_dtype dt;
} cumulation;

static td_status
cumulate_rows(void *owner, const td_array *in, int n, td_array *out)
{
    const cumulation *w = owner;

    (void)n;
    return td_array_cumulate(w->red, &in[0], w->axis, w->dt, out);
}

static td_status
within_rows(td_red red, const td_array *a, int axis, td_dtype dt, td_array *out)
{
    cumulation *w = malloc(sizeof *w);
    td_rowfn like = {.run = cumulate_rows, .release = free, .owner = w}, *e;
    td_status st;

    if (!w)
        return td_fail(TD_ERR_NOMEM, "array: out of host memory");
    *w = (cumulation){red, axis, dt};
    for (int k = 0; k < a->view.shape.ndim; k++)
        like.from[k] = (int8_t)(k == axis ? -1 : k);
    st = td_rowfn_new(&like, &e);
    if (st) {
        free(w);
        return st;
    }
    st = td_rowfn_record(e, &a, 1, dt, &a->view.shape, out);
    td_rowfn_unref(e);
    return st;
}

static const td_jobkind by_accumulating = {.rows = accumulated};

td_status
td_chunk_cumulate(td_red red, const td_array *a, int axis, td_dtype dt, td_array *out)
{
    running w = {.axis = axis, .acc = carried_in(red, dt)};
    td_job j = {.kind = &by_accumulating, .ntop = 1, .red = red, .dt = dt, .ctx = &w};
    td_node *n;

    if (!td_array_hosted(a) || td_array_size(a) < 2 || better_whole(a, a))
        return TD_SKIP;
    TD_TRY(td_array_node(a, &n));
    j.axis[0] = j.to = td_node_pending(n) ? td_chunk_best_axis(n) : -1;
    td_node_unref(n);
    if (j.to >= 0 && j.to != axis)
        return within_rows(red, a, axis, dt, out);
    return j.to < 0 ? TD_SKIP : td_chunk_run(&j, &a, &a->view.shape, out);
}

/* ---- selection ---- */

typedef struct selecting {
    /* elements marked before the chunk that begins at lo, and up to its end */
    int64_t lo, before, after;
    int64_t total, inner; /* elements marked in all; elements of a row */
} selecting;

static td_status
selected(td_job *j, const td_array *x, td_array *out)
{
    selecting *w = j->ctx;
    td_array at;
    td_status st;

    if (j->lo != w->lo) /* otherwise the chunk is repeated with fewer rows */
        w->before = j->lo ? w->after : 0;
    w->lo = j->lo;
    TD_TRY(td_array_select(j->ntop > 1 ? &x[1] : NULL, &x[0], &at));
    j->at = w->before;
    j->count = td_array_size(&at);
    w->after = w->before + j->count;
    if (w->after > w->total || (j->hi == j->rows && w->after < w->total))
        st = td_fail(TD_ERR_VALUE, "select: the mask changed while it was read");
    else if (j->ntop > 1)
        st = td_array_cast(&at, j->dt, out);
    else
        st = td_array_apply(
            OP_add,
            (td_operand[]){{.array = &at}, {.scalar = {.dt = TD_I64, .i = j->lo * w->inner}}}, 2,
            out);
    td_array_unref(&at);
    return st;
}

static const td_jobkind by_selecting = {.rows = selected};

static td_status
count_marked(const td_array *mask, int64_t *out)
{
    td_redargs all = {.axes = (1u << mask->view.shape.ndim) - 1, .dtype = -1};
    td_array n;
    td_status st;

    TD_TRY(td_array_reduce(TD_RED_count_nonzero, mask, &all, &n));
    st = td_array_get(&n, out);
    td_array_unref(&n);
    return st;
}

td_status
td_chunk_select(const td_array *a, const td_array *mask, td_array *out)
{
    const td_shape *s = &mask->view.shape;
    selecting w = {.lo = -1};
    td_job j = {
        .kind = &by_selecting, .ntop = a ? 2 : 1, .dt = a ? td_array_dtype(a) : TD_I64, .ctx = &w};
    td_shape shape = {.ndim = 1};

    if ((!td_array_hosted(mask) && !(a && td_array_hosted(a))) || td_array_size(mask) < 2 ||
        better_whole(mask, a))
        return TD_SKIP;
    TD_TRY(count_marked(mask, &w.total));
    shape.dim[0] = w.total;
    if (!w.total)
        return td_array_empty(td_array_dev(mask), j.dt, &shape, out);
    while (s->dim[j.axis[0]] == 1) /* rows must come in C order */
        j.axis[0]++;
    j.axis[1] = j.axis[0];
    w.inner = td_array_size(mask) / s->dim[j.axis[0]];
    return td_chunk_run(&j, (const td_array *[]){mask, a}, &shape, out);
}
