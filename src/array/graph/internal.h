/* internal.h - what the files of this folder share about storages and recording. */
#ifndef TD_ARRAY_INTERNAL_H
#define TD_ARRAY_INTERNAL_H
#include "array/graph/array.h"

enum {
    TD_WEIGHT_MAX = 64,   /* pending nodes in one graph */
    TD_PENDING_MAX = 512, /* pending storages in all; beyond, the oldest are evaluated */
};

/* Wraps a freshly recorded node: cuts a graph that has grown too large, runs what may not wait.
 * Takes over the reference on n, also on failure. */
td_status td_record(td_node *n, td_array *out);

bool td_now_is_held(void); /* by td_now_hold: then numbers stay numbers too, whatever they are used for */

/* Cuts the graphs under the sources of a node about to be recorded, if together they are too large. */
td_status td_cut(td_node *const *src, int n);

/* The distinct pending nodes of a graph, each before its sources; nodes are marked while a walk is
 * open.  Graphs stay below TD_WEIGHT_MAX nodes (td_cut), so three sources always fit. */
typedef struct td_walk {
    td_node *node[3 * TD_WEIGHT_MAX + 1];
    int n;
} td_walk;

void td_walk_begin(td_walk *w);
void td_walk_add(td_walk *w, td_node *n); /* and what is under it, but for what the walk has met */
void td_walk_end(td_walk *w);             /* takes the marks off */

/* A storage's value changes to n (reference taken over). */
void td_storage_set(td_storage *s, td_node *n);

/* What a capture that has ended left pending waits for nobody any more. */
void td_pending_drop(uint64_t lister);

/* The pending storages of the caller's, oldest first; NULL: before the first, or behind the last. */
td_storage *td_pending_next(const td_storage *s);

/* Between the two calls this thread evaluates nothing that it was not asked for: the caller has claimed nodes. */
void td_pending_hold(bool hold);

/* Every pending storage; one that fails is left to who looks at its value. */
void td_eval_others(void);

td_status td_storage_eval(td_storage *s); /* its node is a leaf on return */
bool      td_node_shared(const td_node *n);

/* The storage's contents in memory that nobody but `writer` reads: other pending readers are run, values
 * held elsewhere copied.  writer: the pending value about to be written over them, or NULL. */
td_status td_storage_own(td_storage *s, td_node *writer);

/* td_writing - a write into a storage's memory: from when that has been found to be nobody else's until the kernel that
 * writes has been launched, other threads do not read the storage.  On the stack. */
typedef struct td_writing {
    td_node *home; /* a reference; NULL: of one that is under way in this thread */
    struct td_writing *outer; /* of the thread */
} td_writing;

void td_writing_begin(td_writing *w, td_storage *s); /* after td_storage_own */
void td_writing_end(td_writing *w);
void td_writing_wait(const td_storage *s); /* until no other thread writes to it */

static inline void
td_storage_settled(const td_storage *s)
{
    if (s->node->busy && s->node->buf)
        td_writing_wait(s);
}

void td_eval_count_recorded(void);

/* ---- index.c: what reading and writing by integer arrays share ---- */
/* The row and dtype that a[i] = op(a[i], value) runs. */
td_status td_put_loop(const td_array *a, td_op *op, const td_operand *value, td_dtype *dt);
/* The shape of what p picks from a, and the shape of the indices inside it: theirs, then ones. */
td_status td_pick_shapes(const td_array *a, const td_pick *p, td_shape *result, td_shape *spread);
/* The sum over p of step[k] times index k (from the end where negative), of shape `spread`. */
td_status td_pick_sum(const td_array *a, const td_pick *p, const td_shape *spread, const int64_t *step, td_array *out);

/* td_picked - a pick whose indices stay what they are: what other threads write to their arrays between the look at their
 * range and their use is not seen.  On the stack. */
typedef struct td_picked {
    td_pick  p;
    td_array index[TD_MAXDIM];
} td_picked;

td_status td_picked_begin(const td_pick *p, td_picked *out); /* after a failure there is nothing to end */
void      td_picked_end(td_picked *k);
/* A view with the picked axes as one, whose steps are elements, at axis p->place. */
td_view td_pick_merged(const td_view *own, const td_pick *p);

/* n in another dtype, broadcast to the layout's shape and laid out so (NULL: its own shape in C order): a
 * new node that owns its value.  n's reference stays with the caller. */
td_status td_node_copy(td_node *n, td_dtype dt, const td_view *layout, td_node **out);

/* n for an assignment to shape `to`: NumPy drops leading axes of extent 1 from what is assigned; an owned reference. */
td_status td_node_fit(td_node *n, const td_shape *to, td_node **out);

/* a as a leaf in C order, an owned reference; NULL on failure. */
td_status td_node_dense(const td_array *a, td_node **out);

/* As td_array_node, of an array that may be a number: then a node of kind SCALAR. */
td_status td_array_value(const td_array *a, td_node **out);

/* The node of an operand (an owned reference): arrays' values; scalars as 0-d of dtype dt. */
td_status td_operand_node(const td_operand *x, td_dev *d, td_dtype dt, td_node **out);

#endif
