/* plan.h - one kernel to be: which nodes it computes, over what iteration space, from which memory.
 *
 * td_plan - on the stack of one evaluation; holds references on the buffers that its operands name.
 * A plan is plain data copied out of the graph, so that code can be generated from it while other
 * threads change the graph.
 *
 * The iteration space has nd dims in three groups: [0, nk) kept, [nk, nd) reduced, and for a reduction
 * over leading axes one more kept dim at the very end (tail_kept).  The last dim is the one that
 * lanes run along.  A map has nk == nd.
 *
 * A plan of rows holds reductions inside: all over the same axes of one space.  What is read by a step of
 * stage s+1 is known when all elements of a row have been through stage s.
 */
#ifndef TD_ARRAY_PLAN_H
#define TD_ARRAY_PLAN_H
#include "array/graph/node.h"
#include "base/hash.h"
#include "jit/jit.h"

enum { TD_PLAN_STEPS = 224, TD_PLAN_OPNDS = 96, TD_PLAN_SCALARS = 128, TD_PLAN_WORDS = 400, TD_PLAN_EXTRAS = 12 };

typedef enum td_role { TD_ROLE_LOAD, TD_ROLE_INDEX, TD_ROLE_STORE } td_role;

/* What memory (or, for an index, which linear numbering) an element of the iteration space names. */
typedef struct td_opnd {
    uint8_t   role, dt;
    uint8_t   inner; /* class of the last dim's stride: 0, 1, or 2 for any other; of a flat plan, that of
                        the element's number in the whole space */
    uint8_t   slack; /* store: the buffer is an input's, given away */
    uint32_t  lack;  /* load: of rows, axes of the space that its view leaves out */
    uintptr_t ptr;   /* of element 0; an index has none */
    td_buf   *buf;   /* a reference of the plan's */
    td_node  *node;  /* store: what to settle; a reference of the plan's */
    td_view   view;  /* load: as in the graph, for comparing */
    int64_t   stride[TD_MAXDIM]; /* in elements, along the plan's dims */
} td_opnd;

typedef struct td_step {
    uint8_t  kind, dt;  /* td_kind: SCALAR, OP, CAST, IOTA, RANDOM, GATHER, SEARCH, LEAF; of rows also REDUCE */
    uint8_t  nsrc;
    uint8_t  uniform;   /* the same for all lanes of a row; of rows: for all elements of the reduced axes */
    uint8_t  stage;     /* reductions below it, one behind the other */
    uint8_t  pad;       /* 0: steps are hashed as bytes */
    uint16_t op;
    uint16_t opnd;      /* LEAF, GATHER, SEARCH: what it loads; IOTA, RANDOM: its index */
    uint16_t scalar;    /* first of its kernel-argument scalars */
    uint16_t src[TD_MAXSRC];
} td_step;

/* Where a scattering plan writes: the store's view, moved by step `at` elements, where `guard` holds. */
typedef enum td_puthow {
    TD_PUT_NONE,
    TD_PUT_ORDERED, /* as if elements were written one after another in C order (CPU: one thread) */
    TD_PUT_FREE,    /* in any order: targets are distinct, the values equal, or op is atomic */
} td_puthow;

enum { TD_PLAN_NOSTEP = UINT16_MAX };

typedef struct td_plan {
    td_dev    *dev;
    td_stream *stream;
    uint16_t   nstep, nopnd, nscalar, nstore;
    td_step    step[TD_PLAN_STEPS];
    td_opnd    opnd[TD_PLAN_OPNDS];
    uint16_t   store_step[TD_PLAN_OPNDS]; /* of a store operand: the step that it writes */
    uint8_t    scalar_dt[TD_PLAN_SCALARS];
    uint64_t   scalar[TD_PLAN_SCALARS];
    td_shape   shape; /* before collapsing */
    td_node   *seen[TD_PLAN_STEPS];       /* node of each step */
    uint32_t   site; /* the line that recorded the root; 0: not known */
    bool       open; /* nodes' slots are in use: nobody else plans */
    int        nd, nk;
    bool       tail_kept;
    uint32_t   axes;  /* of rows: the mask of reduced axes; 0: no plan of rows */
    uint32_t   lack;  /* of rows, while nodes are added: axes of the space that the node's shape leaves out */
    uint32_t   lacks[TD_PLAN_STEPS]; /* the same of each step's node */
    uint8_t    put;               /* td_puthow */
    uint16_t   put_at, put_guard; /* steps; guard may be TD_PLAN_NOSTEP */
    uint16_t   put_op; /* memory becomes op(memory, value), computed in the value's dtype; TD_OPS: the value */
    bool       flat; /* a CPU's map with a short last dim: lanes run along the whole space */
    int64_t    dim[TD_MAXDIM];
    int64_t    total; /* elements of the iteration space */
} td_plan;

/* Starts a plan over `shape`. */
void      td_plan_begin(td_plan *p, td_dev *d, const td_shape *shape);
/* The plan is one of rows; the root's shape leaves out the axes of the mask `lack`. */
void      td_plan_rows(td_plan *p, uint32_t axes, uint32_t lack);
/* Does memory run along a kept axis when `axes` are reduced?  For plans without stores. */
bool      td_plan_across(const td_plan *p, uint32_t axes);
/* Adds root and all that it fuses with; *step is root's.  Pending reductions and the sources of gathers
 * have been evaluated.  TD_SKIP: the plan is full; the caller evaluates root's sources and starts again. */
td_status td_plan_add(td_plan *p, td_node *root, uint16_t *step);
/* The step is written to memory seen through `view` (broadcast to the shape already); refs buf; node NULL or
 * settled by td_plan_settle. */
td_status td_plan_store(td_plan *p, uint16_t step, td_dtype dt, td_buf *buf, const td_view *view, td_node *node);
/* Will any node inside the plan but root be needed again and read its sources then, since it gets no memory from
 * td_plan_keep?  Before root's store is added. */
bool      td_plan_escapes(const td_plan *p, const td_node *root);
/* Nodes inside the plan that should be kept are given stores of their own, in new memory. */
td_status td_plan_keep(td_plan *p, const td_node *root);
/* The last call before code is looked for, after which other threads may plan.  Fixes dims: `axes` (a
 * mask over shape) are reduced, in C order when `places` count; orders dims as memory lies and merges
 * neighbouring ones. */
void      td_plan_collapse(td_plan *p, uint32_t axes, bool places);
/* A map on a CPU whose rows are shorter than `lanes` elements runs along the whole space instead. */
void      td_plan_flatten(td_plan *p, int lanes);
/* Element numbers fit 31 bits: rows are found by multiplying with td_plan_magic's numbers. */
static inline bool
td_plan_narrow(const td_plan *p)
{
    return p->total < (int64_t)1 << 31;
}
td_hash   td_plan_key(const td_plan *p); /* of all that code generation reads */
void      td_plan_settle(td_plan *p);    /* the stores' nodes have been computed */
void      td_plan_close(td_plan *p);     /* no node is added any more */
void      td_plan_end(td_plan *p);       /* releases; also after failures */

/* Kernel arguments in the order of td_gen_params; returns how many words. */
int       td_plan_words(const td_plan *p, uint64_t *words);

/* May `lanes` consecutive elements be accessed as one aligned piece of memory everywhere? */
bool      td_plan_aligned(const td_plan *p, int lanes);

/* What a launch of k tells: the operations, after those of `head` ("" or "sum of "), and to those who
 * watch which words of td_plan_words are addresses and the bytes of the operands, each element once. */
void      td_plan_dims(const td_plan *p, td_kernel *k, const char *head, td_dims *dims);

/* Largest element among operands and steps, in bytes; parts: of complex ones a component. */
int       td_plan_widest(const td_plan *p, bool parts);
bool      td_plan_complex(const td_plan *p); /* is an operand or a step complex? */

#endif
