/* chunk.h - values of arrays that are still on the host, computed chunk by chunk.
 *
 * td_job - one value that a pass computes.  A pass goes over the rows of its sources once, for all its jobs
 * together.  It uploads a range of rows; then each job evaluates its part of the graph, restricted to those rows
 * (chunkcut.c).  Between two chunks nothing is half done: a chunk that fails for lack of memory is repeated with
 * fewer rows.
 *
 * Everything here needs the graph's lock, which is released while bytes are moved and kernels run.
 */
#ifndef TD_ARRAY_CHUNK_H
#define TD_ARRAY_CHUNK_H
#include "array/graph/rowfn.h"
#include "array/graph/internal.h"
#include "array/graph/values.h"
#include "array/source/host.h"

/* td_feed - a window whose rows are uploaded.  Belongs to its pass. */
typedef struct td_feed {
    td_host *host; /* a reference */
    int      axis; /* axis of the window along which its rows lie */
    bool     in_place; /* the device reads the host's memory directly */
    td_node *leaf; /* the rows of the current chunk */
} td_feed;

/* ---- chunkcut.c ---- */

/* td_survey - what a range of rows of a value, along one of its axes, needs. */
typedef struct td_survey {
    td_node *fed[2 * TD_WEIGHT_MAX];  /* host nodes of which it needs rows, and along which axis */
    int      axis[2 * TD_WEIGHT_MAX];
    td_node *whole[2 * TD_WEIGHT_MAX]; /* pending nodes that it needs as a whole */
    int      nfed, nwhole;
    size_t   fed_bytes, whole_bytes; /* total bytes of these: host nodes, and values that are made of such */
    int64_t  stride; /* stride of the largest of `fed` along its axis */
    int      multiple; /* rows must begin at multiples of this */
    bool     calls;    /* functions of rows are called, which need memory of their own */
} td_survey;

void td_chunk_survey(td_node *n, int axis, td_survey *s); /* finds what rows of n along axis need; nodes are borrowed */

/* td_cutter - makes the parts of graphs for one range of rows.  The parts are private nodes, which all values
 * cut together share. */
typedef struct td_cutter {
    const td_feed *feed;  /* NULL: host nodes stay as they are */
    int            nfeed;
    int64_t        lo, hi; /* the range; hi < 0: all rows */
    td_hostlist   *list;   /* not NULL: the rows are these indices, 0 to hi, instead, */
    td_node       *places; /* and the same on the device: int64, one axis, evaluated */
    struct td_cutnode *made;
    int            n, cap;
} td_cutter;

/* Rows of n along axis (-1: n itself) as a node, an owned reference.  TD_SKIP: rows cannot be taken by a list
 * here. */
td_status td_chunk_cut(td_cutter *c, td_node *n, int axis, td_node **out);
void      td_cutter_end(td_cutter *c);

/* The axis of n's source i that corresponds to n's axis; -1: none, the source is needed as a whole. */
int       td_chunk_axis(const td_node *n, int axis, int i);

/* ---- chunkrowfn.c: values whose rows a function computes ---- */

/* Records a value of shape s of n arrays. */
td_status td_rowfn_record(td_rowfn *e, const td_array *const *in, int n, td_dtype dt, const td_shape *s, td_array *out);
/* n's function over its sources, which are on the device: an owned node. */
td_status td_rowfn_rows(const td_node *n, td_node **out);
/* Evaluates all such values under n, whose sources are on the device or fit it. */
td_status td_rowfn_below(td_node *n);

/* ---- chunkjob.c: what is done with the rows ---- */
enum { TD_JOB_ACCS = 2, TD_JOB_TOPS = 2 };

typedef struct td_job td_job;

/* td_jobkind - a kind of job.  Either `step` computes next[] from the rows x[] (unevaluated arrays of the
 * device) and acc[] (first: there are none yet), and after the last chunk `finish` computes the result from
 * acc[].  Or `rows` computes rows of the result from x[]; if it is NULL they are x[0].  `rows` may also use
 * acc[] and make next[] for the following chunk, and may put its rows elsewhere in the result, by setting at and
 * count. */
typedef struct td_jobkind {
    td_status (*step)(const td_job *j, const td_array *x, bool first, td_array *next);
    td_status (*finish)(const td_job *j, td_array *out);
    td_status (*rows)(td_job *j, const td_array *x, td_array *out);
} td_jobkind;

/* td_sink - where a result goes that does not stay on the device: host memory, or a writer. */
typedef struct td_sink {
    td_dtype dt;
    char    *mem;  /* NULL: there is a writer */
    td_view  view; /* in elements */
    /* writes a box's elements, given in C order; called without the graph's lock */
    td_status (*write)(void *owner, const td_box *box, const void *in);
    void    *owner;
    int64_t  grain[TD_MAXDIM]; /* the writer's own chunks; 0: it has none */
} td_sink;

/* td_sums - sums over the current chunk's rows that several jobs start from: sum, mean and deviation of one
 * value. */
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
    td_node *node; /* the node that receives the value; a reference */
    int      ntop;
    td_node *top[TD_JOB_TOPS];  /* the values that are cut; references */
    int      axis[TD_JOB_TOPS]; /* the axis along which each is cut */
    int      to;   /* rows: the axis of the result along which they lie */
    int64_t  lo, hi, rows; /* the current chunk, and the total number of rows */
    int64_t  at, count; /* the rows of the result that it makes */
    int64_t  chunk; /* requested rows of a chunk; 0: as many as are good */
    int64_t  inner; /* reductions: elements per row of the result */
    td_sums *sums; /* shared by the pass */
    struct td_drain *drain; /* the pass's; NULL: copies of rows to a sink are waited for */
    td_array acc[TD_JOB_ACCS], next[TD_JOB_ACCS];
    td_red   red; /* of a reduction */
    uint32_t axes;
    bool     keepdims;
    double   ddof;
    td_dtype dt; /* of the result */
    td_buf  *out; /* rows: the buffer that receives them; or */
    td_sink *sink;
    td_source *mem; /* host memory of its own for them, */
    td_sink  own;   /* and the sink over it */
    const td_array *other; /* further operands of products and histograms */
    int64_t  bins;
    void    *ctx;
    bool     on_host; /* put the result into host memory even if it fits the device */
    double   first, last;
    td_array result;
};

extern const td_jobkind td_job_reduce, td_job_map;

static inline bool
td_job_merges(const td_job *j)
{
    return j->kind->step != NULL;
}

/* Runs a job of another kind over arrays, whose axes are set.  The result has that shape and the job's dtype. */
td_status td_chunk_run(td_job *j, const td_array *const *in, const td_shape *shape, td_array *out);

/* ---- sink.c ---- */
/* Computes a, of the sink's shape, cast to its dtype, into the sink.  rows: of a chunk; 0: as many as are good. */
td_status td_chunk_store(const td_array *a, td_sink *to, int64_t rows);
/* Evaluates a, which fits the device, in chunks of that many rows. */
td_status td_chunk_stream(const td_array *a, int64_t rows);
/* a's value on the host: an owned source in memory, and a's window on it.  TD_SKIP: it is on the device. */
td_status td_chunk_host(const td_array *a, td_source **out, td_view *view);
/* n, of kind HOST, as a node over plain memory without a list; other sources are read into memory.  TD_SKIP:
 * they fit the device, where n's value is now or soon. */
td_status td_chunk_memory(td_node *n, td_node **out);
/* Host memory for a result, as a source that is not written yet.  TD_ERR_NOMEM says what else could be done. */
td_status td_source_of_bytes(td_dtype dt, const td_view *view, td_source **out);

/* ---- chunk.c ---- */

/* Runs a job of another kind than expressions.  The caller has filled in the inputs, how they are cut, and
 * `node`: without sources, of the result's shape and dtype; it receives the value.  The caller keeps its
 * references. */
td_status td_chunk_job(td_job *j);

/* The axis along which n is best cut; -1: along none do rows of n need only rows of host sources. */
int       td_chunk_best_axis(td_node *n);

/* ---- chunkview.c ---- */
enum { TD_CHUNK_HOSTS = 128 };

/* Lists at most `most` host nodes under n, with references; *nbytes: the bytes of those that are copied. */
int       td_chunk_hosts(td_node *n, td_node *host[], int most, size_t *nbytes);

/* ---- chunkresult.c ---- */
td_status td_job_open(td_job *j, const td_chunkopts *o); /* prepares the memory where the job's rows go */
td_status td_job_settle(td_job *j); /* call when the pass is done: its node gets the value */

/* ---- chunkrun.c ---- */
enum { TD_PASS_JOBS = 16 };

typedef struct td_pass {
    td_dev *dev;
    td_job  job[TD_PASS_JOBS];
    td_feed feed[2 * TD_WEIGHT_MAX];
    int     njob, nfeed;
    size_t  room; /* what the device had free at the beginning */
    td_sums sums;
    struct td_drain *drain; /* NULL: nothing goes to a sink, or the device is a CPU */
    int64_t n, rows; /* rows in all; rows of a chunk */
    int     multiple;
    bool    calls; /* as the surveys' */
} td_pass;

td_status td_pass_run(td_pass *p);

/* ---- chunksize.c ---- */

size_t    td_node_bytes(const td_node *n);
/* Bytes that can still be allocated on the device. */
size_t    td_chunk_room(td_dev *d);
/* May that many bytes be held, for a result or for what is loaded, leaving some for the kernels? */
bool      td_chunk_has_room(td_dev *d, size_t nbytes);

/* Chooses the rows of a chunk; want: as requested; 0: as many as are good. */
void td_pass_size(td_pass *p, int64_t want);

#endif
