/* gen.h - kernel IR for a plan: arguments, addresses, and the fused expression at one position.
 *
 * td_gen - the state of one generation.  Arena of the compilation; no free.  The kernel's loops are
 * built by the callers (map.c, fold.c); they say where in the iteration space the next elements lie.
 */
#ifndef TD_ARRAY_GEN_H
#define TD_ARRAY_GEN_H
#include "array/plan/plan.h"
#include "ir/core/complex.h"

typedef struct td_gen {
    td_fn         *f;
    const td_plan *p;
    int            lanes; /* neighbouring elements that td_gen_body computes */
    bool           aligned; /* their memory is aligned to lanes elements */
    bool           draws;   /* CPU: they begin where the elements that share a random counter do (td_gen_draws) */
    bool           past;    /* CPU: whole groups of results are written past the caches; their memory is aligned so */
    td_val         mask;  /* lanes that exist; TD_NONE: all */
    td_val         ptr[TD_PLAN_OPNDS], scalar[TD_PLAN_SCALARS];
    td_val         dim[TD_MAXDIM], stride[TD_PLAN_OPNDS][TD_MAXDIM]; /* int64 */
    td_val         magic[TD_MAXDIM], shift[TD_MAXDIM]; /* uint32, where the plan is narrow */
    td_val         coord[TD_MAXDIM]; /* flat: int64 coordinates of the lanes */
    td_val         extra[TD_PLAN_EXTRAS];
    td_val         tile[TD_PLAN_OPNDS], tile_index; /* operands read from memory of the block, all at one place; {0}: none */
    td_val         base[TD_PLAN_OPNDS]; /* int64 offset of the row */
    td_val         j;                   /* int64: position in the last dim, of lane 0 */
    td_num         val[TD_PLAN_STEPS];  /* half types as float32 */
} td_gen;

/* Declares the parameters in the order of td_plan_words, then n extra int64 ones in extra[]. */
void td_gen_params(td_gen *g, int n);

/* Sets base[] for the row at position `at` of dims [from, to), at being an int64 row number;
 * to_be_added: on top of what base[] holds. */
void td_gen_row(td_gen *g, td_val at, int from, int to, bool to_be_added);

/* The quotient and (unless NULL) the remainder of an int64 element number by dim d, d > 0. */
td_val td_gen_divide(td_gen *g, td_val at, int d, td_val *rest);

/* Flat: sets coord[] for the lanes from element number j on. */
void td_gen_flat(td_gen *g);

/* Computes what is the same for all lanes of the row. */
void td_gen_uniform(td_gen *g);

/* Computes every other step at j for g->lanes elements under g->mask. */
void td_gen_body(td_gen *g);

/* Computes one step: at j for g->lanes elements, or one when none of them differ. */
td_num td_gen_step(td_gen *g, int step);

/* Writes the stores of the plan at j; writes operand k, a store. */
void td_gen_stores(td_gen *g);
void td_gen_store(td_gen *g, int k);

/* A step's value as its own dtype's compute type, and the reverse for memory. */
td_dtype td_gen_compute(td_dtype dt);

/* Step s, a search for v in memory that begins at element `base` (search.c). */
td_val td_gen_search(td_gen *g, const td_step *s, td_val v, td_val base);

/* Constants and small arithmetic on int64. */
td_val td_gen_int(td_gen *g, int64_t v);
#define TD_G2(g, op, a, b) TD_E2((g)->f, op, a, b)

/* The draw of step s at the linear indices `index` (uint64, any lanes). */
td_val td_gen_random(td_gen *g, const td_step *s, td_val index);

/* How many elements share a counter of the plan's draws, where all rows begin with such a share; else 1. */
int td_gen_draws(const td_plan *p);

/* The element index of operand k at j, of the first lane, where its elements are consecutive. */
td_val td_gen_index(td_gen *g, int k);

#endif
