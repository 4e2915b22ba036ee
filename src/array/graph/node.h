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
    TD_N_LEAF,   /* evaluated: buf and view */
    TD_N_SCALAR, /* one number, a kernel argument */
    TD_N_OP,     /* an elementwise row of ops.def over src, which broadcast */
    TD_N_CAST,   /* src[0] in another dtype */
    TD_N_IOTA,   /* start + step * linear index (par[0], par[1]) */
    TD_N_RANDOM, /* a draw: dist, key and offset in par */
    TD_N_REDUCE, /* red over `axes` of src[0] */
    TD_N_GATHER, /* src[0] (evaluated) taken along axis par[0].i; src[1]: int64 indices in range,
                    shaped to broadcast to the result; par[1].i: their rank */
    TD_N_SEARCH, /* how many elements of src[0] (evaluated, sorted, one axis) come before each of src[1], of
                    the same dtype; op: do equal ones? */
    TD_N_HOST,   /* not read yet: a window on the host's memory, or what a reader gives (host.h) */
    TD_N_AWAY,   /* evaluated, its memory on the host for now (spill.h): `away` and view */
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
    int32_t         named; /* storages that hold it: values that Python can see */
    int32_t         uses;  /* nodes that have it as a source (one that has it twice counts once) */
    uint8_t         kind;  /* td_kind */
    uint8_t         dt;    /* td_dtype */
    uint8_t         nsrc;
    uint8_t         computed; /* kernels that have computed it without writing it out */
    bool            again;    /* what it was recorded on had been computed so */
    uint8_t         watch; /* td_fperr that are looked for when it is evaluated (fperror.h) */
    uint8_t         busy; /* the era (eval.c) in which a thread evaluates it, the graph's lock given up */
    bool            claimed; /* busy with a pass over rows (chunk.c), which writes over nothing that it reads */
    bool            hosted; /* of kind HOST, or computed of such: a guess until the graph is walked */
    uint16_t        op;   /* td_op, td_red or td_dist */
    int32_t         held; /* references of captures (capture.h), counted in refs too */
    uint16_t        slot; /* scratch of one planning: its step + 1; 0 between */
    uint32_t        weight; /* pending nodes under it, itself included; an upper bound */
    uint32_t        axes;   /* reduce: bit mask of the source's axes */
    uint32_t        site;   /* the line that recorded it (site.h), while a profile is open; else 0 */
    int64_t         in_range; /* int64 elements: all lie in [-in_range, in_range); 0: not known */
    uint32_t        sig[TD_SIGDEPTH]; /* hash of the expression, to depth 1, 2, … */
    struct td_node *src[TD_MAXSRC], *dead;
    struct td_host *host; /* HOST: its window, the node's own */
    td_dev         *dev;
    td_buf         *buf;  /* NULL: pending */
    struct td_away *away;
    td_view         view; /* while pending: the layout that it will have, dense but maybe permuted */
    td_scalar       par[TD_NPAR];
} td_node;

/* All makers give an owned node and take references of their own on sources. */
td_status td_node_new(td_kind kind, td_dev *d, td_dtype dt, const td_shape *s, td_node **out);
void      td_node_add_src(td_node *n, td_node *src);
void      td_node_seal(td_node *n); /* after the last source: weight and signature */
void      td_view_follow(td_view *v, const td_view *const *src, int n); /* v, contiguous: as the views of its shape among src lie */
void      td_node_follow(td_node *n); /* lays n out as its sources lie, NumPy's order K */
td_status td_node_leaf(td_buf *b, td_dtype dt, const td_view *v, td_node **out); /* refs b */
td_status td_node_scalar(td_dev *d, td_scalar s, td_node **out); /* 0-d, of dtype s.dt */

td_node *td_node_ref(td_node *n);   /* returns n */
void     td_node_unref(td_node *n); /* ok on NULL; long chains die in a loop */

/* n has been computed: sources go, buf is moved in (the node owns the caller's reference). */
void td_node_settle(td_node *n, td_buf *buf, const td_view *view);

/* n, of no axes, is a number: sources go. */
void td_node_settle_scalar(td_node *n, td_scalar value);

/* n's value is on the host: sources go, h is moved in. */
void td_node_settle_host(td_node *n, struct td_host *h);

static inline bool
td_node_pending(const td_node *n)
{
    return !n->buf && n->kind != TD_N_SCALAR;
}

/* Is n's value in the host's memory, where nobody writes to it in this moment? */
static inline bool
td_node_on_host(const td_node *n)
{
    return n->kind == TD_N_LEAF && !n->busy && td_dev_info(n->dev)->kind == TD_DEV_CPU &&
           !(atomic_load(&n->buf->flags) & TD_BUF_GUARDED);
}

/* Pending, and not computed but brought back. */
static inline bool
td_node_away(const td_node *n)
{
    return n->kind == TD_N_AWAY;
}

/* Does n read memory of src[0] where values say?  Then src[0] is evaluated before. */
static inline bool
td_node_looks_up(const td_node *n)
{
    return n->kind == TD_N_GATHER || n->kind == TD_N_SEARCH;
}

/* Do two values come from the same sources by the same operations, so far as few steps tell?  False says nothing. */
bool  td_node_alike(const td_node *a, const td_node *b);

/* Given up and taken back around compiling, running and waiting; NULL hooks: nothing to do. */
void  td_graph_hooks(void *(*unlock)(void), void (*lock)(void *));
/* Puts these in unless there are some; are they the ones in place?  Callers hold one lock. */
bool  td_graph_hooks_first(void *(*unlock)(void), void (*lock)(void *));
/* Asked between the parts of long work, with the lock: does the program want it to end?  TD_ERR_CALLER: it does.  NULL:
 * nobody asks. */
void  td_graph_on_poll(td_status (*poll)(void));
td_status td_graph_poll(void);
void  td_graph_poll_hold(bool hold); /* between the two calls nobody asks this thread: it has no way to end its work */
/* Waits for what e stands for, or for the work of s, asking so many times a second, with the lock given up in between.
 * TD_ERR_CALLER: the work goes on and the caller lets go of it. */
td_status td_graph_await(td_event *e);
td_status td_graph_await_stream(td_stream *s);
td_status td_graph_copy_out(td_stream *s, void *out, uintptr_t at, size_t nbytes); /* td_copy_out, waiting so */
void *td_graph_unlock(void);
void  td_graph_lock(void *token);
void  td_graph_yield(void); /* other threads go on: for who waits for what one of them does */

#endif
