/* chunkother.c - matrix products and counts of values that do not fit the device. */
#include "array/outofcore/chunk.h"
#include "array/run/eval.h"

#include <stdlib.h>

td_status
td_chunk_run(td_job *j, const td_array *const *in, const td_shape *shape, td_array *out)
{
    td_node *top[TD_JOB_TOPS] = {NULL}, *n = NULL;
    td_status st = td_node_new(TD_N_CAST, td_array_dev(in[0]), j->dt, shape, &n);

    for (int k = 0; k < j->ntop && !st; k++) {
        st = td_array_node(in[k], &top[k]);
        j->top[k] = top[k];
    }
    j->node = n;
    if (!st)
        st = td_chunk_job(j);
    for (int k = 0; k < j->ntop; k++)
        td_node_unref(top[k]);
    if (!st)
        return td_array_of_node(n, out);
    td_node_unref(n);
    return st;
}

static size_t
array_bytes(const td_array *a)
{
    return (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));
}

/* a's value on the device, in an array of its own. */
static td_status
load_whole(const td_array *a, td_array *out)
{
    td_node *n;
    td_status st;

    TD_TRY(td_array_node(a, &n));
    st = td_eval_node(n);
    if (!st)
        return td_array_of_node(n, out);
    td_node_unref(n);
    return st;
}

/* ---- products ---- */

static td_status
multiply_rows(void *owner, const td_array *in, int n, td_array *out)
{
    (void)owner;
    (void)n;
    return td_array_matmul(&in[0], &in[1], out);
}

/* Sums products over pieces of the axis that both operands share. */
static td_status
inner_pieces(const td_job *j, const td_array *x, bool first, td_array *next)
{
    td_array r;
    td_status st = td_array_matmul(&x[0], &x[1], first ? &next[0] : &r);

    if (st || first)
        return st;
    st = td_array_apply(j->dt == TD_BOOL ? OP_logical_or : OP_add,
                        (td_operand[]){{.array = &j->acc[0]}, {.array = &r}}, 2, &next[0]);
    td_array_unref(&r);
    return st;
}

static td_status
sum_of_pieces(const td_job *j, td_array *out)
{
    *out = td_array_ref(&j->acc[0]);
    return TD_OK;
}

static const td_jobkind by_pieces = {.step = inner_pieces, .finish = sum_of_pieces};

/* Is a laid out so that cutting it along its second axis is cheaper? */
static bool
lies_across(const td_array *a)
{
    return llabs(a->view.stride[1]) > llabs(a->view.stride[0]) && a->view.shape.dim[1] > 1;
}

/* Records the product of rows of a and all of b (cut is 0), or of all of a and columns of b (1). */
static td_status
one_cut(const td_array *a, const td_array *b, int cut, const td_shape *shape, td_array *out)
{
    td_rowfn like = {.from = {cut ? -1 : 0, cut ? 1 : -1},
                     .whole = 2u >> cut,
                     .run = multiply_rows},
             *e;
    const td_array *in[] = {a, b};
    td_array all;
    td_status st;

    TD_TRY(load_whole(in[!cut], &all));
    st = td_rowfn_new(&like, &e);
    in[!cut] = &all;
    if (!st) {
        st = td_rowfn_record(e, in, 2, td_array_dtype(a), shape, out);
        td_rowfn_unref(e);
    }
    td_array_unref(&all);
    return st;
}

/* ---- products of many matrices ---- */

/* batch - the part of an operand that belongs to a range of the cut axis: rows, or everything
 * if it is repeated there. */
typedef struct batch {
    td_array part[2];
    bool cut[2];
} batch;

static td_status
batch_rows(td_job *j, const td_array *x, td_array *out)
{
    const batch *w = j->ctx;
    const td_array *in[2];

    for (int i = 0, k = 0; i < 2; i++)
        in[i] = w->cut[i] ? &x[k++] : &w->part[i];
    return td_array_matmul(in[0], in[1], out);
}

static const td_jobkind by_batch = {.rows = batch_rows};

/* The batch axis along which most of the host's bytes are cut; -1: none. */
static int
batch_axis(const td_array *const in[2], int nbatch)
{
    size_t most = 0;
    int best = -1;

    for (int k = 0; k < nbatch; k++) {
        size_t nbytes = 0;

        for (int i = 0; i < 2; i++)
            if (td_array_hosted(in[i]) && in[i]->view.stride[k])
                nbytes += array_bytes(in[i]);
        if (in[0]->view.shape.dim[k] > 1 && nbytes > most) {
            most = nbytes;
            best = k;
        }
    }
    return best;
}

/* One index of an axis along which an operand repeats. */
static td_status
one_place(const td_array *a, int axis, td_array *out)
{
    td_view v = td_view_slice(&a->view, axis, 0, 1, 1);
    td_array r = td_array_view(a, &v);
    td_status st = load_whole(&r, out);

    td_array_unref(&r);
    return st;
}

td_status
td_chunk_matmul_batch(const td_array *a, const td_array *b, const td_shape *shape, td_array *out)
{
    const td_array *in[2] = {a, b}, *cut[2];
    td_dev *d = td_array_dev(a);
    batch w = {.cut = {false, false}};
    td_job j = {.kind = &by_batch, .dt = td_array_dtype(a), .ctx = &w};
    td_status st = TD_OK;
    int axis;

    if ((!td_array_hosted(a) && !td_array_hosted(b)) || td_shape_size(shape) == 0)
        return TD_SKIP;
    if (array_bytes(a) + array_bytes(b) + (size_t)td_shape_size(shape) * td_dtype_size(j.dt) <=
            td_chunk_room(d) / 2 &&
        !td_dev_info(d)->host)
        return TD_SKIP;
    axis = batch_axis(in, shape->ndim - 2);
    if (axis < 0)
        return TD_SKIP;
    for (int i = 0; i < 2 && !st; i++) {
        w.cut[i] = in[i]->view.stride[axis] != 0;
        if (w.cut[i])
            cut[j.ntop++] = in[i];
        else
            st = one_place(in[i], axis, &w.part[i]);
    }
    j.axis[0] = j.axis[1] = j.to = axis;
    if (!st)
        st = td_chunk_run(&j, cut, shape, out);
    for (int i = 0; i < 2; i++)
        td_array_unref(&w.part[i]);
    return st;
}

/* ---- products of two ---- */

td_status
td_chunk_matmul(const td_array *a, const td_array *b, td_array *out)
{
    td_shape shape = {.ndim = 2, .dim = {a->view.shape.dim[0], b->view.shape.dim[1]}};
    td_dtype dt = td_array_dtype(a);
    size_t na = array_bytes(a), nb = array_bytes(b),
           nc = (size_t)td_shape_size(&shape) * td_dtype_size(dt), room;
    bool ha = td_array_hosted(a), hb = td_array_hosted(b), inner;
    td_job j = {.dt = dt, .ntop = 2, .kind = &by_pieces};

    if ((!ha && !hb) || td_shape_size(&shape) == 0 || a->view.shape.dim[1] < 2)
        return TD_SKIP;
    room = td_chunk_room(
        td_array_dev(a)); /* asks the driver, which takes longer than a small product */
    if (na + nb + nc <= room / 2 && !td_dev_info(td_array_dev(a))->host)
        return TD_SKIP;
    inner = nc <= room / 4 && ((ha && lies_across(a)) || (hb && !lies_across(b)));
    if (ha && nb <= room / 4 && !(inner && lies_across(a)))
        return one_cut(a, b, 0, &shape, out);
    if (hb && na <= room / 4 && !inner)
        return one_cut(a, b, 1, &shape, out);
    if (nc > room / 4)
        return td_fail(
            TD_ERR_OOM,
            "matmul: of the operands (%zu and %zu bytes) and the result (%zu) two have to "
            "fit %s, which has %zu left",
            na, nb, nc, td_dev_info(td_array_dev(a))->name, room);
    j.axis[0] = 1;
    return td_chunk_run(&j, (const td_array *[]){a, b}, &shape, out);
}

/* ---- counts ---- */

static td_status
count_rows(const td_job *j, const td_array *x, bool first, td_array *next)
{
    td_array r = {0}, *to = first ? &next[0] : &r;
    td_status st = j->other ? td_array_histogram(&x[0], j->other, j->first, j->last, to)
                            : td_array_count(&x[0], j->bins, to);

    if (st || first)
        return st;
    st = td_array_apply(OP_add, (td_operand[]){{.array = &j->acc[0]}, {.array = &r}}, 2, &next[0]);
    td_array_unref(&r);
    return st;
}

static const td_jobkind by_counts = {.step = count_rows, .finish = sum_of_pieces};

/* The first axis, in memory order, with more than one element. */
static int
first_axis(const td_array *a)
{
    int best = 0;

    for (int k = 1; k < a->view.shape.ndim; k++)
        if (a->view.shape.dim[best] <= 1 ||
            (a->view.shape.dim[k] > 1 && llabs(a->view.stride[k]) > llabs(a->view.stride[best])))
            best = k;
    return best;
}

td_status
td_chunk_count(const td_array *a, int64_t bins, const td_array *edges, double first, double last,
               td_array *out)
{
    td_shape shape = {.ndim = 1, .dim = {bins}};
    td_job j = {.kind = &by_counts,
                .dt = TD_I64,
                .ntop = 1,
                .other = edges,
                .bins = bins,
                .first = first,
                .last = last};

    if (!td_array_hosted(a) || a->view.shape.ndim == 0 || td_array_size(a) < 2)
        return TD_SKIP;
    if (array_bytes(a) <= td_chunk_room(td_array_dev(a)) / 2 && !td_dev_info(td_array_dev(a))->host)
        return TD_SKIP;
    j.axis[0] = first_axis(a);
    return td_chunk_run(&j, &a, &shape, out);
}
