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

static inline bool
td_op_is_atomic(unsigned op)
{
    return op >= OP_atomic_add && op <= OP_atomic_cas;
}

/* What break_if can leave. */
static inline bool
td_op_is_breakable(unsigned op)
{
    return op == OP_for || op == OP_loop || op == OP_block;
}

/* Opens a region; besides, an else closes one and opens another. */
static inline bool
td_op_opens(unsigned op)
{
    return op == OP_if || op == OP_parallel || op == OP_func || td_op_is_breakable(op);
}

enum { TD_MAXARG = 5 };
enum { TD_RES_SAME, TD_RES_BOOL, TD_RES_REAL };
enum { TD_IMM_NONE, TD_IMM_NUMBER, TD_IMM_BITS, TD_IMM_AXIS, TD_IMM_ALIGN, TD_IMM_LEVEL }; /* core.def's imm column */
enum { TD_OPF_COMM = 1, TD_OPF_WIDE = 2, TD_OPF_KEEP = 4 };

typedef struct td_opinfo {
    const char *name, *meaning; /* meaning: elementwise operations only */
    const char *derivative;     /* elementwise: ops.def's last column */
    const char *kinds;          /* elementwise: dtype kinds; structural: operand letters */
    const char *slot;           /* "NONE" or Python's operator */
    uint8_t     arity;          /* structural: the most operands */
    uint8_t     result, flags;
    uint8_t     value;          /* 1: defines a value; 2: a pointer */
    uint8_t     imm;            /* TD_IMM_* */
} td_opinfo;

extern const td_opinfo td_optab[OP_COUNT];

bool td_op_admits(td_op op, td_dtype dt);           /* elementwise operations, on IR level: no half, no complex */
td_dtype td_op_result(td_op op, td_dtype dt);       /* of an elementwise operation over operands of dt */
td_status td_op_find(const char *name, td_op *out); /* TD_ERR_VALUE when unknown */

#endif
