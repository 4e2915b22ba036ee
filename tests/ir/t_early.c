/* t_early.c - loads go before arithmetic, but not past a store, a loop's edge or what their address needs. */
#include "check.h"
#include "ir/interp/interp.h"

#include <math.h>

static td_val
load(td_fn *f, td_val p, int k)
{
    return td_load(f, p, td_const_int(f, TD_I32, k), TD_NONE, 1, 0);
}

static void
put(td_fn *f, td_val p, int k, td_val v)
{
    td_store(f, p, td_const_int(f, TD_I32, k), v, TD_NONE, 0);
}

/* x[2] = sqrt(x[0]) + x[1]; x[0] = x[int(x[1])] after it; in a loop x[4] += sqrt(x[0]) * x[1] */
static void
program(td_fn *f)
{
    td_val x = td_param_ptr(f, TD_F64), root = TD_E1(f, sqrt, load(f, x, 0)), i;

    put(f, x, 2, TD_E2(f, add, root, load(f, x, 1)));
    root = TD_E1(f, sqrt, load(f, x, 2));
    i = td_cast(f, load(f, x, 1), TD_I64);
    put(f, x, 0, TD_E2(f, add, td_load(f, x, i, TD_NONE, 1, 0), root));
    (void)td_for(f, td_const_int(f, TD_I32, 0), td_const_int(f, TD_I32, 3),
                 td_const_int(f, TD_I32, 1));
    root = TD_E1(f, sqrt, load(f, x, 0));
    put(f, x, 4, TD_E2(f, add, load(f, x, 4), TD_E2(f, multiply, root, load(f, x, 1))));
    td_end(f);
}

/* In every run between effects the loads stand before all square roots. */
static void
check_order(const td_fn *f)
{
    bool arithmetic = false;

    for (uint32_t i = 0; i < f->n; i++) {
        td_op op = (td_op)f->ins[i].op;

        CHECK(!(op == OP_load && arithmetic));
        arithmetic =
            op == OP_sqrt || (arithmetic && op != OP_store && op != OP_for && op != OP_end);
    }
}

int
main(void)
{
    static const uint32_t one[3] = {1, 1, 1};
    double plain[5] = {2, 3, 0, 7, 1}, moved[5] = {2, 3, 0, 7, 1};
    uint64_t args[1] = {(uintptr_t)plain};
    td_arena mem = {0};
    td_fn f = td_fn_new(&mem, "plain"), g = td_fn_new(&mem, "moved");

    program(&f);
    program(&g);
    CHECK_OK(td_fn_loads_first(&g));
    CHECK_OK(td_fn_finish(&f));
    CHECK_OK(td_fn_finish(&g));
    CHECK(f.n == g.n);
    check_order(&g);
    CHECK_OK(td_interp(&f, one, one, args, 0, NULL));
    args[0] = (uintptr_t)moved;
    CHECK_OK(td_interp(&g, one, one, args, 0, NULL));
    for (int k = 0; k < 5; k++)
        CHECK(plain[k] == moved[k]);
    td_arena_free(&mem);
    return check_failures != 0;
}
