/* internal.h - what the files of this folder share: storages and recording. */
#ifndef TD_ARRAY_INTERNAL_H
#define TD_ARRAY_INTERNAL_H
#include "array/graph/array.h"

enum {
    TD_WEIGHT_MAX = 64,   /* pending nodes in one graph */
    TD_PENDING_MAX = 512, /* pending storages in all; above that the oldest are evaluated */
};

/* Wraps a newly recorded node in an array.  Cuts a graph that is too large, and runs operations that must not
 * wait. Takes the reference on n, also on failure. */
td_status td_record(td_node *n, td_array *out);

bool td_now_is_held(void); /* set by td_now_hold: then numbers stay numbers, whatever they are used for */

/* Cuts the graphs under the sources of a node that is about to be recorded, if together they are too large. */
td_status td_cut(td_node *const *src, int n);

/* td_walk - the distinct pending nodes of a graph, each before its sources.  Nodes are marked while the walk is
 * open.  Recorded graphs have at most TD_WEIGHT_MAX nodes (td_cut), unrolled reductions add to them: a walk that goes
 * below at most TD_WALK_MAX nodes always has room for their sources. */
enum { TD_WALK_MAX = 2 * TD_WEIGHT_MAX };

typedef struct td_walk {
    td_node *node[4 * TD_WALK_MAX + 1];
    int n;
} td_walk;

void td_walk_begin(td_walk *w);
void td_walk_add(td_walk *w, td_node *n); /* adds n and the nodes under it, except those added before */
void td_walk_end(td_walk *w);             /* removes the marks */
void td_walk_under(td_walk *w, td_node *n); /* all three: n and the nodes under it */

/* Sets a storage's value to n (takes the reference). */
void td_storage_set(td_storage *s, td_node *n);

/* The capture has ended: takes what it left pending off the list. */
void td_pending_drop(uint64_t lister);

/* The next of the caller's pending storages, oldest first; s NULL: the first; returns NULL after the last. */
td_storage *td_pending_next(const td_storage *s);

/* Between hold and release this thread evaluates only what it is asked for: it has claimed nodes. */
void td_pending_hold(bool hold);

/* Evaluates every pending storage.  One that fails is left; whoever looks at it gets the failure. */
void td_eval_others(void);

td_status td_storage_eval(td_storage *s); /* on return its node is a leaf */
bool      td_node_shared(const td_node *n);

/* Gives the storage memory that nobody but `writer` reads: runs other pending readers, and copies values that
 * others hold.  writer: the pending value that will be written over it, or NULL. */
td_status td_storage_own(td_storage *s, td_node *writer);

/* td_writing - a write into a storage's memory.  From td_storage_own until the kernel that writes has been
 * launched, other threads do not read the storage.  On the stack. */
typedef struct td_writing {
    td_node *home; /* a reference; NULL: this thread's outer write covers it */
    struct td_writing *outer; /* the thread's enclosing write */
} td_writing;

void td_writing_begin(td_writing *w, td_storage *s); /* call after td_storage_own */
void td_writing_end(td_writing *w);
void td_writing_wait(const td_storage *s); /* waits until no other thread writes to it */

static inline void
td_storage_settled(const td_storage *s)
{
    if (s->node->busy && s->node->buf)
        td_writing_wait(s);
}

void td_eval_count_recorded(void);

/* ---- index.c: what reading and writing by integer arrays share ---- */
/* The row and dtype that run for a[i] = op(a[i], value). */
td_status td_put_loop(const td_array *a, td_op *op, const td_operand *value, td_dtype *dt);
/* The shape of a[p], and the shape of the indices inside it: their own, then axes of 1. */
td_status td_pick_shapes(const td_array *a, const td_pick *p, td_shape *result, td_shape *spread);
/* The sum over p's indices k of step[k] times index k (negative ones count from the end), of shape `spread`. */
td_status td_pick_sum(const td_array *a, const td_pick *p, const td_shape *spread, const int64_t *step, td_array *out);

/* td_picked - a pick whose indices cannot change: writes of other threads between the range check and the use
 * are not seen.  On the stack. */
typedef struct td_picked {
    td_pick  p;
    td_array index[TD_MAXDIM];
} td_picked;

td_status td_picked_begin(const td_pick *p, td_picked *out); /* after a failure nothing is to be ended */
void      td_picked_end(td_picked *k);
/* A view with the picked axes merged into one, at axis p->place, whose step is one element. */
td_view td_pick_merged(const td_view *own, const td_pick *p);

/* A new node with n's values in dtype dt, broadcast to the layout's shape and laid out like it (NULL: n's shape
 * in C order).  The caller keeps n's reference. */
td_status td_node_copy(td_node *n, td_dtype dt, const td_view *layout, td_node **out);

/* n for an assignment to shape `to`, without the leading axes of extent 1 that NumPy drops; an owned reference. */
td_status td_node_fit(td_node *n, const td_shape *to, td_node **out);

/* a as a leaf in C order, an owned reference. */
td_status td_node_dense(const td_array *a, td_node **out);

/* As td_array_node; an array that is a number gives a node of kind SCALAR. */
td_status td_array_value(const td_array *a, td_node **out);

/* The node of an operand, an owned reference: an array's value, or a scalar as a 0-d node of dtype dt. */
td_status td_operand_node(const td_operand *x, td_dev *d, td_dtype dt, td_node **out);

#endif
