/* exchange.h - computes exchanges between the threads of a warp, for the interpreter and for fibers. */
#ifndef TD_IR_EXCHANGE_H
#define TD_IR_EXCHANGE_H
#include "ir/core/op.h"

/* td_exchange - the threads of a warp that have reached the same instruction. */
typedef struct td_exchange {
    td_op    op;
    uint32_t warp;    /* its threads, at most TD_WARP_MOST */
    uint64_t members; /* one bit per thread */
    size_t   nbytes;  /* of a value */
    uint64_t value[TD_WARP_MOST], which[TD_WARP_MOST]; /* by lane: the first operand; the requested lane or lane mask */
} td_exchange;

/* The result of member k.  A member that asks for a non-member's value gets its own. */
uint64_t td_exchanged(const td_exchange *x, uint32_t k);

#endif
