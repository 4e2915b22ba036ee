/* array.h - arrays as programs see them: storages, views, recording, evaluation.
 *
 * A storage is a box with an identity that holds the current value of one contiguous array.  An array (td_array) is
 * a view on a storage.  A storage's layout never changes; every value written to it takes that layout.  Reading
 * takes the node that the box holds now, so work that was recorded keeps the old value when the box gets a new one.
 * A write through one view is seen by all views.
 */
#ifndef TD_ARRAY_ARRAY_H
#define TD_ARRAY_ARRAY_H
#include "array/graph/node.h"
#include "dev/pool/share.h"

/* td_storage - refcounted; holds one reference on node.  All its nodes have the same view: dense, offset 0, in C
 * order or in the order of what the first value was computed from. */
typedef struct td_storage {
    int32_t            refs;
    uint8_t            dt;
    bool               readonly;
    td_dev            *dev;
    td_node           *node; /* the whole contents */
    struct td_storage *prev, *next; /* links in the list of storages whose node is pending, oldest first */
    bool               listed;
    uint32_t           version; /* number of writes so far */
    uint32_t           aside;   /* of these, writes through variables that stand apart (grad/) */
    /* the caller's object for the whole storage, which views lead back to; the core only stores it */
    void              *shown;
    uint64_t           owner;  /* serial of the capture in which it was made; 0: none */
    uint64_t           lister; /* serial of the capture that recorded the pending node */
} td_storage;

/* td_array - a view on a storage, passed by value; holds one reference on store.  Its elements are of dtype dt,
 * and view counts in them.  The dtype differs from the storage's for parts of complex arrays and for
 * td_array_retype. */
typedef struct td_array {
    td_storage *store;
    td_view     view;
    bool        whole; /* the array is the whole storage: the node's view and dtype */
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

/* TD_ERR_OVERFLOW: the integer scalar does not fit the integer dtype dt. */
td_status td_operand_fits(const td_operand *x, td_dtype dt);

/* ---- life ---- */
td_status td_array_of_node(td_node *n, td_array *out); /* takes the caller's reference on n, also on failure */
td_array  td_array_ref(const td_array *a);
void      td_array_unref(td_array *a); /* a becomes {0}; ok on {0} */
td_array  td_array_view(const td_array *a, const td_view *v); /* same storage; a new reference */
/* a is handed to somebody who may keep it: no td_hold keeps its memory in place any more (spill.h). */
void      td_array_offer(const td_array *a);
static inline td_dtype td_array_dtype(const td_array *a) { return (td_dtype)a->dt; }
static inline td_dev  *td_array_dev(const td_array *a) { return a->store->dev; }
static inline int64_t  td_array_size(const td_array *a) { return td_shape_size(&a->view.shape); }

/* The value as a node, an owned reference; for a partial view, the storage is evaluated first. */
td_status td_array_node(const td_array *a, td_node **out);

/* ---- creation ---- */
td_status td_array_full(td_dev *d, td_dtype dt, const td_shape *s, td_scalar value, td_array *out);
td_status td_array_empty(td_dev *d, td_dtype dt, const td_shape *s, td_array *out);
/* an array of no axes and value's dtype; takes no memory of d until it is used as an array */
td_status td_array_number(td_dev *d, td_scalar value, td_array *out);
/* The same value in memory laid out like `layout`, which has no gaps. */
td_status td_array_full_as(td_dev *d, td_dtype dt, const td_view *layout, td_scalar value, td_array *out);
td_status td_array_empty_as(td_dev *d, td_dtype dt, const td_view *layout, td_array *out);
td_status td_array_iota(td_dev *d, td_dtype dt, int64_t count, td_scalar start, td_scalar step, td_array *out);
/* in C order; `data` may be reused on return */
td_status td_array_from_host(td_dev *d, td_dtype dt, const td_shape *s, const void *data, td_array *out);
td_status td_array_from_host_as(td_dev *d, td_dtype dt, const td_view *layout, const void *data, td_array *out);
/* wraps memory of others and marks it shared; on a GPU it must be aligned to its elements */
td_status td_array_wrap(td_buf *b, td_dtype dt, const td_view *v, bool readonly, td_array *out);
typedef struct td_rng {
    uint64_t key, offset; /* Philox4x32-10: key and next counter */
    uint64_t born;        /* serial of the capture in which it was made; 0: none */
} td_rng;
/* Random numbers; par: mean and deviation (normal), low and range = high - low (integers); none (uniform). */
td_status td_array_random(td_dev *d, td_rng *g, td_dist dist, td_dtype dt, const td_shape *s, const td_scalar par[2],
                          td_array *out);

/* ---- recording ---- */
/* Operations on a CPU over at most that many elements (times instructions per element) run when they are
 * recorded, if their operands are in memory; 0: none.  A negative number changes nothing.  Returns the earlier
 * limit. */
int64_t   td_now_limit(int64_t elements);
/* between td_now_hold(true) and (false) this thread only records, whatever the size; pairs nest */
void      td_now_hold(bool hold);
/* The common dtype of the operands x[from …]. */
td_status td_op_dtype(td_op op, const td_operand *x, int from, int n, td_dtype *out);
/* Replaces *dt, the operands' dtype, by that of the loop to run, and *op by the row to run. */
td_status td_op_loop(td_op *op, td_dtype *dt);
/* NumPy's ufunc: promotion, weak scalars, broadcasting.  Of the n operands at least one is an array. */
td_status td_array_apply(td_op op, const td_operand *x, int n, td_array *out);
/* The same for an operation that a program asks for: also nextafter of half types, which have no loops of their own. */
td_status td_array_ufunc(td_op op, const td_operand *x, int n, td_array *out);
td_status td_array_cast(const td_array *a, td_dtype dt, td_array *out); /* always a new array */
td_status td_array_copy(const td_array *a, td_array *out);
/* always a new array, laid out like the view */
td_status td_array_cast_as(const td_array *a, td_dtype dt, const td_view *layout, td_array *out);
typedef struct td_redargs {
    uint32_t axes; /* bit mask; all bits of the rank: full */
    bool     keepdims;
    int      dtype; /* dtype of result and accumulation; -1: NumPy's choice */
    double   ddof;
} td_redargs;
td_status td_array_reduce(td_red red, const td_array *a, const td_redargs *args, td_array *out);
/* Cumulative sums, products, minima or maxima (red) along axis; dtype -1: NumPy's choice.  Runs at once. */
td_status td_array_cumulate(td_red red, const td_array *a, int axis, int dtype, td_array *out);
/* The elements of a where mask, of a's shape, is true, in C order; with a NULL their positions, int64.  Runs at
 * once. */
td_status td_array_select(const td_array *a, const td_array *mask, td_array *out);
/* int64 indices, which are checked */
/* The elements moved by by[k] places along each axis k, the last ones to the front; one by[k] at least is not 0.  The
 * result looks its elements up, so it fuses with what reads it. */
td_status td_array_roll(const td_array *a, const int64_t *by, td_array *out);
td_status td_array_take(const td_array *a, const td_array *index, int axis, td_array *out);
/* Sorts a along its last axis (at least 1-d), NaN last.  index: where the elements were, int64, equal ones in
 * order. values or index may be NULL.  Runs at once.  With an index, values has 0 for -0 and only one NaN.
 * TD_SKIP: the device does not sort a (td_sort_run). */
td_status td_array_sort(const td_array *a, td_array *values, td_array *index);
/* td_pick - a subscript's index arrays. */
typedef struct td_pick {
    int             n;                /* index arrays, at least one */
    int             axis[TD_MAXDIM];  /* the array's axis for each; ascending */
    int             shown[TD_MAXDIM]; /* the axis number that errors show */
    const td_array *index[TD_MAXDIM]; /* int64, negative ones from the end; they broadcast together */
    int             place;            /* how many of the other axes come before those of the indices */
    bool            distinct;         /* the caller promises that no place is named twice */
    bool            trusted;          /* the caller promises that all indices are in range */
} td_pick;
td_status td_pick_check(const td_array *a, const td_pick *p); /* TD_ERR_INDEX names the index that is out of range */
td_status td_array_pick(const td_array *a, const td_pick *p, td_array *out);
/* For each element of v: how many elements of a, sorted and of one axis, are less (right: or equal).  One dtype. */
td_status td_array_search(const td_array *a, const td_array *v, bool right, td_array *out);
/* How often each of 0 … bins - 1 occurs in a, which holds integers; other values are not counted.  Runs at once. */
td_status td_array_count(const td_array *a, int64_t bins, td_array *out);
/* How many elements of a (float32 or float64) lie between neighbouring edges.  The edges are equally spaced from
 * first to last, of a's dtype; `last` belongs to the last bin.  Runs at once. */
td_status td_array_histogram(const td_array *a, const td_array *edges, double first, double last, td_array *out);
void      td_take_checks(bool on); /* off: indices are trusted, not checked */
/* 2-d and batched, by a library on a GPU or by a generated kernel */
td_status td_array_matmul(const td_array *a, const td_array *b, td_array *out);

/* Should a @ b be a reduction of the graph, or run at once, rather than call a library?  True for two vectors,
 * since that fuses and a call costs more than a short product; and for a vector with a matrix that is still an
 * expression, which then need not be written. */
bool      td_matmul_fuses(const td_array *a, const td_array *b);

/* ---- views (share the storage) ---- */
td_status td_array_reshape(const td_array *a, const td_shape *s, td_array *out); /* copies if it must */
td_status td_array_transpose(const td_array *a, const int *axes, td_array *out);
/* The same memory as elements of dt.  Another element size needs a contiguous last axis that divides evenly. */
td_status td_array_retype(const td_array *a, td_dtype dt, td_array *out);
td_array  td_array_part(const td_array *a, bool imag); /* the real or imaginary parts of a complex array */
td_status td_array_broadcast(const td_array *a, const td_shape *s, td_array *out); /* read-only by convention */
/* The same as a value of its own, recorded: it fuses, where a view would have a pending array evaluated. */
td_status td_array_broadcast_as(const td_array *a, const td_shape *s, td_array *out);

/* ---- writing ---- */
/* a[...] = value, broadcast and cast; NumPy's result even if they overlap. */
td_status td_array_assign(const td_array *a, const td_operand *value);
/* The same with a value of a's shape that nobody else needs: takes it over, also on failure. */
td_status td_array_assign_taken(const td_array *a, td_array *value);
/* Writes a[0, n) into out, one after another along `axis` of out; extents have been checked.  Arrays that lack that axis take
 * one place each. */
td_status td_array_join(const td_array *const *a, int n, int axis, const td_array *out);
/* a[...] = op(a, x): in-place operators.  TD_ERR_TYPE: the result does not cast to a's dtype (same_kind). */
td_status td_array_apply_into(td_op op, const td_operand *x, int n, const td_array *a);
/* a[indices] = value.  A place that is named several times gets the last value.  Runs at once. */
td_status td_array_put(const td_array *a, const td_pick *p, const td_operand *value);
/* a[indices] = op(a[indices], value) for each index in order: a place that is named several times takes part
 * several times, and every result is cast to a's dtype.  TD_SKIP: a GPU has no atomic instruction for it, and
 * nothing was written; use td_array_put_runs. */
td_status td_array_put_op(const td_array *a, const td_pick *p, td_op op, const td_operand *value);
/* The same after the caller has sorted.  at: int64 offsets in a's memory, ascending; order: the row of value
 * that belongs to each; inner: offsets of a row's elements; value: [rows, elements per row].  Equal offsets are
 * applied in order. */
td_status td_array_put_runs(const td_array *a, td_op op, const td_array *at, const td_array *order, const td_array *inner,
                            const td_array *value);
/* a[indices] += value, of a's dtype; values for one place are summed in order.  Works on every device that
 * sorts. */
td_status td_array_put_sum(const td_array *a, const td_pick *p, const td_array *value);
/* a[mask] = value, for a mask of a's shape and a value that broadcasts to a. */
td_status td_array_assign_where(const td_array *a, const td_array *mask, const td_operand *value);

/* a's current value in a storage of its own.  Copies nothing if a is a whole storage that was not exported. */
td_status td_array_again(const td_array *a, td_array *out);

/* ---- evaluation ---- */
td_status td_array_eval(const td_array *const *a, int n); /* launches recorded work; asynchronous on a GPU */
td_status td_eval_all(void);                              /* every pending storage */
/* Reads the element at `offset` in a's memory if that takes no waiting.  False: it does. */
bool      td_now_element(const td_array *a, int64_t offset, td_scalar *out);
/* May other code write a's elements in its memory now?  True: the write is noted; it has to happen before the graph's lock is
 * given up. */
bool      td_now_open(const td_array *a);
/* Sets that element to the number x, cast to a's dtype.  TD_SKIP: nothing was done; use td_array_assign. */
td_status td_now_set_element(const td_array *a, int64_t offset, const td_operand *x);
/* Copies the elements in C order into host memory of td_array_size * itemsize bytes. */
td_status td_array_get(const td_array *a, void *out);
/* Is a's value on the host, or computed of values that are? */
bool      td_array_hosted(const td_array *a);
/* a's current value, launched; later writes to a do not change it.  Copies only if a was exported. */
td_status td_array_snapshot(const td_array *a, td_array *out);
/* Copies on a stream of the arrays' device.  Both sides are C-contiguous and of equal size; work recorded before
 * and after keeps its order.  td_array_move returns at once.  The others do so if the host memory is pinned, and
 * set *later: that memory must then stay until the work of s has passed. */
td_status td_array_move(const td_array *dst, const td_array *src, td_stream *s);
td_status td_array_load(const td_array *dst, td_stream *s, const void *in, size_t nbytes, bool *later);
td_status td_array_store(const td_array *src, td_stream *s, void *out, size_t nbytes, bool *later);
/* Makes a handle of a's memory for other processes, and tells a's place in it.  The first time, a and all views
 * on it move into memory that can be shared; receivers see later writes, and theirs are seen here.  If a's
 * memory is already shared with others in this process, or must not be written, the handle is of a copy. */
td_status td_array_send(const td_array *a, td_handle *handle, td_view *view);
/* Copies to another device of the same driver without waiting.  TD_SKIP: the devices have no driver in common. */
td_status td_array_to_device(const td_array *a, td_dev *d, td_array *out);
/* The same of n arrays, each to a device of its own, at the same time.  TD_SKIP if one cannot be copied directly. */
td_status td_arrays_to_devices(const td_array *const *a, td_dev *const *d, int n, td_array *out);
/* Buffer and view of evaluated memory; `share` marks the buffer shared.  buf is borrowed. */
td_status td_array_memory(const td_array *a, bool share, td_buf **buf, td_view *view);
/* As with `share`, but only until td_array_return(buf); buf is an owned reference. */
td_status td_array_lend(const td_array *a, td_buf **buf, td_view *view);
void      td_array_return(td_buf *buf);
/* The memory of a for a kernel.  With `write` it belongs to a alone: pending readers have run, and values that
 * shared it were copied.  buf is borrowed, and stays in place until the thread's current td_hold (spill.h) ends;
 * end it after the launch. */
td_status td_array_use(const td_array *a, bool write, td_buf **buf);

typedef struct td_evalstat {
    uint64_t recorded, evals;
} td_evalstat;
td_evalstat td_eval_stats(void);
/* The name of the i-th form of evaluation (run/eval.c), and how many values it has computed; NULL: there are no more. */
const char *td_eval_form(size_t i, uint64_t *count);

#endif
