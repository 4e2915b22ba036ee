/* chunk.h - values of arrays that are still on the host, computed chunk by chunk.
 *
 * td_job - one value that a pass computes: pass after pass over the same rows of the same sources, all jobs of a pass
 * together.  A pass uploads a range of the sources' rows, and each job takes its part of the graph, restricted to
 * those rows (chunkcut.c).  Between two of the chunks nothing is left half done: a chunk that fails for want of memory is
 * taken again with fewer rows.
 *
 * All under the graph's lock, which is given up while bytes are moved and kernels run.
 */
#ifndef TD_ARRAY_CHUNK_H
#define TD_ARRAY_CHUNK_H
#include "array/host.h"
#include "array/internal.h"

/* td_feed - a window whose rows are uploaded.  The pass's. */
typedef struct td_feed {
    td_host *host; /* a reference */
    int      axis; /* of its rows */
    bool     in_place; /* the device reads the host's memory */
    td_node *leaf; /* while a chunk is computed: its rows */
} td_feed;

/* ---- chunkcut.c ---- */

/* What a range of rows of a value, along an axis of it, needs. */
typedef struct td_survey {
    td_node *fed[2 * TD_WEIGHT_MAX];  /* host nodes of which it needs rows, and along which axis */
    int      axis[2 * TD_WEIGHT_MAX];
    td_node *whole[2 * TD_WEIGHT_MAX]; /* pending nodes that it needs as a whole */
    int      nfed, nwhole;
    size_t   fed_bytes, whole_bytes; /* of host nodes, in all */
    int64_t  stride; /* of the largest fed one along its axis */
    int      multiple; /* rows have to begin at multiples of it */
} td_survey;

void td_chunk_survey(td_node *n, int axis, td_survey *s); /* nodes are borrowed */

/* The parts of graphs that one range of rows needs: private nodes, shared by all that are cut together. */
typedef struct td_cutter {
    const td_feed *feed;  /* NULL: host nodes stay as they are */
    int            nfeed;
    int64_t        lo, hi; /* hi < 0: all rows */
    struct td_cutnode *made;
    int            n, cap;
} td_cutter;

/* Rows of n along axis (-1: n itself) as a node: an owned reference.  What n needs as a whole is evaluated. */
td_status td_chunk_cut(td_cutter *c, td_node *n, int axis, td_node **out);
void      td_cutter_end(td_cutter *c);

/* The axis of n's source i that n's axis runs along; -1: it does not, the source is needed as a whole. */
int       td_chunk_axis(const td_node *n, int axis, int i);

/* ---- chunkjob.c: what is done with the rows ---- */
enum { TD_JOB_ACCS = 2 };

typedef struct td_job td_job;

/* Of a kind of job: next[] from the rows x (an array of the device's, not evaluated) and acc[] (first: they are not there
 * yet); with the last chunk done, the result from acc[]. */
typedef struct td_jobkind {
    td_status (*step)(const td_job *j, const td_array *x, bool first, td_array *next);
    td_status (*finish)(const td_job *j, td_array *out);
} td_jobkind;

/* Where a result goes that does not stay on the device: memory of the host's, or a writer. */
typedef struct td_sink {
    td_dtype dt;
    char    *mem;  /* NULL: there is a writer */
    td_view  view; /* in elements */
    td_status (*write)(void *owner, const td_box *box, const void *in); /* a box's elements in C order; without the graph's lock */
    void    *owner;
} td_sink;

struct td_job {
    const td_jobkind *kind; /* NULL: the rows themselves are the result */
    td_node *node; /* whose value it is; a reference.  NULL: nobody's, `result` */
    td_node *top;  /* what is cut; a reference */
    int      axis; /* along this axis of it */
    int64_t  lo, hi, rows; /* the present chunk, of how many in all */
    int64_t  inner; /* elements of top behind one of its rows */
    td_array acc[TD_JOB_ACCS], next[TD_JOB_ACCS];
    td_red   red; /* of reductions */
    uint32_t axes;
    bool     keepdims;
    double   ddof;
    td_dtype dt; /* of the result */
    td_buf  *out; /* rows: where they go, or */
    td_sink *sink;
    td_sink  own; /* memory of its own */
    const td_array *other; /* of products, histograms: what else they need */
    double   first, last;
    td_array result;
};

extern const td_jobkind td_job_reduce;

/* ---- chunk.c ---- */

/* A view of a hosted value, as a node: of the host's memory, or the part of the value that it shows, computed.
 * TD_SKIP: it fits, or has to be there as a whole. */
td_status td_chunk_view(const td_array *a, td_node **out);

typedef struct td_chunkopts {
    bool     host; /* what does not fit the device may become a host node; else TD_ERR_OOM */
    td_sink *sink; /* where the result goes if it is made of rows: n stays as it is then.  NULL: where it fits */
    int64_t  rows; /* of a chunk; 0: as many as do well */
} td_chunkopts;

/* n, hosted and pending, becomes a leaf, a host node, or has gone to the sink.  TD_SKIP: all that it needs is on the
 * device now. */
td_status td_chunk_eval(td_node *n, const td_chunkopts *o);

/* a's value, of the sink's shape, cast to its dtype and written there; rows of a chunk, 0: as many as do well. */
td_status td_chunk_store(const td_array *a, td_sink *to, int64_t rows);
/* a's value where it fits, in chunks of so many rows. */
td_status td_chunk_stream(const td_array *a, int64_t rows);

/* Does evaluating n, hosted or not, leave its value on the device? */
bool      td_chunk_fits(td_node *n);

/* Bytes that the device still gives. */
size_t    td_chunk_room(td_dev *d);

/* ---- chunkrun.c ---- */
enum { TD_PASS_JOBS = 16 };

typedef struct td_pass {
    td_dev *dev;
    td_job  job[TD_PASS_JOBS];
    td_feed feed[2 * TD_WEIGHT_MAX];
    int     njob, nfeed;
    int64_t n, rows; /* rows in all, of a chunk */
    int     multiple;
} td_pass;

td_status td_pass_run(td_pass *p);

#endif
