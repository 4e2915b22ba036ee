/* chunksort.c - sorting what does not fit the device.
 *
 * Rows of a matrix are sorted chunk by chunk.  One long row becomes sorted runs in host memory,
 * which are merged there: samples give the values that cut all runs into pieces of about equal
 * size, and each thread merges pieces of its own.  If indices are wanted, a run is values and
 * indices; of equal elements those of the earlier run come first.
 */
#include "array/outofcore/chunk.h"
#include "array/outofcore/feed.h"
#include "array/run/eval.h"
#include "base/parallel.h"
#include "dev/core/sort.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS = 1024, SAMPLES = 32, PIECES = 8 /* pieces per thread */ };

/* ---- keys: numbers that are ordered as the elements, NaN last ---- */

static uint64_t
merge_key(td_dtype dt, const char *at)
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

/* merge - sorted runs, one after the other: values (in), and where they came from (from; NULL:
 * not wanted). */
typedef struct merge {
    td_dtype dt;
    size_t size;
    const char *in;
    const int64_t *from;
    char *out;   /* NULL: values are not wanted */
    int64_t *at; /* indices, if there is `from` */
    int nrun, npiece;
    int64_t begin[RUNS + 1];
    uint64_t *part; /* npiece - 1 keys that separate the pieces */
} merge;

/* How many elements of run r have keys below k. */
static int64_t
below(const merge *m, int r, uint64_t k)
{
    int64_t lo = m->begin[r], hi = m->begin[r + 1];

    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;

        if (merge_key(m->dt, m->in + (size_t)mid * m->size) < k)
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

static bool
is_before(const head *x, const head *y)
{
    return x->key != y->key ? x->key < y->key : x->at < y->at;
}

static void
sift(head *h, int n, int i)
{
    for (;;) {
        int k = 2 * i + 1;
        head t;

        if (k >= n)
            return;
        k += k + 1 < n && is_before(&h[k + 1], &h[k]);
        if (!is_before(&h[k], &h[i]))
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
            h[n++] = (head){merge_key(m->dt, m->in + (size_t)lo * m->size), lo, hi};
    }
    for (int i = n / 2 - 1; i >= 0; i--)
        sift(h, n, i);
    for (; n; to++) {
        if (m->out)
            memcpy(m->out + (size_t)to * m->size, m->in + (size_t)h[0].at * m->size, m->size);
        if (m->at)
            m->at[to] = m->from[h[0].at];
        if (++h[0].at < h[0].end)
            h[0].key = merge_key(m->dt, m->in + (size_t)h[0].at * m->size);
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

            sample[r * SAMPLES + i] = merge_key(m->dt, m->in + (size_t)at * m->size);
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
    (void)j;
    return td_array_sort(x, out, NULL);
}

static td_status
sorted_places(td_job *j, const td_array *x, td_array *out)
{
    (void)j;
    return td_array_sort(x, NULL, out);
}

static const td_jobkind by_values = {.rows = sorted_values}, by_places = {.rows = sorted_places};

/* runs - the runs of one row, in host memory, as they are made. */
typedef struct runs {
    merge m;
    td_source *value, *place;
    td_sink places; /* over `place` */
} runs;

/* Writes the run's indices, counted from the row's first element. */
static td_status
put_places(td_job *j, const td_array *at)
{
    runs *r = j->ctx;
    td_job own = {
        .sink = &r->places, .dt = TD_I64, .at = j->lo, .count = j->hi - j->lo, .drain = j->drain};
    td_operand first = {.scalar = {.dt = TD_I64, .i = j->lo}};
    td_array all;
    td_node *n;
    td_status st;

    TD_TRY(td_array_apply(OP_add, (td_operand[]){{.array = at}, first}, 2, &all));
    st = td_array_node(&all, &n);
    td_array_unref(&all);
    TD_TRY(st);
    st = td_sink_put(&own, n);
    td_node_unref(n);
    return st;
}

static td_status
sorted_run(td_job *j, const td_array *x, td_array *out)
{
    runs *r = j->ctx;
    merge *m = &r->m;
    td_array at;
    td_status st;

    while (m->nrun && m->begin[m->nrun - 1] >= j->lo)
        m->nrun--; /* the chunk is repeated with fewer rows */
    if (m->nrun == RUNS)
        return td_fail(TD_ERR_OOM, "sort: more than %d runs", RUNS);
    m->begin[m->nrun++] = j->lo;
    m->begin[m->nrun] = j->hi;
    if (!r->place)
        return td_array_sort(x, out, NULL);
    st = td_array_sort(x, out, &at);
    /* the CPU does not sort values and indices at once */
    if (st == TD_SKIP && !(st = td_array_sort(x, NULL, &at))) {
        st = td_array_take(x, &at, 0, out);
        if (st)
            td_array_unref(&at);
    }
    TD_TRY(st);
    st = put_places(j, &at);
    td_array_unref(&at);
    if (st)
        td_array_unref(out);
    return st;
}

static const td_jobkind by_runs = {.rows = sorted_run};

static td_status
sort_rows(td_job *j, const td_array *a, td_dtype dt, const td_jobkind *kind, td_array *out)
{
    j->kind = kind;
    j->ntop = 1;
    j->dt = dt;
    j->to = j->axis[0];
    return td_chunk_run(j, &a, &a->view.shape, out);
}

/* ---- long rows ---- */

/* sorted - where a sort's results go: sources for all rows, one after the other; NULL: not
 * wanted. */
typedef struct sorted {
    td_source *value, *place;
} sorted;

static td_status
merge_row(runs *r, const td_node *values, const sorted *to, int64_t first, int64_t n)
{
    merge *m = &r->m;
    void *token;
    td_status st;

    m->size = td_dtype_size(m->dt);
    m->in = values->host->src->mem;
    m->out = to->value ? to->value->mem + (size_t)first * m->size : NULL;
    if (r->place) {
        m->from = (const int64_t *)(void *)r->place->mem;
        m->at = (int64_t *)(void *)to->place->mem + first;
    }
    token = td_graph_unlock();
    st = n ? merge_runs(m) : TD_OK;
    td_graph_lock(token);
    return st;
}

/* Sorts a, one row, into `to` from element `first` on. */
static td_status
sort_row(const td_array *a, const sorted *to, int64_t first)
{
    runs *r = calloc(1, sizeof *r);
    td_job j = {.ctx = r, .on_host = true};
    td_view v = td_view_contiguous(&a->view.shape);
    td_array values;
    td_status st = r ? TD_OK : td_fail(TD_ERR_NOMEM, "sort: out of host memory");

    if (!st && to->place)
        st = td_source_of_bytes(TD_I64, &v, &r->place);
    if (!st) {
        r->m.dt = td_array_dtype(a);
        if (r->place)
            r->places = (td_sink){.dt = TD_I64, .mem = r->place->mem, .view = v};
        st = sort_rows(&j, a, r->m.dt, &by_runs, &values);
    }
    if (!st) {
        st = merge_row(r, values.store->node, to, first, td_array_size(a));
        td_array_unref(&values);
    }
    td_source_unref(r ? r->place : NULL);
    free(r);
    return st;
}

/* Row r of a's last axis. */
static td_array
array_row(const td_array *a, int64_t r)
{
    int last = a->view.shape.ndim - 1;
    td_view v = {.shape = {.ndim = 1, .dim = {a->view.shape.dim[last]}},
                 .offset = a->view.offset,
                 .stride = {a->view.stride[last]}};

    for (int k = last - 1; k >= 0; k--) {
        v.offset += r % a->view.shape.dim[k] * a->view.stride[k];
        r /= a->view.shape.dim[k];
    }
    return td_array_view(a, &v);
}

static td_status
host_array(td_dev *d, td_source *s, td_array *out)
{
    td_node *n;

    TD_TRY(td_host_node(d, s, &s->view, &n));
    return td_array_of_node(n, out);
}

/* Sorts rows one by one, each too long for the device. */
static td_status
sort_long(const td_array *a, td_array *values, td_array *index)
{
    td_view v = td_view_contiguous(&a->view.shape);
    int64_t length = v.shape.dim[v.shape.ndim - 1], size = td_shape_size(&v.shape);
    sorted to = {NULL, NULL};
    td_status st = values ? td_source_of_bytes(td_array_dtype(a), &v, &to.value) : TD_OK;

    if (!st && index)
        st = td_source_of_bytes(TD_I64, &v, &to.place);
    for (int64_t r = 0; r * length < size && !st; r++) {
        td_array row = array_row(a, r);

        st = sort_row(&row, &to, r * length);
        td_array_unref(&row);
    }
    if (!st && values)
        st = host_array(td_array_dev(a), to.value, values);
    if (!st && index) {
        st = host_array(td_array_dev(a), to.place, index);
        if (st && values)
            td_array_unref(values);
    }
    td_source_unref(to.value);
    td_source_unref(to.place);
    return st;
}

td_status
td_chunk_sort(const td_array *a, td_array *values, td_array *index)
{
    const td_shape *s = &a->view.shape;
    size_t nbytes = (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a)),
           room = td_chunk_room(td_array_dev(a)) / 6; /* a sort needs two to ten times its input */
    td_job j = {.ntop = 0};
    td_status st = TD_OK;

    if (!td_array_hosted(a) || (nbytes <= room && td_array_size(a) <= UINT32_MAX))
        return TD_SKIP;
    TD_TRY(td_sort_can(td_array_dev(a), td_array_dtype(a), 1, !index));
    for (int k = 1; k + 1 < s->ndim; k++)
        if (s->dim[k] > s->dim[j.axis[0]])
            j.axis[0] = k;
    if (s->ndim == 1 || nbytes / (size_t)s->dim[j.axis[0]] > room)
        return sort_long(a, values, index);
    if (values)
        st = sort_rows(&j, a, td_array_dtype(a), &by_values, values);
    if (!st && index) {
        st = sort_rows(&j, a, TD_I64, &by_places, index);
        if (st && values)
            td_array_unref(values);
    }
    return st;
}
