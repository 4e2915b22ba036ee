/* gen.h - kernel IR for a plan: arguments, addresses, and the fused expression at one position.
 *
 * td_gen - the state of generating one kernel; it owns nothing.  The forms (array/form) write the loops and set j, mask and
 * base[]; td_gen_body then computes the expression for the elements there.
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
    bool           draws;   /* CPU: lane 0 is the first element of a random counter (td_gen_draws) */
    bool           past;    /* CPU: full vectors are written past the caches; their memory is aligned for that */
    td_val         mask;  /* lanes that exist; TD_NONE: all */
    td_val         ptr[TD_PLAN_OPNDS], scalar[TD_PLAN_SCALARS];
    td_val         dim[TD_MAXDIM], stride[TD_PLAN_OPNDS][TD_MAXDIM]; /* int64 */
    td_val         magic[TD_MAXDIM], shift[TD_MAXDIM]; /* uint32, where the plan is narrow */
    td_val         coord[TD_MAXDIM]; /* flat: int64 coordinates of the lanes */
    td_val         extra[TD_PLAN_EXTRAS];
    td_val         tile[TD_PLAN_OPNDS], tile_index; /* copies of operands in the block's shared memory, and the one index into all of them; {0}: none */
    td_val         base[TD_PLAN_OPNDS]; /* int64 offset of the row */
    td_val         rest[TD_PLAN_OPNDS]; /* base outside of the loop */
    td_val         j;                   /* int64: position in the last dim, of lane 0 */
    td_num         val[TD_PLAN_STEPS];  /* half types as float32 */
    const bool    *fixed; /* steps whose val is set already, for good; NULL: none */
    td_num         carried[TD_PLAN_CARRIES]; /* slots of a loop's carries */
} td_gen;

/* Declares the parameters in the order of td_plan_words, then n extra int64 ones in extra[]. */
void td_gen_params(td_gen *g, int n);

/* Sets base[] to the offsets of row number `at` (int64) of the dims [from, to); to_be_added: adds them to base[]. */
void td_gen_row(td_gen *g, td_val at, int from, int to, bool to_be_added);

/* The quotient and (unless NULL) the remainder of an int64 element number by dim d, d > 0. */
td_val td_gen_divide(td_gen *g, td_val at, int d, td_val *rest);

/* Flat: sets coord[] for the lanes from element number j on. */
void td_gen_flat(td_gen *g);
/* With a period, which begins at element number `first`: sets j and coord[] for its vector number `phase`. */
void td_gen_phase(td_gen *g, td_val first, int phase);

/* Computes the steps that have one value for all lanes of the row. */
void td_gen_uniform(td_gen *g);

/* Computes the fixed steps at j; until g->fixed is NULL again the functions around this one leave them. */
void td_gen_fix(td_gen *g, const bool *fixed);

/* Computes all other steps at j, for g->lanes elements under g->mask. */
void td_gen_body(td_gen *g);

/* Computes one step at j, for g->lanes elements; a step that is uniform gives one lane. */
td_num td_gen_step(td_gen *g, int step);

/* Writes all stores of the plan at j; writes the store that is operand k. */
void td_gen_stores(td_gen *g);
void td_gen_store(td_gen *g, int k);

/* The dtype that values of dt are computed in: float32 for half types. */
td_dtype td_gen_compute(td_dtype dt);

/* Step s, a search for v in memory that begins at element `base` (search.c). */
td_val td_gen_search(td_gen *g, const td_step *s, td_val v, td_val base);

/* Constants and small arithmetic on int64. */
td_val td_gen_int(td_gen *g, int64_t v);
#define TD_G2(g, op, a, b) TD_E2((g)->f, op, a, b)

/* The draw of step s at the linear indices `index` (uint64, any lanes). */
td_val td_gen_random(td_gen *g, const td_step *s, td_val index);

/* How many elements share a random counter, if every row of the plan begins with a counter's first element; else 1. */
int td_gen_draws(const td_plan *p);

/* The index of operand k's element at j in lane 0, for an operand whose elements are consecutive. */
td_val td_gen_index(td_gen *g, int k);

#endif
