/* stress_values.h - arrays of the programs that threads run, beside what they should hold (stress_arrays.h). */
#ifndef TD_TESTS_STRESS_VALUES_H
#define TD_TESTS_STRESS_VALUES_H
#include "array/graph/capture.h"
#include "array/outofcore/chunk.h"
#include "array/run/spill.h"

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

#endif
