/* node.h - the lazy graph: one node a value.
 *
 * td_node - an immutable array value.  Refcounted; holds its sources until it has been evaluated,
 * then only its buffer.  Recording checks dtypes and shapes; nothing runs.  Nodes are touched by one
 * thread at a time: the caller's lock (under Python the GIL) guards the graph, and evaluation gives
 * it up only while it compiles, runs or waits (td_graph_unlock).
 */
#ifndef TD_ARRAY_NODE_H
#define TD_ARRAY_NODE_H
#include "dev/core/dev.h"
#include "ir/core/op.h"
#include "type/shape.h"

typedef enum td_kind {
    TD_N_LEAF,   /* evaluated: has buf and view */
    TD_N_SCALAR, /* one number, a kernel argument */
    TD_N_OP,     /* an elementwise row of ops.def over src, which broadcast */
    TD_N_CAST,   /* src[0] in another dtype */
    TD_N_IOTA,   /* start + step * linear index (par[0], par[1]) */
    TD_N_RANDOM, /* random numbers: dist, key and offset in par */
    TD_N_REDUCE, /* red over `axes` of src[0] */
    /* src[0] (evaluated) taken along axis par[0].i at src[1]: int64 indices in range, shaped to broadcast to the
     * result; par[1].i: their rank */
    TD_N_GATHER,
    /* for each element of src[1]: how many elements of src[0] (evaluated, sorted, one axis, same dtype) precede
     * it; op: do equal ones count? */
    TD_N_SEARCH,
    TD_N_HOST,   /* not loaded yet: a window on host memory or on a reader (host.h) */
    TD_N_ROWFN, /* rows of src[], some of which are on the host, by a function (rowfn.h) */
    TD_N_SPILLED, /* evaluated, its memory offloaded to the host for now (spill.h): has `spilled` and view */
} td_kind;

typedef enum td_red {
#define RED(name, ...) TD_RED_##name,
#define INNER RED
#include "array/graph/reduce.def"
    TD_RED_COUNT
} td_red;

typedef enum td_dist { TD_DIST_UNIFORM, TD_DIST_NORMAL, TD_DIST_INTEGERS } td_dist;

enum { TD_MAXSRC = 3, TD_NPAR = 4, TD_SIGDEPTH = 4 };

typedef struct td_node {
    int32_t         refs;
    int32_t         named; /* storages that hold it: values that Python can reach */
    int32_t         uses;  /* nodes that use it as a source; one that uses it twice counts once */
    uint8_t         kind;  /* td_kind */
    uint8_t         dt;    /* td_dtype */
    uint8_t         nsrc;
    uint8_t         computed; /* kernels that computed it without writing it out */
    bool            again;    /* its source had been computed so when it was recorded */
    uint8_t         watch; /* td_fperr kinds to check for when it is evaluated (fperror.h) */
    uint8_t         busy; /* the era (run/claim.c) of the thread that evaluates it with the graph's lock released; 0: none */
    bool            claimed; /* busy in a pass over rows (chunk.c), which overwrites nothing that it reads */
    bool            hosted; /* of kind HOST, or computed of such nodes; a guess until the graph is walked */
    uint16_t        op;   /* td_op, td_red or td_dist */
    int32_t         held; /* references that captures hold (capture.h), which refs counts too */
    uint16_t        slot; /* used while a plan is made: the node's step + 1; otherwise 0 */
    uint32_t        weight; /* upper bound on the pending nodes under it, itself included */
    uint32_t        room;   /* how far its graph may grow, because it repeats (repeat.h), in ticks; 0: as far as any */
    uint32_t        born, oldest; /* when it was recorded, and the oldest pending node under it was: in ticks of td_node_clock */
    uint32_t        axes;   /* reduce: bit mask of the source's axes */
    uint32_t        site;   /* the line that recorded it (site.h), if a profile was open; else 0 */
    int64_t         in_range; /* int64 elements: all lie in [-in_range, in_range); 0: nothing is known */
    uint32_t        sig[TD_SIGDEPTH]; /* hash of the expression to depth 1, 2, … */
    struct td_node *src[TD_MAXSRC], *dead;
    struct td_host *host; /* HOST: the window, owned */
    struct td_rowfn *rowfn; /* ROWFN: the function, a reference */
    td_dev         *dev;
    td_buf         *buf;  /* NULL: pending */
    struct td_spilled *spilled;
    td_view         view; /* while pending: its future layout, dense but maybe permuted */
    td_scalar       par[TD_NPAR];
} td_node;

/* All makers return an owned node and take their own references on sources. */
td_status td_node_new(td_kind kind, td_dev *d, td_dtype dt, const td_shape *s, td_node **out);
void      td_node_add_src(td_node *n, td_node *src);
/* Counts the nodes that have been recorded, and wraps: compare differences. */
uint32_t  td_node_clock(void);
void      td_node_seal(td_node *n); /* call after the last source: computes weight and signature */
/* lays v, contiguous, out like the views of its shape among src */
void      td_view_follow(td_view *v, const td_view *const *src, int n);
void      td_node_follow(td_node *n); /* lays n out like its sources, NumPy's order K */
td_status td_node_leaf(td_buf *b, td_dtype dt, const td_view *v, td_node **out); /* takes a reference on b */
td_status td_node_scalar(td_dev *d, td_scalar s, td_node **out); /* 0-d, of dtype s.dt */

/* A node of op (kind CAST: any) over sources that broadcast together.  Takes the references on them, also on failure. */
td_status td_node_over(td_kind kind, td_op op, td_dtype dt, td_node *const *src, int n, td_node **out);
/* The same of x and a number that becomes one of x's dtype; dt is the result's. */
td_status td_node_with(td_op op, td_dtype dt, td_node *x, td_scalar number, td_node **out);

td_node *td_node_ref(td_node *n);   /* returns n */
void     td_node_unref(td_node *n); /* ok on NULL; long chains are freed in a loop */

/* n has been computed: drops its sources and moves buf in (the caller's reference). */
void td_node_settle(td_node *n, td_buf *buf, const td_view *view);

/* n, of no axes, is this number: drops its sources. */
void td_node_settle_scalar(td_node *n, td_scalar value);

/* n, pending, becomes the operation `by`, of the same dtype and shape, which gives the same value. */
void td_node_become(td_node *n, const td_node *by);

/* n's value is on the host: drops its sources and moves h in. */
void td_node_settle_host(td_node *n, struct td_host *h);

static inline bool
td_node_pending(const td_node *n)
{
    return !n->buf && n->kind != TD_N_SCALAR;
}

/* Is n a value in the CPU's memory that no evaluation is using and that may be written? */
static inline bool
td_node_on_host(const td_node *n)
{
    return n->kind == TD_N_LEAF && !n->busy && td_dev_info(n->dev)->host &&
           !(atomic_load(&n->buf->flags) & TD_BUF_GUARDED);
}

/* Is n's value offloaded: to be brought back rather than computed? */
static inline bool
td_node_spilled(const td_node *n)
{
    return n->kind == TD_N_SPILLED;
}

/* Does n read src[0] at places that values determine?  Then src[0] must be evaluated first. */
static inline bool
td_node_looks_up(const td_node *n)
{
    return n->kind == TD_N_GATHER || n->kind == TD_N_SEARCH;
}

/* Were two values recorded by the same operations on the same sources, as far as a few steps tell?  False proves
 * nothing. */
bool  td_node_alike(const td_node *a, const td_node *b);

/* Hooks that release and take the lock around compiling, running and waiting; NULL: there is no lock. */
void  td_graph_hooks(void *(*unlock)(void), void (*lock)(void *));
/* Sets these hooks unless there are some.  Returns whether they are the ones in place: all callers must hold one
 * lock. */
bool  td_graph_hooks_first(void *(*unlock)(void), void (*lock)(void *));
/* Asked between the parts of long work, with the lock held: does the program want it to end?  TD_ERR_CALLER: it
 * does. NULL: no hook. */
void  td_graph_on_poll(td_status (*poll)(void));
td_status td_graph_poll(void);
/* between (true) and (false) the hook is not asked in this thread, which cannot end its work early */
void  td_graph_poll_hold(bool hold);
/* Waits for e, or for the work of s, with the lock released, and polls the hook several times a second.
 * TD_ERR_CALLER: stopped waiting; the work goes on. */
td_status td_graph_await(td_event *e);
td_status td_graph_await_stream(td_stream *s);
/* td_copy_out that waits like this */
td_status td_graph_copy_out(td_stream *s, void *out, uintptr_t at, size_t nbytes);
void *td_graph_unlock(void);
void  td_graph_lock(void *token);
void  td_graph_yield(void); /* lets other threads run, for loops that wait for one of them */

#endif
