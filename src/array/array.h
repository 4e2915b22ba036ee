/* array.h - arrays as programs see them: storages, views, recording, evaluation.
 *
 * A storage is a box with an identity that holds the current value of one contiguous array; an array
 * (td_array) is a view on a storage.  A storage's layout never changes; whatever is written to it takes that layout.
 * Reading takes the box's node as it is now, so that what was
 * recorded keeps the old value when the box gets a new one; writing through one view is seen by all.
 */
#ifndef TD_ARRAY_ARRAY_H
#define TD_ARRAY_ARRAY_H
#include "array/node.h"
#include "dev/share.h"

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
} td_storage;

/* td_array - a view on a storage, by value; holds one reference on store.  view counts elements of
 * the storage's memory. */
typedef struct td_array {
    td_storage *store;
    td_view     view;
    bool        whole; /* the view is the node's */
} td_array;

/* An operand of an operation: an array, or a Python number with its weak kind. */
typedef struct td_operand {
    const td_array *array; /* NULL: scalar */
    td_scalar       scalar;
    char            weak; /* 0: the scalar has scalar.dt; b, i, f, c: NEP 50 weak */
} td_operand;

/* An integer scalar beside integer dtype dt: TD_ERR_OVERFLOW unless it fits. */
td_status td_operand_fits(const td_operand *x, td_dtype dt);

/* ---- life ---- */
td_status td_array_of_node(td_node *n, td_array *out); /* takes over the caller's reference on n, also on failure */
td_array  td_array_ref(const td_array *a);
void      td_array_unref(td_array *a); /* a becomes {0}; ok on {0} */
td_array  td_array_view(const td_array *a, const td_view *v); /* same storage; a new reference */
static inline td_dtype td_array_dtype(const td_array *a) { return (td_dtype)a->store->dt; }
static inline td_dev  *td_array_dev(const td_array *a) { return a->store->dev; }
static inline int64_t  td_array_size(const td_array *a) { return td_shape_size(&a->view.shape); }

/* The value as a node, an owned reference; a partial view evaluates its storage first. */
td_status td_array_node(const td_array *a, td_node **out);

/* ---- creation ---- */
td_status td_array_full(td_dev *d, td_dtype dt, const td_shape *s, td_scalar value, td_array *out);
td_status td_array_empty(td_dev *d, td_dtype dt, const td_shape *s, td_array *out);
td_status td_array_iota(td_dev *d, td_dtype dt, int64_t count, td_scalar start, td_scalar step, td_array *out);
td_status td_array_from_host(td_dev *d, td_dtype dt, const td_shape *s, const void *data, td_array *out); /* C order; has been read on return */
td_status td_array_wrap(td_buf *b, td_dtype dt, const td_view *v, bool readonly, td_array *out); /* memory of others: marked shared */
typedef struct td_rng {
    uint64_t key, offset; /* Philox4x32-10: key and next counter */
} td_rng;
/* Draws; par: normal mean, deviation; integers low and range (high - low); uniform none. */
td_status td_array_random(td_dev *d, td_rng *g, td_dist dist, td_dtype dt, const td_shape *s, const td_scalar par[2],
                          td_array *out);

/* ---- recording ---- */
/* NumPy's ufunc: promotion, weak scalars, broadcasting.  n operands of which one is an array. */
td_status td_array_apply(td_op op, const td_operand *x, int n, td_array *out);
td_status td_array_cast(const td_array *a, td_dtype dt, td_array *out); /* a new array always */
td_status td_array_copy(const td_array *a, td_array *out);
typedef struct td_redargs {
    uint32_t axes; /* bit mask; all bits of the rank: full */
    bool     keepdims;
    int      dtype; /* of the result and the accumulation; -1: NumPy's */
    double   ddof;
} td_redargs;
td_status td_array_reduce(td_red red, const td_array *a, const td_redargs *args, td_array *out);
/* Sums or products (red: sum, prod) of the elements up to each along axis; dtype -1: NumPy's.  Runs at once. */
td_status td_array_cumulate(td_red red, const td_array *a, int axis, int dtype, td_array *out);
/* The elements of a where mask, of its shape, is true, in C order; a NULL: their positions, int64.  Runs at once. */
td_status td_array_select(const td_array *a, const td_array *mask, td_array *out);
td_status td_array_take(const td_array *a, const td_array *index, int axis, td_array *out); /* int64 indices; checks them */
/* How often each of 0 … bins - 1 occurs in a, which holds integers; a GPU's kernel.  Runs at once. */
td_status td_array_count(const td_array *a, int64_t bins, td_array *out);
void      td_take_checks(bool on); /* off: td_array_take trusts that indices are in range */
td_status td_array_matmul(const td_array *a, const td_array *b, td_array *out); /* 2-d and batched, GPU library or generated kernel */

/* ---- views (share the storage) ---- */
td_status td_array_reshape(const td_array *a, const td_shape *s, td_array *out); /* copies when it must */
td_status td_array_transpose(const td_array *a, const int *axes, td_array *out);
td_status td_array_broadcast(const td_array *a, const td_shape *s, td_array *out); /* read-only by convention */

/* ---- writing ---- */
/* a[...] = value, broadcast and cast; NumPy's result when they overlap. */
td_status td_array_assign(const td_array *a, const td_operand *value);
/* a[...] = op(a, x): the in-place operators; TD_ERR_TYPE when the result does not cast to a's dtype (same_kind). */
td_status td_array_apply_into(td_op op, const td_operand *x, int n, const td_array *a);
/* a[mask] = value for a mask of a's shape and a value that broadcasts to a. */
td_status td_array_assign_where(const td_array *a, const td_array *mask, const td_operand *value);

/* ---- evaluation ---- */
td_status td_array_eval(const td_array *const *a, int n); /* recorded work is launched; asynchronous on a GPU */
td_status td_eval_all(void);                              /* every pending storage */
/* The elements in C order into host memory of td_array_size * itemsize bytes. */
td_status td_array_get(const td_array *a, void *out);
/* a's present value, launched; later writes to a leave it alone.  No copy is made unless a was exported. */
td_status td_array_snapshot(const td_array *a, td_array *out);
/* Copies on a stream of the arrays' device, C-contiguous, as many bytes on both sides; work recorded
 * before and after keeps its order.  move returns at once, the others when the host memory may be used. */
td_status td_array_move(const td_array *dst, const td_array *src, td_stream *s);
td_status td_array_load(const td_array *dst, td_stream *s, const void *in, size_t nbytes);
td_status td_array_store(const td_array *src, td_stream *s, void *out, size_t nbytes);
/* a's memory as a handle for other processes, and a's place in it.  a moves, once, into memory that can be
 * shared, and so do all views on it: who receives it sees later writes, and they are seen here.  Where a's
 * memory is already shared with others on this side, or cannot be written, the handle is of a copy. */
td_status td_array_send(const td_array *a, td_handle *handle, td_view *view);
/* Address and strides of evaluated memory; marks the buffer shared when `share`. buf is borrowed. */
td_status td_array_memory(const td_array *a, bool share, td_buf **buf, td_view *view);

typedef struct td_evalstat {
    uint64_t recorded, kernels, evals;
} td_evalstat;
td_evalstat td_eval_stats(void);

#endif
