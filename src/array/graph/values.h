/* values.h - what the graph, its plans and forms need from the rooms above them.
 *
 * A graph only records.  Lower rooms call these functions to have values computed, memory found, and parts of
 * hosted values taken; run/ and outofcore/ implement them.  tools/layers.toml names each such call and its reason.
 */
#ifndef TD_ARRAY_VALUES_H
#define TD_ARRAY_VALUES_H
#include "array/graph/array.h"

/* ---- run/eval.c ---- */

/* Makes n a leaf: launches its kernels and those of what it needs. */
td_status td_eval_node(td_node *n);

/* The same, but n becomes a host node if it does not fit the device. */
td_status td_eval_value(td_node *n);

/* Computes n if it is a variance that two passes compute better than one kernel.  TD_SKIP: it is not. */
td_status td_eval_variance(td_node *n);

/* Evaluates n straight into memory seen through `view` (of n's shape), for writes. */
td_status td_eval_into(td_node *n, td_dtype dt, td_buf *buf, const td_view *view);

/* Writes count elements of value.dt to the start of out. */
td_status td_eval_fill(td_buf *out, td_scalar value, int64_t count);

/* ---- run/now.c, run/nowpick.c: few elements on a CPU whose operands are there, at once.  TD_SKIP: not so ---- */

td_status td_now(td_node *n); /* n is about to be recorded: computes it */
/* A row in a loop of dt, whose result has shape s. */
td_status td_now_apply(td_op op, td_dtype dt, const td_operand *x, int n, td_dev *d, const td_shape *s, td_array *out);
/* An array whose elements have these bits. */
td_status td_now_full(td_dev *d, td_dtype dt, const td_view *layout, const uint64_t bits[2], td_array *out);
/* The same for an arange: td_array_iota's. */
td_status td_now_iota(td_dev *d, td_dtype dt, int64_t n, td_scalar start, td_scalar step, td_array *out);
td_status td_now_pick(const td_array *a, const td_pick *p, td_array *out); /* as td_array_pick */

/* ---- run/spill.c ---- */

/* A clock that ticks when an evaluation looks at what it needs; used buffers are marked with its time. */
extern uint64_t td_use_clock;

static inline void
td_use(const td_node *leaf)
{
    leaf->buf->used = td_use_clock;
}

void td_need_met(bool met); /* for the thread's current td_need */
void td_spill_drop(td_node *n); /* n, which was offloaded, has been freed */

/* td_hold - values whose addresses a function uses until its work has been launched; on the stack.  Holds nest. */
typedef struct td_hold {
    struct td_hold *outer; /* the thread's enclosing one */
    td_node **node, *few[16];
    int       n, cap;
} td_hold;

void td_hold_begin(td_hold *h);
/* adds a leaf to the thread's current hold; without one it stays in place until it is used again */
void td_hold_add(td_node *n);
void td_hold_end(td_hold *h);

/* ---- run/fperror.c ---- */

extern atomic_int td_fp_watchers; /* how many threads watch for floating-point errors */
extern _Thread_local uint8_t td_fp_watching; /* the kinds to watch for; those to raise are shifted up by TD_FP_RAISE */

static inline bool
td_fp_asked(void)
{
    return atomic_load_explicit(&td_fp_watchers, memory_order_relaxed) && td_fp_watching;
}

/* Evaluates and checks n, which was just recorded with `watch` set. */
td_status td_fp_check_node(td_node *n);
/* Can n have an error that is watched for? */
bool td_fp_applies(const td_node *n);

/* ---- outofcore/chunk.c ---- */

typedef struct td_chunkopts {
    bool host; /* n may become a host node if it does not fit the device; else TD_ERR_OOM */
    struct td_sink *sink; /* where rows of the result go; n stays as it is then.  NULL: into memory where it fits */
    int64_t rows; /* rows of a chunk; 0: as many as are good */
} td_chunkopts;

/* Evaluates n, hosted and pending: it becomes a leaf or a host node, or its rows have gone to the sink.
 * TD_SKIP: all that it needs is on the device now. */
td_status td_chunk_eval(td_node *n, const td_chunkopts *o);

/* ---- outofcore/chunkview.c ---- */

/* A view of a hosted value as a node: a window on the host's memory, or the part that the view shows, computed.
 * TD_SKIP: the value fits the device, or must be there as a whole. */
td_status td_chunk_view(const td_array *a, td_node **out);
/* Copies n's elements in C order, straight from host memory or chunk by chunk.  passing: nobody will ask for n again.
 * TD_SKIP: they are on the device, or fit and will be asked for again. */
td_status td_chunk_get(td_node *n, void *out, bool passing);
/* Does evaluating n, hosted or not, leave its value on the device? */
bool td_chunk_fits(td_node *n);

/* ---- chunkother.c, chunkscan.c, chunksort.c: what is no expression.  TD_SKIP: nothing of it is on the host, or all fits the device ---- */
td_status td_chunk_matmul(const td_array *a, const td_array *b, td_array *out); /* matrices of one dtype */
/* Batched: equal numbers of axes, the leading ones already broadcast; s: the result's shape.  Single matrices
 * must fit. */
td_status td_chunk_matmul_batch(const td_array *a, const td_array *b, const td_shape *shape, td_array *out);
/* As td_array_count; with edges as td_array_histogram. */
td_status td_chunk_count(const td_array *a, int64_t bins, const td_array *edges, double first, double last, td_array *out);
/* As td_array_cumulate; dt: the result's dtype. */
td_status td_chunk_cumulate(td_red red, const td_array *a, int axis, td_dtype dt, td_array *out);
/* As td_array_select.  Reads the mask twice: to count, and to select. */
td_status td_chunk_select(const td_array *a, const td_array *mask, td_array *out);
/* As td_array_sort.  Runs of a single axis are merged on the host. */
td_status td_chunk_sort(const td_array *a, td_array *values, td_array *index);

/* ---- chunkpick.c ---- */
/* As td_array_pick, of checked indices.  Reads nothing yet, unless elements must be in memory.  TD_SKIP: a is on
 * the device, or fits. */
td_status td_chunk_pick(const td_array *a, const td_pick *p, const td_shape *result, const td_shape *spread, td_array *out);

/* ---- source/host.c ---- */

void td_host_unref(struct td_host *h);                             /* ok on NULL */
/* do they show the same elements?  False proves nothing */
bool td_host_eq(const struct td_host *a, const struct td_host *b);

/* ---- outofcore/feed.c ---- */

/* The device's stream for copies in, or out; it does not wait for the default stream, nor that for it.
 * Borrowed. */
td_status td_feed_stream(td_dev *d, bool out, td_stream **s);

#endif
