/* plan.h - the plan of one kernel: which nodes it computes, over what iteration space, from which memory.
 *
 * td_plan - on the stack of one evaluation; holds references on the buffers that its operands name.
 * A plan is plain data copied out of the graph, so that code can be generated from it while other
 * threads change the graph.
 *
 * The iteration space has nd dims in three groups: [0, nk) kept, [nk, nd) reduced, and for a reduction
 * over leading axes one more kept dim at the very end (tail_kept).  The last dim is the one that
 * lanes run along.  A map has nk == nd.
 *
 * A plan of rows holds reductions inside, all over the same axes of one space.  The kernel passes over each row several
 * times: steps of stage s + 1 read reductions of the row that pass s has finished.
 */
#ifndef TD_ARRAY_PLAN_H
#define TD_ARRAY_PLAN_H
#include "array/graph/node.h"
#include "base/hash.h"
#include "jit/jit.h"

enum { TD_PLAN_STEPS = 224, TD_PLAN_OPNDS = 96, TD_PLAN_SCALARS = 128, TD_PLAN_WORDS = 400, TD_PLAN_EXTRAS = 12, TD_PLAN_NEAR = 8 };

typedef enum td_role { TD_ROLE_LOAD, TD_ROLE_INDEX, TD_ROLE_STORE, TD_ROLE_TABLE } td_role;

/* Where an element of the iteration space lies in memory; for an index: which linear number it has. */
typedef struct td_opnd {
    uint8_t   role, dt;
    uint8_t   inner; /* class of the last dim's stride: 0, 1, or 2 for any other; of a flat plan, that of
                        the element's number in the whole space */
    uint8_t   slack; /* store: the buffer was an input's (donation) */
    int8_t    near[2]; /* load, on a CPU: the strides of the last dim and, in a plan with a period, of the one before it, where
                          they are small: constants in the kernel, whose vector loads then need no gather; {0}: arguments */
    uint32_t  lack;  /* load, in a plan of rows: axes of the space that its view leaves out */
    uintptr_t ptr;   /* of element 0; an index has none */
    td_buf   *buf;   /* a reference of the plan's */
    td_node  *node;  /* store: the node whose value it is; a reference of the plan's */
    td_view   view;  /* load: the view in the graph, by which equal operands are found */
    int64_t   stride[TD_MAXDIM]; /* in elements, along the plan's dims */
} td_opnd;

typedef struct td_step {
    uint8_t  kind, dt;  /* td_kind: SCALAR, OP, CAST, IOTA, RANDOM, GATHER, SEARCH, LEAF; of rows also REDUCE; in a loop
                         * TD_STEP_CARRY */
    uint8_t  nsrc;
    uint8_t  uniform;   /* one value for all lanes of a row; in a plan of rows: for all elements of the row */
    uint8_t  stage;     /* how many reductions of rows must be finished before it */
    uint8_t  varies;    /* in a loop: its numbers change from round to round, or it is a CARRY */
    uint16_t op;
    uint16_t opnd;      /* LEAF, GATHER, SEARCH: the operand that it loads; IOTA, RANDOM: its index operand */
    uint16_t scalar;    /* first of its kernel-argument scalars */
    uint16_t src[TD_MAXSRC];
} td_step;

enum { TD_STEP_CARRY = TD_N_SPILLED + 1, TD_PLAN_CARRIES = 24, TD_PLAN_NOSTEP = UINT16_MAX };

/* td_carry - a value that rounds of a loop hand on: step `carry` gives what step `next` was a round ago, in the first round
 * `init` (TD_PLAN_NOSTEP: nothing reads it then). */
typedef struct td_carry {
    uint16_t carry, init, next;
} td_carry;

/* td_vary - what is read from the table anew in each round: a number, or how far operand `at` has moved (in elements). */
typedef struct td_vary {
    uint16_t at;
    uint16_t moves; /* 1: at is an operand; 0: a scalar */
    int64_t  by;    /* moves: all distances so far, by bitwise or */
} td_vary;

/* td_rounds - steps [from, to) of a plan are computed several times, one round after another.  Steps behind them read carries
 * only, and see the last round's values. */
typedef struct td_rounds {
    uint16_t from, to; /* equal: the plan has no loop */
    uint16_t count;    /* the scalar that says how many rounds there are */
    uint16_t ncarry, nvary;
    uint16_t table;    /* if nvary: the operand of role TABLE, 64-bit words, nvary for each round */
    td_carry carry[TD_PLAN_CARRIES];
    td_vary  vary[TD_PLAN_SCALARS]; /* in the order of the table's columns */
} td_rounds;

/* Where a scattering plan writes: the store's view, moved by step `at` elements, where `guard` holds. */
typedef enum td_puthow {
    TD_PUT_NONE,
    TD_PUT_ORDERED, /* the result is that of writing the elements one after another in C order (CPU: one thread) */
    TD_PUT_FREE,    /* in any order: targets are distinct, the values equal, or op is atomic */
} td_puthow;

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
    bool       open; /* nodes hold this plan's step numbers, so no other thread may plan */
    int        nd, nk;
    bool       tail_kept;
    uint32_t   axes;  /* of rows: the mask of reduced axes; 0: no plan of rows */
    uint32_t   lack;  /* of rows, while nodes are added: the axes that the node's shape leaves out */
    uint32_t   lacks[TD_PLAN_STEPS]; /* the same of each step's node */
    uint8_t    put;               /* td_puthow */
    uint16_t   put_at, put_guard; /* steps; guard may be TD_PLAN_NOSTEP */
    uint16_t   put_op; /* memory becomes op(memory, value), computed in the value's dtype; TD_OPS: memory becomes the value */
    td_rounds  rounds;
    bool       flat; /* a CPU's map with a short last dim: lanes run along the whole space */
    uint8_t    period; /* flat, two dims: the last dim, a constant in the kernel, which computes that many vectors (or fewer) at
                          once, so that lanes always have the same coordinates in it; 0: any */
    int64_t    dim[TD_MAXDIM];
    int64_t    total; /* elements of the iteration space */
} td_plan;

/* Starts a plan over `shape`. */
void      td_plan_begin(td_plan *p, td_dev *d, const td_shape *shape);
/* The plan is one of rows; the root's shape leaves out the axes of the mask `lack`. */
void      td_plan_rows(td_plan *p, uint32_t axes, uint32_t lack);
/* If `axes` were reduced, would the shortest stride in memory belong to a kept axis?  For plans without stores. */
bool      td_plan_across(const td_plan *p, uint32_t axes);
/* Adds root and all that it fuses with; *step is root's.  Pending reductions and the sources of gathers
 * have been evaluated.  TD_SKIP: the plan is full; the caller evaluates root's sources and starts again. */
td_status td_plan_add(td_plan *p, td_node *root, uint16_t *step);
/* Adds the operation n alone, of kind OP, CAST, IOTA or RANDOM, whose sources are these steps. */
td_status td_plan_step(td_plan *p, td_node *n, const uint16_t *src, uint16_t *step);
/* Adds a number, of a complex dtype two, as kernel arguments; *at is the first. */
td_status td_plan_scalar(td_plan *p, td_scalar s, td_dtype dt, uint16_t *at);
/* The same number as the words of these arguments; returns how many. */
int       td_plan_scalar_words(td_scalar s, td_dtype dt, uint64_t word[2]);
/* Adds an operand of its own for n, which is in memory. */
td_status td_plan_load(td_plan *p, const td_node *n, uint16_t *opnd);
/* Adds a step without a node, or with one that others compute; and an operand of role TABLE in memory of buf. */
td_status td_plan_append(td_plan *p, td_node *n, const td_step *s, uint16_t *step);
td_status td_plan_table(td_plan *p, td_buf *buf, uint16_t *opnd);
/* The step is written to memory seen through `view` (broadcast to the shape already); refs buf; node NULL or
 * settled by td_plan_settle. */
td_status td_plan_store(td_plan *p, uint16_t step, td_dtype dt, td_buf *buf, const td_view *view, td_node *node);
/* Will a node inside the plan other than root be computed again later, from its sources, because td_plan_keep gives it no
 * memory?  Call it before root's store is added. */
bool      td_plan_escapes(const td_plan *p, const td_node *root);
/* Adds a store in new memory for each node inside the plan whose value should be kept. */
td_status td_plan_keep(td_plan *p, const td_node *root);
/* Fixes the dims: reduces `axes` (a mask over shape; in C order if `places` matter), orders dims as memory lies and merges
 * neighbouring ones.  No node can be added afterwards, and other threads may plan. */
void      td_plan_collapse(td_plan *p, uint32_t axes, bool places);
/* Lets lanes run along the whole space of a CPU's map if its rows are shorter than `lanes` elements. */
void      td_plan_flatten(td_plan *p, int lanes);
/* The same with a period, if the elements of neighbouring lanes lie near each other in all operands.  False: the plan is as it
 * was. */
bool      td_plan_repeat(td_plan *p, int lanes);
/* How many vectors of that many lanes a period has. */
int       td_plan_phases(const td_plan *p, int lanes);
/* Do element numbers fit 31 bits?  Then rows are found by multiplications with magic numbers instead of divisions. */
static inline bool
td_plan_narrow(const td_plan *p)
{
    return p->total < (int64_t)1 << 31;
}
/* Steps that are computed for each element, those of a loop once for each of its rounds. */
static inline int64_t
td_plan_work(const td_plan *p)
{
    int64_t looped = p->rounds.to - p->rounds.from;

    return p->nstep + (looped ? looped * ((int64_t)p->scalar[p->rounds.count] - 1) : 0);
}
td_hash   td_plan_key(const td_plan *p); /* of all that code generation reads */
void      td_plan_settle(td_plan *p);    /* makes leaves of the stores' nodes: they have been computed */
void      td_plan_close(td_plan *p);     /* no node can be added any more; other threads may plan */
void      td_plan_end(td_plan *p);       /* releases; also after failures */

/* Kernel arguments in the order of td_gen_params; returns how many words. */
int       td_plan_words(const td_plan *p, uint64_t *words);

/* May `lanes` consecutive elements be accessed as one aligned piece of memory everywhere? */
bool      td_plan_aligned(const td_plan *p, int lanes);

/* Describes a launch of k for profiles: names the operations after `head` ("" or "sum of ") and, while somebody watches, says
 * which words are addresses and how many bytes the operands have, each element counted once. */
void      td_plan_dims(const td_plan *p, td_kernel *k, const char *head, td_dims *dims);

/* Bytes of the largest element among operands and steps; parts: a complex one counts as its component. */
int       td_plan_widest(const td_plan *p, bool parts);
bool      td_plan_complex(const td_plan *p); /* is an operand or a step complex? */

#endif
