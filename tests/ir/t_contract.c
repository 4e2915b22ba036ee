/* t_contract.c - sums of products become fused rows where nobody else wants the product, and compute
 * what C's fma does.
 */
#include "check.h"
#include "ir/interp/interp.h"

#include <math.h>

enum { N = 8 };

static int
count(const td_fn *f, td_op op)
{
    int n = 0;

    for (uint32_t i = 0; i < f->n; i++)
        n += f->ins[i].op == op;
    return n;
}

/* Each form of sum and difference, in a kernel that also has what must stay. */
static void
forms(td_fn *f)
{
    td_val in = td_param_ptr(f, TD_F64), out = td_param_ptr(f, TD_F64), x[4], r[N], p, acc, i, n;

    for (int k = 0; k < 4; k++)
        x[k] = td_load(f, in, td_const_int(f, TD_I32, k), TD_NONE, 1, 0);
    f->line = 7;
    r[0] = TD_E2(f, add, TD_E2(f, multiply, x[0], x[1]), x[2]);
    r[1] = TD_E2(f, add, x[2], TD_E2(f, multiply, x[0], x[1]));
    r[2] = TD_E2(f, subtract, TD_E2(f, multiply, x[0], x[1]), x[2]);
    r[3] = TD_E2(f, subtract, x[2], TD_E2(f, multiply, x[0], x[1]));
    r[4] = TD_E2(f, add, TD_E2(f, multiply, x[0], x[1]), TD_E2(f, multiply, x[2], x[3]));
    p = TD_E2(f, multiply, x[0], x[1]);
    r[5] = TD_E2(f, add, p, p);
    n = td_cast(f, x[3], TD_I64);
    r[6] = td_cast(f, TD_E2(f, add, TD_E2(f, multiply, n, n), n), TD_F64);
    acc = td_slot(f, TD_F64, 1);
    i = td_for(f, td_const_int(f, TD_I32, 0), td_const_int(f, TD_I32, 4),
               td_const_int(f, TD_I32, 1));
    td_set(
        f, acc,
        TD_E2(f, add, td_get(f, acc), TD_E2(f, multiply, td_load(f, in, i, TD_NONE, 1, 0), x[1])));
    td_end(f);
    r[7] = td_get(f, acc);
    for (int k = 0; k < N; k++)
        td_store(f, out, td_const_int(f, TD_I32, k), r[k], TD_NONE, 0);
}

static void
expect(const double *x, double *r)
{
    r[0] = r[1] = fma(x[0], x[1], x[2]);
    r[2] = fma(x[0], x[1], -x[2]);
    r[3] = fma(-x[0], x[1], x[2]);
    r[4] = fma(x[0], x[1], x[2] * x[3]);
    r[5] = x[0] * x[1] + x[0] * x[1];
    r[6] = 12;
    r[7] = 0;
    for (int k = 0; k < 4; k++)
        r[7] = fma(x[k], x[1], r[7]);
}

int
main(void)
{
    static const uint32_t one[3] = {1, 1, 1};
    const double x[4] = {1 + 0x1p-30, 1 - 0x1p-30, -1, 3.5};
    double r[N] = {0}, want[N];
    uint64_t args[2] = {(uintptr_t)x, (uintptr_t)r};
    td_arena mem = {0};
    td_fn f = td_fn_new(&mem, "forms");

    forms(&f);
    CHECK_OK(td_fn_contract(&f));
    CHECK_OK(td_fn_finish(&f));
    CHECK(count(&f, OP_fma) == 6);
    for (uint32_t i = 0; i < f.n; i++)
        CHECK(f.ins[i].op != OP_fma || f.ins[i].line == 7);
    CHECK_OK(td_interp(&f, one, one, args, 0, NULL));
    expect(x, want);
    for (int k = 0; k < N; k++)
        if (!CHECK(r[k] == want[k]))
            printf("    form %d: %.17g, not %.17g\n", k, r[k], want[k]);
    td_arena_free(&mem);
    return check_failures != 0;
}
