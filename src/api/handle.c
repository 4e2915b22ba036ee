/* handle.c - the C API's lock, handles and checks.
 *
 * The graph is touched by one thread at a time.  Under Python its lock is the GIL, given up through
 * td_graph_hooks; without Python it is the mutex below, given up through hooks of its own.  Whoever came
 * last with hooks decides: once Python has put in its own, callers hold the GIL and the mutex is left.
 */
#include "api/api.h"

#include "array/run/spill.h"
#include "jit/jit.h"

#include <pthread.h>
#include <stdlib.h>

_Static_assert(TREADLE_MAXDIM == TD_MAXDIM, "treadle.h and the core count axes alike");
_Static_assert((int)TREADLE_ERR_NOMEM == (int)TD_ERR_NOMEM && (int)TREADLE_ERR_IO == (int)TD_ERR_IO,
               "treadle_status and td_status are one list");
_Static_assert((int)TREADLE_COMPLEX128 == (int)TD_DTYPE_COUNT, "treadle_dtype is td_dtype + 1");

/* ---- the lock ---- */

static struct {
    pthread_once_t once;
    pthread_mutex_t mu; /* recursive */
    int depth;          /* of the owner; under mu */
} lock = {.once = PTHREAD_ONCE_INIT};

static void
make_lock(void)
{
    pthread_mutexattr_t how;

    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock.mu, &how);
    pthread_mutexattr_destroy(&how);
}

/* The child has one thread, and it is in no call. */
static void
handle_in_child(void)
{
    lock.depth = 0;
    make_lock();
}

/* Python has one of its own, which replaces this. */
static bool
relieve(td_dev *d, size_t nbytes)
{
    bool held = td_api_enter(), freed = td_spill(d, nbytes);

    (void)td_api_leave(held, TD_OK);
    return freed;
}

static void
handle_start(void)
{
    make_lock();
    pthread_atfork(NULL, NULL, handle_in_child);
    td_dev_on_open(td_jit_warm);
    td_mem_on_pressure_first(relieve);
    td_mem_on_oom(td_spill_note);
}

static void *
give_up(void)
{
    int depth = lock.depth;

    lock.depth = 0;
    for (int i = 0; i < depth; i++)
        pthread_mutex_unlock(&lock.mu);
    return (void *)(intptr_t)depth;
}

static void
take_back(void *token)
{
    int depth = (int)(intptr_t)token;

    for (int i = 0; i < depth; i++)
        pthread_mutex_lock(&lock.mu);
    lock.depth = depth;
}

bool
td_api_enter(void)
{
    pthread_once(&lock.once, handle_start);
    pthread_mutex_lock(&lock.mu);
    if (td_graph_hooks_first(give_up, take_back)) {
        lock.depth++;
        return true;
    }
    pthread_mutex_unlock(&lock.mu);
    return false;
}

treadle_status
td_api_leave(bool held, td_status st)
{
    TD_ASSERT(st != TD_SKIP);
    if (held) {
        lock.depth--;
        pthread_mutex_unlock(&lock.mu);
    }
    return (treadle_status)st;
}

/* ---- handles ---- */

static td_status
array_handle_new(td_array *r, const treadle_array *like, treadle_array **out)
{
    treadle_array *h = malloc(sizeof *h);

    if (!h) {
        td_array_unref(r);
        return td_fail(TD_ERR_NOMEM, "array: out of host memory");
    }
    h->refs = 1;
    h->fixed = like && like->fixed && like->a.store == r->store;
    h->a = *r;
    td_array_offer(r);
    *out = h;
    return TD_OK;
}

treadle_status
td_api_done(bool held, td_status st, td_array *r, const treadle_array *like, treadle_array **out)
{
    return td_api_leave(held, st ? st : array_handle_new(r, like, out));
}

treadle_array *
treadle_array_ref(treadle_array *a)
{
    bool held = td_api_enter();

    if (a)
        a->refs++;
    (void)td_api_leave(held, TD_OK);
    return a;
}

void
treadle_array_unref(treadle_array *a)
{
    bool held = td_api_enter();

    if (a && !--a->refs) {
        td_array_unref(&a->a);
        free(a);
    }
    (void)td_api_leave(held, TD_OK);
}

/* ---- checks ---- */

td_status
td_api_null(const char *fn)
{
    return td_fail(TD_ERR_VALUE, "%s: an argument is NULL", fn);
}

td_status
td_api_dtype(const char *fn, treadle_dtype dt, td_dtype *out)
{
    if ((int)dt < 1 || (int)dt > TD_DTYPE_COUNT)
        return td_fail(TD_ERR_VALUE, "%s: %d is no dtype", fn, (int)dt);
    *out = (td_dtype)(dt - 1);
    return TD_OK;
}

td_status
td_api_shape(const char *fn, int ndim, const int64_t *dims, td_shape *out)
{
    return ndim > 0 && !dims ? td_api_null(fn) : td_shape_make(ndim, dims, out);
}

td_status
td_api_device(treadle_device *d, td_dev **out)
{
    if (!d)
        return td_dev_default(out);
    *out = (td_dev *)d;
    return TD_OK;
}

td_status
td_api_number(const char *fn, const treadle_operand *x, td_operand *out)
{
    if (x->array)
        return td_fail(TD_ERR_VALUE, "%s: takes a number here, not an array", fn);
    *out = (td_operand){.weak = x->kind};
    switch (x->kind) {
    case 'b': out->scalar = (td_scalar){.dt = TD_BOOL, .i = x->i != 0}; break;
    case 'i': out->scalar = (td_scalar){.dt = TD_I64, .i = x->i}; break;
    case 'f': out->scalar = (td_scalar){.dt = TD_F64, .f = {x->f[0]}}; break;
    case 'c': out->scalar = (td_scalar){.dt = TD_C128, .f = {x->f[0], x->f[1]}}; break;
    default:  return td_fail(TD_ERR_VALUE, "%s: an operand is neither an array nor a number", fn);
    }
    return TD_OK;
}

td_status
td_api_operand(const char *fn, const treadle_operand *x, td_operand *out)
{
    if (!x->array)
        return td_api_number(fn, x, out);
    *out = (td_operand){.array = &x->array->a};
    return TD_OK;
}
