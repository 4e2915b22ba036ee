/* host.h - arrays whose elements are still on the host: in memory, or provided by a reader.
 *
 * td_source - the owner of the elements.  Refcounted, from any thread; the last unref calls `release`.
 * td_host - a window on a source: a strided view of which one axis may follow a list.  Refcounted; it holds source
 * and list.
 *
 * A node of kind TD_N_HOST has a window and no buffer.  It counts as pending: evaluating it loads its elements onto
 * the device, and it becomes a leaf.  Values computed of such nodes are `hosted`; chunk.c evaluates them.
 */
#ifndef TD_ARRAY_HOST_H
#define TD_ARRAY_HOST_H
#include "array/graph/values.h"

#include <pthread.h>

/* A box of a source's elements: along each axis `count` of them, from `start`, `step` apart (step > 0). */
typedef struct td_box {
    int     ndim;
    int64_t start[TD_MAXDIM], step[TD_MAXDIM], count[TD_MAXDIM];
} td_box;

/* td_hostfile - the file that mapped memory shows.  It can be read in place of the memory; whichever proves
 * faster is used. */
typedef struct td_hostfile {
    int     fd;  /* -1: no file */
    int64_t lo, hi, at; /* memory [lo, hi) shows the file from byte `at` on */
    atomic_uint tries;
    atomic_uint pace[2]; /* measured time of memory and of the file: picoseconds per byte */
} td_hostfile;

typedef struct td_source {
    atomic_int refs;
    td_dtype   dt;
    td_view    view; /* memory: in elements from mem; a reader: C order */
    char      *mem;  /* NULL: `read` provides the elements */
    td_hostfile file; /* the file that mem shows */
    /* A reader: writes a box's elements in C order.  Called without the graph's lock, by one thread at a time. */
    td_status (*read)(void *owner, const td_box *box, void *out);
    void     (*release)(void *owner); /* NULL: nobody needs to know */
    void      *owner;
    int64_t    grain[TD_MAXDIM]; /* a reader's own chunks, which it reads as a whole; 0: it has none */
    pthread_mutex_t reading;
} td_source;

/* td_hostlist - indices along an axis, in any order.  Refcounted. */
typedef struct td_hostlist {
    atomic_int refs;
    int64_t    n, at[];
} td_hostlist;

struct td_host {
    atomic_int   refs;
    td_source   *src;
    td_view      view; /* as the source's */
    /* NULL: none.  Else index i of axis `listed` is at list->at[first + i * step] strides along the axis */
    td_hostlist *list;
    int          listed;
    int64_t      first, step;
};
typedef struct td_host td_host;

/* A source with one reference and the fields of `like`, except refs and file.  On failure nothing is released. */
td_status  td_source_new(const td_source *like, td_source **out);
td_source *td_source_ref(td_source *s);
void       td_source_unref(td_source *s); /* ok on NULL */

td_status td_host_new(td_source *s, const td_view *view, td_host **out); /* owned; refs s */
/* h with axis cut to start, start + step, …: a record without references, valid as long as h. */
td_host   td_host_part(const td_host *h, int axis, int64_t start, int64_t step, int64_t count);

/* Rows of h along axis that its reader reads as a whole, counted from the first one; 1: any are as good. */
int64_t td_host_grain(const td_host *h, int axis);

/* A node over `view` of s: an owned reference. */
td_status td_host_node(td_dev *d, td_source *s, const td_view *view, td_node **out);
/* The same for the window that h describes; the caller keeps its references. */
td_status td_host_node_of(td_dev *d, const td_host *like, td_node **out);
/* A part of n, a host node; v refers to n's own layout, n->view.  TD_SKIP: only n as a whole can be read that
 * way (a reader's elements in another order; merged axes of strided memory). */
td_status td_host_window(const td_node *n, const td_view *v, td_node **out);

/* A reader's window without a list as a box of its elements; false: it is not one.  In C order they lie as
 * td_host_layout says. */
bool td_host_box(const td_host *h, td_box *box);
/* Can the elements be brought into the window's order after they were read?  For memory always.  For a reader:
 * if the window is a box, a box with an ascending list along one axis, or runs of the source's C order. */
bool td_host_readable(const td_host *h);
/* Orders the axes from the longest stride to the shortest; C order if one repeats elements. */
void td_view_order(const td_view *v, int order[]);

/* ---- hostlist.c ---- */
td_status td_hostlist_new(int64_t n, td_hostlist **out); /* the caller fills in the indices */
void      td_hostlist_unref(td_hostlist *l); /* ok on NULL */
/* n, a host node, with the list's indices along axis.  TD_SKIP: its elements have to be in memory for that. */
td_status td_host_pick(const td_node *n, int axis, td_hostlist *l, td_node **out);
/* n as `view` of its source's memory, whose axis follows the list in strides of that axis.  TD_SKIP: as above. */
td_status td_host_pick_through(const td_node *n, const td_view *view, int axis, td_hostlist *l, td_node **out);
/* Copies elements [first, first + count) of a listed window on memory, in C order. */
td_status td_host_listed(const td_host *h, int64_t first, int64_t count, char *to);
/* Copies all elements of a reader's listed window, in boxes of neighbouring indices. */
td_status td_host_read_listed(const td_host *h, char *to);

/* ---- hostcopy.c ---- */
/* Copies elements [first, first + count) of a window on memory with n axes dim, in their order. */
td_status td_host_strided(td_source *s, int64_t offset, const int64_t *dim, const int64_t *stride, int n, int64_t first,
                          int64_t count, char *to);
/* Does a reader's window consist of runs that are contiguous in its C order, in the order of the layout? */
bool      td_host_runs(const td_host *h);
/* Reads a box of a reader's elements, in C order. */
td_status td_host_read(td_source *s, const td_box *box, void *out);

/* td_retrace - how a view v goes through the elements of a dense view `base`: along v's axis i by step[i] of
 * base's axis[i] (-1: none), starting at index start[k] of base's axis k.  False: v merges axes of base, or
 * splits one. */
typedef struct td_retrace {
    int     axis[TD_MAXDIM];
    int64_t step[TD_MAXDIM], start[TD_MAXDIM];
} td_retrace;

bool td_view_retrace(const td_view *base, const td_view *v, td_retrace *out);

/* ---- reading ---- */
/* The layout in which a window is copied: axes in memory order, with extent 1 for axes that repeat. */
void      td_host_layout(const td_host *h, td_view *dense);
size_t    td_host_bytes(const td_host *h); /* of that layout */
/* Writes bytes [at, at + nbytes) of that layout to `to`: a td_filler whose ctx is a td_host. */
td_status td_host_fill(void *ctx, size_t at, size_t nbytes, void *to);
/* Copies td_host_bytes bytes onto the device, on s. */
td_status td_host_copy(const td_host *h, td_stream *s, uintptr_t to);
/* Copies into host memory, in C order. */
td_status td_host_get(const td_host *h, void *out);
/* Loads n, a host node: it becomes a leaf. */
td_status td_host_load(td_node *n);

/* ---- hostfile.c ---- */
/* Finds the file that [lo, hi) shows, if any; `write`: opens it for writing too. */
void      td_hostfile_find(td_hostfile *f, const void *lo, const void *hi, bool write);
void      td_hostfile_close(td_hostfile *f);
/* Copies n bytes of memory at `from`, or reads them from the file. */
td_status td_hostfile_read(td_hostfile *f, const char *from, size_t n, void *to);

#endif
