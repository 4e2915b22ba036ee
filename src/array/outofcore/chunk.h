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
#include "array/graph/internal.h"
#include "array/graph/values.h"
#include "array/source/host.h"

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
    td_hostlist   *list;   /* not NULL: rows are its places, from 0 to hi, instead, */
    td_node       *places; /* and the same on the device: int64, of one axis, evaluated */
    struct td_cutnode *made;
    int            n, cap;
} td_cutter;

/* Rows of n along axis (-1: n itself) as a node: an owned reference.  TD_SKIP: it has none such at places of a list. */
td_status td_chunk_cut(td_cutter *c, td_node *n, int axis, td_node **out);
void      td_cutter_end(td_cutter *c);

/* The axis of n's source i that n's axis runs along; -1: it does not, the source is needed as a whole. */
int       td_chunk_axis(const td_node *n, int axis, int i);

/* ---- chunkjob.c: what is done with the rows ---- */
enum { TD_JOB_ACCS = 2, TD_JOB_TOPS = 2 };

typedef struct td_job td_job;

/* A kind of job.  Either step makes next[] from the rows x[] (arrays of the device's, not evaluated) and acc[] (first: they
 * are not there yet), and finish, with the last chunk done, the result from acc[]; or rows makes rows of the result of x[],
 * or they are x[0] where it is NULL.  Rows may use acc[] and make next[] too, for the chunk behind, and say where else in the
 * result they belong than x[] in its (at, count). */
typedef struct td_jobkind {
    td_status (*step)(const td_job *j, const td_array *x, bool first, td_array *next);
    td_status (*finish)(const td_job *j, td_array *out);
    td_status (*rows)(td_job *j, const td_array *x, td_array *out);
} td_jobkind;

/* Where a result goes that does not stay on the device: memory of the host's, or a writer. */
typedef struct td_sink {
    td_dtype dt;
    char    *mem;  /* NULL: there is a writer */
    td_view  view; /* in elements */
    td_status (*write)(void *owner, const td_box *box, const void *in); /* a box's elements in C order; without the graph's lock */
    void    *owner;
} td_sink;

/* td_sums - sums of the present chunk's rows that several jobs begin with: sum, mean and deviation of one value. */
typedef struct td_sums {
    int n;
    struct {
        const td_node *of;
        uint32_t       axes;
        bool           keepdims;
        td_dtype       dt;
        td_array       sum;
    } at[8];
} td_sums;

struct td_job {
    const td_jobkind *kind;
    td_node *node; /* whose value it is; a reference */
    int      ntop;
    td_node *top[TD_JOB_TOPS];  /* what is cut; references */
    int      axis[TD_JOB_TOPS]; /* along this axis of each */
    int      to;   /* rows: along which axis of the result they stand */
    int64_t  lo, hi, rows; /* the present chunk, of how many in all */
    int64_t  at, count; /* rows of the result that it makes */
    int64_t  chunk; /* rows of one, as asked; 0: as many as do well */
    int64_t  inner; /* reductions: elements behind one row */
    td_sums *sums; /* the pass's */
    struct td_drain *drain; /* the pass's; NULL: rows that go to a sink are waited for */
    td_array acc[TD_JOB_ACCS], next[TD_JOB_ACCS];
    td_red   red; /* of reductions */
    uint32_t axes;
    bool     keepdims;
    double   ddof;
    td_dtype dt; /* of the result */
    td_buf  *out; /* rows: where they go, or */
    td_sink *sink;
    td_source *mem; /* memory of its own for it, */
    td_sink  own;   /* and the sink over that */
    const td_array *other; /* of products, histograms: what else they need */
    int64_t  bins;
    void    *ctx;
    bool     on_host; /* the result goes to the host's memory even if it fits */
    double   first, last;
    td_array result;
};

extern const td_jobkind td_job_reduce, td_job_map;

static inline bool
td_job_merges(const td_job *j)
{
    return j->kind->step != NULL;
}

/* Runs a job of another kind over arrays, whose axes are set: a result of that shape and of the job's dtype. */
td_status td_chunk_run(td_job *j, const td_array *const *in, const td_shape *shape, td_array *out);

/* ---- sink.c ---- */
/* a's value, of the sink's shape, cast to its dtype and written there; rows of a chunk, 0: as many as do well. */
td_status td_chunk_store(const td_array *a, td_sink *to, int64_t rows);
/* a's value where it fits, in chunks of so many rows. */
td_status td_chunk_stream(const td_array *a, int64_t rows);
/* a's value as the host has it: an owned source with memory, and the window on it.  TD_SKIP: it is on the device. */
td_status td_chunk_host(const td_array *a, td_source **out, td_view *view);
/* n, of kind HOST, as a node whose elements are memory, no list: others are read into some.  TD_SKIP: they fit the device,
 * where n's value is now, or soon. */
td_status td_chunk_memory(td_node *n, td_node **out);
/* Memory of the host's for a result: a source of ours, not yet written to.  TD_ERR_NOMEM says what else there is. */
td_status td_source_of_bytes(td_dtype dt, const td_view *view, td_source **out);

/* ---- chunk.c ---- */

/* A job of another kind than expressions: inputs and how they are cut are filled in, and `node`, whose shape and dtype
 * the result has, without sources; it is settled.  The caller's references on all of them stay his. */
td_status td_chunk_job(td_job *j);

/* The axis along which rows of n are best cut; -1: along none it has rows of what is on the host. */
int       td_chunk_best_axis(td_node *n);

/* ---- chunkview.c ---- */
enum { TD_CHUNK_HOSTS = 128 };

size_t    td_node_bytes(const td_node *n);
/* May a result, or what is loaded, of so many bytes be held?  Something is left for the kernels. */
bool      td_chunk_has_room(td_dev *d, size_t nbytes);
/* The host nodes under n, references; *nbytes of those that are copied.  No more than `most`. */
int       td_chunk_hosts(td_node *n, td_node *host[], int most, size_t *nbytes);
/* Bytes that the device still gives. */
size_t    td_chunk_room(td_dev *d);

/* ---- chunkresult.c ---- */
td_status td_job_open(td_job *j, const td_chunkopts *o); /* where the job's rows go */
td_status td_job_settle(td_job *j); /* with the pass done: its node gets the value */

/* ---- chunkrun.c ---- */
enum { TD_PASS_JOBS = 16 };

typedef struct td_pass {
    td_dev *dev;
    td_job  job[TD_PASS_JOBS];
    td_feed feed[2 * TD_WEIGHT_MAX];
    int     njob, nfeed;
    size_t  room; /* what the device had left at the beginning */
    td_sums sums;
    struct td_drain *drain; /* NULL: nothing goes to a sink, or on a CPU */
    int64_t n, rows; /* rows in all, of a chunk */
    int     multiple;
} td_pass;

td_status td_pass_run(td_pass *p);

#endif
