/* proxy.h - numpy.ndarray as unchanged programs see it.
 *
 * A proxy holds one of three things (px_kind): an array of NumPy's (small work, and what only NumPy does), one of
 * treadle's (big work), or a choice by a mask whose elements nobody has needed yet (chosen.h).  Code that reads an array
 * gets it by px_array, which takes the elements of a choice out, and reads NumPy's struct by px_np, which refuses others.
 * What is held does not change its kind while something else is a view of it: they share their memory.
 * An array of treadle's on the CPU shows its memory to small work by NumPy's view of it (`host`); while such a
 * view lives the memory is lent, and operations on it run when they are recorded.
 * Big means px.crossover elements and more.  A *face* is a function of NumPy's that takes proxies.
 * Everything runs with the GIL held.
 */
#ifndef TD_PYTHON_PROXY_H
#define TD_PYTHON_PROXY_H
#include "python/ndarray/chosen.h"

typedef struct py_proxy {
    PyObject_HEAD
    PyObject *held;  /* one of px_kind's, never PX_OTHER */
    PyObject *host;  /* NumPy's view of the memory of an array of treadle's on the CPU; or NULL */
    PyObject *owner; /* the proxy that this one is a view of; or NULL */
    PyObject *weak;
    uint32_t  small; /* small pieces of work on an array on a GPU since the last big one */
} py_proxy;

/* NumPy's array as its C interface has laid it out since 1.7; proxy.c compares it with an array's attributes before
 * it is relied on. */
typedef struct np_array {
    PyObject_HEAD
    char       *data;
    int         ndim;
    Py_ssize_t *dim, *stride;
    PyObject   *base, *dtype;
    int         flags;
} np_array;

enum { NP_C = 1, NP_F = 2, NP_OWN = 4, NP_ALIGNED = 0x100, NP_WRITE = 0x400 };

typedef struct px_state {
    PyTypeObject *proxy, *face, *uface; /* ours */
    PyTypeObject *ndarray;              /* NumPy's; NULL: no program is run unchanged */
    PyTypeObject *generic;
    PyObject     *dtype[TD_DTYPE_COUNT]; /* NumPy's singletons */
    PyObject     *scalar[TD_DTYPE_COUNT]; /* NumPy's scalar types */
    int64_t       crossover;
    PyObject     *far;   /* function(face, args, kwargs): what C leaves to treadle.unchanged._far */
    PyObject     *array_prefix; /* "__array_" */
    PyObject     *ufuncs; /* NumPy's ufunc: its face */
    PyObject     *note;  /* function(name, nbytes) of fallbacks; or NULL */
    PyObject     *watch; /* function(name, elements, ns) of NumPy's work on the host; NULL: nobody watches */
} px_state;

extern px_state px;

static inline bool
px_is(PyObject *o)
{
    return Py_IS_TYPE(o, px.proxy);
}

typedef enum px_kind { PX_OTHER, PX_NUMPYS, PX_TREADLES, PX_CHOICE } px_kind;

/* What o is, or what it holds, if it is a proxy. */
static inline px_kind
px_kind_of(PyObject *o)
{
    PyObject *held = px_is(o) ? ((py_proxy *)o)->held : o;

    return Py_IS_TYPE(held, px.ndarray) ? PX_NUMPYS
           : py_is_array(held)          ? PX_TREADLES
           : py_is_chosen(held)         ? PX_CHOICE
                                        : PX_OTHER;
}
static inline bool
px_is_np(PyObject *o)
{
    return Py_IS_TYPE(o, px.ndarray);
}
/* The struct of an array of NumPy's; anything else is a mistake that must not read memory. */
static inline const np_array *
px_np(PyObject *o)
{
    TD_ASSERT(px_is_np(o));
    return (const np_array *)o;
}
static inline int64_t
px_np_size(PyObject *o)
{
    const np_array *a = px_np(o);
    int64_t n = 1;

    for (int i = 0; i < a->ndim; i++)
        n *= a->dim[i];
    return n;
}
/* An array of NumPy's, not a proxy of it. */
static inline bool
px_is_big(PyObject *held)
{
    return px_is_np(held) && px_np(held)->ndim && px_np_size(held) >= px.crossover;
}
static inline bool
px_is_far(PyObject *o)
{
    return px_is(o) && px_kind_of(o) == PX_TREADLES;
}
static inline bool
px_on_cpu(PyObject *td)
{
    return td_dev_info(td_array_dev(py_array_of(td)))->kind == TD_DEV_CPU;
}
/* What o holds, if it is a proxy; borrowed.  It may be a choice: px_array leaves none. */
static inline PyObject *
px_held(PyObject *o)
{
    return px_is(o) ? ((py_proxy *)o)->held : o;
}
/* Axes and elements of an array of NumPy's or treadle's. */
static inline int
px_ndim(PyObject *array)
{
    return py_is_array(array) ? py_array_of(array)->view.shape.ndim : px_np(array)->ndim;
}
static inline int64_t
px_size(PyObject *array)
{
    return py_is_array(array) ? td_array_size(py_array_of(array)) : px_np_size(array);
}
/* ---- proxylife.c, proxy.c, proxyhold.c, proxyresult.c, proxymodule.c ---- */
bool      px_module_init(PyObject *module);
int       px_dtype(PyObject *np);                       /* the td_dtype of an array of NumPy's; -1: treadle has none */
PyObject *px_new(PyObject *held, PyObject *owner);      /* takes over held, also on failure; owner borrowed or NULL */
void      px_dealloc(PyObject *self);
PyObject *px_result(PyObject *r, PyObject *of);         /* takes over what NumPy or treadle returned; of: its operand, or NULL */
PyObject *px_scalar(PyObject *td);                      /* the element of a treadle array as NumPy's scalar */
/* What an operation on o works with, borrowed until px_settle(o): the held array; for small evaluated arrays on the
 * CPU NumPy's view. */
PyObject *px_operand(PyObject *o);
bool      px_take(PyObject *o);                         /* takes out the elements of a chosen; other objects stay; false: raised */
PyObject *px_array(PyObject *o);                        /* what o holds after px_take, an array; borrowed; NULL: raised */
PyObject *px_host(PyObject *o);                         /* o as NumPy has it, a new reference: memory shared on the CPU, a copy from a GPU; other objects as they are */
PyObject *px_hand_out(PyObject *o);                     /* the same for who may write there: a GPU's array comes down */
PyObject *px_ready(PyObject *o);                        /* NumPy's array for a library of NumPy's that only reads: memory on the CPU that is there; NULL without an exception: it is not */
PyObject *px_lift(PyObject *o);                         /* an array of NumPy's as treadle's; other objects as they are */
/* A big operation on o follows: gives up the host's view if nobody uses it, and moves a big array of NumPy's that nobody
 * else has to treadle.  What o holds may be another object afterwards. */
void      px_settle(PyObject *o);
bool      px_come_down(PyObject *o);                     /* an array that nothing is a view of becomes NumPy's; others stay */
bool      px_wear(PyObject *o);                          /* small work on an array on a GPU follows: after enough of it, it comes down; false: raised */
bool      px_may_lift(PyObject *o);                     /* is o (unwrapped) an operand that treadle may take? */
bool      px_declined(void);                            /* has treadle raised what NumPy should decide about?  Then it is cleared */
bool      px_note(const char *name, PyObject *o);       /* counts a fallback */
int64_t   px_clock(void);                               /* now, in ns, where somebody watches; else 0 */
PyObject *px_seen(PyObject *r, const char *name, PyObject *on, int64_t since); /* r; tells of NumPy's work on an array; since 0: nobody watches */
bool      px_back(PyObject *o, PyObject *host);         /* host, a copy of o's on a GPU, has been written: o takes it */

/* An operation that takes elements one by one, on operands of which some are chosen: f of whole arrays, its result chosen in
 * turn.  NULL without an exception: they have several masks, and their elements have been taken out. */
PyObject *px_on_chosen(PyObject *(*f)(const void *how, PyObject *const *whole), const void *how, PyObject *const *o, int n);
PyObject *px_reduce_chosen(PyObject *o, const char *name); /* NumPy's scalar; NULL without an exception: the elements have been taken out */
static inline bool
px_is_chosen(PyObject *o)
{
    return px_is(o) && px_kind_of(o) == PX_CHOICE;
}

/* ---- proxynumber.c, proxyindex.c, proxymethods.c: parts of the type ---- */
extern const PyType_Slot px_number_slots[], px_index_slots[];
extern PyMethodDef px_methods[];
extern PyGetSetDef px_getset[];
bool px_methods_init(void);
bool px_number_init(void);

/* ---- proxycall.c ---- */
bool      px_face_init(PyObject *module);
PyObject *px_plain(PyObject *o);  /* o with NumPy's arrays for proxies and NumPy's type for ours, in lists and tuples too */
PyObject *px_lifted(PyObject *o); /* o with treadle's arrays for proxies and for NumPy's of its dtypes */
PyObject *px_vectorcall(PyObject *f, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
/* The size of the broadcast of arrays of NumPy's and numbers; -1: they do not broadcast, or one has no dtype of treadle's. */
int64_t   px_reach(PyObject *const *o, int n);
#endif
