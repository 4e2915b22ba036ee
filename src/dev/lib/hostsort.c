/* hostsort.c - the sorting order of elements on the CPU: a radix sort of codes with their
 * positions, on all threads.
 *
 * An element's code is an unsigned number that sorts like the element; all NaNs have one code,
 * after the rest, and -0 is 0.  An item is a code with the element's position: one word if both
 * fit (code above, position below), else two.  A long row is first cut into buckets by the
 * topmost bits that differ, so that the rest happens in one core's cache; a bucket that has most
 * of the row is cut once more.  Every step keeps the order of equal codes.
 */
#include "dev/lib/hostsort.h"

#include "base/parallel.h"
#include "dev/core/devops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    INSERTION = 32,   /* up to this many items insertion sort is faster */
    SHORT_BITS = 8,   /* bits of a digit for few items: its counters are cleared each time */
    LONG_BITS = 11,   /* for many items: counters and a line of each bucket fit the caches */
    LONG_FROM = 4096, /* items from which on that digit is used */
    ALONE = 1 << 15,  /* up to this many items one thread sorts a row */
    TASKS = 8,        /* tasks per thread, of buckets or rows */
    PIECES_MAX = 256, /* most pieces of a range that all threads cut */
};

/* ---- codes ---- */

static uint64_t
hostsort_code(td_dtype dt, uint64_t bits, unsigned width)
{
    uint64_t top = (uint64_t)1 << (width - 1), all = top | (top - 1), inf;

    if (td_dtype_kind(dt) == 'i')
        return bits ^ top;
    if (!td_dtype_is_float(dt))
        return bits;
    inf = dt == TD_F64    ? (uint64_t)0x7ff << 52
          : dt == TD_F32  ? (uint64_t)0xff << 23
          : dt == TD_BF16 ? (uint64_t)0xff << 7
                          : (uint64_t)0x1f << 10;
    if ((bits & ~top) > inf)
        return all;
    return bits & top ? top - (bits & ~top) : bits | top;
}

/* row - one row being sorted. */
typedef struct row {
    td_dtype dt;
    int64_t n;
    const char *in;
    int64_t *index;
    uint64_t *items, *other; /* n each; `other` may be index */
} row;

#define INLINE static inline __attribute__((always_inline))

/* Makes items [lo, hi) of the row, in one word or two. */
INLINE void
make_items(const row *r, int64_t lo, int64_t hi, td_dtype dt, unsigned width, int words)
{
    for (int64_t i = lo; i < hi; i++) {
        uint64_t bits = 0, code;

        memcpy(&bits, r->in + (size_t)i * (width / 8), width / 8); /* little-endian */
        code = hostsort_code(dt, bits, width);
        if (words == 1) {
            r->items[i] = code << 32 | (uint64_t)i;
        } else {
            r->items[2 * i] = code;
            r->items[2 * i + 1] = (uint64_t)i;
        }
    }
}

/* The bits in which codes of items[0, n) differ. */
INLINE uint64_t
differing(const uint64_t *items, int64_t n, uint64_t first, int words)
{
    uint64_t any = 0;

    for (int64_t i = 0; i < n; i++)
        any |= items[i * words] ^ first;
    return words == 1 ? any >> 32 << 32 : any;
}

/* One loop per dtype, so that the compiler vectorises the codes. */
INLINE void
make_row(const row *r, int64_t lo, int64_t hi, int words)
{
    switch (r->dt) {
    case TD_F64: make_items(r, lo, hi, TD_F64, 64, words); return;
    case TD_I64: make_items(r, lo, hi, TD_I64, 64, words); return;
    case TD_U64: make_items(r, lo, hi, TD_U64, 64, words); return;
    case TD_F32: make_items(r, lo, hi, TD_F32, 32, words); return;
    case TD_I32: make_items(r, lo, hi, TD_I32, 32, words); return;
    case TD_U32: make_items(r, lo, hi, TD_U32, 32, words); return;
    default:     make_items(r, lo, hi, r->dt, 8 * (unsigned)td_dtype_size(r->dt), words); return;
    }
}

/* ---- one thread ---- */

INLINE void
insertion(uint64_t *items, int64_t n, int words)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t w[2] = {items[i * words], words == 2 ? items[i * 2 + 1] : 0};
        int64_t k = i;

        for (; k > 0 && items[(k - 1) * words] > w[0]; k--)
            memcpy(items + k * words, items + (k - 1) * words, sizeof *items * (size_t)words);
        memcpy(items + k * words, w, sizeof *items * (size_t)words);
    }
}

/* Distributes items by one digit; count: where each value's items begin. */
INLINE void
scatter(const uint64_t *from, uint64_t *to, int64_t n, unsigned shift, uint64_t mask,
        int64_t *begin, int words)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t at = begin[from[i * words] >> shift & mask]++;

        memcpy(to + at * words, from + i * words, sizeof *from * (size_t)words);
    }
}

/* Sorts items[0, n), whose codes differ in the bits `any`, from the lowest digit on.  True:
 * the result is in `other`. */
INLINE bool
digits(uint64_t *items, uint64_t *other, int64_t n, uint64_t any, int words)
{
    unsigned low, high, most = n < LONG_FROM ? SHORT_BITS : LONG_BITS, passes, bits;
    int64_t begin[1 << LONG_BITS];
    bool swapped = false;

    if (!any)
        return false;
    low = (unsigned)__builtin_ctzll(any);
    high = 64 - (unsigned)__builtin_clzll(any);
    passes = (high - low + most - 1) / most;
    bits = (high - low + passes - 1) / passes;
    for (; low < high; low += bits) {
        uint64_t *from = swapped ? other : items, mask = ((uint64_t)1 << bits) - 1;
        int64_t sum = 0;

        if (!(any >> low & mask))
            continue;
        memset(begin, 0, sizeof *begin << bits);
        for (int64_t i = 0; i < n; i++)
            begin[from[i * words] >> low & mask]++;
        for (uint64_t k = 0; k <= mask; k++) {
            int64_t count = begin[k];

            begin[k] = sum;
            sum += count;
        }
        scatter(from, swapped ? items : other, n, low, mask, begin, words);
        swapped = !swapped;
    }
    return swapped;
}

/* Sorts the row's items [lo, hi), which lie in `from`, and writes their order to index. */
INLINE void
finish(const row *r, uint64_t *from, uint64_t *other, int64_t lo, int64_t hi, int words)
{
    uint64_t *items = from + lo * words;
    int64_t n = hi - lo;

    if (n <= INSERTION)
        insertion(items, n, words);
    else if (digits(items, other + lo * words, n, differing(items, n, *items, words), words))
        items = other + lo * words;
    for (int64_t i = 0; i < n; i++)
        r->index[lo + i] = words == 1 ? (int64_t)(uint32_t)items[i] : (int64_t)items[2 * i + 1];
}

/* ---- all threads ---- */

/* cut - items [lo, hi) of a row, in `from`, being cut into buckets in `to`. */
typedef struct cut {
    const row *row;
    uint64_t *from, *to;
    int64_t lo, hi;
    int words, pieces, ntask;
    unsigned shift;
    int64_t buckets;
    uint64_t any[PIECES_MAX]; /* bits in which a piece's codes differ from the range's first */
    int64_t *begin;           /* [piece][bucket]: counts, then positions in `to`, then the ends */
    int64_t *task;            /* [ntask + 1]: the first bucket of each */
} cut;

static int
pieces_of(int64_t n)
{
    int64_t most = 2 * (int64_t)td_parallel_width(), pieces = n / (ALONE / 4) + 1;

    most = most < PIECES_MAX ? most : PIECES_MAX;
    return (int)(pieces < most ? pieces : most);
}

static const uint64_t *
piece_of(const cut *c, int64_t p, int64_t *n)
{
    int64_t lo, hi;

    td_parallel_piece(c->lo, c->hi, c->pieces, p, &lo, &hi);
    *n = hi - lo;
    return c->from + lo * c->words;
}

static void
make_piece(void *ctx, int64_t p)
{
    const cut *c = ctx;
    int64_t lo, hi;

    td_parallel_piece(c->lo, c->hi, c->pieces, p, &lo, &hi);
    if (c->words == 1)
        make_row(c->row, lo, hi, 1);
    else
        make_row(c->row, lo, hi, 2);
}

static void
look_piece(void *ctx, int64_t p)
{
    cut *c = ctx;
    uint64_t first = c->from[c->lo * c->words];
    int64_t n;
    const uint64_t *items = piece_of(c, p, &n);

    c->any[p] = c->words == 1 ? differing(items, n, first, 1) : differing(items, n, first, 2);
}

INLINE void
count(const uint64_t *items, int64_t n, unsigned shift, uint64_t mask, int64_t *counts, int words)
{
    for (int64_t i = 0; i < n; i++)
        counts[items[i * words] >> shift & mask]++;
}

static void
count_piece(void *ctx, int64_t p)
{
    const cut *c = ctx;
    int64_t n, *counts = c->begin + p * c->buckets;
    const uint64_t *items = piece_of(c, p, &n);
    uint64_t mask = (uint64_t)c->buckets - 1;

    memset(counts, 0, sizeof *counts * (size_t)c->buckets);
    if (c->words == 1)
        count(items, n, c->shift, mask, counts, 1);
    else
        count(items, n, c->shift, mask, counts, 2);
}

static void
scatter_piece(void *ctx, int64_t p)
{
    const cut *c = ctx;
    int64_t n, *begin = c->begin + p * c->buckets;
    const uint64_t *items = piece_of(c, p, &n);
    uint64_t mask = (uint64_t)c->buckets - 1;

    if (c->words == 1)
        scatter(items, c->to, n, c->shift, mask, begin, 1);
    else
        scatter(items, c->to, n, c->shift, mask, begin, 2);
}

/* Turns counts into positions: bucket by bucket, within a bucket piece by piece. */
static void
hostsort_place(cut *c)
{
    int64_t at = c->lo;

    for (int64_t b = 0; b < c->buckets; b++)
        for (int p = 0; p < c->pieces; p++) {
            int64_t *begin = c->begin + p * c->buckets + b, n = *begin;

            *begin = at;
            at += n;
        }
}

/* The end of bucket b after the scatter: the next bucket's begin. */
static int64_t
end_of(const cut *c, int64_t b)
{
    return b < 0 ? c->lo : c->begin[(c->pieces - 1) * c->buckets + b];
}

static bool
is_large(const cut *c, int64_t b)
{
    int64_t n = end_of(c, b) - end_of(c, b - 1);

    return n > ALONE && n > (c->hi - c->lo) / (2 * (int64_t)td_parallel_width());
}

/* Groups buckets into tasks of about equal work; a large bucket gets no task here. */
static void
share_buckets(cut *c)
{
    int64_t most = (c->hi - c->lo) / ((int64_t)td_parallel_width() * TASKS), n = 0;

    c->ntask = 0;
    c->task[0] = 0;
    for (int64_t b = 0; b < c->buckets; b++) {
        n += is_large(c, b) ? 0 : end_of(c, b) - end_of(c, b - 1);
        if (n > most || b == c->buckets - 1) {
            c->task[++c->ntask] = b + 1;
            n = 0;
        }
    }
}

static void
finish_task(void *ctx, int64_t t)
{
    const cut *c = ctx;

    for (int64_t b = c->task[t]; b < c->task[t + 1]; b++) {
        int64_t lo = end_of(c, b - 1), hi = end_of(c, b);

        if (is_large(c, b))
            continue;
        if (c->words == 1)
            finish(c->row, c->to, c->from, lo, hi, 1);
        else
            finish(c->row, c->to, c->from, lo, hi, 2);
    }
}

/* No codes differ: the order stays as it is. */
static void
copy_piece(void *ctx, int64_t p)
{
    const cut *c = ctx;
    int64_t lo, hi;

    td_parallel_piece(c->lo, c->hi, c->pieces, p, &lo, &hi);
    for (int64_t i = lo; i < hi; i++)
        c->row->index[i] =
            c->words == 1 ? (int64_t)(uint32_t)c->from[i] : (int64_t)c->from[2 * i + 1];
}

/* Chooses the topmost of the bits `any`: as many as make a bucket fit a core's cache. */
static void
choose_digit(cut *c, uint64_t any)
{
    unsigned high = 64 - (unsigned)__builtin_clzll(any), low = (unsigned)__builtin_ctzll(any),
             bits = SHORT_BITS;

    while (bits < LONG_BITS && (c->hi - c->lo) >> bits > LONG_FROM / 2)
        bits++;
    if (bits > high - low)
        bits = high - low;
    c->shift = high - bits;
    c->buckets = (int64_t)1 << bits;
}

static td_status
sort_range(const row *r, uint64_t *from, uint64_t *to, int64_t lo, int64_t hi, int words)
{
    cut c = {.row = r, .from = from, .to = to, .lo = lo, .hi = hi, .words = words};
    td_status st = TD_OK;
    uint64_t any = 0;

    c.pieces = pieces_of(hi - lo);
    td_parallel(c.pieces, look_piece, &c);
    for (int p = 0; p < c.pieces; p++)
        any |= c.any[p];
    if (!any) {
        td_parallel(c.pieces, copy_piece, &c);
        return TD_OK;
    }
    choose_digit(&c, any);
    c.begin = malloc(sizeof *c.begin * (size_t)(c.buckets * (c.pieces + 1) + 1));
    if (!c.begin)
        return td_fail(TD_ERR_NOMEM, "argsort: no host memory to count elements");
    c.task = c.begin + c.buckets * c.pieces;
    td_parallel(c.pieces, count_piece, &c);
    hostsort_place(&c);
    td_parallel(c.pieces, scatter_piece, &c);
    share_buckets(&c);
    td_parallel(c.ntask, finish_task, &c);
    for (int64_t b = 0; b < c.buckets && !st; b++)
        if (is_large(&c, b))
            st = sort_range(r, to, from, end_of(&c, b - 1), end_of(&c, b), words);
    free(c.begin);
    return st;
}

/* ---- rows ---- */

/* rows - sorted one after another by all threads, or several by each thread. */
typedef struct rows {
    const td_sort *job;
    uint64_t *temp; /* a task's memory: items, and for two-word items the second array */
    int words, ntask;
} rows;

static row
task_row(const rows *a, int64_t i, int64_t task)
{
    const td_sort *j = a->job;
    row r = {.dt = j->dt,
             .n = j->n,
             .in = (const char *)j->in + (size_t)(i * j->n) * td_dtype_size(j->dt),
             .index = (int64_t *)j->index + i * j->n};

    r.items = a->temp + task * j->n * (a->words == 1 ? 1 : 4);
    r.other = a->words == 1 ? (uint64_t *)r.index : r.items + 2 * j->n;
    return r;
}

static void
sort_rows(void *ctx, int64_t task)
{
    const rows *a = ctx;
    int64_t lo, hi;

    td_parallel_piece(0, a->job->rows, a->ntask, task, &lo, &hi);
    for (; lo < hi; lo++) {
        row r = task_row(a, lo, task);

        if (a->words == 1) {
            make_row(&r, 0, r.n, 1);
            finish(&r, r.items, r.other, 0, r.n, 1);
        } else {
            make_row(&r, 0, r.n, 2);
            finish(&r, r.items, r.other, 0, r.n, 2);
        }
    }
}

static td_status
one_by_one(const rows *a)
{
    td_status st = TD_OK;

    for (int64_t i = 0; i < a->job->rows && !st; i++) {
        row r = task_row(a, i, 0);
        cut c = {.row = &r, .hi = r.n, .words = a->words, .pieces = pieces_of(r.n)};

        td_parallel(c.pieces, make_piece, &c);
        st = sort_range(&r, r.items, r.other, 0, r.n, a->words);
    }
    return st;
}

td_status
td_hostsort_run(td_stream *s, const td_sort *j)
{
    rows a = {
        .job = j, .words = td_dtype_size(j->dt) == 8 || j->n > UINT32_MAX ? 2 : 1, .ntask = 1};
    int64_t tasks = td_parallel_width() * (int64_t)TASKS;
    bool alone = j->n <= ALONE || j->rows >= tasks;
    size_t words;
    td_buf *temp;
    td_status st = TD_OK;

    if (alone)
        a.ntask = (int)(j->rows < tasks ? j->rows : tasks);
    if (__builtin_mul_overflow((size_t)j->n * (size_t)(a.words == 1 ? 1 : 4), (size_t)a.ntask,
                               &words) ||
        words > SIZE_MAX / sizeof *a.temp)
        return td_fail(TD_ERR_OOM, "argsort: rows of %" PRId64 " elements", j->n);
    TD_TRY(td_buf_new(s->dev, s, words * sizeof *a.temp, &temp));
    a.temp = (uint64_t *)temp->ptr; // NOLINT(performance-no-int-to-ptr)
    if (alone)
        td_parallel(a.ntask, sort_rows, &a);
    else
        st = one_by_one(&a);
    td_buf_unref(temp);
    return st;
}
