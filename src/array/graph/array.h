/* array.h - arrays as programs see them: storages, views, recording, evaluation.
 *
 * A storage is a box with an identity that holds the current value of one contiguous array; an array
 * (td_array) is a view on a storage.  A storage's layout never changes; whatever is written to it takes that layout.
 * Reading takes the box's node as it is now, so that what was
 * recorded keeps the old value when the box gets a new one; writing through one view is seen by all.
 */
#ifndef TD_ARRAY_ARRAY_H
#define TD_ARRAY_ARRAY_H
#include "array/graph/node.h"
#include "dev/pool/share.h"

/* td_storage - refcounted; holds one reference on node.  Every node it gets has one and the same view:
 * dense, offset 0, C order or the order of what it was computed from. */
typedef struct td_storage {
    int32_t            refs;
    uint8_t            dt;
    bool               readonly;
    td_dev            *dev;
    td_node           *node; /* the whole contents */
    struct td_storage *prev, *next; /* all storages whose node is pending, oldest first */
    bool               listed;
    uint32_t           version; /* how often it has been written to */
    void              *shown;  /* the caller's object of the whole of it that views go back to; the core only keeps it */
    uint64_t           owner;  /* serial of the capture that it was made in; 0: none */
    uint64_t           lister; /* of the one that recorded the pending node */
} td_storage;

/* td_array - a view on a storage, by value; holds one reference on store.  The storage's memory is seen
 * as elements of dt, which view counts: another dtype than the storage's for the parts of complex
 * arrays and for what td_array_retype makes. */
typedef struct td_array {
    td_storage *store;
    td_view     view;
    bool        whole; /* the view is the node's, and so is the dtype */
    uint8_t     dt;
} td_array;

/* An operand of an operation: an array, or a Python number with its weak kind. */
typedef struct td_operand {
    const td_array *array; /* NULL: scalar */
    td_scalar       scalar;
    char            weak; /* 0: the scalar has scalar.dt; b, i, f, c: NEP 50 weak */
} td_operand;

/* TD_ERR_VALUE unless all arrays of an operation live on one device; names both and what to do. */
td_status td_one_device(const char *what, const td_dev *x, const td_dev *y);

/* An integer scalar beside integer dtype dt: TD_ERR_OVERFLOW unless it fits. */
td_status td_operand_fits(const td_operand *x, td_dtype dt);

/* ---- life ---- */
td_status td_array_of_node(td_node *n, td_array *out); /* takes over the caller's reference on n, also on failure */
td_array  td_array_ref(const td_array *a);
void      td_array_unref(td_array *a); /* a becomes {0}; ok on {0} */
td_array  td_array_view(const td_array *a, const td_view *v); /* same storage; a new reference */
/* a goes to whoever may keep it for long: no function holds its memory by address any more (spill.h). */
void      td_array_offer(const td_array *a);
static inline td_dtype td_array_dtype(const td_array *a) { return (td_dtype)a->dt; }
static inline td_dev  *td_array_dev(const td_array *a) { return a->store->dev; }
static inline int64_t  td_array_size(const td_array *a) { return td_shape_size(&a->view.shape); }

/* The value as a node, an owned reference; a partial view evaluates its storage first. */
td_status td_array_node(const td_array *a, td_node **out);

/* ---- creation ---- */
td_status td_array_full(td_dev *d, td_dtype dt, const td_shape *s, td_scalar value, td_array *out);
td_status td_array_empty(td_dev *d, td_dtype dt, const td_shape *s, td_array *out);
td_status td_array_number(td_dev *d, td_scalar value, td_array *out); /* of no axes and value's dtype; takes no memory of d until it is looked at as an array */
/* The same in memory that lies as `layout` says, which has no gaps. */
td_status td_array_full_as(td_dev *d, td_dtype dt, const td_view *layout, td_scalar value, td_array *out);
td_status td_array_empty_as(td_dev *d, td_dtype dt, const td_view *layout, td_array *out);
td_status td_array_iota(td_dev *d, td_dtype dt, int64_t count, td_scalar start, td_scalar step, td_array *out);
td_status td_array_from_host(td_dev *d, td_dtype dt, const td_shape *s, const void *data, td_array *out); /* C order; has been read on return */
td_status td_array_from_host_as(td_dev *d, td_dtype dt, const td_view *layout, const void *data, td_array *out);
td_status td_array_wrap(td_buf *b, td_dtype dt, const td_view *v, bool readonly, td_array *out); /* memory of others: marked shared; on a GPU aligned to its elements */
typedef struct td_rng {
    uint64_t key, offset; /* Philox4x32-10: key and next counter */
    uint64_t born;        /* serial of the capture that it was made in; 0: none */
} td_rng;
/* Draws; par: normal mean, deviation; integers low and range (high - low); uniform none. */
td_status td_array_random(td_dev *d, td_rng *g, td_dist dist, td_dtype dt, const td_shape *s, const td_scalar par[2],
                          td_array *out);

/* ---- recording ---- */
/* Operations on a CPU of at most so many elements (times instructions an element) run where they are recorded, as long as
 * their operands are in memory; 0: none.  Negative: stays as it is.  Returns what it was. */
int64_t   td_now_limit(int64_t elements);
void      td_now_hold(bool hold); /* between the two calls this thread's operations are recorded, however small; pairs nest */
/* The dtype that all operands from x[from] on take. */
td_status td_op_dtype(td_op op, const td_operand *x, int from, int n, td_dtype *out);
/* The dtype of the loop that runs over operands of *dt, and the row that it runs. */
td_status td_op_loop(td_op *op, td_dtype *dt);
/* NumPy's ufunc: promotion, weak scalars, broadcasting.  n operands of which one is an array. */
td_status td_array_apply(td_op op, const td_operand *x, int n, td_array *out);
td_status td_array_cast(const td_array *a, td_dtype dt, td_array *out); /* a new array always */
td_status td_array_copy(const td_array *a, td_array *out);
td_status td_array_cast_as(const td_array *a, td_dtype dt, const td_view *layout, td_array *out); /* a new array always, which lies so */
typedef struct td_redargs {
    uint32_t axes; /* bit mask; all bits of the rank: full */
    bool     keepdims;
    int      dtype; /* of the result and the accumulation; -1: NumPy's */
    double   ddof;
} td_redargs;
td_status td_array_reduce(td_red red, const td_array *a, const td_redargs *args, td_array *out);
/* Sums, products, minima or maxima (red) of the elements up to each along axis; dtype -1: NumPy's.  Runs at once. */
td_status td_array_cumulate(td_red red, const td_array *a, int axis, int dtype, td_array *out);
/* The elements of a where mask, of its shape, is true, in C order; a NULL: their positions, int64.  Runs at once. */
td_status td_array_select(const td_array *a, const td_array *mask, td_array *out);
td_status td_array_take(const td_array *a, const td_array *index, int axis, td_array *out); /* int64 indices; checks them */
/* a sorted along its last axis (at least 1-d), NaN last, and the places where the elements were, int64, equal
 * ones in order; values or index may be NULL.  Runs at once.  With an index, values has 0 for -0 and one NaN.
 * TD_SKIP: the device does not sort a (td_sort_run). */
td_status td_array_sort(const td_array *a, td_array *values, td_array *index);
/* A subscript's index arrays. */
typedef struct td_pick {
    int             n;                /* index arrays, at least one */
    int             axis[TD_MAXDIM];  /* the array's axis that each stands for; ascending */
    int             shown[TD_MAXDIM]; /* how errors call that axis */
    const td_array *index[TD_MAXDIM]; /* int64, negative ones from the end; they broadcast together */
    int             place;            /* of the other axes, those that come before the indices' */
    bool            distinct;         /* a promise: no place is named twice */
    bool            trusted;          /* a promise: all indices are in range */
} td_pick;
td_status td_pick_check(const td_array *a, const td_pick *p); /* TD_ERR_INDEX tells which index is out of range */
td_status td_array_pick(const td_array *a, const td_pick *p, td_array *out);
/* How many elements of a, sorted and of one axis, come before each of v (right: or are equal to it); one dtype. */
td_status td_array_search(const td_array *a, const td_array *v, bool right, td_array *out);
/* How often each of 0 … bins - 1 occurs in a, which holds integers; others are not counted.  Runs at once. */
td_status td_array_count(const td_array *a, int64_t bins, td_array *out);
/* How many of a, float32 or float64, fall between neighbouring edges: equally spaced, of a's dtype, from first to
 * last, which belongs to the last bin.  Runs at once. */
td_status td_array_histogram(const td_array *a, const td_array *edges, double first, double last, td_array *out);
void      td_take_checks(bool on); /* off: indices are trusted to be in range */
td_status td_array_matmul(const td_array *a, const td_array *b, td_array *out); /* 2-d and batched, GPU library or generated kernel */

/* Is a @ b better a reduction of the graph, or done at once, than a call of a library?  Of two vectors: it fuses, and such a call costs more
 * than a short product; of a vector with a matrix that is an expression still, which then need not be written. */
bool      td_matmul_fuses(const td_array *a, const td_array *b);

/* ---- views (share the storage) ---- */
td_status td_array_reshape(const td_array *a, const td_shape *s, td_array *out); /* copies when it must */
td_status td_array_transpose(const td_array *a, const int *axes, td_array *out);
/* The same memory as elements of dt; of another size only along a contiguous last axis that holds whole ones. */
td_status td_array_retype(const td_array *a, td_dtype dt, td_array *out);
td_array  td_array_part(const td_array *a, bool imag); /* the real or imaginary parts of a complex array */
td_status td_array_broadcast(const td_array *a, const td_shape *s, td_array *out); /* read-only by convention */
/* The same as a value of its own, recorded: it fuses, where a view of a pending array has that evaluated. */
td_status td_array_broadcast_as(const td_array *a, const td_shape *s, td_array *out);

/* ---- writing ---- */
/* a[...] = value, broadcast and cast; NumPy's result when they overlap. */
td_status td_array_assign(const td_array *a, const td_operand *value);
/* The same of a value of a's shape that nobody else wants any more: takes it over, also on failure. */
td_status td_array_assign_taken(const td_array *a, td_array *value);
/* a[...] = op(a, x): the in-place operators; TD_ERR_TYPE when the result does not cast to a's dtype (same_kind). */
td_status td_array_apply_into(td_op op, const td_operand *x, int n, const td_array *a);
/* a[indices] = value, of a place that is named several times the last one.  Runs at once. */
td_status td_array_put(const td_array *a, const td_pick *p, const td_operand *value);
/* a[indices] = op(a[indices], value) for each index in turn: a place that is named several times takes part several
 * times, and every result is cast to a's dtype.  TD_SKIP: a GPU has no atomic instruction for that, and nothing has been written; see td_array_put_runs. */
td_status td_array_put_op(const td_array *a, const td_pick *p, td_op op, const td_operand *value);
/* The same where the caller has sorted: at: int64 offsets in a's memory, ascending; order: which of value's rows belongs
 * to each; inner: offsets of a row's elements; value: [rows, elements of a row].  Equal offsets are taken in order. */
td_status td_array_put_runs(const td_array *a, td_op op, const td_array *at, const td_array *order, const td_array *inner,
                            const td_array *value);
/* a[indices] += value, of a's dtype, a place's values summed in their order where there are several; on every device that sorts. */
td_status td_array_put_sum(const td_array *a, const td_pick *p, const td_array *value);
/* a[mask] = value for a mask of a's shape and a value that broadcasts to a. */
td_status td_array_assign_where(const td_array *a, const td_array *mask, const td_operand *value);

/* a's present value in a storage of its own: no copy where it is a whole storage that was not exported. */
td_status td_array_again(const td_array *a, td_array *out);

/* ---- evaluation ---- */
td_status td_array_eval(const td_array *const *a, int n); /* recorded work is launched; asynchronous on a GPU */
td_status td_eval_all(void);                              /* every pending storage */
/* The element of a's memory so many elements behind its begin, where it can be read without waiting; false: not so. */
bool      td_now_element(const td_array *a, int64_t offset, td_scalar *out);
/* That element becomes x, a number, cast to a's dtype.  TD_SKIP: nothing has been done, td_array_assign does it. */
td_status td_now_set_element(const td_array *a, int64_t offset, const td_operand *x);
/* The elements in C order into host memory of td_array_size * itemsize bytes. */
td_status td_array_get(const td_array *a, void *out);
/* Is a's value on the host, or does it wait for what is? */
bool      td_array_hosted(const td_array *a);
/* a's present value, launched; later writes to a leave it alone.  No copy is made unless a was exported. */
td_status td_array_snapshot(const td_array *a, td_array *out);
/* Copies on a stream of the arrays' device, C-contiguous, as many bytes on both sides; work recorded
 * before and after keeps its order.  move returns at once; so do the others where the host memory is pinned,
 * with *later set: it must stay until the work of s has passed. */
td_status td_array_move(const td_array *dst, const td_array *src, td_stream *s);
td_status td_array_load(const td_array *dst, td_stream *s, const void *in, size_t nbytes, bool *later);
td_status td_array_store(const td_array *src, td_stream *s, void *out, size_t nbytes, bool *later);
/* a's memory as a handle for other processes, and a's place in it.  a moves, once, into memory that can be
 * shared, and so do all views on it: who receives it sees later writes, and they are seen here.  Where a's
 * memory is already shared with others on this side, or cannot be written, the handle is of a copy. */
td_status td_array_send(const td_array *a, td_handle *handle, td_view *view);
/* A copy on another device that shares its driver, made without the host's waiting.  TD_SKIP: there is no such driver. */
td_status td_array_to_device(const td_array *a, td_dev *d, td_array *out);
/* Address and strides of evaluated memory; marks the buffer shared when `share`. buf is borrowed. */
td_status td_array_memory(const td_array *a, bool share, td_buf **buf, td_view *view);
/* As with `share`, but until td_array_return(buf) only: the owned reference that buf gets. */
td_status td_array_lend(const td_array *a, td_buf **buf, td_view *view);
void      td_array_return(td_buf *buf);
/* The memory of a for a kernel; with `write` it is nobody else's: what reads it has been run, values that share it
 * copied.  buf is borrowed; it stays where it is until the thread's last td_hold (spill.h) ends, which is after
 * the kernel has been launched. */
td_status td_array_use(const td_array *a, bool write, td_buf **buf);

typedef struct td_evalstat {
    uint64_t recorded, evals;
} td_evalstat;
td_evalstat td_eval_stats(void);

#endif
