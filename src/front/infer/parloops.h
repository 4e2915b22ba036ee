/* parloops.h - tells the launcher how many iterations a GPU's loops have, as arithmetic on arguments, independent
 * of the IR.
 */
#ifndef TD_FRONT_PARLOOPS_H
#define TD_FRONT_PARLOOPS_H
#include "ir/core/ir.h"

enum { TD_PARLOOPS = 16 };

/* td_term - an integer of arguments: op over earlier terms, a parameter's number or a constant in imm. */
typedef struct td_term {
    uint16_t op;
    uint8_t  dt;
    uint8_t  narg;
    uint32_t arg[3];
    int64_t  imm;
} td_term;

/* td_parloop - a loop that is parallelised over threads: indices in td_parloops.term + 1; 0: only the kernel
 * knows. */
typedef struct td_parloop {
    uint32_t iterations, inner; /* inner: of the loop along x; 0 too where there is none */
    bool     nested;
} td_parloop;

typedef struct td_parloops {
    td_term  *term;
    uint32_t  nterm, cap;
    td_parloop loop[TD_PARLOOPS];
    uint32_t  nloop; /* beyond TD_PARLOOPS: not known */
} td_parloops;

/* Keeps how v, an integer, is computed, in mem; 0: not of arguments alone. */
uint32_t td_parloop_add(td_parloops *x, td_arena *mem, const td_fn *f, td_val v);

/* False: the term needs a word beyond n, or overflows. */
bool td_parloop_value(const td_parloops *x, uint32_t term, const uint64_t *word, uint32_t n, int64_t *out);

#endif
