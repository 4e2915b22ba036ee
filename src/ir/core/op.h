/* op.h - the instruction table, read from ops.def and core.def. */
#ifndef TD_IR_OP_H
#define TD_IR_OP_H
#include "type/dtype.h"

#include <stdint.h>

typedef enum td_op {
#define OP(name, ...) OP_##name,
#include "ir/core/ops.def"
#define CORE(name, ...) OP_##name,
#include "ir/core/core.def"
    OP_COUNT
} td_op;

#define TD_OPS OP_param /* elementwise operations are [0, TD_OPS) */

/* Can break_if leave it? */
static inline bool
td_op_is_breakable(unsigned op)
{
    return op == OP_for || op == OP_loop || op == OP_block;
}

/* Does it open a region?  An else also closes one and opens another. */
static inline bool
td_op_opens(unsigned op)
{
    return op == OP_if || op == OP_parallel || op == OP_func || td_op_is_breakable(op);
}

enum { TD_MAXARG = 5, TD_WARP = 32, /* threads of CUDA's warp */ TD_WARP_MOST = 64 };
enum { TD_RES_SAME, TD_RES_BOOL, TD_RES_REAL };
enum { TD_IMM_NONE, TD_IMM_NUMBER, TD_IMM_LANE, TD_IMM_BITS, TD_IMM_AXIS, TD_IMM_ALIGN, TD_IMM_LEVEL }; /* core.def's imm column */
enum { TD_LOW_NONE, TD_LOW_BIN, TD_LOW_CMP, TD_LOW_INTRIN, TD_LOW_MATH, TD_LOW_SPECIAL, TD_LOW_EXPR };
enum { TD_LANES_ONE, TD_LANES_MANY };
enum { /* core.def's threads column */
    TD_THREADS_ALONE,
    TD_THREADS_ATOMIC,
    TD_THREADS_PLACE,
    TD_THREADS_LANE,
    TD_THREADS_SHARED,
    TD_THREADS_BLOCK,
    TD_THREADS_GRID,
    TD_THREADS_WARP,
    TD_THREADS_HERE,
};
enum { TD_WIDE_OWN, TD_WIDE_ONCE, TD_WIDE_WHERE, TD_WIDE_EACH, TD_WIDE_GROUP }; /* core.def's wide column */
enum { TD_TYPE_ANY = TD_DTYPE_COUNT, TD_TYPE_FIRST }; /* core.def's type column, else a dtype */
enum { TD_OPF_COMM = 1, TD_OPF_WIDE = 2, TD_OPF_KEEP = 4, TD_OPF_LOGIC = 8 };

typedef struct td_opinfo {
    const char *name;
    const char *kinds;          /* elementwise: dtype kinds; structural: operand letters */
    uint8_t     arity;          /* structural: the most operands */
    uint8_t     result, flags;
    uint8_t     value;          /* 1: defines a value; 2: a pointer */
    uint8_t     imm;            /* TD_IMM_* */
    uint8_t     spelled;        /* elementwise: TD_LOW_*, ops.def's lowering */
    uint8_t     type, lanes, threads, wide; /* structural: core.def's columns */
    const char *slot;           /* "NONE" or Python's operator */
    const char *meaning, *derivative, *exactness, *domain, *errors, *identity, *names; /* elementwise: ops.def's columns */
    const char *python;         /* structural: core.def's last column */
} td_opinfo;

extern const td_opinfo td_optab[OP_COUNT];

static inline bool
td_op_is_atomic(unsigned op)
{
    return td_optab[op].threads == TD_THREADS_ATOMIC;
}

/* Do threads of a block or of the grid wait for each other at it? */
static inline bool
td_op_is_barrier(unsigned op)
{
    return td_optab[op].threads == TD_THREADS_BLOCK || td_optab[op].threads == TD_THREADS_GRID;
}

/* Do threads of a warp exchange something at it? */
static inline bool
td_op_is_exchange(unsigned op)
{
    return td_optab[op].threads == TD_THREADS_WARP || td_optab[op].threads == TD_THREADS_HERE;
}

int td_op_members(unsigned op); /* which operand is the member mask; -1: none */

/* Is it one of less to not_equal? */
static inline bool
td_op_compares(td_op op)
{
    return td_optab[op].spelled == TD_LOW_CMP;
}

/* Is it one of logical_and to logical_not? */
static inline bool
td_op_is_logical(td_op op)
{
    return (td_optab[op].flags & TD_OPF_LOGIC) != 0;
}

bool td_op_admits(td_op op, td_dtype dt);           /* of elementwise operations, in the IR: no half, no complex */
td_dtype td_op_result(td_op op, td_dtype dt);       /* of an elementwise operation over operands of dt */
td_status td_op_find(const char *name, td_op *out); /* TD_ERR_VALUE when unknown */

#endif
