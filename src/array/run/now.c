/* now.c - runs small work on a CPU at once instead of recording it.
 *
 * Recording pays if an operation fuses with others.  For a few elements a plan and a kernel cost more than the work itself.
 * So an operation on few elements whose operands are in memory runs at once, without a compiler (array/now).
 */
#include "array/graph/array.h"

#include "array/graph/capture.h"
#include "array/graph/reduce.h"
#include "array/graph/values.h"
#include "array/run/now.h"
#include "base/opts.h"

#include <string.h>

static int64_t most = -1; /* elements times instructions; negative: not read from the options yet */

int64_t
td_now_limit(int64_t elements)
{
    int64_t before = most < 0 ? td_options()->eager : most;

    most = elements < 0 ? before : elements;
    return before;
}

static td_status
computed(td_node *n)
{
    return n->kind == TD_N_CAST ? td_now(n) : TD_SKIP;
}

bool
td_now_there(const td_node *n)
{
    return n->kind == TD_N_SCALAR || td_node_on_host(n);
}

static const td_steps *
steps_of(const td_node *n)
{
    if (n->kind == TD_N_OP)
        return td_steps_op((td_op)n->op, (td_dtype)n->src[n->nsrc - 1]->dt);
    return td_steps_cast((td_dtype)n->src[0]->dt, (td_dtype)n->dt);
}

bool
td_now_few(int64_t n)
{
    return n <= (most < 0 ? td_now_limit(-1) : most);
}

bool
td_now_watched(void)
{
    return td_now_is_held() || td_capture_now() || td_tape_now() || td_watched() || td_fp_asked();
}

static bool
may_run(const td_node *n)
{
    return !n->hosted && td_dev_info(n->dev)->host && !td_now_watched();
}

/* ---- rows ---- */

/* Writes x as a number of dtype dt.  False: x is an array in memory. */
static bool
number_of(const td_operand *x, td_dtype dt, td_scalar *out)
{
    const td_node *n = x->array ? x->array->store->node : NULL;
    uint64_t bits[2];

    if (n && (n->kind != TD_N_SCALAR || !x->array->whole))
        return false;
    *out = n ? n->par[0] : x->scalar;
    if (out->dt != dt) {
        td_scalar_bits(*out, dt, bits);
        *out = td_scalar_load(dt, bits);
    }
    return true;
}

/* Describes x as memory of dtype dt that can be read now.  False: it is not such memory. */
static bool
memory_of(const td_operand *x, td_dtype dt, td_few *out)
{
    const td_array *a = x->array;

    if (!a || !td_node_on_host(a->store->node) || a->dt != a->store->dt || a->dt != dt)
        return false;
    *out = (td_few){(char *)a->store->node->buf->ptr, &a->view, dt};
    return true;
}

static const td_view no_axes;

/* operands - of one operation: numbers or memory. */
typedef struct operands {
    td_few few[TD_MAXSRC];
    td_scalar number[TD_MAXSRC];
    uint64_t bits[TD_MAXSRC][2];
    int n, numbers;
} operands;

/* False: an operand has to be computed or cast first. */
static bool
find_operands(operands *o, td_op op, td_dtype dt, const td_operand *x, int n)
{
    o->n = n;
    o->numbers = 0;
    for (int i = 0; i < n; i++) {
        td_dtype want = op == OP_select && i == 0 ? TD_BOOL : dt;

        if (number_of(&x[i], want, &o->number[i])) {
            o->numbers++;
            td_scalar_bits(o->number[i], want, o->bits[i]);
            o->few[i] = (td_few){(char *)o->bits[i], &no_axes, want};
        } else if (!memory_of(&x[i], want, &o->few[i]))
            return false;
    }
    return true;
}

/* The result's layout, which follows its operands'. */
static td_view
layout(const operands *o, const td_shape *s)
{
    const td_view *like[TD_MAXSRC];
    td_view v;

    td_view_set_contiguous(&v, s);
    for (int i = 0; i < o->n; i++)
        like[i] = o->few[i].view;
    td_view_follow(&v, like, o->n);
    return v;
}

td_status
td_now_apply(td_op op, td_dtype dt, const td_operand *x, int n, td_dev *d, const td_shape *s,
             td_array *out)
{
    td_dtype result = td_op_result(op, dt);
    const td_steps *p;
    operands o;
    td_view v;
    td_few to = {.view = &v, .dt = result};
    td_buf *b;
    td_node *r;
    td_status st;

    if (!td_now_few(td_shape_size(s)) || td_now_watched() || !td_dev_info(d)->host ||
        !find_operands(&o, op, dt, x, n))
        return TD_SKIP;
    p = td_steps_op(op, dt);
    if (!p || !td_now_few(td_shape_size(s) * td_steps_count(p)))
        return TD_SKIP;
    if (o.numbers == n)
        return td_array_number(d, td_steps_number(p, o.number, n, result), out);
    TD_TRY(td_buf_new(d, td_dev_stream(d), (size_t)td_shape_size(s) * td_dtype_size(result), &b));
    st = find_operands(&o, op, dt, x, n)
             ? TD_OK
             : TD_SKIP; /* if memory was short, operands may have moved to the host */
    if (!st) {
        v = layout(&o, s);
        to.at = (char *)b->ptr;
        if (td_shape_size(s))
            td_steps_run(p, o.few, n, &to);
        st = td_node_leaf(b, result, &v, &r);
        td_eval_count_recorded();
    }
    td_buf_unref(b);
    return st ? st : td_array_of_node(r, out);
}

td_status
td_now_full(td_dev *d, td_dtype dt, const td_view *layout, const uint64_t bits[2], td_array *out)
{
    int64_t n = td_shape_size(&layout->shape);
    size_t size = td_dtype_size(dt), all = (size_t)n * size;
    td_buf *b;
    char *at;
    td_node *r;
    td_status st;

    if (!td_now_few(n) || !layout->shape.ndim || td_now_watched() || !td_dev_info(d)->host)
        return TD_SKIP;
    TD_TRY(td_buf_new(d, td_dev_stream(d), all, &b));
    at = (char *)b->ptr;
    if (n)
        memcpy(at, bits, size);
    for (size_t done = size; done < all; done *= 2)
        memcpy(at + done, at, done < all - done ? done : all - done);
    st = td_node_leaf(b, dt, layout, &r);
    td_buf_unref(b);
    td_eval_count_recorded();
    return st ? st : td_array_of_node(r, out);
}

/* Writes n numbers of an arange, from number `from` on, as int64 or float64: the steps' dtype. */
static void
count_words(td_scalar start, td_scalar step, int64_t from, int n, uint64_t *out)
{
    for (int i = 0; i < n; i++) {
        double x = start.f[0] + (double)(from + i) * step.f[0];

        if (start.dt == TD_F64)
            memcpy(&out[i], &x, sizeof x);
        else
            out[i] = start.u + (uint64_t)(from + i) * step.u;
    }
}

td_status
td_now_iota(td_dev *d, td_dtype dt, int64_t n, td_scalar start, td_scalar step, td_array *out)
{
    enum { TILE = 64 };
    const td_steps *p = dt == start.dt ? NULL : td_steps_cast(start.dt, dt);
    size_t size = td_dtype_size(dt);
    td_shape all = {.ndim = 1, .dim = {n}}, part = all;
    td_view layout = td_view_contiguous(&all), tile;
    uint64_t word[TILE];
    td_node *r;
    td_buf *b;
    td_status st;

    if (!td_now_few(n) || td_now_watched() || !td_dev_info(d)->host || (dt != start.dt && !p))
        return TD_SKIP;
    TD_TRY(td_buf_new(d, td_dev_stream(d), (size_t)n * size, &b));
    for (int64_t at = 0; at < n; at += TILE) {
        char *to = (char *)b->ptr + (size_t)at * size;

        part.dim[0] = n - at < TILE ? n - at : TILE;
        tile = td_view_contiguous(&part);
        count_words(start, step, at, (int)part.dim[0], word);
        if (p)
            td_steps_run(p, &(td_few){(char *)word, &tile, start.dt}, 1, &(td_few){to, &tile, dt});
        else
            memcpy(to, word, (size_t)part.dim[0] * size);
    }
    st = td_node_leaf(b, dt, &layout, &r);
    td_buf_unref(b);
    td_eval_count_recorded();
    return st ? st : td_array_of_node(r, out);
}

bool
td_now_element(const td_array *a, int64_t offset, td_scalar *out)
{
    const td_node *n = a->store->node;
    size_t size = td_dtype_size(td_array_dtype(a));

    if (!td_node_on_host(n) || td_now_watched())
        return false;
    *out = td_scalar_load(td_array_dtype(a), (const char *)n->buf->ptr + offset * (int64_t)size);
    return true;
}

/* ---- arrays ---- */

td_few
td_now_operand(const td_node *n, uint64_t bits[2])
{
    td_few x = {.view = &n->view, .dt = (td_dtype)n->dt};

    if (n->buf) {
        x.at = (char *)n->buf->ptr;
    } else {
        td_scalar_bits(n->par[0], x.dt, bits);
        x.at = (char *)bits;
    }
    return x;
}

/* ---- reductions ---- */

static const td_fold_steps *
make_fold(td_red red, td_dtype in, td_dtype out, td_fold_steps *f)
{
    bool pair = td_red_pair(red, in, out);
    int n = td_red_nacc(red, pair);
    td_dtype acc[TD_MAXACC];
    td_val a[2 * TD_MAXACC], r[TD_MAXACC], count, ddof;
    td_arena mem = {0};
    td_fn fn = td_fn_new(&mem, "lift");
    td_num x = td_num_param(&fn, in), v;

    for (int i = 0; i < n; i++)
        acc[i] = td_red_acc(red, i, in, out);
    td_red_lift(&fn, red, pair, acc, x, td_param(&fn, TD_I64), r);
    f->lift = td_steps_make(&fn, r, n);
    fn = td_fn_new(&mem, "merge");
    for (int i = 0; i < 2 * n; i++)
        a[i] = td_param(&fn, acc[i % n]);
    td_red_merge(&fn, red, pair, a, a + n, r);
    f->merge = td_steps_make(&fn, r, n);
    fn = td_fn_new(&mem, "finish");
    for (int i = 0; i < n; i++)
        a[i] = td_param(&fn, acc[i]);
    count = td_param(&fn, TD_I64);
    ddof = td_param(&fn, TD_F64);
    v = td_red_finish(&fn, red, pair, a, count, ddof, out);
    v = td_num_cast(&fn, v, out);
    f->finish = td_steps_make(&fn, (td_val[]){v.re, v.im}, td_num_is_pair(v) ? 2 : 1);
    td_arena_free(&mem);
    return f->lift && f->merge && f->finish ? f : NULL;
}

static const td_fold_steps *
fold_of(const td_node *n)
{
    static struct {
        bool asked;
        td_fold_steps steps;
        const td_fold_steps *found;
    } made[TD_RED_COUNT][TD_DTYPE_COUNT][TD_DTYPE_COUNT];
    td_dtype in = (td_dtype)n->src[0]->dt, out = (td_dtype)n->dt;

    if (td_red_shifts((td_red)n->op)) /* its first step depends on the elements */
        return NULL;
    if (!made[n->op][in][out].asked)
        made[n->op][in][out].found = make_fold((td_red)n->op, in, out, &made[n->op][in][out].steps);
    made[n->op][in][out].asked = true;
    return made[n->op][in][out].found;
}

/* ---- arrays of few elements ---- */

/* work - a node's sources and the memory of its result; a result of no axes has none. */
typedef struct work {
    td_few src[TD_MAXSRC], out;
    uint64_t bits[TD_MAXSRC][2], number[2];
    td_buf *b;
} work;

/* Gets memory for the result first, then looks for the sources: if memory was short they may have moved (TD_SKIP). */
static td_status
begin(work *w, td_node *n)
{
    size_t nbytes = (size_t)td_shape_size(&n->view.shape) * td_dtype_size((td_dtype)n->dt);

    w->b = NULL;
    w->number[0] = w->number[1] = 0;
    w->out = (td_few){(char *)w->number, &n->view, (td_dtype)n->dt};
    if (n->view.shape.ndim) {
        TD_TRY(td_buf_new(n->dev, td_dev_stream(n->dev), nbytes, &w->b));
        w->out.at = (char *)w->b->ptr;
    }
    for (int i = 0; i < n->nsrc; i++) {
        if (!td_now_there(n->src[i])) {
            td_buf_unref(w->b);
            return TD_SKIP;
        }
        w->src[i] = td_now_operand(n->src[i], w->bits[i]);
    }
    return TD_OK;
}

/* Makes n a leaf over the result. */
static td_status
settle(const work *w, td_node *n)
{
    if (w->b)
        td_node_settle(n, w->b, &n->view);
    else
        td_node_settle_scalar(n, td_scalar_load((td_dtype)n->dt, w->number));
    return TD_OK;
}

static td_status
fold(td_node *n)
{
    const td_fold_steps *f = fold_of(n);
    int64_t size = td_shape_size(&n->src[0]->view.shape), results = td_shape_size(&n->view.shape);
    work w;

    if (!f || !size || !td_now_few(size * td_steps_count(f->merge)) || !td_now_few(results * 4))
        return TD_SKIP;
    TD_TRY(begin(&w, n));
    td_fold_run(f, w.src, n->axes, n->par[0].f[0], &w.out);
    return settle(&w, n);
}

static td_status
run(td_node *n, const td_steps *p)
{
    work w;

    TD_TRY(begin(&w, n));
    if (td_shape_size(&n->view.shape))
        td_steps_run(p, w.src, n->nsrc, &w.out);
    return settle(&w, n);
}

/* Computes n by the interpreter's functions.  TD_SKIP: they cannot. */
static td_status
by_steps(td_node *n)
{
    const td_steps *p;

    if (n->kind == TD_N_REDUCE)
        return fold(n);
    if (n->kind != TD_N_OP && n->kind != TD_N_CAST)
        return TD_SKIP;
    p = steps_of(n);
    return p && td_now_few(td_shape_size(&n->view.shape) * td_steps_count(p)) ? run(n, p) : TD_SKIP;
}

/* Small work that the interpreter's functions cannot do runs as a kernel, at once too.  Whether small values are in memory
 * decides the order in which their sums are added, so it must not depend on who has looked at them before. */
td_status
td_now(td_node *n)
{
    td_status st;

    if (!td_now_few(td_shape_size(&n->view.shape)) || !may_run(n))
        return TD_SKIP;
    for (int i = 0; i < n->nsrc; i++) {
        td_node *s = n->src[i];

        if (s->dev != n->dev || !td_now_few(td_shape_size(&s->view.shape)))
            return TD_SKIP;
        if (!td_now_there(s))
            TD_TRY(computed(s));
    }
    st = by_steps(n);
    return st == TD_SKIP && n->kind != TD_N_HOST ? td_eval_node(n) : st;
}

/* ---- products ---- */

/* Decides by shape and dtype alone, so that equal products have equal bits whoever has looked at the operands before. */
static bool
is_factor(const td_array *a)
{
    return (a->view.shape.ndim == 1 || a->view.shape.ndim == 2) && a->dt == a->store->dt &&
           td_dev_info(td_array_dev(a))->host && !td_array_hosted(a);
}

bool
td_now_multiplies(const td_array *a, const td_array *b)
{
    const td_shape *sa = &a->view.shape, *sb = &b->view.shape;
    int64_t m, n, k;

    if (a->dt != b->dt || !td_few_multiplies(td_array_dtype(a)) || !is_factor(a) || !is_factor(b) ||
        td_now_watched())
        return false;
    m = sa->ndim == 2 ? sa->dim[0] : 1;
    n = sb->ndim == 2 ? sb->dim[1] : 1;
    k = sb->dim[0];
    return k && sa->dim[sa->ndim - 1] == k && td_now_few(k) && td_now_few(m) && td_now_few(n) &&
           td_now_few(m * n) && td_now_few(m * n * k);
}

/* v with an axis of one element at place `at`. */
static td_view
as_matrix(const td_view *v, int at)
{
    td_view m = {.shape.ndim = 2, .offset = v->offset};

    for (int i = 0; i < 2; i++) {
        int own = v->shape.ndim == 2 ? i : i == at ? -1 : 0;

        m.shape.dim[i] = own < 0 ? 1 : v->shape.dim[own];
        m.stride[i] = own < 0 ? 0 : v->stride[own];
    }
    return m;
}

td_status
td_now_product(const td_array *a, const td_array *b, td_array *out)
{
    td_dtype dt = td_array_dtype(a);
    td_view va = as_matrix(&a->view, 0), vb = as_matrix(&b->view, 1), v;
    td_few x = {.view = &va, .dt = dt}, y = {.view = &vb, .dt = dt}, r = {.view = &v, .dt = dt};
    uint64_t number[2] = {0};
    td_shape s = {0}, m = {.ndim = 2, .dim = {va.shape.dim[0], vb.shape.dim[1]}};

    if (a->view.shape.ndim == 2)
        s.dim[s.ndim++] = m.dim[0];
    if (b->view.shape.ndim == 2)
        s.dim[s.ndim++] = m.dim[1];
    v = td_view_contiguous(&m);
    TD_TRY(td_storage_eval(a->store));
    TD_TRY(td_storage_eval(b->store));
    r.at = (char *)number;
    if (s.ndim) {
        TD_TRY(td_array_empty(td_array_dev(a), dt, &s, out));
        r.at = (char *)out->store->node->buf->ptr;
    }
    if (!td_node_on_host(a->store->node) || !td_node_on_host(b->store->node)) {
        if (s.ndim)
            td_array_unref(out);
        return TD_SKIP;
    }
    x.at = (char *)a->store->node->buf->ptr;
    y.at = (char *)b->store->node->buf->ptr;
    td_few_product(&x, &y, &r);
    return s.ndim ? TD_OK : td_array_number(td_array_dev(a), td_scalar_load(dt, number), out);
}

/* ---- writing ---- */

bool
td_now_own(const td_storage *s)
{
    const td_node *n = s->node;

    return td_node_on_host(n) && n->refs == 1 && !n->held && atomic_load(&n->buf->refs) == 1 &&
           !atomic_load(&n->buf->flags) && !atomic_load(&n->buf->lent);
}

/* Does the bookkeeping of a write into memory that is s's own. */
static void
own_is_written(td_storage *s)
{
    td_capture_write(s);
    s->node->in_range = 0;
    s->version++;
}

bool
td_now_open(const td_array *a)
{
    td_storage *s = a->store;

    if (s->readonly || a->dt != s->dt || td_now_watched() || !td_now_own(s))
        return false;
    own_is_written(s);
    return true;
}

td_status
td_now_set_element(const td_array *a, int64_t offset, const td_operand *x)
{
    td_storage *s = a->store;
    size_t size = td_dtype_size(td_array_dtype(a));
    uint64_t bits[2];
    td_scalar v;

    if (s->readonly || !td_now_few(1) || td_now_watched() || !td_now_own(s) ||
        (x->array && td_array_dev(x->array) != td_array_dev(a)) ||
        !number_of(x, td_array_dtype(a), &v))
        return TD_SKIP;
    if (!x->array && x->weak == 'i')
        TD_TRY(td_operand_fits(x, td_array_dtype(a)));
    own_is_written(s);
    td_scalar_bits(v, td_array_dtype(a), bits);
    memcpy((char *)s->node->buf->ptr + offset * (int64_t)size, bits, size);
    return TD_OK;
}

/* Assigns to an array that is a number without memory. */
static td_status
assign_number(td_storage *s, const td_node *value)
{
    td_dtype dt = (td_dtype)s->dt;
    uint64_t bits[2];
    td_few x = td_now_operand(value, bits);
    td_scalar v = td_scalar_load(x.dt, x.at + x.view->offset * (int64_t)td_dtype_size(x.dt));
    td_node *n;

    td_scalar_bits(v, dt, bits);
    TD_TRY(td_node_scalar(s->dev, td_scalar_load(dt, bits), &n));
    td_storage_set(s, n);
    return TD_OK;
}

td_status
td_now_assign(const td_array *a, td_node *value)
{
    td_storage *s = a->store;
    uint64_t bits[2];
    const td_steps *p;
    td_few src, out;
    int64_t size = td_array_size(a);

    if (a->whole && s->node->kind == TD_N_SCALAR && td_now_there(value) && !td_now_watched())
        return assign_number(s, value);
    if (!td_now_few(size) || !td_now_there(value) || !td_now_own(s) || value->dev != s->dev ||
        td_now_watched() || (value->buf && value->buf == s->node->buf))
        return TD_SKIP;
    p = td_steps_cast((td_dtype)value->dt, td_array_dtype(a));
    if (!p || !td_now_few(size * td_steps_count(p)))
        return TD_SKIP;
    td_capture_write(s);
    s->node->in_range = 0;
    src = td_now_operand(value, bits);
    out = (td_few){(char *)s->node->buf->ptr, &a->view, td_array_dtype(a)};
    if (size)
        td_steps_run(p, &src, 1, &out);
    return TD_OK;
}
