/* host.h - arrays whose elements are still on the host: memory, or what a reader gives.
 *
 * td_source - who has the elements.  Refcounted, from any thread; `release` is called at the last unref.
 * td_host - a window on a source: strided, but for one axis that may go by a list.  Refcounted; it holds both.
 *
 * A node of kind TD_N_HOST has a window and no buffer.  It counts as pending: evaluating it loads its elements onto the
 * device, and it becomes a leaf.  What is computed of such nodes is `hosted`, and is evaluated by chunk.c.
 */
#ifndef TD_ARRAY_HOST_H
#define TD_ARRAY_HOST_H
#include "array/graph/values.h"

#include <pthread.h>

/* A box of a source's elements: along each axis count of them from start on, step apart (step > 0). */
typedef struct td_box {
    int     ndim;
    int64_t start[TD_MAXDIM], step[TD_MAXDIM], count[TD_MAXDIM];
} td_box;

/* td_hostfile - the file that memory shows, which can be read instead: whichever of both turns out quicker is. */
typedef struct td_hostfile {
    int     fd;  /* -1: there is none */
    int64_t lo, hi, at; /* memory [lo, hi) shows the file from byte `at` on */
    atomic_uint tries;
    atomic_uint pace[2]; /* of memory and of the file: picoseconds a byte */
} td_hostfile;

typedef struct td_source {
    atomic_int refs;
    td_dtype   dt;
    td_view    view; /* memory: in elements from mem on; a reader: C order */
    char      *mem;  /* NULL: elements come from `read` */
    td_hostfile file; /* behind the memory */
    /* A reader: the elements of a box in C order.  Called without the graph's lock, by one thread at a time. */
    td_status (*read)(void *owner, const td_box *box, void *out);
    void     (*release)(void *owner); /* NULL: nobody to tell */
    void      *owner;
    pthread_mutex_t reading;
} td_source;

/* td_hostlist - places along an axis, in any order.  Refcounted. */
typedef struct td_hostlist {
    atomic_int refs;
    int64_t    n, at[];
} td_hostlist;

struct td_host {
    atomic_int   refs;
    td_source   *src;
    td_view      view; /* as the source's */
    td_hostlist *list; /* NULL: none.  Else index i of axis `listed` lies list->at[first + i * step] strides of the axis on */
    int          listed;
    int64_t      first, step;
};
typedef struct td_host td_host;

/* A source of one reference, with everything but refs and file as in `like`; on failure nothing is released. */
td_status  td_source_new(const td_source *like, td_source **out);
td_source *td_source_ref(td_source *s);
void       td_source_unref(td_source *s); /* ok on NULL */

td_status td_host_new(td_source *s, const td_view *view, td_host **out); /* owned; refs s */
/* h with axis cut to start, start + step, …: a record without references, good while h is. */
td_host   td_host_part(const td_host *h, int axis, int64_t start, int64_t step, int64_t count);

/* A node over `view` of s: an owned reference. */
td_status td_host_node(td_dev *d, td_source *s, const td_view *view, td_node **out);
/* The same over the window that h describes, whose references stay the caller's. */
td_status td_host_node_of(td_dev *d, const td_host *like, td_node **out);
/* A part of n, a host node: v counts in n's own layout, n->view.  TD_SKIP: only n as a whole can be
 * read so (a reader's elements in another order; axes of strided memory joined). */
td_status td_host_window(const td_node *n, const td_view *v, td_node **out);

/* A reader's window without a list as a box of its elements; false: it is none.  In C order they lie as td_host_layout says. */
bool td_host_box(const td_host *h, td_box *box);
/* Can what the window's source gives be brought to its order by who reads it?  Memory always; of a reader's, boxes, boxes of
 * which an axis goes by a list and all are in order, and runs of the source's C order. */
bool td_host_readable(const td_host *h);
/* Axes from the longest stride to the shortest; where one repeats elements, C order. */
void td_view_order(const td_view *v, int order[]);

/* ---- hostlist.c ---- */
td_status td_hostlist_new(int64_t n, td_hostlist **out); /* places are the caller's to fill in */
void      td_hostlist_unref(td_hostlist *l); /* ok on NULL */
/* n, a host node, with axis replaced by l's places along it.  TD_SKIP: its elements have to be in memory for that. */
td_status td_host_pick(const td_node *n, int axis, td_hostlist *l, td_node **out);
/* n as `view` of its source's memory shows it, whose axis goes by the list, in strides of that axis.  TD_SKIP: as above. */
td_status td_host_pick_through(const td_node *n, const td_view *view, int axis, td_hostlist *l, td_node **out);
/* Elements [first, first + count) of a listed window on memory, in C order. */
td_status td_host_listed(const td_host *h, int64_t first, int64_t count, char *to);
/* All elements of a reader's listed window: boxes of neighbouring places. */
td_status td_host_read_listed(const td_host *h, char *to);

/* ---- hostcopy.c ---- */
/* Elements [first, first + count) of a window on memory of n axes dim, in that order. */
td_status td_host_strided(td_source *s, int64_t offset, const int64_t *dim, const int64_t *stride, int n, int64_t first,
                          int64_t count, char *to);
/* Is a reader's window runs of elements that lie side by side in its C order, in the order of the layout? */
bool      td_host_runs(const td_host *h);
/* A box of a reader's elements in C order. */
td_status td_host_read(td_source *s, const td_box *box, void *out);

/* How a view v goes through the elements of a dense one: along v's axis i by step[i] of base's axis[i] (-1: none),
 * from index start[k] on along base's axis k.  False: it joins axes of base, or parts one. */
typedef struct td_retrace {
    int     axis[TD_MAXDIM];
    int64_t step[TD_MAXDIM], start[TD_MAXDIM];
} td_retrace;

bool td_view_retrace(const td_view *base, const td_view *v, td_retrace *out);

/* ---- reading ---- */
/* The layout in which a window's elements are copied: axes as memory lies, extents that repeat once. */
void      td_host_layout(const td_host *h, td_view *dense);
size_t    td_host_bytes(const td_host *h); /* of that layout */
/* Bytes [at, at + nbytes) of that layout to `to`: a td_filler whose ctx is a td_host. */
td_status td_host_fill(void *ctx, size_t at, size_t nbytes, void *to);
/* Copied onto the device, on s: td_host_bytes bytes. */
td_status td_host_copy(const td_host *h, td_stream *s, uintptr_t to);
/* In C order into the host's memory. */
td_status td_host_get(const td_host *h, void *out);
/* n, a host node, becomes a leaf. */
td_status td_host_load(td_node *n);

/* ---- hostfile.c ---- */
/* The file that [lo, hi) shows, if it is one, opened for writing too with `write`. */
void      td_hostfile_find(td_hostfile *f, const void *lo, const void *hi, bool write);
void      td_hostfile_close(td_hostfile *f);
/* n bytes of memory from `from` on, read or copied. */
td_status td_hostfile_read(td_hostfile *f, const char *from, size_t n, void *to);

#endif
