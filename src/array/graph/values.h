/* values.h - what the graph, its plans and forms ask of the rooms above them.
 *
 * A graph only records.  Here stand the functions by which lower rooms have values computed, memory found and parts of
 * hosted values taken; run/ and outofcore/ implement them.  tools/layers.toml names each call and its reason.
 */
#ifndef TD_ARRAY_VALUES_H
#define TD_ARRAY_VALUES_H
#include "array/graph/array.h"

/* ---- run/eval.c ---- */

/* n becomes a leaf: its kernels, and those of what it needs, are launched. */
td_status td_eval_node(td_node *n);

/* The same, but what does not fit the device becomes a host node. */
td_status td_eval_value(td_node *n);

/* n, a variance that two passes compute better than one kernel: its value is computed so.  TD_SKIP: it is none. */
td_status td_eval_variance(td_node *n);

/* n, evaluated straight into memory seen through `view` (of n's shape): for writes. */
td_status td_eval_into(td_node *n, td_dtype dt, td_buf *buf, const td_view *view);

/* count elements of value.dt at the start of out. */
td_status td_eval_fill(td_buf *out, td_scalar value, int64_t count);

/* ---- run/now.c, run/nowpick.c: few elements on a CPU whose operands are there, at once.  TD_SKIP: not so ---- */

td_status td_now(td_node *n); /* about to be recorded: it is computed */
/* A row in a loop of dt, whose result has shape s. */
td_status td_now_apply(td_op op, td_dtype dt, const td_operand *x, int n, td_dev *d, const td_shape *s, td_array *out);
td_status td_now_pick(const td_array *a, const td_pick *p, td_array *out); /* as td_array_pick */

/* ---- run/spill.c ---- */

/* Ticks when an evaluation looks at what it needs; what it looks at is marked with the time. */
extern uint64_t td_use_clock;

static inline void
td_use(const td_node *leaf)
{
    leaf->buf->used = td_use_clock;
}

void td_need_met(bool met); /* of the thread's last */
void td_spill_drop(td_node *n); /* n, which is away, is nobody's any more */

/* td_hold - values that a function uses by address until its work has been launched, on the stack.  Holds nest. */
typedef struct td_hold {
    struct td_hold *outer; /* of the thread */
    td_node **node, *few[16];
    int       n, cap;
} td_hold;

void td_hold_begin(td_hold *h);
void td_hold_add(td_node *n); /* a leaf, to the thread's last hold; without one it stays until it is used again */
void td_hold_end(td_hold *h);

/* ---- run/fperror.c ---- */

extern atomic_int td_fp_watchers; /* threads that watch */
extern _Thread_local uint8_t td_fp_watching; /* kinds, and those to raise TD_FP_RAISE further up */

static inline bool
td_fp_asked(void)
{
    return atomic_load_explicit(&td_fp_watchers, memory_order_relaxed) && td_fp_watching;
}

/* n, just recorded, whose watch is set: evaluated and checked. */
td_status td_fp_check_node(td_node *n);
/* Can n be something that is checked for? */
bool td_fp_applies(const td_node *n);

/* ---- outofcore/chunk.c ---- */

typedef struct td_chunkopts {
    bool host; /* what does not fit the device may become a host node; else TD_ERR_OOM */
    struct td_sink *sink; /* where the result goes if it is made of rows: n stays as it is then.  NULL: where it fits */
    int64_t rows; /* of a chunk; 0: as many as do well */
} td_chunkopts;

/* n, hosted and pending, becomes a leaf, a host node, or has gone to the sink.  TD_SKIP: all that it needs is on the
 * device now. */
td_status td_chunk_eval(td_node *n, const td_chunkopts *o);

/* ---- outofcore/chunkview.c ---- */

/* A view of a hosted value, as a node: of the host's memory, or the part of the value that it shows, computed.
 * TD_SKIP: it fits, or has to be there as a whole. */
td_status td_chunk_view(const td_array *a, td_node **out);
/* n's elements in C order, straight from the host's memory or chunk by chunk.  TD_SKIP: they are, or fit, on the device. */
td_status td_chunk_get(td_node *n, void *out);
/* Does evaluating n, hosted or not, leave its value on the device? */
bool td_chunk_fits(td_node *n);

/* ---- chunkother.c, chunkscan.c, chunksort.c: what is no expression.  TD_SKIP: nothing of it is on the host, or all fits the device ---- */
td_status td_chunk_matmul(const td_array *a, const td_array *b, td_array *out); /* of two axes each, and one dtype */
/* Of as many axes, the leading ones broadcast already; the result's shape.  Matrices themselves have to fit. */
td_status td_chunk_matmul_batch(const td_array *a, const td_array *b, const td_shape *shape, td_array *out);
/* As td_array_count; with edges as td_array_histogram. */
td_status td_chunk_count(const td_array *a, int64_t bins, const td_array *edges, double first, double last, td_array *out);
/* As td_array_cumulate, whose result is of that dtype. */
td_status td_chunk_cumulate(td_red red, const td_array *a, int axis, td_dtype dt, td_array *out);
/* As td_array_select.  The mask is read twice: for how many there are, and for them. */
td_status td_chunk_select(const td_array *a, const td_array *mask, td_array *out);
/* As td_array_sort.  The runs of one axis are merged on the host. */
td_status td_chunk_sort(const td_array *a, td_array *values, td_array *index);

/* ---- chunkpick.c ---- */
/* As td_array_pick, checked.  Nothing is read yet, but where it has to be in memory for that.  TD_SKIP: a is, or fits, on the
 * device. */
td_status td_chunk_pick(const td_array *a, const td_pick *p, const td_shape *result, const td_shape *spread, td_array *out);

/* ---- source/host.c ---- */

void td_host_unref(struct td_host *h);                             /* ok on NULL */
bool td_host_eq(const struct td_host *a, const struct td_host *b); /* the same elements, as far as one look tells */

/* ---- outofcore/feed.c ---- */

/* The device's stream for copies in, or out, whose work does not wait for the default one's, nor that for it; borrowed. */
td_status td_feed_stream(td_dev *d, bool out, td_stream **s);

#endif
