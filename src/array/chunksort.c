/* chunksort.c - sorting what does not fit the device.
 *
 * Rows of a matrix are sorted chunk by chunk.  One long row becomes sorted runs in the host's memory, which are merged there: values
 * that part all runs into pieces of about the same size are drawn from samples, and each thread merges pieces of its own.
 */
#include "array/chunk.h"
#include "array/eval.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS = 1024, SAMPLES = 32, PIECES = 8 /* a thread */ };

/* ---- keys: numbers that are ordered as the elements, NaN last ---- */

static uint64_t
key_of(td_dtype dt, const char *at)
{
    unsigned bits = 8 * (unsigned)td_dtype_size(dt);
    uint64_t top = (uint64_t)1 << (bits - 1), x = 0;

    memcpy(&x, at, bits / 8); /* little-endian */
    if (td_dtype_kind(dt) == 'i')
        return x ^ top;
    if (!td_dtype_is_float(dt))
        return x;
    if ((x & (top - 1)) > (dt == TD_F64    ? (uint64_t)0x7ff << 52
                           : dt == TD_F32  ? (uint64_t)0xff << 23
                           : dt == TD_BF16 ? (uint64_t)0xff << 7
                                           : (uint64_t)0x1f << 10))
        return UINT64_MAX;
    return x & top ? ~x & (2 * top - 1) : x | top;
}

/* ---- merging ---- */

/* merge - sorted runs, one behind the other, to `out`. */
typedef struct merge {
    td_dtype dt;
    size_t size;
    const char *in;
    char *out;
    int nrun, npiece;
    int64_t begin[RUNS + 1];
    uint64_t *part; /* keys between the pieces, npiece - 1 of them */
} merge;

/* Elements of run r whose keys are below k. */
static int64_t
below(const merge *m, int r, uint64_t k)
{
    int64_t lo = m->begin[r], hi = m->begin[r + 1];

    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;

        if (key_of(m->dt, m->in + (size_t)mid * m->size) < k)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

typedef struct head {
    uint64_t key;
    int64_t at, end;
} head;

static void
sift(head *h, int n, int i)
{
    for (;;) {
        int k = 2 * i + 1;
        head t;

        if (k >= n)
            return;
        k += k + 1 < n && h[k + 1].key < h[k].key;
        if (h[i].key <= h[k].key)
            return;
        t = h[i];
        h[i] = h[k];
        h[k] = t;
        i = k;
    }
}

static void
merge_piece(void *ctx, int64_t p)
{
    const merge *m = ctx;
    head h[RUNS];
    int64_t to = 0;
    int n = 0;

    for (int r = 0; r < m->nrun; r++) {
        int64_t lo = p ? below(m, r, m->part[p - 1]) : m->begin[r],
                hi = p + 1 < m->npiece ? below(m, r, m->part[p]) : m->begin[r + 1];

        to += lo - m->begin[r];
        if (lo < hi)
            h[n++] = (head){key_of(m->dt, m->in + (size_t)lo * m->size), lo, hi};
    }
    for (int i = n / 2 - 1; i >= 0; i--)
        sift(h, n, i);
    for (char *out = m->out + (size_t)to * m->size; n; out += m->size) {
        memcpy(out, m->in + (size_t)h[0].at * m->size, m->size);
        if (++h[0].at < h[0].end)
            h[0].key = key_of(m->dt, m->in + (size_t)h[0].at * m->size);
        else
            h[0] = h[--n];
        sift(h, n, 0);
    }
}

static int
by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static td_status
merge_runs(merge *m)
{
    int n = m->nrun * SAMPLES;
    uint64_t *sample = malloc((size_t)n * sizeof *sample);

    if (!sample)
        return td_fail(TD_ERR_NOMEM, "sort: out of host memory");
    for (int r = 0; r < m->nrun; r++)
        for (int i = 0; i < SAMPLES; i++) {
            int64_t at = m->begin[r] + (m->begin[r + 1] - m->begin[r]) * i / SAMPLES;

            sample[r * SAMPLES + i] = key_of(m->dt, m->in + (size_t)at * m->size);
        }
    qsort(sample, (size_t)n, sizeof *sample, by_key);
    m->npiece = td_parallel_width() * PIECES < n ? td_parallel_width() * PIECES : n;
    for (int i = 1; i < m->npiece; i++)
        sample[i - 1] = sample[(int64_t)n * i / m->npiece];
    m->part = sample;
    td_parallel(m->npiece, merge_piece, m);
    free(sample);
    return TD_OK;
}

/* ---- runs ---- */

static td_status
sorted_values(td_job *j, const td_array *x, td_array *out)
{
    merge *m = j->ctx;

    for (; m && m->nrun && m->begin[m->nrun - 1] >= j->lo;)
        m->nrun--; /* taken again, with fewer rows */
    if (m && m->nrun == RUNS)
        return td_fail(TD_ERR_OOM, "sort: more than %d runs", RUNS);
    if (m) {
        m->begin[m->nrun++] = j->lo;
        m->begin[m->nrun] = j->hi;
    }
    return td_array_sort(x, out, NULL);
}

static td_status
sorted_places(td_job *j, const td_array *x, td_array *out)
{
    (void)j;
    return td_array_sort(x, NULL, out);
}

static const td_jobkind by_values = {.rows = sorted_values}, by_places = {.rows = sorted_places};

/* The merged elements in memory of their own, as a node; `runs`, a host node, is not used again. */
static td_status
merged(merge *m, const td_node *runs, td_node **out)
{
    size_t nbytes = td_host_bytes(runs->host);
    td_view v = td_view_contiguous(&runs->view.shape);
    void *token;
    td_source *s;
    td_status st;

    TD_TRY(td_source_of_bytes(m->dt, &v, &s));
    m->dt = s->dt;
    m->size = td_dtype_size(s->dt);
    m->in = runs->host->src->mem;
    m->out = s->mem;
    token = td_graph_unlock();
    st = nbytes ? merge_runs(m) : TD_OK;
    td_graph_lock(token);
    if (!st)
        st = td_host_node(runs->dev, s, &v, out);
    td_source_unref(s);
    return st;
}

static td_status
sort_rows(td_job *j, const td_array *a, td_dtype dt, const td_jobkind *kind, td_array *out)
{
    j->kind = kind;
    j->ntop = 1;
    j->dt = dt;
    j->to = j->axis[0];
    return td_chunk_run(j, &a, &a->view.shape, out);
}

/* All of one row: runs first. */
static td_status
sort_long(const td_array *a, td_array *out)
{
    merge *m = calloc(1, sizeof *m);
    td_job j = {.ctx = m, .on_host = true};
    td_array runs;
    td_node *n;
    td_status st = m ? TD_OK : td_fail(TD_ERR_NOMEM, "sort: out of host memory");

    if (!st) {
        m->dt = td_array_dtype(a);
        st = sort_rows(&j, a, m->dt, &by_values, &runs);
    }
    if (!st) {
        st = merged(m, runs.store->node, &n);
        td_array_unref(&runs);
    }
    free(m);
    return st ? st : td_array_of_node(n, out);
}

td_status
td_chunk_sort(const td_array *a, td_array *values, td_array *index)
{
    const td_shape *s = &a->view.shape;
    size_t nbytes = (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));
    td_job j = {.ntop = 0};
    td_status st = TD_OK;

    if (!td_array_hosted(a) || nbytes <= td_chunk_room(td_array_dev(a)) / 6)
        return TD_SKIP; /* a sort needs two to ten times as much */
    for (int k = 1; k + 1 < s->ndim; k++)
        if (s->dim[k] > s->dim[j.axis[0]])
            j.axis[0] = k;
    if (s->ndim == 1 || s->dim[j.axis[0]] == 1) {
        if (index || s->ndim > 1)
            return TD_SKIP;
        return sort_long(a, values);
    }
    if (values)
        st = sort_rows(&j, a, td_array_dtype(a), &by_values, values);
    if (!st && index) {
        st = sort_rows(&j, a, TD_I64, &by_places, index);
        if (st && values)
            td_array_unref(values);
    }
    return st;
}
