/* stress_arrays.h - random programs over arrays, each thread's beside what its arrays should hold.
 *
 * A thread has arrays of its own, which it computes, writes to and lets go of, and takes others from slots that all
 * threads share: values that were recorded and perhaps not evaluated, whose nodes and memory they have in common.
 * Everything is int64 that wraps, or float64 without rounding, so that a value has one right answer.
 */
#ifndef TD_TESTS_STRESS_ARRAYS_H
#define TD_TESTS_STRESS_ARRAYS_H
#include "stress_steps.h"

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
