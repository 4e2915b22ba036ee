/* allocator.c - replaces NumPy's allocator, and makes its arrays over our memory.
 *
 * NumPy's default allocator is a record of function pointers.  We replace these by ours: they
 * give big arrays blocks of the arena, and recognise by its address the memory to be freed.  So
 * one wheel works with all versions of NumPy.
 */
#include "python/unchanged/unchanged.h"

#include <string.h>

enum { DEFAULT_HANDLER = 306 }; /* the place in the table that NumPy exports */

/* PyDataMem_Handler, version 1. */
typedef struct handler {
    char name[127];
    uint8_t version;
    struct allocator {
        void *ctx;
        void *(*malloc)(void *ctx, size_t n);
        void *(*calloc)(void *ctx, size_t n, size_t size);
        void *(*realloc)(void *ctx, void *p, size_t n);
        void (*free)(void *ctx, void *p, size_t n);
    } allocator;
} handler;

static struct allocator numpys;
static void **table;
static _Thread_local px_block *coming; /* the block for the next array */

/* Is an array of numbers of 8 bytes with so many bytes big?  A block costs some microseconds: doubles below the
 * crossover do not pay them.  Big arrays of smaller numbers that have fewer bytes stay where they are, and are copied
 * when treadle needs them. */
static bool
is_big(size_t nbytes)
{
    size_t least = px.crossover < PX_TINY ? 1 : 8;

    return px.crossover <= PTRDIFF_MAX / 16 && nbytes >= least * (size_t)px.crossover && nbytes > 0;
}

static void *
ours(size_t nbytes, bool zeroed)
{
    px_block *b = is_big(nbytes) ? px_block_new(nbytes, PX_OPEN, zeroed) : NULL;

    return b ? b->at : NULL;
}

static void *
np_malloc(void *ctx, size_t n)
{
    px_block *b = coming;
    void *p;

    if (b) {
        coming = NULL;
        return b->at;
    }
    p = ours(n, false);
    return p ? p : numpys.malloc(ctx, n);
}

static void *
np_calloc(void *ctx, size_t n, size_t size)
{
    size_t nbytes;
    void *p = __builtin_mul_overflow(n, size, &nbytes) ? NULL : ours(nbytes, true);

    return p ? p : numpys.calloc(ctx, n, size);
}

static void
np_free(void *ctx, void *p, size_t n)
{
    px_block *b = px_block_of(p);

    if (b)
        px_block_end(b);
    else
        numpys.free(ctx, p, n);
}

static void *
np_realloc(void *ctx, void *p, size_t n)
{
    px_block *b = px_block_of(p);
    void *r;

    if (!b)
        return numpys.realloc(ctx, p, n);
    r = np_malloc(ctx, n);
    if (!r || px_block_open(b))
        return NULL;
    memcpy(r, p, n < b->nbytes ? n : b->nbytes);
    px_block_end(b);
    return r;
}

static bool
replace_allocator(void)
{
    PyObject *capsule = *(PyObject **)table[DEFAULT_HANDLER];
    handler *h = capsule && PyCapsule_CheckExact(capsule)
                     ? PyCapsule_GetPointer(capsule, "mem_handler")
                     : NULL;

    if (!h || strcmp(h->name, "default_allocator") != 0 || h->version != 1) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ImportError,
                            "unchanged programs: this NumPy allocates its arrays in a way "
                            "that treadle does not know");
        return false;
    }
    if (h->allocator.malloc != np_malloc) {
        numpys = h->allocator;
        h->allocator = (struct allocator){numpys.ctx, np_malloc, np_calloc, np_realloc, np_free};
    }
    return true;
}

bool
px_numpy_init(void)
{
    table = py_numpy_table();
    return table && replace_allocator();
}

PyObject *
px_numpy_new(px_block *b, td_dtype dt, const td_view *v)
{
    Py_ssize_t dim[TD_MAXDIM], stride[TD_MAXDIM];
    PyObject *r;

    for (int i = 0; i < v->shape.ndim; i++) {
        dim[i] = (Py_ssize_t)v->shape.dim[i];
        stride[i] = (Py_ssize_t)(v->stride[i] * (int64_t)td_dtype_size(dt));
    }
    coming = b;
    r = py_numpy_new(px.ndarray, dt, v->shape.ndim, dim, stride, NULL, false);
    coming = NULL;
    return r;
}
