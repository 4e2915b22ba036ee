/* op.c - the instruction table, read from ops.def and core.def. */
#include "ir/core/op.h"

#include <string.h>

#define F_0          0
#define F_COMM       TD_OPF_COMM
#define F_WIDE       TD_OPF_WIDE
#define F_KEEP       TD_OPF_KEEP
#define F_LOGIC      TD_OPF_LOGIC
#define F_COMM_LOGIC (TD_OPF_COMM | TD_OPF_LOGIC)

#define BIN(s, u, f)  TD_LOW_BIN
#define CMP(s, u, f)  TD_LOW_CMP
#define INTRIN(name)  TD_LOW_INTRIN
#define MATH(name)    TD_LOW_MATH
#define SPECIAL(name) TD_LOW_SPECIAL
#define EXPR(name)    TD_LOW_EXPR

const td_opinfo td_optab[OP_COUNT] = {
#define OP(n, ar, k, r, fl, mean, low, sl, de, ex, dom, err, id, nms)                              \
    [OP_##n] = {.name = #n,                                                                        \
                .meaning = mean,                                                                   \
                .derivative = de,                                                                  \
                .kinds = k,                                                                        \
                .slot = #sl,                                                                       \
                .exactness = ex,                                                                   \
                .domain = dom,                                                                     \
                .errors = err,                                                                     \
                .identity = id,                                                                    \
                .names = nms,                                                                      \
                .arity = ar,                                                                       \
                .result = TD_RES_##r,                                                              \
                .spelled = low,                                                                    \
                .flags = F_##fl,                                                                   \
                .value = 1},
#include "ir/core/ops.def"
#define TD_TYPE_U32  TD_U32
#define TD_TYPE_I32  TD_I32
#define TD_TYPE_U64  TD_U64
#define TD_TYPE_I64  TD_I64
#define TD_TYPE_BOOL TD_BOOL
#define CORE(n, args, val, im, ty, la, th, wi, lower, py)                                          \
    [OP_##n] = {.name = #n,                                                                        \
                .kinds = args,                                                                     \
                .slot = "NONE",                                                                    \
                .arity = sizeof(args) - 1,                                                         \
                .value = val,                                                                      \
                .imm = TD_IMM_##im,                                                                \
                .type = TD_TYPE_##ty,                                                              \
                .lanes = TD_LANES_##la,                                                            \
                .threads = TD_THREADS_##th,                                                        \
                .wide = TD_WIDE_##wi,                                                              \
                .python = py},
#include "ir/core/core.def"
};

int
td_op_members(unsigned op)
{
    const char *m = op >= TD_OPS && op < OP_COUNT ? strchr(td_optab[op].kinds, 'm') : NULL;

    return m ? (int)(m - td_optab[op].kinds) : -1;
}

bool
td_op_admits(td_op op, td_dtype dt)
{
    return op < TD_OPS && strchr(td_optab[op].kinds, td_dtype_kind(dt)) && !td_dtype_is_half(dt) &&
           !td_dtype_is_complex(dt);
}

td_dtype
td_op_result(td_op op, td_dtype dt)
{
    switch (td_optab[op].result) {
    case TD_RES_BOOL: return TD_BOOL;
    case TD_RES_REAL: return td_dtype_real_of(dt);
    }
    return dt;
}

td_status
td_op_find(const char *name, td_op *out)
{
    for (int i = 0; i < OP_COUNT; i++)
        if (strcmp(td_optab[i].name, name) == 0) {
            *out = (td_op)i;
            return TD_OK;
        }
    return td_fail(TD_ERR_VALUE, "no operation is called '%s'", name);
}
