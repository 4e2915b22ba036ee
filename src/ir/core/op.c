/* op.c - the instruction table, read from ops.def and core.def. */
#include "ir/core/op.h"

#include <string.h>

#define F_0    0
#define F_COMM TD_OPF_COMM
#define F_WIDE TD_OPF_WIDE
#define F_KEEP TD_OPF_KEEP

const td_opinfo td_optab[OP_COUNT] = {
#define OP(n, ar, k, r, fl, mean, low, sl, de)                                                     \
    [OP_##n] = {.name = #n,                                                                        \
                .meaning = mean,                                                                   \
                .derivative = de,                                                                  \
                .kinds = k,                                                                        \
                .slot = #sl,                                                                       \
                .arity = ar,                                                                       \
                .result = TD_RES_##r,                                                              \
                .flags = F_##fl,                                                                   \
                .value = 1},
#include "ir/core/ops.def"
#define CORE(n, args, val, im)                                                                     \
    [OP_##n] = {.name = #n,                                                                        \
                .kinds = args,                                                                     \
                .slot = "NONE",                                                                    \
                .arity = sizeof(args) - 1,                                                         \
                .value = val,                                                                      \
                .imm = TD_IMM_##im},
#include "ir/core/core.def"
};

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
