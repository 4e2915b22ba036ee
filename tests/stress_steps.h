/* stress_steps.h - what the programs that threads run are made of (stress_arrays.h). */
#ifndef TD_TESTS_STRESS_STEPS_H
#define TD_TESTS_STRESS_STEPS_H
#include "stress_values.h"

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

#endif
