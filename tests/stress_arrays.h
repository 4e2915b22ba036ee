/* stress_arrays.h - random programs over arrays, each thread's beside what its arrays should hold.
 *
 * A thread has arrays of its own, which it computes, writes to and lets go of, and takes others from slots that all
 * threads share: values that were recorded and perhaps not evaluated, whose nodes and memory they have in common.
 * Everything is int64 that wraps, or float64 without rounding, so that a value has one right answer.
 */
#ifndef TD_TESTS_STRESS_ARRAYS_H
#define TD_TESTS_STRESS_ARRAYS_H
#include "array/capture.h"
#include "array/chunk.h"
#include "array/spill.h"

#include "stress.h"

#include <inttypes.h>
#include <string.h>

enum { SA_OWN = 6, SA_SHARED = 5, SA_ROWS = 8, SA_MAX = SA_ROWS * 4096 };

typedef struct sa_item {
    td_array a; /* no store: empty */
    int64_t *v;
} sa_item;

static struct {
    td_dev *dev, *other; /* other: NULL: there is none */
    int     cols, steps; /* of the arrays, of a program */
    bool    faults;      /* calls fail: what was asked for then does not happen */
    bool    may_run_out; /* of memory: the same */
    sa_item shared[SA_SHARED]; /* under the graph's lock */
    bool    unruly;            /* threads write to one array without agreeing */
    td_array cell, index;      /* by all: its values are of no interest, or in [0, SA_ROWS) or far out */
    int     failed, looked;    /* calls that failed; values that were looked at */
} sa;

/* A thread's program. */
typedef struct sa_program {
    uint64_t *seed;
    sa_item   own[SA_OWN];
    int64_t   v[SA_MAX], w[SA_MAX]; /* scratch */
} sa_program;

static inline int
sa_size(void)
{
    return SA_ROWS * sa.cols;
}

static inline void
sa_drop(sa_item *x)
{
    int64_t *v = x->v;

    x->v = NULL;
    if (x->a.store)
        td_array_unref(&x->a);
    free(v);
}

/* x becomes a, which is taken over, and v, which is copied. */
static inline void
sa_set(sa_item *x, const td_array *a, const int64_t *v)
{
    size_t nbytes = (size_t)sa_size() * sizeof *v;
    int64_t *copy = malloc(nbytes);

    memcpy(copy, v, nbytes);
    sa_drop(x);
    x->a = *a;
    x->v = copy;
}

static inline td_status
sa_wrong(const char *what, int at, int64_t have, int64_t want)
{
    printf("%s: element %d is %" PRId64 ", not %" PRId64 "\n", what, at, have, want);
    check_failures++;
    return TD_OK;
}

static inline td_status
sa_look(const char *what, const td_array *a, const int64_t *want)
{
    int64_t have[SA_MAX];

    TD_TRY(td_array_get(a, have));
    sa.looked++;
    for (int i = 0; i < td_array_size(a); i++)
        if (have[i] != want[i])
            return sa_wrong(what, i, have[i], want[i]);
    return TD_OK;
}

/* ---- operations on numbers, as the arrays' ---- */

static inline int64_t
sa_op(td_op op, int64_t x, int64_t y)
{
    switch (op) {
    case OP_add:         return (int64_t)((uint64_t)x + (uint64_t)y);
    case OP_subtract:    return (int64_t)((uint64_t)x - (uint64_t)y);
    case OP_multiply:    return (int64_t)((uint64_t)x * (uint64_t)y);
    case OP_bitwise_xor: return x ^ y;
    case OP_bitwise_and: return x & y;
    case OP_maximum:     return x > y ? x : y;
    case OP_minimum:     return x < y ? x : y;
    default:             abort();
    }
}

static inline td_op
sa_draw_op(uint64_t *seed)
{
    static const td_op ops[] = {OP_add,         OP_subtract, OP_multiply, OP_bitwise_xor,
                                OP_bitwise_and, OP_maximum,  OP_minimum};

    return ops[stress_draw(seed, sizeof ops / sizeof *ops)];
}

static inline td_status
sa_both(td_op op, const td_array *a, const td_array *b, td_array *out)
{
    return td_array_apply(op, (td_operand[]){{.array = a}, {.array = b}}, 2, out);
}

static inline td_operand
sa_number(int64_t k)
{
    return (td_operand){.scalar = {.dt = TD_I64, .i = k}, .weak = 'i'};
}

static inline td_status
sa_with(td_op op, const td_array *a, int64_t k, td_array *out)
{
    return td_array_apply(op, (td_operand[]){{.array = a}, sa_number(k)}, 2, out);
}

static inline void
sa_unref(td_array *a)
{
    if (a->store)
        td_array_unref(a);
}

/* ---- steps: of own[i], own[j] into own[k]; on failure everything is as it was ---- */

static inline td_status
sa_elementwise(sa_program *p, const sa_item *x, const sa_item *y, sa_item *to)
{
    td_op f = sa_draw_op(p->seed), g = sa_draw_op(p->seed);
    int64_t k = (int64_t)stress_draw(p->seed, 100) - 50;
    td_array t = {0}, r;
    td_status st = sa_with(f, &x->a, k, &t);

    if (!st)
        st = sa_both(g, &t, &y->a, &r);
    sa_unref(&t);
    for (int i = 0; i < sa_size(); i++)
        p->v[i] = sa_op(g, sa_op(f, x->v[i], k), y->v[i]);
    if (!st)
        sa_set(to, &r, p->v);
    return st;
}

/* x - sum(x * y) over an axis. */
static inline td_status
sa_rows(sa_program *p, const sa_item *x, const sa_item *y, sa_item *to)
{
    int axis = (int)stress_draw(p->seed, 2), nc = sa.cols;
    bool most = stress_draw(p->seed, 2);
    td_redargs args = {.axes = 1u << axis, .keepdims = true, .dtype = -1};
    td_array t = {0}, s = {0}, r;
    td_status st = sa_both(OP_multiply, &x->a, &y->a, &t);

    if (!st)
        st = td_array_reduce(most ? TD_RED_max : TD_RED_sum, &t, &args, &s);
    if (!st)
        st = sa_both(OP_subtract, &x->a, &s, &r);
    sa_unref(&t);
    if (!st && stress_draw(p->seed, 2)) /* somebody wants the sum too */
        st = td_array_eval((const td_array *[]){&s}, 1);
    sa_unref(&s);
    for (int i = 0; i < sa_size(); i++) {
        int from = axis ? i / nc * nc : i % nc, step = axis ? 1 : nc, n = axis ? nc : SA_ROWS;
        int64_t sum = sa_op(OP_multiply, x->v[from], y->v[from]);

        for (int q = 1; q < n; q++)
            sum = sa_op(most ? OP_maximum : OP_add, sum,
                        sa_op(OP_multiply, x->v[from + q * step], y->v[from + q * step]));
        p->v[i] = sa_op(OP_subtract, x->v[i], sum);
    }
    if (!st)
        sa_set(to, &r, p->v);
    return st;
}

/* The variance of rows of small numbers, in parts of cols * cols: by two passes. */
static inline td_status
sa_spread(sa_program *p, const sa_item *x, sa_item *to)
{
    td_redargs args = {.axes = 2, .keepdims = true, .dtype = -1};
    int nc = sa.cols;
    td_array small = {0}, f = {0}, var = {0}, scaled = {0}, whole = {0}, r;
    td_status st = sa_with(OP_bitwise_and, &x->a, 15, &small);

    if (!st)
        st = td_array_cast(&small, TD_F64, &f);
    if (!st)
        st = td_array_reduce(TD_RED_var, &f, &args, &var);
    if (!st)
        st = td_array_apply(OP_multiply,
                            (td_operand[]){{.array = &var},
                                           {.scalar = {.dt = TD_F64, .f = {(double)nc * nc}}}},
                            2, &scaled);
    if (!st)
        st = td_array_cast(&scaled, TD_I64, &whole);
    if (!st)
        st = sa_both(OP_add, &x->a, &whole, &r);
    for (int i = 0; i < sa_size(); i++) {
        int64_t sum = 0, squares = 0;

        for (int q = i / nc * nc; q < i / nc * nc + nc; q++) {
            sum += x->v[q] & 15;
            squares += (x->v[q] & 15) * (x->v[q] & 15);
        }
        p->v[i] = sa_op(OP_add, x->v[i], squares * nc - sum * sum);
    }
    sa_unref(&small);
    sa_unref(&f);
    sa_unref(&var);
    sa_unref(&scaled);
    sa_unref(&whole);
    if (!st)
        sa_set(to, &r, p->v);
    return st;
}

/* x + rows of y the other way round, read through a view. */
static inline td_status
sa_reversed(sa_program *p, const sa_item *x, const sa_item *y, sa_item *to)
{
    td_view v = y->a.view;
    td_array back, r;
    td_status st;

    v.offset += (SA_ROWS - 1) * v.stride[0];
    v.stride[0] = -v.stride[0];
    back = td_array_view(&y->a, &v);
    st = sa_both(OP_add, &x->a, &back, &r);
    td_array_unref(&back);
    for (int i = 0; i < sa_size(); i++)
        p->v[i] = sa_op(OP_add, x->v[i], y->v[(SA_ROWS - 1 - i / sa.cols) * sa.cols + i % sa.cols]);
    if (!st)
        sa_set(to, &r, p->v);
    return st;
}

/* (x & 255) @ (y & 255)' of the first columns, added to x. */
static inline td_status
sa_product(sa_program *p, const sa_item *x, const sa_item *y, sa_item *to)
{
    bool real = stress_draw(p->seed, 2);
    td_array s[2] = {{0}}, f[2] = {{0}}, t = {0}, m = {0}, r = {0}, whole = {0};
    const sa_item *of[2] = {x, y};
    td_status st = TD_OK;

    for (int i = 0; i < 2 && !st; i++) {
        td_view v = of[i]->a.view;
        td_array part;

        v.shape.dim[1] = SA_ROWS;
        part = td_array_view(&of[i]->a, &v);
        st = sa_with(OP_bitwise_and, &part, 255, &s[i]);
        td_array_unref(&part);
        st = st ? st : td_array_cast(&s[i], real ? TD_F64 : TD_I64, &f[i]);
    }
    st = st ? st : td_array_transpose(&f[1], (int[]){1, 0}, &t);
    st = st ? st : td_array_matmul(&f[0], &t, &m);
    st = st ? st : td_array_cast(&m, TD_I64, &whole);
    st = st ? st : td_array_get(&whole, p->w);
    for (int i = 0; i < SA_ROWS * SA_ROWS && !st; i++) {
        int64_t sum = 0;

        for (int q = 0; q < SA_ROWS; q++)
            sum += (x->v[i / SA_ROWS * sa.cols + q] & 255) * (y->v[i % SA_ROWS * sa.cols + q] & 255);
        if (sum != p->w[i])
            (void)sa_wrong("product", i, p->w[i], sum);
    }
    for (int i = 0; i < 2; i++) {
        sa_unref(&s[i]);
        sa_unref(&f[i]);
    }
    sa_unref(&t);
    sa_unref(&m);
    sa_unref(&whole);
    sa_unref(&r);
    (void)to;
    return st;
}

static int
sa_compare(const void *x, const void *y)
{
    const int64_t *a = x, *b = y;

    return (*a > *b) - (*a < *b);
}

/* Rows of x sorted, or their sums so far. */
static inline td_status
sa_ordered(sa_program *p, const sa_item *x, sa_item *to)
{
    bool sort = stress_draw(p->seed, 2);
    td_array r;
    td_status st = sort ? td_array_sort(&x->a, &r, NULL)
                        : td_array_cumulate(TD_RED_sum, &x->a, 1, -1, &r);

    if (st == TD_SKIP)
        return TD_OK;
    memcpy(p->v, x->v, (size_t)sa_size() * sizeof *p->v);
    for (int row = 0; row < SA_ROWS; row++) {
        int64_t *v = p->v + row * sa.cols;

        if (sort)
            qsort(v, (size_t)sa.cols, sizeof *v, sa_compare);
        for (int i = 1; i < sa.cols && !sort; i++)
            v[i] = sa_op(OP_add, v[i], v[i - 1]);
    }
    if (!st)
        sa_set(to, &r, p->v);
    return st;
}

/* Rows of x as y's numbers say. */
static inline td_status
sa_taken(sa_program *p, const sa_item *x, const sa_item *y, sa_item *to)
{
    td_view v = y->a.view;
    td_array column, index = {0}, r;
    td_status st;

    v.shape.ndim = 1;
    column = td_array_view(&y->a, &v);
    st = sa_with(OP_bitwise_and, &column, SA_ROWS - 1, &index);
    td_array_unref(&column);
    if (!st)
        st = td_array_take(&x->a, &index, 0, &r);
    sa_unref(&index);
    for (int i = 0; i < sa_size(); i++)
        p->v[i] = x->v[(y->v[i / sa.cols * sa.cols] & (SA_ROWS - 1)) * sa.cols + i % sa.cols];
    if (!st)
        sa_set(to, &r, p->v);
    return st;
}

/* ---- writing ---- */

/* Rows [lo, lo + n) of a. */
static inline td_array
sa_part(const td_array *a, int lo, int n)
{
    td_view v = td_view_slice(&a->view, 0, lo, 1, n);

    return td_array_view(a, &v);
}

/* Rows of `to` become rows of x and a number, which may be its own. */
static inline td_status
sa_write_rows(sa_program *p, const sa_item *x, sa_item *to)
{
    int n = 1 + (int)stress_draw(p->seed, SA_ROWS), lo = (int)stress_draw(p->seed, (unsigned)(SA_ROWS - n + 1)),
        from = (int)stress_draw(p->seed, (unsigned)(SA_ROWS - n + 1)), nc = sa.cols;
    int64_t k = (int64_t)stress_draw(p->seed, 9);
    td_array dst = sa_part(&to->a, lo, n), src = sa_part(&x->a, from, n), t = {0};
    td_status st = sa_with(OP_add, &src, k, &t);

    for (int i = 0; i < n * nc; i++)
        p->v[i] = sa_op(OP_add, x->v[from * nc + i], k);
    if (!st && stress_draw(p->seed, 2))
        st = td_array_assign(&dst, &(td_operand){.array = &t});
    else if (!st) {
        st = td_array_assign_taken(&dst, &t);
        t.store = NULL;
    }
    if (!st)
        memcpy(to->v + lo * nc, p->v, (size_t)(n * nc) * sizeof *p->v);
    sa_unref(&t);
    td_array_unref(&dst);
    td_array_unref(&src);
    return st;
}

static inline td_status
sa_write_all(sa_program *p, const sa_item *x, sa_item *to)
{
    td_op f = sa_draw_op(p->seed);
    td_operand both[2] = {{.array = &to->a}, {.array = &x->a}}, k = sa_number(7);
    bool into = stress_draw(p->seed, 2);
    td_array less = {0};
    td_status st;

    for (int i = 0; i < sa_size(); i++)
        p->v[i] = into ? sa_op(f, to->v[i], x->v[i]) : x->v[i] < 7 ? 7 : to->v[i];
    if (into) {
        st = td_array_apply_into(f, both, 2, &to->a);
    } else {
        st = sa_with(OP_less, &x->a, 7, &less);
        if (!st)
            st = td_array_assign_where(&to->a, &less, &k);
        sa_unref(&less);
    }
    if (!st)
        memcpy(to->v, p->v, (size_t)sa_size() * sizeof *p->v);
    return st;
}

/* Rows named by y's numbers become, or get added, a number. */
static inline td_status
sa_put(sa_program *p, const sa_item *y, sa_item *to)
{
    int64_t k = (int64_t)stress_draw(p->seed, 9);
    bool add = stress_draw(p->seed, 2);
    td_view v = y->a.view;
    td_operand value = sa_number(k);
    td_array column, index = {0};
    td_pick pick = {.n = 1, .index = {&index}};
    td_status st;

    v.shape.ndim = 1;
    column = td_array_view(&y->a, &v);
    st = sa_with(OP_bitwise_and, &column, SA_ROWS - 1, &index);
    td_array_unref(&column);
    memcpy(p->v, to->v, (size_t)sa_size() * sizeof *p->v);
    for (int i = 0; i < sa_size(); i++) {
        int64_t *at = &p->v[(y->v[i / sa.cols * sa.cols] & (SA_ROWS - 1)) * sa.cols + i % sa.cols];

        *at = add ? sa_op(OP_add, *at, k) : k;
    }
    if (!st)
        st = add ? td_array_put_op(&to->a, &pick, OP_add, &value) : td_array_put(&to->a, &pick, &value);
    sa_unref(&index);
    if (!st)
        memcpy(to->v, p->v, (size_t)sa_size() * sizeof *p->v);
    return st == TD_SKIP ? TD_OK : st;
}

/* ---- values that change hands ---- */

static inline td_status
sa_publish(sa_program *p, const sa_item *x)
{
    td_array again;
    td_status st = td_array_again(&x->a, &again);

    if (!st)
        sa_set(&sa.shared[stress_draw(p->seed, SA_SHARED)], &again, x->v);
    return st;
}

/* With the lock: what is shared is nobody's to write to, so its array may be everybody's to read. */
static inline td_status
sa_adopt(sa_program *p, sa_item *to)
{
    const sa_item *x = &sa.shared[stress_draw(p->seed, SA_SHARED)];
    td_array a = {0};
    int64_t *v;
    td_status st;

    if (!x->a.store)
        return TD_OK;
    a = td_array_ref(&x->a);
    v = malloc((size_t)sa_size() * sizeof *v);
    memcpy(v, x->v, (size_t)sa_size() * sizeof *v);
    if (stress_draw(p->seed, 3) == 0) {
        st = sa_look("shared", &a, v);
    } else {
        td_array again;

        st = td_array_again(&a, &again);
        if (!st)
            sa_set(to, &again, v);
    }
    td_array_unref(&a);
    free(v);
    return st;
}

/* Another library reads it by its address. */
static inline td_status
sa_lend(sa_program *p, sa_item *x)
{
    const int64_t *at;
    td_buf *b;
    td_view v;

    TD_TRY(td_array_lend(&x->a, &b, &v));
    stress_pause();
    if (!td_dev_sync(sa.dev)) {
        at = (const int64_t *)b->ptr + v.offset; // NOLINT(performance-no-int-to-ptr)
        for (int i = 0; i < sa_size(); i++)
            if (at[i / sa.cols * v.stride[0] + i % sa.cols * v.stride[1]] != x->v[i]) {
                (void)sa_wrong("lent", i, at[i], x->v[i]);
                break;
            }
    }
    (void)p;
    td_array_return(b);
    return TD_OK;
}

/* To the other device and back. */
static inline td_status
sa_travel(const sa_item *x, sa_item *to)
{
    td_array there = {0}, back;
    td_status st;

    if (!sa.other)
        return TD_OK;
    st = td_array_to_device(&x->a, sa.other, &there);
    if (!st)
        st = td_array_to_device(&there, sa.dev, &back);
    sa_unref(&there);
    if (!st)
        sa_set(to, &back, x->v);
    return st == TD_SKIP ? TD_OK : st;
}

/* x + something on the host's memory, chunk by chunk or not. */
static inline td_status
sa_streamed(sa_program *p, const sa_item *x, sa_item *to)
{
    size_t nbytes = (size_t)sa_size() * sizeof *p->v;
    td_source like = {.dt = TD_I64, .view = td_view_contiguous(&x->a.view.shape), .release = free};
    td_array host = {0}, r = {0};
    td_source *src;
    td_node *n;
    td_status st;

    like.owner = like.mem = malloc(nbytes);
    for (int i = 0; i < sa_size(); i++)
        p->w[i] = (int64_t)stress_draw(p->seed, 1000);
    memcpy(like.mem, p->w, nbytes);
    for (int i = 0; i < sa_size(); i++)
        p->v[i] = sa_op(OP_add, x->v[i], p->w[i]);
    st = td_source_new(&like, &src);
    if (st) {
        free(like.mem);
        return st;
    }
    st = td_host_node(sa.dev, src, &like.view, &n);
    td_source_unref(src);
    if (!st)
        st = td_array_of_node(n, &host);
    if (!st)
        st = sa_both(OP_add, &x->a, &host, &r);
    sa_unref(&host);
    if (!st && stress_draw(p->seed, 2))
        st = td_chunk_stream(&r, 1 + stress_draw(p->seed, 3));
    if (!st)
        sa_set(to, &r, p->v);
    else
        sa_unref(&r);
    return st;
}

/* in * 3 + x - max(in) over rows, recorded and played for two inputs. */
static inline td_status
sa_captured(sa_program *p, const sa_item *x, const sa_item *y, sa_item *to)
{
    td_redargs args = {.axes = 2, .keepdims = true, .dtype = -1};
    td_array in = {0}, t = {0}, u = {0}, most = {0}, r = {0};
    td_capture *c = NULL;
    td_status st;

    TD_TRY(td_capture_begin(sa.dev, (const td_array *[]){&y->a}, 1, &c, &in));
    st = sa_with(OP_multiply, &in, 3, &t);
    st = st ? st : sa_both(OP_add, &t, &x->a, &u);
    stress_pause();
    st = st ? st : td_array_reduce(TD_RED_max, &in, &args, &most);
    st = st ? st : sa_both(OP_subtract, &u, &most, &r);
    st = st ? st : td_capture_end(c, (const td_array *[]){&r}, 1, false);
    sa_unref(&in);
    sa_unref(&t);
    sa_unref(&u);
    sa_unref(&most);
    sa_unref(&r);
    for (int k = 0; k < (to == x ? 1 : 2) && !st; k++) {
        const sa_item *of = k ? to : y;

        st = td_capture_play(c, (const td_array *[]){&of->a}, 1, &r);
        for (int i = 0; i < sa_size() && !st; i++) {
            int64_t big = of->v[i / sa.cols * sa.cols];

            for (int q = 1; q < sa.cols; q++)
                big = sa_op(OP_maximum, big, of->v[i / sa.cols * sa.cols + q]);
            p->v[i] = sa_op(OP_subtract, sa_op(OP_add, sa_op(OP_multiply, of->v[i], 3), x->v[i]), big);
        }
        if (!st)
            sa_set(to, &r, p->v);
        st = st == TD_SKIP ? TD_OK : st; /* to lies otherwise */
    }
    td_capture_free(c);
    return st;
}

static inline td_status
sa_fresh(sa_program *p, sa_item *to)
{
    td_shape s = {.ndim = 2, .dim = {SA_ROWS, sa.cols}};
    td_array a;

    for (int i = 0; i < sa_size(); i++)
        p->v[i] = (int64_t)stress_draw(p->seed, 1000) - 500;
    TD_TRY(td_array_from_host(sa.dev, TD_I64, &s, p->v, &a));
    td_array_offer(&a);
    sa_set(to, &a, p->v);
    return TD_OK;
}

/* ---- programs with races of their own: any value will do, but nothing else may be touched ---- */

/* Rows of x by indices that others change: rows of it, or an error. */
static inline td_status
sa_take_unruly(sa_program *p, const sa_item *x)
{
    td_array r = {0};
    td_status st = td_array_take(&x->a, &sa.index, 0, &r);

    if (!st)
        st = td_array_get(&r, p->v);
    for (int i = 0; i < SA_ROWS && !st; i++) {
        int at = 0;

        while (at < SA_ROWS && memcmp(p->v + i * sa.cols, x->v + at * sa.cols,
                                      (size_t)sa.cols * sizeof *p->v) != 0)
            at++;
        if (at == SA_ROWS)
            (void)sa_wrong("taken", i, p->v[i * sa.cols], x->v[0]);
    }
    sa_unref(&r);
    return st == TD_ERR_INDEX ? TD_OK : st;
}

static inline td_status
sa_write_index(sa_program *p)
{
    td_operand one = sa_number((int64_t)stress_draw(p->seed, SA_ROWS) +
                               (stress_draw(p->seed, 3) ? 0 : (int64_t)1 << 40));
    int i = (int)stress_draw(p->seed, SA_ROWS);
    td_array part;
    td_status st;

    if (stress_draw(p->seed, 2))
        return td_array_assign(&sa.index, &one);
    part = sa_part(&sa.index, i, 1);
    st = td_array_assign(&part, &one);
    td_array_unref(&part);
    return st;
}

static inline td_status
sa_mess(sa_program *p, const sa_item *x)
{
    sa_item all = {.a = sa.cell, .v = p->w};
    td_array r = {0};
    td_status st;

    switch (stress_draw(p->seed, 9)) {
    case 0:  return td_array_assign(&sa.cell, &(td_operand){.array = &x->a});
    case 1:  return sa_write_rows(p, x, &all);
    case 2:  return sa_write_all(p, x, &all);
    case 3:  return sa_put(p, x, &all);
    case 4:  return td_array_get(&sa.cell, p->v);
    case 5:  return td_array_eval((const td_array *[]){&sa.cell}, 1);
    case 6:  return sa_take_unruly(p, x);
    case 7:  return sa_write_index(p);
    default:
        st = sa_both(OP_add, &sa.cell, &x->a, &r);
        if (!st)
            st = td_array_assign_taken(&sa.cell, &r);
        return st;
    }
}

static inline td_status
sa_step(sa_program *p)
{
    sa_item *x = &p->own[stress_draw(p->seed, SA_OWN)], *y = &p->own[stress_draw(p->seed, SA_OWN)],
            *to = &p->own[stress_draw(p->seed, SA_OWN)];

    if (!x->a.store || !y->a.store || !to->a.store)
        return sa_fresh(p, x->a.store ? y->a.store ? to : y : x);
    if (sa.unruly && stress_draw(p->seed, 2))
        return sa_mess(p, x);
    switch (stress_draw(p->seed, 22)) {
    case 0:  return sa_rows(p, x, y, to);
    case 1:  return sa_rows(p, x, x, to);
    case 2:  return sa_spread(p, x, to);
    case 3:  return sa_reversed(p, x, y, to);
    case 4:  return sa_product(p, x, y, to);
    case 5:  return sa_ordered(p, x, to);
    case 6:  return sa_taken(p, x, y, to);
    case 7:  return sa_write_rows(p, x, to);
    case 8:  return sa_write_all(p, x, to);
    case 9:  return sa_put(p, y, to);
    case 10: return sa_publish(p, x);
    case 11:
    case 12: return sa_adopt(p, to);
    case 13: return sa_lend(p, x);
    case 14: return sa_travel(x, to);
    case 15: return td_array_eval((const td_array *[]){&x->a, &y->a}, 2);
    case 16: return sa_look("own", &x->a, x->v);
    case 17: return sa_streamed(p, x, to);
    case 18: return sa_captured(p, x, y, to);
    default: return sa_elementwise(p, x, y, to);
    }
}

static inline bool
sa_excused(td_status st)
{
    return (sa.faults && strstr(td_error(), "LAUNCH_FAILED")) || (sa.may_run_out && st == TD_ERR_OOM);
}

static inline void
sa_run(stress_thread *t)
{
    sa_program *p = calloc(1, sizeof *p);

    p->seed = &t->seed;
    for (int i = 0; i < sa.steps; i++) {
        td_status st = sa_step(p);

        if (st && !sa_excused(st)) {
            printf("thread %d, step %d: %s\n", t->number, i, td_error());
            check_failures++;
        }
        sa.failed += st != TD_OK;
        if (stress_draw(p->seed, 2))
            stress_pause();
    }
    for (int i = 0; i < SA_OWN; i++) {
        td_status st = TD_OK;

        for (int k = 0; p->own[i].a.store && k < 100; k++) { /* what failed does not fail for ever */
            st = sa_look("at the end", &p->own[i].a, p->own[i].v);
            if (!st || !sa_excused(st))
                break;
            stress_pause();
        }
        if (st) {
            printf("at the end: %s\n", td_error());
            check_failures++;
        }
        sa_drop(&p->own[i]);
    }
    free(p);
}

/* Everybody's programs with one seed; false, with the seed printed, if a value was wrong. */
static inline bool
sa_try(uint64_t seed)
{
    td_shape s = {.ndim = 2, .dim = {SA_ROWS, sa.cols}}, row = {.ndim = 1, .dim = {SA_ROWS}};
    td_scalar zero = {.dt = TD_I64};
    int before = check_failures;

    if (sa.unruly && (!CHECK_OK(td_array_full(sa.dev, TD_I64, &s, zero, &sa.cell)) ||
                      !CHECK_OK(td_array_full(sa.dev, TD_I64, &row, zero, &sa.index))))
        return false;
    stress_run(seed, sa_run);
    sa_unref(&sa.cell);
    sa_unref(&sa.index);
    for (int i = 0; i < SA_SHARED; i++)
        sa_drop(&sa.shared[i]);
    if (check_failures > before)
        printf("seed %" PRIu64 " of %d columns\n", seed, sa.cols);
    return check_failures == before;
}

#endif
