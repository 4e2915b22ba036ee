/* lazy.h - whole-array expressions: arrays that are computed element by element where they are stored or reduced.
 *
 * A lazy array is a thing of an array type whose view has a shape but no memory.  It lives within one expression:
 * what is assigned to a name, passed to a function or returned gets memory first (settle), which only functions
 * on the CPU can give.
 */
#ifndef TD_FRONT_LAZY_H
#define TD_FRONT_LAZY_H
#include "front/infer/intrin.h"

/* nest - loops over an array's elements. */
typedef struct nest {
    uint32_t n;
    bool     flat;   /* one loop over all elements in C order: flat_at; else at[n] */
    td_val   at[TD_MAXDIM_KERNEL], flat_at;
    dim      shape[TD_MAXDIM_KERNEL];
} nest;

typedef td_status element_fn(walk *w, const thing *self, const nest *at, thing *out);

struct lazy {
    element_fn *element; /* NULL: the elements are not initialised */
    call        c;       /* its operands; arrays among them broadcast to self's shape, unless `own` */
    int         number;  /* row of intrinsics */
    uint32_t    axis;    /* of a reduction */
    bool        own;     /* indexes its operands itself: never flat over them */
    bool        anywhere; /* its elements do not depend on their place */
};

/* A row of intrinsics that is a function of elements, over operands of which some are arrays. */
td_status lazy_call(walk *w, int number, const call *c, thing *out);
td_status lazy_new(walk *w, element_fn *element, const call *c, const td_type *item, uint32_t ndim, const dim *shape,
                   thing *out);

/* The element of x (a number, an array, a lazy array) at a place of a nest that x broadcasts to. */
td_status element_at(walk *w, const thing *x, const nest *at, thing *out);
td_status element_place(walk *w, const thing *x, const nest *at, thing *out); /* the same as an array of no axes, of an x with memory */
/* Of an x that is_packed, in its records; at: the places of the record, then those within its field. */
td_status packed_place(walk *w, const thing *x, const nest *at, thing *out);
void      nest_open(walk *w, nest *s, uint32_t n, const dim *shape, bool flat);
void      nest_close(walk *w, nest *s);
bool      flat_alone(walk *w, const thing *x); /* one loop over x, whatever runs */

td_status new_array(walk *w, const td_type *item, uint32_t ndim, const dim *shape, thing *out); /* not initialised */

/* A failure of the running function unless ok (one-lane bool). */
td_status must(walk *w, td_val ok, td_report kind, const char *text, const thing *value, uint32_t n);
td_val    dims_product(walk *w, const dim *shape, uint32_t n);

td_status tuple_array(walk *w, const thing *x, const td_type *dtype, uint32_t node, thing *out); /* of a tuple of numbers or tuples */
td_status array_copy(walk *w, const thing *a, const td_type *t, uint32_t node, thing *out); /* dtype t; NULL: its own */

td_status matrix_product(walk *w, const thing *a, const thing *b, thing *out); /* lazily */
td_status must_meet(walk *w, const dim *n, const dim *m, const char *what); /* the axes that a product sums over: fails if they differ; kernels do not look */

/* A number from all of x's elements, or with axis a lazy array or number. */
td_status reduce(walk *w, int how, const thing *x, const thing *axis, uint32_t node, thing *out);

#endif
