/* t_grad.c - tapes: values of gradients, long chains, what is freed and when, passes that fail on the way.
 *
 * Under the sanitizers a leak or a use of what is gone is an error too.
 */
#include "check.h"
#include "dev/core/dev.h"
#include "grad/grad.h"
#include "null/null.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300, LONG = 30000, CALLS_MAX = 60, FAILED = 719 };

static td_dev *dev;

static td_var *
variable(double first, double step, bool grad)
{
    td_scalar from = {.dt = TD_F64, .f = {first}}, by = {.dt = TD_F64, .f = {step}};
    td_var *v = NULL;
    td_array a;

    CHECK_OK(td_array_iota(dev, TD_F64, N, from, by, &a));
    CHECK_OK(td_var_new(&a, &v));
    CHECK_OK(td_var_require(v, grad));
    return v;
}

static td_varop
number(double x)
{
    return (td_varop){.scalar = {.dt = TD_F64, .f = {x}}, .weak = 'f'};
}

/* *v becomes op(*v, y); y's reference stays with the caller. */
static td_status
grow(td_var **v, td_op op, td_varop y)
{
    td_varop x[2] = {{.v = *v}, y};
    td_var *r;

    TD_TRY(td_var_apply(op, x, td_optab[op].arity, &r));
    td_var_unref(*v);
    *v = r;
    return TD_OK;
}

static td_status
total(td_var **v)
{
    td_redargs all = {.axes = (1u << (*v)->value.view.shape.ndim) - 1, .dtype = -1};
    td_var *r;

    TD_TRY(td_var_reduce(TD_RED_sum, *v, &all, &r));
    td_var_unref(*v);
    *v = r;
    return TD_OK;
}

static td_status
backward(td_var *root, bool retain, bool graph)
{
    td_pass p = {.root = &root, .nroot = 1, .retain = retain, .graph = graph};

    return td_grad_run(&p);
}

/* Is v's gradient f(i) at every i? */
static int
gradient_is(const td_var *v, double (*f)(int i))
{
    static double got[N];

    if (!v->grad || td_array_get(&v->grad->value, got))
        return 0;
    for (int i = 0; i < N; i++)
        if (!(fabs(got[i] - f(i)) <= 1e-9 * (1 + fabs(f(i)))))
            return 0;
    return 1;
}

static double
at(int i)
{
    return 0.5 + 0.01 * i;
}

/* ---- values ---- */

static double
cube_slope(int i)
{
    return 3 * at(i) * at(i);
}

static double
cube_bend(int i)
{
    return 3 * at(i) * at(i) + 6 * at(i);
}

static void
test_values(void)
{
    td_var *x = variable(0.5, 0.01, true), *y = td_var_ref(x);

    CHECK_OK(grow(&y, OP_power, number(3)));
    CHECK_OK(total(&y));
    CHECK_OK(backward(y, true, true));
    CHECK(gradient_is(x, cube_slope));
    CHECK(x->grad && td_var_tracked(x->grad));
    if (x->grad) { /* the gradient's own gradient is added */
        td_var *g = td_var_ref(x->grad);

        CHECK_OK(total(&g));
        CHECK_OK(backward(g, false, false));
        CHECK(gradient_is(x, cube_bend));
        td_var_unref(g);
    }
    td_var_unref(x->grad); /* it leads back to x: the one circle that a program can make */
    x->grad = NULL;
    td_var_unref(y);
    td_var_unref(x);
}

static void
test_refusals(void)
{
    td_var *x = variable(0.5, 0.01, true), *y = td_var_ref(x), *z, *plain = variable(0, 1, false);

    CHECK_OK(grow(&y, OP_exp, number(0)));
    CHECK_FAILS(backward(y, false, false), TD_ERR_STATE, "only for scalar outputs");
    CHECK_FAILS(backward(plain, false, false), TD_ERR_STATE, "does not require grad");
    z = td_var_ref(y);
    CHECK_OK(total(&z));
    CHECK_OK(td_array_assign(&y->value, &(td_operand){.scalar = {.dt = TD_F64, .f = {1}}}));
    CHECK_FAILS(backward(z, false, false), TD_ERR_STATE, "modified by an inplace operation");
    CHECK(!x->grad);
    CHECK_FAILS(td_var_store(x, &(td_varop){.v = plain}), TD_ERR_STATE, "leaf Variable");
    td_var_unref(z);
    z = td_var_ref(x);
    CHECK_OK(grow(&z, OP_square, number(0)));
    CHECK_OK(total(&z));
    CHECK_OK(backward(z, false, false));
    CHECK_FAILS(backward(z, false, false), TD_ERR_STATE, "a second time");
    td_var_unref(x);
    td_var_unref(y);
    td_var_unref(z);
    td_var_unref(plain);
}

/* ---- long chains, and memory ---- */

static double
one(int i)
{
    (void)i;
    return 1;
}

static void
test_long_chain(void)
{
    td_var *x = variable(0.5, 0.01, true), *y = td_var_ref(x);

    for (int i = 0; i < LONG; i++)
        CHECK_OK(grow(&y, OP_add, number(1)));
    CHECK_OK(total(&y));
    CHECK_OK(backward(y, false, false));
    CHECK(gradient_is(x, one));
    td_var_unref(y);
    td_var_unref(x);
}

static void
test_memory(void)
{
    size_t before = td_mem_stats(dev).used;
    td_var *x = variable(0.5, 0.01, true), *y = td_var_ref(x);
    size_t small;

    CHECK_OK(td_eval_all());
    small = td_mem_stats(dev).used;
    for (int i = 0; i < 20; i++)
        CHECK_OK(grow(&y, OP_tanh, number(0)));
    CHECK_OK(total(&y));
    CHECK_OK(td_eval_all());
    CHECK(td_mem_stats(dev).used >= small + 19 * N * sizeof(double)); /* saved for the pass */
    CHECK_OK(backward(y, false, false));
    CHECK_OK(td_eval_all());
    CHECK(td_mem_stats(dev).used <= small + 2 * 4096); /* x's gradient, and y */
    td_var_unref(y);
    td_var_unref(x);
    CHECK(td_mem_stats(dev).used == before);
}

/* ---- hooks and functions of a program's own ---- */

typedef struct noted {
    td_hook h;
    int *calls, *freed;
} noted;

static td_status
twice(td_hook *h, td_var **g)
{
    ++*((noted *)h)->calls;
    return grow(g, OP_multiply, number(2));
}

static td_status
refuse(td_hook *h, td_var **g)
{
    (void)g;
    ++*((noted *)h)->calls;
    return td_fail(TD_ERR_CALLER, "a hook failed");
}

static void
noted_free(td_hook *h)
{
    ++*((noted *)h)->freed;
    free(h);
}

static void
hang(td_hook **list, td_status (*f)(td_hook *h, td_var **g), int *calls, int *freed)
{
    noted *n = calloc(1, sizeof *n);

    n->h = (td_hook){.before = f, .free = noted_free};
    n->calls = calls;
    n->freed = freed;
    td_hook_add(list, &n->h);
}

static double
twelve(int i)
{
    (void)i;
    return 12;
}

static void
test_hooks(void)
{
    td_var *x = variable(0.5, 0.01, true), *h = td_var_ref(x), *y;
    int calls = 0, freed = 0;

    CHECK_OK(grow(&h, OP_multiply, number(3)));
    CHECK_OK(td_var_retain(h));
    hang(&h->fn->hooks, twice, &calls, &freed);
    hang(&x->hooks, twice, &calls, &freed);
    y = td_var_ref(h);
    CHECK_OK(total(&y));
    CHECK_OK(backward(y, true, false));
    CHECK(calls == 2 && freed == 0 && gradient_is(x, twelve));
    CHECK(h->grad != NULL);
    hang(&x->hooks, refuse, &calls, &freed);
    CHECK_FAILS(backward(y, true, false), TD_ERR_CALLER, "a hook failed");
    CHECK(gradient_is(x, twelve));
    td_var_unref(h); /* the hooks belong to the function, which y leads to */
    CHECK(freed == 0);
    td_var_unref(y);
    CHECK(freed == 1);
    td_var_unref(x);
    CHECK(freed == 3);
}

static int ended;

static td_status
run_custom(void *object, const td_back *b)
{
    td_varop x[2] = {{.v = b->g[0]}, number(*(double *)object)};

    return td_var_apply(OP_multiply, x, 2, &b->in[0]);
}

static void
end_custom(void *object)
{
    (void)object;
    ended++;
}

static double
seven(int i)
{
    (void)i;
    return 7;
}

static void
test_custom(void)
{
    double factor = 7;
    td_custom c = {.object = &factor, .run = run_custom, .end = end_custom};
    td_var *x = variable(0.5, 0.01, true), *plain = variable(0, 1, false), *y;

    CHECK_OK(td_var_custom(&c, "Mine", &x, 1, &plain, 1, &y));
    CHECK_OK(total(&y));
    CHECK_OK(backward(y, false, false));
    CHECK(gradient_is(x, seven) && !ended);
    td_var_unref(y);
    CHECK(ended == 1);
    td_var_unref(x);
    td_var_unref(plain);
}

/* ---- writing in place ---- */

static double
part_slope(int i)
{
    return i < 10 ? 2 : i < 20 ? 0 : 1;
}

static void
test_writing(void)
{
    td_var *x = variable(0.5, 0.01, true), *y = td_var_ref(x), *part;
    td_view flat, w;

    CHECK_OK(grow(&y, OP_multiply, number(1)));
    flat = td_view_contiguous(&y->value.view.shape);
    w = td_view_slice(&flat, 0, 0, 1, 10);
    CHECK_OK(td_var_slice(y, &w, &w, &part));
    CHECK_OK(td_var_apply_into(OP_multiply, (td_varop[]){{.v = part}, number(2)}, 2, part));
    td_var_unref(part);
    w = td_view_slice(&flat, 0, 10, 1, 10);
    CHECK_OK(td_var_slice(y, &w, &w, &part));
    CHECK_OK(td_var_store(part, &(td_varop){.scalar = {.dt = TD_I64, .i = 0}, .weak = 'i'}));
    td_var_unref(part);
    CHECK_OK(total(&y));
    CHECK_OK(backward(y, false, false));
    CHECK(gradient_is(x, part_slope));
    td_var_unref(x);
    td_var_unref(y);
}

/* ---- passes that fail on the way ---- */

/* A product, a pick with its sums, a window: the pass launches, copies and allocates. */
static td_status
program(td_var *x, td_var *index)
{
    td_shape square = {.ndim = 2, .dim = {N / 10, 10}};
    td_pick p = {.n = 1, .axis = {0}, .index = {&index->value}, .place = 0};
    td_var *m = NULL, *r = NULL, *picked = NULL;
    td_status st = td_var_reshape(x, &square, &m);
    int swap[2] = {1, 0};

    if (!st)
        st = td_var_transpose(m, swap, &r);
    if (!st)
        st = td_var_matmul(r, m, &picked);
    td_var_unref(r);
    td_var_unref(m);
    if (!st)
        st = td_var_pick(picked, &p, &index, &r);
    td_var_unref(picked);
    TD_TRY(st);
    st = grow(&r, OP_tanh, number(0));
    if (!st)
        st = total(&r);
    if (!st)
        st = backward(r, false, false);
    if (!st)
        st = td_array_eval((const td_array *[]){&x->grad->value}, 1);
    td_var_unref(r);
    return st;
}

static const char *const calls[] = {
#define CU(name, symbol, need, params) #name,
#include "dev/foreign/driver.def"
};

static int
same(const double *x, const double *y)
{
    for (int i = 0; i < N; i++)
        if (x[i] != y[i])
            return 0;
    return 1;
}

static void
test_faults(void)
{
    td_scalar zero = {.dt = TD_I64}, two = {.dt = TD_I64, .i = 2};
    td_var *x = variable(0.001, 0.0001, true), *index = NULL;
    double want[N], got[N];
    td_array a;
    int failed = 0;

    CHECK_OK(td_array_iota(dev, TD_I64, 5, zero, two, &a));
    CHECK_OK(td_var_new(&a, &index));
    CHECK_OK(program(x, index));
    CHECK_OK(td_array_get(&x->grad->value, want));
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (int k = 1, quiet = 0; k < CALLS_MAX && quiet < 3; k++) {
            td_status st;

            td_var_unref(x->grad);
            x->grad = NULL;
            td_null_fail(calls[c], k, FAILED);
            st = program(x, index);
            td_null_fail(calls[c], 0, 0);
            failed += st != TD_OK;
            quiet = st ? 0 : quiet + 1;
            td_var_unref(x->grad);
            x->grad = NULL;
            CHECK_OK(program(x, index));
            CHECK_OK(td_array_get(&x->grad->value, got));
            CHECK(same(want, got));
        }
    CHECK(failed > 0);
    td_var_unref(x);
    td_var_unref(index);
}

int
main(void)
{
    size_t before;

    CHECK_OK(td_dev_get("null", &dev));
    before = td_mem_stats(dev).used;
    test_values();
    test_refusals();
    test_long_chain();
    test_memory();
    test_hooks();
    test_custom();
    test_writing();
    test_faults();
    CHECK(td_mem_stats(dev).used == before);
    return check_failures != 0;
}
