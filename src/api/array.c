/* array.c - making arrays, asking about them, and their values on the host. */
#include "api/api.h"

#include "base/hash.h"
#include "jit/jit.h"

#include <stdlib.h>

/* ---- facts ---- */

int
treadle_array_ndim(const treadle_array *a)
{
    return a ? a->a.view.shape.ndim : 0;
}

int64_t
treadle_array_dim(const treadle_array *a, int axis)
{
    int ndim = treadle_array_ndim(a);

    axis += axis < 0 ? ndim : 0;
    return axis >= 0 && axis < ndim ? a->a.view.shape.dim[axis] : -1;
}

int64_t
treadle_array_size(const treadle_array *a)
{
    return a ? td_array_size(&a->a) : 0;
}

size_t
treadle_array_nbytes(const treadle_array *a)
{
    return a ? (size_t)td_array_size(&a->a) * td_dtype_size(td_array_dtype(&a->a)) : 0;
}

treadle_dtype
treadle_array_dtype(const treadle_array *a)
{
    return a ? (treadle_dtype)(td_array_dtype(&a->a) + 1) : TREADLE_DTYPE_DEFAULT;
}

treadle_device *
treadle_array_device(const treadle_array *a)
{
    return a ? (treadle_device *)td_array_dev(&a->a) : NULL;
}

/* ---- creation ---- */

/* What every maker is told. */
typedef struct plan {
    td_dev *dev;
    td_dtype dt;
    td_shape shape;
} plan;

static td_status
plan_make(const char *fn, treadle_device *d, treadle_dtype dt, int ndim, const int64_t *dims,
          const void *out, plan *p)
{
    if (!out)
        return td_api_null(fn);
    TD_TRY(td_api_dtype(fn, dt, &p->dt));
    TD_TRY(td_api_shape(fn, ndim, dims, &p->shape));
    return td_api_device(d, &p->dev);
}

treadle_status
treadle_empty(treadle_device *d, treadle_dtype dt, int ndim, const int64_t *dims,
              treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    plan p;
    td_status st = plan_make("empty", d, dt, ndim, dims, out, &p);

    if (!st)
        st = td_array_empty(p.dev, p.dt, &p.shape, &r);
    return td_api_done(held, st, &r, NULL, out);
}

static td_status
full(const plan *p, const treadle_operand *value, td_array *out)
{
    td_operand x;

    TD_TRY(td_api_number("full", value, &x));
    if (x.weak == 'i')
        TD_TRY(td_operand_fits(&x, p->dt));
    return td_array_full(p->dev, p->dt, &p->shape, x.scalar, out);
}

treadle_status
treadle_full(treadle_device *d, treadle_dtype dt, int ndim, const int64_t *dims,
             treadle_operand value, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    plan p;
    td_status st = plan_make("full", d, dt, ndim, dims, out, &p);

    if (!st)
        st = full(&p, &value, &r);
    return td_api_done(held, st, &r, NULL, out);
}

static td_scalar
as_double(td_scalar s)
{
    return s.dt == TD_F64 ? s : (td_scalar){.dt = TD_F64, .f = {(double)s.i}};
}

static td_status
arange(const plan *p, int64_t count, const treadle_operand *start, const treadle_operand *step,
       td_array *out)
{
    td_operand from, by;

    TD_TRY(td_api_number("arange", start, &from));
    TD_TRY(td_api_number("arange", step, &by));
    if ((from.weak != 'i' && from.weak != 'f') || (by.weak != 'i' && by.weak != 'f'))
        return td_fail(TD_ERR_TYPE, "arange: start and step are integers or real numbers");
    if (from.weak != by.weak) {
        from.scalar = as_double(from.scalar);
        by.scalar = as_double(by.scalar);
    }
    return td_array_iota(p->dev, p->dt, count, from.scalar, by.scalar, out);
}

treadle_status
treadle_arange(treadle_device *d, treadle_dtype dt, int64_t count, treadle_operand start,
               treadle_operand step, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    plan p;
    td_status st = plan_make("arange", d, dt, 1, &count, out, &p);

    if (!st)
        st = arange(&p, count, &start, &step, &r);
    return td_api_done(held, st, &r, NULL, out);
}

treadle_status
treadle_from_host(treadle_device *d, treadle_dtype dt, int ndim, const int64_t *dims,
                  const void *data, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    plan p;
    td_status st = plan_make("from_host", d, dt, ndim, dims, out, &p);

    if (!st && !data && td_shape_size(&p.shape))
        st = td_api_null("from_host");
    if (!st)
        st = td_array_from_host(p.dev, p.dt, &p.shape, data, &r);
    return td_api_done(held, st, &r, NULL, out);
}

static void
array_keep(void *owner)
{
    (void)owner;
}

treadle_status
treadle_wrap(treadle_device *d, treadle_dtype dt, int ndim, const int64_t *dims, void *data,
             void (*release)(void *owner), void *owner, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    td_view v;
    plan p;
    td_buf *b = NULL;
    td_status st = plan_make("wrap", d, dt, ndim, dims, data ? out : NULL, &p);

    /* The caller's function goes in last: up to there a failure must not call it. */
    if (!st)
        st = td_buf_wrap(p.dev, data, (size_t)td_shape_size(&p.shape) * td_dtype_size(p.dt),
                         array_keep, NULL, &b);
    if (!st) {
        v = td_view_contiguous(&p.shape);
        st = td_array_wrap(b, p.dt, &v, false, &r);
    }
    if (!st) {
        treadle_status done = td_api_done(td_api_enter(), TD_OK, &r, NULL, out);

        st = (td_status)done;
    }
    if (!st && release) {
        b->owner = owner;
        b->release = release;
    }
    td_buf_unref(b);
    return td_api_leave(held, st);
}

static td_status
through_host(const td_array *a, td_dev *d, td_array *out)
{
    size_t nbytes = (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));
    void *data = td_host_alloc(nbytes ? nbytes : 1);
    td_status st;

    if (!data)
        return td_fail(TD_ERR_NOMEM, "to_device: %zu bytes of host memory", nbytes);
    st = td_array_get(a, data);
    if (!st)
        st = td_array_from_host(d, td_array_dtype(a), &a->view.shape, data, out);
    td_host_free(data, nbytes ? nbytes : 1);
    return st;
}

treadle_status
treadle_to_device(const treadle_array *a, treadle_device *d, treadle_array **out)
{
    bool held = td_api_enter();
    td_status st = a && out ? TD_OK : td_api_null("to_device");
    td_array r;
    td_dev *dev;

    if (!st)
        st = td_api_device(d, &dev);
    if (!st && dev == td_array_dev(&a->a))
        r = td_array_ref(&a->a);
    else if (!st && (st = td_array_to_device(&a->a, dev, &r)) == TD_SKIP)
        st = through_host(&a->a, dev, &r);
    return td_api_done(held, st, &r, a, out);
}

/* ---- random numbers ---- */

treadle_rng
treadle_rng_seed(uint64_t seed)
{
    return (treadle_rng){
        .key = td_mix64(seed + 0x9e3779b97f4a7c15u)}; /* neighbours give distant keys */
}

static td_status
random_draw(const plan *p, treadle_rng *g, td_dist dist, const td_scalar par[2], td_array *out)
{
    td_rng rng = {.key = g->key, .offset = g->counter};

    TD_TRY(td_array_random(p->dev, &rng, dist, p->dt, &p->shape, par, out));
    g->counter = rng.offset;
    return TD_OK;
}

treadle_status
treadle_random_uniform(treadle_device *d, treadle_rng *g, treadle_dtype dt, int ndim,
                       const int64_t *dims, treadle_array **out)
{
    static const td_scalar par[2] = {{.dt = TD_F64, .f = {0}}, {.dt = TD_F64, .f = {1}}};
    bool held = td_api_enter();
    td_array r;
    plan p;
    td_status st = plan_make("random_uniform", d, dt, ndim, dims, g ? out : NULL, &p);

    if (!st)
        st = random_draw(&p, g, TD_DIST_UNIFORM, par, &r);
    return td_api_done(held, st, &r, NULL, out);
}

treadle_status
treadle_random_normal(treadle_device *d, treadle_rng *g, treadle_dtype dt, int ndim,
                      const int64_t *dims, double mean, double deviation, treadle_array **out)
{
    const td_scalar par[2] = {{.dt = TD_F64, .f = {mean}}, {.dt = TD_F64, .f = {deviation}}};
    bool held = td_api_enter();
    td_array r;
    plan p;
    td_status st = plan_make("random_normal", d, dt, ndim, dims, g ? out : NULL, &p);

    if (!st && deviation < 0)
        st = td_fail(TD_ERR_VALUE, "random_normal: a deviation of %g", deviation);
    if (!st)
        st = random_draw(&p, g, TD_DIST_NORMAL, par, &r);
    return td_api_done(held, st, &r, NULL, out);
}

/* Both ends have to be numbers of the dtype. */
static td_status
check_bounds(td_dtype dt, int64_t low, int64_t high)
{
    td_operand first = {.scalar = {.dt = TD_I64, .i = low}, .weak = 'i'}, last = first;

    if (!td_dtype_is_int(dt))
        return td_fail(TD_ERR_TYPE, "random_integers: unsupported dtype %s", td_dtype_name(dt));
    if (low >= high)
        return td_fail(TD_ERR_VALUE, "random_integers: low %lld >= high %lld", (long long)low,
                       (long long)high);
    last.scalar.i = high - 1;
    TD_TRY(td_operand_fits(&first, dt));
    return td_operand_fits(&last, dt);
}

treadle_status
treadle_random_integers(treadle_device *d, treadle_rng *g, treadle_dtype dt, int ndim,
                        const int64_t *dims, int64_t low, int64_t high, treadle_array **out)
{
    const td_scalar par[2] = {{.dt = TD_U64, .u = (uint64_t)low}, /* added modulo 2^64 */
                              {.dt = TD_U64, .u = (uint64_t)high - (uint64_t)low}};
    bool held = td_api_enter();
    td_array r;
    plan p;
    td_status st = plan_make("random_integers", d, dt, ndim, dims, g ? out : NULL, &p);

    if (!st)
        st = check_bounds(p.dt, low, high);
    if (!st)
        st = random_draw(&p, g, TD_DIST_INTEGERS, par, &r);
    return td_api_done(held, st, &r, NULL, out);
}

/* ---- values ---- */

treadle_status
treadle_eval(treadle_array *const *a, size_t n)
{
    bool held = td_api_enter();
    td_status st = a || !n ? TD_OK : td_api_null("eval");

    for (size_t i = 0; !st && i < n; i++)
        st = a[i] ? td_array_eval(&(const td_array *){&a[i]->a}, 1) : td_api_null("eval");
    return td_api_leave(held, st);
}

treadle_status
treadle_eval_all(void)
{
    bool held = td_api_enter();

    return td_api_leave(held, td_eval_all());
}

static td_status
check_nbytes(const char *fn, const treadle_array *a, const void *host, size_t nbytes)
{
    if (!a || (!host && nbytes))
        return td_api_null(fn);
    if (nbytes != treadle_array_nbytes(a))
        return td_fail(TD_ERR_VALUE, "%s: %zu bytes of host memory for %zu bytes of elements", fn,
                       nbytes, treadle_array_nbytes(a));
    return TD_OK;
}

treadle_status
treadle_array_get(const treadle_array *a, void *out, size_t nbytes)
{
    bool held = td_api_enter();
    td_status st = check_nbytes("array_get", a, out, nbytes);

    return td_api_leave(held, st ? st : td_array_get(&a->a, out));
}

treadle_status
treadle_array_set(treadle_array *a, const void *data, size_t nbytes)
{
    bool held = td_api_enter();
    td_status st = check_nbytes("array_set", a, data, nbytes);
    td_array fresh = {0};

    if (!st && a->fixed)
        st = td_fail(TD_ERR_VALUE, "array_set: the array is a broadcast view");
    if (!st)
        st = td_array_from_host(td_array_dev(&a->a), td_array_dtype(&a->a), &a->a.view.shape, data,
                                &fresh);
    if (!st)
        st = td_array_assign(&a->a, &(td_operand){.array = &fresh});
    td_array_unref(&fresh);
    return td_api_leave(held, st);
}

treadle_status
treadle_array_item(const treadle_array *a, double *out)
{
    bool held = td_api_enter();
    td_status st = a && out ? TD_OK : td_api_null("array_item");
    uint64_t raw[2], bits[2];

    if (!st && td_array_size(&a->a) != 1)
        st = td_fail(TD_ERR_VALUE, "array_item: an array of %lld elements",
                     (long long)td_array_size(&a->a));
    if (!st)
        st = td_array_get(&a->a, raw);
    if (!st) {
        td_scalar_bits(td_scalar_load(td_array_dtype(&a->a), raw), TD_F64, bits);
        *out = td_scalar_load(TD_F64, bits).f[0];
    }
    return td_api_leave(held, st);
}

static td_status
array_memory(const td_array *a, uintptr_t *address, int64_t *strides)
{
    td_buf *b;
    td_view v;

    TD_TRY(td_array_memory(a, true, &b, &v));
    *address = b->ptr + (uintptr_t)v.offset * td_dtype_size(td_array_dtype(a));
    for (int i = 0; strides && i < v.shape.ndim; i++)
        strides[i] = v.stride[i];
    return TD_OK;
}

treadle_status
treadle_array_memory(treadle_array *a, uintptr_t *address, int64_t *strides)
{
    bool held = td_api_enter();

    return td_api_leave(held, a && address ? array_memory(&a->a, address, strides)
                                           : td_api_null("array_memory"));
}

treadle_stats
treadle_get_stats(void)
{
    bool held = td_api_enter();
    uint64_t recorded = td_eval_stats().recorded;
    td_jitstat j = td_jit_stats();

    (void)td_api_leave(held, TD_OK);
    return (treadle_stats){
        .recorded = recorded, .kernels = j.launches, .compiled = j.compiled, .loaded = j.loaded};
}
