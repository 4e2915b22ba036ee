/* t_api.c - the C API as a program sees it: treadle.h and nothing else of ours. */
#include <treadle.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static int
check(int ok, int line, const char *what)
{
    if (!ok) {
        printf("t_api.c:%d: %s: %s\n", line, what, treadle_error());
        failures++;
    }
    return ok;
}

#define CHECK(c)    check(!!(c), __LINE__, #c)
#define CHECK_OK(c) check((c) == TREADLE_OK, __LINE__, #c)
#define CHECK_FAILS(c, st, word)                                                                   \
    check((c) == (st) && strstr(treadle_error(), word), __LINE__, #c " should say " word)

/* The arrays of one test; the last `keep` is given up with it. */
typedef struct bag {
    treadle_array *a[64];
    int n;
} bag;

static treadle_array *
keep(bag *b, treadle_status st, treadle_array *const *a, int line)
{
    if (!check(st == TREADLE_OK, line, "an array"))
        exit(1);
    b->a[b->n++] = *a;
    return *a;
}

#define KEEP(b, call) keep(b, call, &r, __LINE__) /* call puts its result into r */

static void
drop(bag *b)
{
    while (b->n)
        treadle_array_unref(b->a[--b->n]);
}

/* Are the elements, as float64, these? */
static int
holds(const treadle_array *a, int n, const double *want)
{
    double got[64];
    treadle_array *wide;
    int ok;

    if (treadle_array_size(a) != n || n > 64 || treadle_cast(a, TREADLE_FLOAT64, &wide))
        return 0;
    ok = !treadle_array_get(wide, got, (size_t)n * sizeof *got);
    for (int i = 0; ok && i < n; i++)
        ok = got[i] == want[i];
    treadle_array_unref(wide);
    return ok;
}

#define HOLDS(a, ...)                                                                              \
    holds(a, (int)(sizeof(double[]){__VA_ARGS__} / sizeof(double)), (const double[]){__VA_ARGS__})

static void
test_tables(void)
{
    treadle_dtype dt = TREADLE_BOOL;
    treadle_op op = TREADLE_OP_add;
    treadle_red red = TREADLE_RED_sum;

    CHECK(strcmp(treadle_version(), TREADLE_VERSION) == 0);
    for (int i = TREADLE_BOOL; i <= TREADLE_COMPLEX128; i++) {
        CHECK_OK(treadle_dtype_find(treadle_dtype_name((treadle_dtype)i), &dt));
        CHECK(dt == (treadle_dtype)i && treadle_dtype_size(dt) > 0);
    }
    CHECK(strcmp(treadle_dtype_name(TREADLE_FLOAT32), "float32") == 0);
    CHECK(treadle_dtype_size(TREADLE_COMPLEX128) == 16 &&
          treadle_dtype_size(TREADLE_DTYPE_DEFAULT) == 0);
    for (int i = TREADLE_OP_add; i <= TREADLE_OP_select; i++) {
        CHECK_OK(treadle_op_find(treadle_op_name((treadle_op)i), &op));
        CHECK(op == (treadle_op)i && treadle_op_arity(op) >= 1 && treadle_op_arity(op) <= 3);
    }
    for (int i = TREADLE_RED_sum; i <= TREADLE_RED_count_nonzero; i++) {
        CHECK_OK(treadle_red_find(treadle_red_name((treadle_red)i), &red));
        CHECK(red == (treadle_red)i);
    }
    CHECK_FAILS(treadle_op_find("param", &op), TREADLE_ERR_VALUE, "'param'");
    CHECK_FAILS(treadle_red_find("median", &red), TREADLE_ERR_VALUE, "'median'");
    CHECK_FAILS(treadle_dtype_find("decimal", &dt), TREADLE_ERR_TYPE, "decimal");
    CHECK_FAILS(treadle_op_find(NULL, &op), TREADLE_ERR_VALUE, "NULL");
    CHECK(strcmp(treadle_status_name(TREADLE_ERR_IO), "TREADLE_ERR_IO") == 0);
    CHECK(strcmp(treadle_op_name((treadle_op)9999), "?") == 0 && !treadle_op_arity((treadle_op)-1));
}

static void
test_devices(treadle_device *d)
{
    treadle_device_info info;
    treadle_device *list[8], *same;
    size_t n, free_nbytes, total;

    CHECK_OK(treadle_device_get_info(d, &info));
    CHECK_OK(treadle_device_open(info.name, &same));
    CHECK(same == d);
    CHECK_OK(treadle_device_open(NULL, &same));
    CHECK(same == d); /* main has put it in use */
    CHECK_OK(treadle_device_list(list, 8, &n));
    CHECK(n >= 1 && (n > 1) == !*treadle_cuda_missing());
    CHECK_OK(treadle_device_list(NULL, 0, &n));
    CHECK_OK(treadle_device_memory(d, &free_nbytes, &total));
    CHECK(free_nbytes <= total && info.memory > 0 && info.units > 0);
    CHECK_OK(treadle_device_sync(NULL));
    CHECK_OK(treadle_device_trim(d));
    CHECK_FAILS(treadle_device_open("gpu7", &same), TREADLE_ERR_VALUE, "gpu7");
    CHECK_FAILS(treadle_device_open("cuda:99", &same), TREADLE_ERR_DEVICE, "");
    CHECK_FAILS(treadle_device_list(NULL, 3, &n), TREADLE_ERR_VALUE, "NULL");
}

static int released;

static void
on_release(void *owner)
{
    released += *(int *)owner;
}

static void
test_making(treadle_device *d)
{
    static const float data[6] = {1, 2, 3, 4, 5, 6};
    const int64_t dims[2] = {2, 3}, none[1] = {0};
    double *mine = calloc(6, sizeof *mine);
    int token = 1, before = released;
    treadle_array *r, *a, *e;
    treadle_device_info info;
    double x;
    bag b = {.n = 0};

    a = KEEP(&b, treadle_from_host(d, TREADLE_FLOAT32, 2, dims, data, &r));
    CHECK(treadle_array_ndim(a) == 2 && treadle_array_dim(a, -1) == 3 &&
          treadle_array_dim(a, 2) == -1);
    CHECK(treadle_array_size(a) == 6 && treadle_array_nbytes(a) == 24);
    CHECK(treadle_array_dtype(a) == TREADLE_FLOAT32 && treadle_array_device(a) == d);
    CHECK(HOLDS(a, 1, 2, 3, 4, 5, 6));
    CHECK(HOLDS(KEEP(&b, treadle_full(d, TREADLE_INT8, 1, dims, treadle_i(-7), &r)), -7, -7));
    CHECK(HOLDS(KEEP(&b, treadle_full(d, TREADLE_BOOL, 0, NULL, treadle_b(true), &r)), 1));
    CHECK(HOLDS(KEEP(&b, treadle_arange(d, TREADLE_INT32, 4, treadle_i(10), treadle_i(-3), &r)), 10,
                7, 4, 1));
    CHECK(HOLDS(KEEP(&b, treadle_arange(d, TREADLE_FLOAT64, 3, treadle_i(1), treadle_f(.5), &r)), 1,
                1.5, 2));
    e = KEEP(&b, treadle_empty(d, TREADLE_FLOAT32, 1, none, &r));
    CHECK(treadle_array_size(e) == 0);
    CHECK_OK(treadle_array_get(e, NULL, 0));
    CHECK(treadle_array_ref(e) == e);
    treadle_array_unref(e);
    CHECK(HOLDS(KEEP(&b, treadle_to_device(a, NULL, &r)), 1, 2, 3, 4, 5, 6) && b.a[b.n - 1] != a);
    CHECK_FAILS(treadle_from_host(d, TREADLE_DTYPE_DEFAULT, 2, dims, data, &r), TREADLE_ERR_VALUE,
                "no dtype");
    CHECK_FAILS(treadle_from_host(d, TREADLE_INT8, 2, NULL, data, &r), TREADLE_ERR_VALUE, "NULL");
    CHECK_FAILS(treadle_full(d, TREADLE_UINT8, 1, dims, treadle_i(256), &r), TREADLE_ERR_OVERFLOW,
                "256");
    CHECK_FAILS(treadle_full(d, TREADLE_UINT8, 1, dims, treadle_a(a), &r), TREADLE_ERR_VALUE,
                "a number");
    CHECK_FAILS(treadle_empty(d, TREADLE_INT8, 17, dims, &r), TREADLE_ERR_VALUE, "17");
    CHECK_FAILS(treadle_array_item(a, &x), TREADLE_ERR_VALUE, "6 elements");
    CHECK_FAILS(treadle_array_get(a, mine, 7), TREADLE_ERR_VALUE, "7 bytes");
    CHECK_OK(treadle_device_get_info(d, &info));
    if (!info.gpu && mine) {
        CHECK_OK(treadle_wrap(d, TREADLE_FLOAT64, 2, dims, mine, on_release, &token, &r));
        CHECK_OK(treadle_assign(r, treadle_f(2.5)));
        CHECK_OK(treadle_device_sync(d));
        CHECK(mine[0] == 2.5 && mine[5] == 2.5 && released == before);
        treadle_array_unref(r);
        CHECK(released == before + 1);
        if (strcmp(info.name, "null") == 0) /* reads a complex number at once, as a GPU does */
            CHECK_FAILS(treadle_wrap(d, TREADLE_COMPLEX128, 1, dims, mine + 1, NULL, NULL, &r),
                        TREADLE_ERR_VALUE, "multiples of 16");
    }
    free(mine);
    drop(&b);
}

static void
test_random(treadle_device *d)
{
    const int64_t n = 10000;
    treadle_rng g = treadle_rng_seed(7), h = g;
    treadle_array *r, *u, *m;
    double x, y;
    bag b = {.n = 0};

    u = KEEP(&b, treadle_random_uniform(d, &g, TREADLE_FLOAT64, 1, &n, &r));
    CHECK(g.counter > h.counter && g.key == h.key);
    m = KEEP(&b, treadle_reduce(TREADLE_RED_mean, u, NULL, &r));
    CHECK_OK(treadle_array_item(m, &x));
    CHECK(fabs(x - 0.5) < 0.02);
    u = KEEP(&b, treadle_random_uniform(d, &h, TREADLE_FLOAT64, 1, &n, &r));
    m = KEEP(&b, treadle_reduce(TREADLE_RED_mean, u, NULL, &r));
    CHECK_OK(treadle_array_item(m, &y));
    CHECK(x == y);
    u = KEEP(&b, treadle_random_normal(d, &g, TREADLE_FLOAT32, 1, &n, 3, 2, &r));
    m = KEEP(&b, treadle_reduce(TREADLE_RED_std, u, NULL, &r));
    CHECK_OK(treadle_array_item(m, &x));
    CHECK(fabs(x - 2) < 0.1);
    u = KEEP(&b, treadle_random_integers(d, &g, TREADLE_INT8, 1, &n, -128, 128, &r));
    CHECK(HOLDS(KEEP(&b, treadle_reduce(TREADLE_RED_min, u, NULL, &r)), -128));
    CHECK(HOLDS(KEEP(&b, treadle_reduce(TREADLE_RED_max, u, NULL, &r)), 127));
    CHECK_FAILS(treadle_random_integers(d, &g, TREADLE_INT8, 1, &n, 0, 129, &r),
                TREADLE_ERR_OVERFLOW, "128");
    CHECK_FAILS(treadle_random_integers(d, &g, TREADLE_INT8, 1, &n, 5, 5, &r), TREADLE_ERR_VALUE,
                "low 5");
    CHECK_FAILS(treadle_random_uniform(d, &g, TREADLE_INT8, 1, &n, &r), TREADLE_ERR_TYPE, "int8");
    CHECK_FAILS(treadle_random_normal(d, &g, TREADLE_FLOAT32, 1, &n, 0, -1, &r), TREADLE_ERR_VALUE,
                "-1");
    drop(&b);
}

static void
test_operations(treadle_device *d)
{
    const int64_t three[1] = {3}, five[1] = {5};
    treadle_array *r, *a, *c, *m;
    treadle_operand x[3];
    treadle_op op;
    bag b = {.n = 0};

    a = KEEP(&b, treadle_arange(d, TREADLE_FLOAT32, 3, treadle_f(0), treadle_f(1), &r));
    CHECK(HOLDS(KEEP(&b, treadle_binary(TREADLE_OP_add, treadle_a(a), treadle_f(.5), &r)), .5, 1.5,
                2.5));
    CHECK(treadle_array_dtype(b.a[b.n - 1]) == TREADLE_FLOAT32); /* the number is weak */
    CHECK_OK(treadle_op_find("negative", &op));
    CHECK(HOLDS(KEEP(&b, treadle_unary(op, treadle_a(a), &r)), 0, -1, -2));
    m = KEEP(&b, treadle_binary(TREADLE_OP_greater, treadle_a(a), treadle_i(0), &r));
    x[0] = treadle_a(m), x[1] = treadle_a(a), x[2] = treadle_f(9);
    c = KEEP(&b, treadle_apply(TREADLE_OP_select, 3, x, &r));
    CHECK(HOLDS(c, 9, 1, 2));
    x[0] = treadle_a(c), x[1] = treadle_i(10);
    CHECK_OK(treadle_apply_into(TREADLE_OP_multiply, 2, x, c));
    CHECK(HOLDS(c, 90, 10, 20));
    CHECK_OK(treadle_assign_where(c, m, treadle_f(-1)));
    CHECK(HOLDS(c, 90, -1, -1));
    CHECK(HOLDS(KEEP(&b, treadle_copy(c, &r)), 90, -1, -1));
    c = KEEP(&b, treadle_cast(c, TREADLE_UINT8, &r));
    CHECK(treadle_array_dtype(c) == TREADLE_UINT8 && treadle_array_nbytes(c) == 3);
    c = KEEP(&b, treadle_full(d, TREADLE_FLOAT32, 1, five, treadle_f(1), &r));
    CHECK_FAILS(treadle_binary(TREADLE_OP_add, treadle_a(a), treadle_a(c), &r), TREADLE_ERR_VALUE,
                "(3,) (5,)");
    CHECK_FAILS(treadle_binary(TREADLE_OP_add, treadle_f(1), treadle_f(2), &r), TREADLE_ERR_VALUE,
                "no operand");
    CHECK_FAILS(treadle_unary(TREADLE_OP_add, treadle_a(a), &r), TREADLE_ERR_VALUE, "2 operands");
    CHECK_FAILS(treadle_unary(TREADLE_OP_invert, treadle_a(a), &r), TREADLE_ERR_TYPE, "invert");
    CHECK_FAILS(treadle_unary((treadle_op)-3, treadle_a(a), &r), TREADLE_ERR_VALUE, "-3");
    CHECK_FAILS(treadle_cast(NULL, TREADLE_INT8, &r), TREADLE_ERR_VALUE, "cast");
    c = KEEP(&b, treadle_full(d, TREADLE_INT32, 1, three, treadle_i(1), &r));
    x[0] = treadle_a(c), x[1] = treadle_f(.5);
    CHECK_FAILS(treadle_apply_into(TREADLE_OP_multiply, 2, x, c), TREADLE_ERR_TYPE, "multiply");
    drop(&b);
}

static void
test_reductions(treadle_device *d)
{
    const int64_t dims[2] = {2, 3}, pair[2] = {1, 0};
    treadle_reduce_args g = {.naxes = 1, .axes = {-1}, .keepdims = true};
    treadle_array *r, *a, *flat, *i;
    double x;
    bag b = {.n = 0};

    flat = KEEP(&b, treadle_arange(d, TREADLE_INT32, 6, treadle_i(1), treadle_i(1), &r));
    a = KEEP(&b, treadle_reshape(flat, 2, dims, &r));
    CHECK(HOLDS(KEEP(&b, treadle_reduce(TREADLE_RED_sum, a, NULL, &r)), 21));
    CHECK(treadle_array_dtype(b.a[b.n - 1]) == TREADLE_INT64 &&
          treadle_array_ndim(b.a[b.n - 1]) == 0);
    CHECK(HOLDS(KEEP(&b, treadle_reduce(TREADLE_RED_max, a, &g, &r)), 3, 6));
    CHECK(treadle_array_ndim(b.a[b.n - 1]) == 2);
    g = (treadle_reduce_args){.naxes = 1, .axes = {0}, .dtype = TREADLE_FLOAT32};
    CHECK(HOLDS(KEEP(&b, treadle_reduce(TREADLE_RED_sum, a, &g, &r)), 5, 7, 9));
    CHECK(treadle_array_dtype(b.a[b.n - 1]) == TREADLE_FLOAT32);
    g = (treadle_reduce_args){.ddof = 1};
    CHECK_OK(treadle_array_item(KEEP(&b, treadle_reduce(TREADLE_RED_var, a, &g, &r)), &x));
    CHECK(fabs(x - 3.5) < 1e-12);
    i = KEEP(&b, treadle_from_host(d, TREADLE_INT64, 1, (const int64_t[]){2}, pair, &r));
    CHECK(HOLDS(KEEP(&b, treadle_take(a, i, 0, &r)), 4, 5, 6, 1, 2, 3));
    g = (treadle_reduce_args){.naxes = 2, .axes = {1, -1}};
    CHECK_FAILS(treadle_reduce(TREADLE_RED_sum, a, &g, &r), TREADLE_ERR_VALUE, "twice");
    g = (treadle_reduce_args){.naxes = 1, .axes = {2}};
    CHECK_FAILS(treadle_reduce(TREADLE_RED_sum, a, &g, &r), TREADLE_ERR_INDEX, "axis 2");
    CHECK_FAILS(treadle_reduce((treadle_red)99, a, NULL, &r), TREADLE_ERR_VALUE, "99");
    CHECK_FAILS(treadle_take(a, flat, 0, &r), TREADLE_ERR_TYPE, "int32");
    i = KEEP(&b, treadle_full(d, TREADLE_INT64, 1, dims, treadle_i(2), &r));
    CHECK_FAILS(treadle_take(a, i, 0, &r), TREADLE_ERR_INDEX, "2");
    flat = KEEP(&b, treadle_full(d, TREADLE_FLOAT32, 1, (const int64_t[]){0}, treadle_i(0), &r));
    CHECK_FAILS(treadle_reduce(TREADLE_RED_max, flat, NULL, &r), TREADLE_ERR_VALUE, "max");
    drop(&b);
}

static void
test_views(treadle_device *d)
{
    const int64_t dims[2] = {3, -1}, wide[2] = {2, 3}, bad[2] = {5, -1};
    const int swap[2] = {1, 0}, wrong[2] = {0, 0};
    static const int32_t fresh[4] = {-1, -2, -3, -4};
    treadle_array *r, *a, *v, *w;
    bag b = {.n = 0};

    a = KEEP(&b, treadle_arange(d, TREADLE_INT32, 12, treadle_i(0), treadle_i(1), &r));
    a = KEEP(&b, treadle_reshape(a, 2, dims, &r));
    v = KEEP(&b, treadle_slice(a, 1, -TREADLE_END, TREADLE_END, 2, &r));
    CHECK(HOLDS(v, 0, 2, 4, 6, 8, 10));
    CHECK(
        HOLDS(KEEP(&b, treadle_slice(v, 0, TREADLE_END, -TREADLE_END, -1, &r)), 8, 10, 4, 6, 0, 2));
    CHECK(HOLDS(KEEP(&b, treadle_slice(v, -2, -1, 99, 1, &r)), 8, 10));
    CHECK(treadle_array_size(KEEP(&b, treadle_slice(v, 0, 2, 1, 1, &r))) == 0);
    CHECK(HOLDS(KEEP(&b, treadle_transpose(v, NULL, &r)), 0, 4, 8, 2, 6, 10));
    CHECK(HOLDS(KEEP(&b, treadle_transpose(v, swap, &r)), 0, 4, 8, 2, 6, 10));
    w = KEEP(&b, treadle_at(v, 0, -1, &r));
    CHECK(treadle_array_ndim(w) == 1 && HOLDS(w, 8, 10));
    CHECK_OK(treadle_assign(w, treadle_i(77)));
    w = KEEP(&b, treadle_at(a, 0, 2, &r));
    CHECK(HOLDS(w, 77, 9, 77, 11)); /* written through a view of a view */
    CHECK_OK(treadle_array_set(w, fresh, sizeof fresh));
    CHECK(HOLDS(a, 0, 1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -4));
    w = KEEP(&b, treadle_slice(a, 1, 0, 3, 1, &r));
    w = KEEP(&b, treadle_at(w, 0, 0, &r));
    w = KEEP(&b, treadle_broadcast(w, 2, wide, &r));
    CHECK(HOLDS(w, 0, 1, 2, 0, 1, 2));
    CHECK_FAILS(treadle_assign(w, treadle_i(1)), TREADLE_ERR_VALUE, "broadcast");
    CHECK_FAILS(treadle_array_set(KEEP(&b, treadle_at(w, 0, 0, &r)), fresh, 12), TREADLE_ERR_VALUE,
                "broadcast");
    CHECK_FAILS(treadle_slice(a, 2, 0, 1, 1, &r), TREADLE_ERR_INDEX, "axis 2");
    CHECK_FAILS(treadle_slice(a, 0, 0, 1, 0, &r), TREADLE_ERR_VALUE, "step of 0");
    CHECK_FAILS(treadle_at(a, 0, 3, &r), TREADLE_ERR_INDEX, "index 3");
    CHECK_FAILS(treadle_reshape(a, 2, bad, &r), TREADLE_ERR_VALUE, "size 12");
    CHECK_FAILS(treadle_transpose(a, wrong, &r), TREADLE_ERR_VALUE, "permutation");
    CHECK_FAILS(treadle_broadcast(a, 2, wide, &r), TREADLE_ERR_VALUE, "broadcast");
    drop(&b);
}

static void
test_matmul(treadle_device *d)
{
    static const treadle_dtype kinds[] = {TREADLE_INT32, TREADLE_FLOAT32, TREADLE_FLOAT64};
    const int64_t left[2] = {2, 3}, right[2] = {3, 2};
    treadle_array *r, *a, *c, *v;
    bag b = {.n = 0};

    for (int i = 0; i < 3; i++) {
        v = KEEP(&b, treadle_arange(d, kinds[i], 6, treadle_i(0), treadle_i(1), &r));
        a = KEEP(&b, treadle_reshape(v, 2, left, &r));
        c = KEEP(&b, treadle_reshape(v, 2, right, &r));
        CHECK(HOLDS(KEEP(&b, treadle_matmul(a, c, &r)), 10, 13, 28, 40));
        c = KEEP(&b, treadle_transpose(a, NULL, &r));
        CHECK(HOLDS(KEEP(&b, treadle_matmul(a, c, &r)), 5, 14, 14, 50));
        c = KEEP(&b, treadle_at(a, 0, 1, &r));
        CHECK(HOLDS(KEEP(&b, treadle_matmul(a, c, &r)), 14, 50));
    }
    CHECK_FAILS(treadle_matmul(a, a, &r), TREADLE_ERR_VALUE, "inner sizes");
    CHECK_FAILS(treadle_matmul(a, NULL, &r), TREADLE_ERR_VALUE, "NULL");
    drop(&b);
}

/* z (1 - 2i), its imaginary part and its sum; the product of z with itself. */
static void
test_complex(treadle_device *d)
{
    static const float data[4] = {1, 2, -3, 0.5f};
    const int64_t two = 2;
    treadle_array *r, *z, *w;
    bag b = {.n = 0};
    float got[4];

    z = KEEP(&b, treadle_from_host(d, TREADLE_COMPLEX64, 1, &two, data, &r));
    w = KEEP(&b, treadle_apply(TREADLE_OP_multiply, 2,
                               (treadle_operand[]){treadle_a(z), treadle_c(1, -2)}, &r));
    CHECK_OK(treadle_array_get(w, got, sizeof got));
    CHECK(got[0] == 5 && got[1] == 0 && got[2] == -2 && got[3] == 6.5f);
    CHECK(HOLDS(KEEP(&b, treadle_apply(TREADLE_OP_imag, 1, (treadle_operand[]){treadle_a(w)}, &r)),
                0, 6.5));
    w = KEEP(&b, treadle_reduce(TREADLE_RED_sum, w, NULL, &r));
    CHECK_OK(treadle_array_get(w, got, 2 * sizeof *got));
    CHECK(got[0] == 3 && got[1] == 6.5f);
    w = KEEP(&b, treadle_matmul(z, z, &r));
    CHECK_OK(treadle_array_get(w, got, 2 * sizeof *got));
    CHECK(got[0] == 5.75f && got[1] == 1);
    drop(&b);
}

/* A chain becomes one kernel, which is found again. */
static void
test_fusion(treadle_device *d)
{
    const int64_t n = 1000;
    treadle_stats s[3];
    treadle_array *a, *t, *r;

    s[0] = treadle_get_stats();
    for (int i = 0; i < 2; i++) {
        CHECK_OK(treadle_full(d, TREADLE_FLOAT64, 1, &n, treadle_f(i), &a));
        for (int k = 0; k < 5; k++) {
            CHECK_OK(treadle_binary(TREADLE_OP_add, treadle_a(a), treadle_f(k), &t));
            treadle_array_unref(a);
            CHECK_OK(treadle_unary(TREADLE_OP_negative, treadle_a(t), &a));
            treadle_array_unref(t);
        }
        CHECK_OK(treadle_eval(&a, 1));
        CHECK_OK(treadle_reduce(TREADLE_RED_max, a, NULL, &r));
        CHECK(HOLDS(r, -i - 2.0));
        treadle_array_unref(r);
        treadle_array_unref(a);
        s[i + 1] = treadle_get_stats();
    }
    CHECK(s[1].recorded - s[0].recorded >= 12);
    CHECK(s[2].kernels - s[1].kernels <= 4);
    CHECK(s[2].compiled == s[1].compiled && s[2].loaded == s[1].loaded);
    CHECK_OK(treadle_eval_all());
    CHECK_FAILS(treadle_eval(NULL, 1), TREADLE_ERR_VALUE, "NULL");
    (void)treadle_warning();
}

static void
test_streams(treadle_device *d)
{
    const int64_t n = 1000;
    treadle_stream *s, *dflt;
    treadle_event *e[2];
    treadle_array *a;
    double ms = -1;
    bool done = false;

    CHECK_OK(treadle_stream_new(d, &s));
    CHECK_OK(treadle_stream_default(d, &dflt));
    CHECK_OK(treadle_event_new(d, true, &e[0]));
    CHECK_OK(treadle_event_new(d, true, &e[1]));
    CHECK_OK(treadle_event_record(e[0], dflt));
    CHECK_OK(treadle_full(d, TREADLE_FLOAT64, 1, &n, treadle_f(1), &a));
    CHECK_OK(treadle_event_record(e[1], NULL));
    CHECK_OK(treadle_stream_wait(s, e[1]));
    CHECK_OK(treadle_stream_sync(s));
    CHECK_OK(treadle_stream_sync(NULL));
    CHECK_OK(treadle_event_sync(e[1]));
    CHECK_OK(treadle_event_done(e[1], &done));
    CHECK_OK(treadle_event_elapsed(e[0], e[1], &ms));
    CHECK(done && ms >= 0 && !treadle_stream_handle(dflt));
    CHECK_FAILS(treadle_stream_wait(s, NULL), TREADLE_ERR_VALUE, "NULL");
    treadle_event_free(e[0]);
    treadle_event_free(e[1]);
    treadle_event_free(NULL);
    treadle_stream_free(s);
    treadle_stream_free(NULL);
    treadle_array_unref(a);
}

/* y[i] += a x[i] for 128 elements in one block. */
static const char axpy_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry axpy(.param .u64 px, .param .u64 py, .param .f32 pa) {\n"
    ".reg .f32 %f<4>; .reg .u32 %r<2>; .reg .u64 %d<6>;\n"
    "ld.param.u64 %d0, [px]; ld.param.u64 %d1, [py]; ld.param.f32 %f0, [pa];\n"
    "mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4;\n"
    "add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2;\n"
    "ld.global.f32 %f1, [%d3]; ld.global.f32 %f2, [%d4];\n"
    "fma.rn.f32 %f3, %f0, %f1, %f2; st.global.f32 [%d4], %f3; ret;\n}\n";

static void
test_raw(treadle_device *d, bool gpu)
{
    const treadle_launch_dims dims = {{1, 1, 1}, {128, 1, 1}, 0};
    const int64_t n = 128;
    treadle_module *m = NULL;
    treadle_function *f = NULL;
    treadle_array *r, *x, *y, *half;
    treadle_arg args[3];
    uintptr_t address;
    int64_t stride;
    double first;
    bag b = {.n = 0};

    x = KEEP(&b, treadle_arange(d, TREADLE_FLOAT32, n, treadle_i(0), treadle_i(1), &r));
    y = KEEP(&b, treadle_full(d, TREADLE_FLOAT32, 1, &n, treadle_f(1), &r));
    half = KEEP(&b, treadle_slice(x, 0, 1, TREADLE_END, 2, &r));
    CHECK_OK(treadle_array_memory(half, &address, &stride));
    CHECK(address && stride == 2);
    CHECK_FAILS(treadle_module_load(d, NULL, &m), TREADLE_ERR_VALUE, "NULL");
    CHECK_FAILS(treadle_launch(NULL, NULL, &dims, NULL, 0), TREADLE_ERR_VALUE, "NULL");
    if (!gpu) {
        CHECK_FAILS(treadle_module_load(d, axpy_ptx, &m), TREADLE_ERR_DEVICE,
                    "PTX and cubins are GPUs'");
        drop(&b);
        return;
    }
    CHECK_OK(treadle_module_load(d, axpy_ptx, &m));
    CHECK_OK(treadle_module_function(m, "axpy", &f));
    args[0] = treadle_arg_array(x), args[1] = treadle_arg_array(y),
    args[2] = treadle_arg_float(0.5f);
    CHECK_OK(treadle_launch(f, NULL, &dims, args, 3));
    CHECK_OK(treadle_array_item(KEEP(&b, treadle_at(y, 0, -1, &r)), &first));
    CHECK(first == 64.5);
    args[0] = treadle_arg_array(half);
    CHECK_FAILS(treadle_launch(f, NULL, &dims, args, 3), TREADLE_ERR_VALUE, "not contiguous");
    CHECK_FAILS(treadle_module_function(m, "axpy2", &f), TREADLE_ERR_DEVICE, "axpy2");
    treadle_module_free(m);
    drop(&b);
}

/* ---- threads ---- */

static treadle_array *shared;

static void *
work(void *arg)
{
    treadle_device *d = arg;
    treadle_array *a = NULL, *t;
    double x = 0;

    for (int round = 0; round < 20; round++) {
        a = treadle_array_ref(shared);
        for (int k = 0; k < 10; k++) {
            if (treadle_binary(k % 2 ? TREADLE_OP_add : TREADLE_OP_multiply, treadle_a(a),
                               treadle_f(k), &t))
                return NULL;
            treadle_array_unref(a);
            a = t;
        }
        if (treadle_reduce(TREADLE_RED_sum, a, NULL, &t) || treadle_array_item(t, &x))
            return NULL;
        treadle_array_unref(t);
        treadle_array_unref(a);
    }
    return x > 0 && !treadle_device_sync(d) ? arg : NULL;
}

static void
test_threads(treadle_device *d)
{
    const int64_t n = 5000;
    pthread_t thread[4];
    void *ok;

    CHECK_OK(treadle_full(d, TREADLE_FLOAT32, 1, &n, treadle_f(1), &shared));
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, work, d);
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], &ok);
        CHECK(ok);
    }
    treadle_array_unref(shared);
}

static void
test_device(const char *name, bool gpu)
{
    treadle_device *d;

    if (!CHECK_OK(treadle_device_open(name, &d)))
        return;
    treadle_device_use(d);
    test_making(d);
    test_random(d);
    test_operations(d);
    test_reductions(d);
    test_views(d);
    test_matmul(d);
    test_complex(d);
    test_fusion(d);
    test_streams(d);
    if (strcmp(name, "null") != 0) { /* it runs no PTX */
        test_devices(d);
        test_raw(d, gpu);
    }
    test_threads(d);
    treadle_device_use(NULL);
}

int
main(void)
{
    test_tables();
    test_device("cpu", false);
    test_device("null", false);
    if (!*treadle_cuda_missing())
        test_device("cuda:0", true);
    return failures != 0;
}
