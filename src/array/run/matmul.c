/* matmul.c - matrix products: by the device's library if it has one, else by a generated kernel. */
#include "array/graph/internal.h"
#include "array/run/eval.h"
#include "array/run/fperror.h"
#include "array/run/now.h"
#include "dev/core/blas.h"

#include <string.h>

/* The operands as matrices [batch…, m, k] and [batch…, k, n]; a vector gets an axis of extent 1. */
typedef struct product {
    td_array a, b;
    td_shape batch, result; /* result: batch, m, n */
    int64_t m, n, k;
    bool fuses; /* td_matmul_fuses */
} product;

/* a seen with its leading axes broadcast to the batch. */
static td_status
spread(td_array *a, const td_shape *batch)
{
    td_shape s = *batch;
    td_array wide;
    int nd = a->view.shape.ndim;

    s.dim[s.ndim++] = a->view.shape.dim[nd - 2];
    s.dim[s.ndim++] = a->view.shape.dim[nd - 1];
    if (s.ndim > TD_MAXDIM - 1)
        return td_fail(TD_ERR_VALUE, "matmul: more than %d axes", TD_MAXDIM - 1);
    TD_TRY(td_array_broadcast(a, &s, &wide));
    td_array_unref(a);
    *a = wide;
    return TD_OK;
}

static td_status
as_dtype(td_array *a, td_dtype dt)
{
    td_array cast;

    if (td_array_dtype(a) == dt)
        return TD_OK;
    TD_TRY(td_array_cast(a, dt, &cast));
    td_array_unref(a);
    *a = cast;
    return TD_OK;
}

static void
leading(const td_shape *s, td_shape *out)
{
    out->ndim = s->ndim - 2;
    memcpy(out->dim, s->dim, (size_t)out->ndim * sizeof *out->dim);
}

static td_status
set_up(product *p)
{
    td_shape la, lb;
    char ta[256], tb[256];
    const td_shape *sa = &p->a.view.shape, *sb = &p->b.view.shape;

    p->m = sa->dim[sa->ndim - 2];
    p->k = sa->dim[sa->ndim - 1];
    p->n = sb->dim[sb->ndim - 1];
    if (sb->dim[sb->ndim - 2] != p->k)
        return td_fail(TD_ERR_VALUE, "matmul: shapes %s and %s: inner sizes differ",
                       td_shape_text(sa, ta, sizeof ta), td_shape_text(sb, tb, sizeof tb));
    leading(sa, &la);
    leading(sb, &lb);
    TD_TRY(td_broadcast("matmul", &la, &lb, &p->batch));
    TD_TRY(spread(&p->a, &p->batch));
    TD_TRY(spread(&p->b, &p->batch));
    p->result = p->batch;
    p->result.dim[p->result.ndim++] = p->m;
    p->result.dim[p->result.ndim++] = p->n;
    return TD_OK;
}

/* ---- the library ---- */

static bool
is_expression(const td_array *a)
{
    const td_node *n = a->store->node;

    return a->whole && td_node_pending(n) && (n->kind == TD_N_OP || n->kind == TD_N_CAST);
}

enum { SMALL_SUM = 16, SMALL_SIDE = 32 };

/* GPU: is the product one that a reduction of our own computes faster than a library?  Those are rows as they lie in memory
 * times vectors (9 µs for 10000 x 100, cuBLAS 20), and many small matrices, whose sums become operations (18 µs for 10^5
 * products of 4 x 4, cuBLAS 146). */
static bool
is_ours(const td_array *a, const td_array *b)
{
    const td_view *va = &a->view, *vb = &b->view;
    int na = va->shape.ndim, nb = vb->shape.ndim;
    bool column = nb == 1 || vb->shape.dim[nb - 1] == 1;

    if (!td_dev_info(td_array_dev(a))->simt || na < 1 || nb < 1)
        return false;
    if (na == 1)
        return nb == 2 && vb->stride[0] == 1 && vb->shape.dim[0] > 1;
    if (column)
        return va->stride[na - 1] == 1 && va->shape.dim[na - 1] > 1;
    return na > 2 && nb > 2 && va->shape.dim[na - 1] <= SMALL_SUM &&
           va->shape.dim[na - 2] <= SMALL_SIDE && vb->shape.dim[nb - 1] <= SMALL_SIDE;
}

bool
td_matmul_fuses(const td_array *a, const td_array *b)
{
    const td_shape *sa = &a->view.shape, *sb = &b->view.shape;
    bool row = sa->ndim == 1, column = sb->ndim == 1 || (sb->ndim == 2 && sb->dim[1] == 1);

    if ((row && column) || td_now_multiplies(a, b) || is_ours(a, b))
        return true;
    return (column && sa->ndim == 2 && is_expression(a)) ||
           (row && sb->ndim == 2 && is_expression(b));
}

/* Can BLAS read the view?  One of its strides is 1, and matrices follow each other at one distance. */
static bool
blas_layout(const td_view *v, bool *transposed, int64_t *ld, int64_t *batch_stride)
{
    int nd = v->shape.ndim;
    int64_t r = v->stride[nd - 2], c = v->stride[nd - 1], rows = v->shape.dim[nd - 2],
            cols = v->shape.dim[nd - 1];

    *transposed = !(c == 1 || cols == 1) || (r == 1 && rows > 1 && c != 1);
    *ld = *transposed ? c : r;
    if (*transposed ? (r != 1 && rows > 1) : (c != 1 && cols > 1))
        return false;
    if (*ld < (*transposed ? rows : cols))
        *ld = *transposed ? rows : cols; /* the stride of an axis of extent 1 means nothing */
    if (*transposed ? (cols > 1 && c < rows) : (rows > 1 && r < cols))
        return false;
    *batch_stride = nd > 2 ? v->stride[nd - 3] : 0;
    for (int i = 0; i + 3 < nd; i++)
        if (v->stride[i] != v->stride[i + 1] * v->shape.dim[i + 1])
            return false;
    return true;
}

/* Brings the operand into memory, in a layout that BLAS can read; *n holds it. */
static td_status
blas_operand(const td_array *a, td_node **n, bool *t, int64_t *ld, int64_t *stride, uintptr_t *ptr)
{
    td_node *copy;
    td_status st;

    TD_TRY(td_array_node(a, n));
    st = td_eval_node(*n);
    if (!st && !blas_layout(&(*n)->view, t, ld, stride)) {
        st = td_node_copy(*n, (td_dtype)(*n)->dt, NULL, &copy);
        if (!st) {
            td_node_unref(*n);
            *n = copy;
            st = td_eval_node(copy);
        }
        TD_ASSERT(st || blas_layout(&copy->view, t, ld, stride));
    }
    if (!st)
        *ptr = (*n)->buf->ptr + (uintptr_t)(*n)->view.offset * td_dtype_size((td_dtype)(*n)->dt);
    return st;
}

static td_status
by_library(const product *p, td_array *out)
{
    td_dtype dt = td_array_dtype(&p->a);
    td_gemm g = {.dt = dt, .m = p->m, .n = p->n, .k = p->k, .ldc = p->n};
    td_node *na = NULL, *nb = NULL;
    td_status st;
    void *token;

    if ((!td_dtype_is_float(dt) && !td_dtype_is_complex(dt)) || !p->m || !p->n || !p->k)
        return TD_SKIP;
    g.batch = td_shape_size(&p->batch);
    g.stride_c = p->m * p->n;
    if (!g.batch)
        return TD_SKIP;
    TD_TRY(td_array_empty(td_array_dev(&p->a), dt, &p->result, out));
    st = blas_operand(&p->a, &na, &g.ta, &g.lda, &g.stride_a, &g.a);
    if (!st)
        st = blas_operand(&p->b, &nb, &g.tb, &g.ldb, &g.stride_b, &g.b);
    g.c = out->store->node->buf->ptr;
    token = td_graph_unlock();
    if (!st)
        st = td_blas_gemm(td_dev_stream(td_array_dev(&p->a)), &g);
    td_graph_lock(token);
    td_node_unref(na);
    td_node_unref(nb);
    if (st)
        td_array_unref(out);
    return st;
}

/* The product of half types that the library does not know: in float32, rounded once. */
static td_status
by_wide_library(product *p, td_array *out)
{
    td_dtype dt = td_array_dtype(&p->a);
    td_array wide;
    td_status st;

    if (!td_dtype_is_half(dt))
        return TD_SKIP;
    TD_TRY(as_dtype(&p->a, TD_F32));
    TD_TRY(as_dtype(&p->b, TD_F32));
    st = by_library(p, &wide);
    if (!st) {
        st = td_array_cast(&wide, dt, out);
        td_array_unref(&wide);
    }
    return st;
}

/* ---- the generated kernel: sum over k of a[…, m, k, 1] * b[…, 1, k, n] ---- */

static td_view
with_axis(const td_view *v, int at)
{
    td_view r = *v;

    r.shape.ndim++;
    for (int i = v->shape.ndim; i > at; i--) {
        r.shape.dim[i] = v->shape.dim[i - 1];
        r.stride[i] = v->stride[i - 1];
    }
    r.shape.dim[at] = 1;
    r.stride[at] = 0;
    return r;
}

static td_status
by_kernel(product *p, td_dtype dt, td_array *out)
{
    int nd = p->result.ndim;
    td_dtype wide = td_dtype_is_half(dt) ? TD_F32 : dt; /* one rounding, at the end */
    td_redargs sum = {.axes = 1u << (nd - 1), .dtype = dt == TD_BOOL ? -1 : (int)dt};
    td_array a, b, ab = {0};
    td_view va, vb;
    td_status st;

    TD_TRY(as_dtype(&p->a, wide));
    TD_TRY(as_dtype(&p->b, wide));
    va = with_axis(&p->a.view, nd);
    vb = with_axis(&p->b.view, nd - 2);
    a = td_array_view(&p->a, &va);
    b = td_array_view(&p->b, &vb);
    st = td_array_apply(OP_multiply, (td_operand[]){{.array = &a}, {.array = &b}}, 2, &ab);
    if (!st)
        st = td_array_reduce(dt == TD_BOOL ? TD_RED_any : TD_RED_sum, &ab, &sum, out);
    td_array_unref(&a);
    td_array_unref(&b);
    td_array_unref(&ab);
    return st;
}

static td_status
multiply(product *p, td_dtype dt, td_array *out)
{
    td_status st;

    TD_TRY(as_dtype(&p->a, dt));
    TD_TRY(as_dtype(&p->b, dt));
    TD_TRY(set_up(p));
    if (!p->fuses) {
        st = p->batch.ndim ? td_chunk_matmul_batch(&p->a, &p->b, &p->result, out)
                           : td_chunk_matmul(&p->a, &p->b, out);
        if (st != TD_SKIP)
            return st;
    }
    st = p->fuses ? TD_SKIP : by_library(p, out);
    if (st == TD_SKIP && !p->fuses)
        st = by_wide_library(p, out);
    return st == TD_SKIP || st == TD_ERR_LIBRARY ? by_kernel(p, dt, out) : st;
}

static td_status
matmul(const td_array *a, const td_array *b, td_array *out)
{
    int na = a->view.shape.ndim, nb = b->view.shape.ndim;
    td_view va = a->view, vb = b->view;
    product p;
    td_array r;
    td_status st;

    if (!na || !nb)
        return td_fail(TD_ERR_VALUE, "matmul: operand %d is a scalar; use multiply", na ? 1 : 0);
    TD_TRY(td_one_device("matmul", td_array_dev(a), td_array_dev(b)));
    if (td_now_multiplies(a, b) && (st = td_now_product(a, b, out)) != TD_SKIP)
        return st;
    p.fuses = td_matmul_fuses(a, b);
    if (na == 1)
        va = with_axis(&va, 0);
    if (nb == 1)
        vb = with_axis(&vb, 1);
    p.a = td_array_view(a, &va);
    p.b = td_array_view(b, &vb);
    st = multiply(&p, td_promote(td_array_dtype(a), td_array_dtype(b)), &r);
    td_array_unref(&p.a);
    td_array_unref(&p.b);
    TD_TRY(st);
    va = r.view;
    if (nb == 1)
        va.shape.ndim--;
    if (na == 1) { /* the axis that the vector got goes again */
        int at = va.shape.ndim - (nb == 1 ? 1 : 2);

        for (int i = at; i + 1 < va.shape.ndim; i++) {
            va.shape.dim[i] = va.shape.dim[i + 1];
            va.stride[i] = va.stride[i + 1];
        }
        va.shape.ndim--;
    }
    *out = td_array_view(&r, &va);
    td_array_unref(&r);
    return TD_OK;
}

td_status
td_array_matmul(const td_array *a, const td_array *b, td_array *out)
{
    uint8_t asked = td_fp_asked() ? td_fp_watching : 0;
    td_status st;

    if (!asked)
        return matmul(a, b, out);
    td_fp_watching = 0; /* the product is watched, not the operations that may make it up */
    st = matmul(a, b, out);
    td_fp_watching = asked;
    if (!st && (st = td_fp_check_result("matmul", (const td_array *[]){a, b}, 2, out)))
        td_array_unref(out);
    return st;
}
