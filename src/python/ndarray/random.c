/* random.c - the base of treadle.random.Generator: draws that are recorded like any operation.
 *
 * A draw takes its counter's offset when it is recorded, so the order of evaluation never changes the numbers.
 */
#include "python/common/py.h"

#include "array/graph/capture.h"
#include "base/hash.h"

#define FAST_KW (METH_FASTCALL | METH_KEYWORDS)

typedef struct generator {
    PyObject_HEAD td_rng own;
    /* a reference to the generator whose counter this one uses; NULL: it has its own */
    struct generator *of;
    td_dev *dev; /* NULL: the default device at each draw */
} generator;

static td_rng *
rng_of(PyObject *self)
{
    generator *g = (generator *)self;

    return g->of ? &g->of->own : &g->own;
}

static PyObject *
generator_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"seed", "device", NULL};
    PyObject *seed = NULL, *where = NULL;
    generator *g, *of = NULL;
    td_dev *dev = NULL;
    uint64_t key = 0;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|O:Generator", names, &seed, &where) ||
        (!py_is_none(where) && !py_device(where, &dev)))
        return NULL;
    if (PyObject_TypeCheck(seed, py.generator)) {
        of = (generator *)seed;
        of = of->of ? of->of : of;
    } else
        key = PyLong_AsUnsignedLongLongMask(seed);
    if (PyErr_Occurred())
        return NULL;
    g = (generator *)PyType_GenericAlloc(type, 0);
    if (!g)
        return NULL;
    /* consecutive seeds give distant keys */
    g->own = (td_rng){.key = td_mix64(key + 0x9e3779b97f4a7c15u), .born = td_capture_serial()};
    g->of = (generator *)Py_XNewRef((PyObject *)of);
    g->dev = dev;
    return (PyObject *)g;
}

static void
generator_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    Py_XDECREF((PyObject *)((generator *)self)->of);
    if (PyType_GetFlags(type) & Py_TPFLAGS_HAVE_GC) /* a class of the package */
        PyObject_GC_Del(self);
    else
        PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *
rng_draw(PyObject *self, td_dist dist, PyObject *size, int dt, const td_scalar par[2])
{
    generator *g = (generator *)self;
    td_dev *dev = g->dev;
    td_shape s = {.ndim = 0}, checked;
    py_ndarray *r;

    if ((!dev && !py_device(NULL, &dev)) || (!py_is_none(size) && !py_shape(size, &s)) ||
        !py_ok(td_shape_make(s.ndim, s.dim, &checked)) || !py_capture_keep(self))
        return NULL;
    r = py_new();
    return r ? py_done(r,
                       td_array_random(dev, rng_of(self), dist, (td_dtype)dt, &checked, par, &r->a))
             : NULL;
}

static bool
float_dtype(const char *fn, PyObject *o, int *dt)
{
    if (!py_dtype_or(o, TD_F64, dt))
        return false;
    if (*dt != TD_F32 && *dt != TD_F64) {
        PyErr_Format(PyExc_TypeError, "%s: Unsupported dtype %s: float32 and float64 are drawn", fn,
                     td_dtype_name((td_dtype)*dt));
        return false;
    }
    return true;
}

static const td_scalar unit[2] = {{.dt = TD_F64, .f = {0}}, {.dt = TD_F64, .f = {1}}};

/* Copies the draw into out. */
static PyObject *
into(const char *fn, PyObject *drawn, PyObject *out)
{
    PyObject *r = NULL;
    td_operand x;

    if (drawn && !py_is_array(out))
        r = py_store_host(fn, out, drawn, NULL, "no");
    else if (drawn) {
        x = (td_operand){.array = py_array_of(drawn)};
        r = py_ok(td_array_assign(py_array_of(out), &x)) ? Py_NewRef(out) : NULL;
    }
    Py_XDECREF(drawn);
    return r;
}

/* Reads the shape and dtype of out, a writable array of treadle or NumPy. */
static bool
read_out(const char *fn, PyObject *out, PyObject **shape, td_dtype *dt)
{
    PyObject *dtype = NULL;

    *shape = NULL;
    if (py_is_array(out)) {
        *dt = td_array_dtype(py_array_of(out));
        *shape =
            py_writable((py_ndarray *)out) ? py_shape_tuple(&py_array_of(out)->view.shape) : NULL;
    } else if (py_is_host_out(out)) {
        dtype = PyObject_GetAttrString(out, "dtype");
        *shape = dtype && py_dtype(dtype, dt) ? PyObject_GetAttrString(out, "shape") : NULL;
        Py_XDECREF(dtype);
    } else
        PyErr_Format(PyExc_TypeError, "%s: out must be a treadle array, or NumPy's, not %R", fn,
                     (PyObject *)Py_TYPE(out));
    return *shape != NULL;
}

/* Does out, of that shape and dtype, agree with size= and dtype=? */
static bool
random_fits(PyObject *shape, td_dtype have, PyObject *size, int dt)
{
    td_shape s, own;

    if ((int)have != dt) {
        PyErr_Format(PyExc_TypeError,
                     "Supplied output array has the wrong type. Expected %s, got %s",
                     td_dtype_name((td_dtype)dt), td_dtype_name(have));
        return false;
    }
    if (py_is_none(size))
        return true;
    if (!py_shape(size, &s) || !py_shape(shape, &own))
        return false;
    if (!td_shape_eq(&s, &own))
        PyErr_SetString(PyExc_ValueError, "size must match out.shape when used together");
    return !PyErr_Occurred();
}

static PyObject *
simple_draw(const char *fn, td_dist dist, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
            PyObject *kwnames)
{
    static const char *const names[] = {"size", "dtype", "out", NULL};
    PyObject *arg[3], *shape, *r;
    td_dtype have;
    int dt;

    if (!py_parse(fn, names, 0, 3, args, nargs, kwnames, arg) || !float_dtype(fn, arg[1], &dt))
        return NULL;
    if (py_is_none(arg[2]))
        return rng_draw(self, dist, arg[0], dt, unit);
    r = read_out(fn, arg[2], &shape, &have) && random_fits(shape, have, arg[0], dt)
            ? into(fn, rng_draw(self, dist, shape, dt, unit), arg[2])
            : NULL;
    Py_XDECREF(shape);
    return r;
}

static PyObject *
uniform01(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return simple_draw("random", TD_DIST_UNIFORM, self, args, nargs, kwnames);
}

static PyObject *
standard_normal(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return simple_draw("standard_normal", TD_DIST_NORMAL, self, args, nargs, kwnames);
}

/* 1: a plain number; 0: an array; -1: exception. */
static int
plain_parameter(PyObject *o, double dflt, double *out)
{
    *out = dflt;
    if (!o)
        return 1;
    if (py_is_array(o))
        return 0;
    if (!PyFloat_Check(o) && !PyLong_Check(o) && !PyIndex_Check(o))
        return 0;
    *out = PyFloat_AsDouble(o);
    if (!PyErr_Occurred())
        return 1;
    PyErr_Clear();
    return 0;
}

/* Draws composed of others, in treadle/random/_draws.py. */
static PyObject *
random_through_package(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames)
{
    PyObject *f = py_package("treadle.random._draws", name);
    PyObject *r = f ? py_call_with(f, self, args, nargs, kwnames) : NULL;

    Py_XDECREF(f);
    return r;
}

static PyObject *
rng_normal(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"loc", "scale", "size", "dtype", NULL};
    td_scalar par[2] = {{.dt = TD_F64}, {.dt = TD_F64}};
    PyObject *arg[4];
    int dt;

    if (!py_parse("normal", names, 0, 3, args, nargs, kwnames, arg) ||
        !float_dtype("normal", arg[3], &dt))
        return NULL;
    if (!plain_parameter(arg[0], 0, &par[0].f[0]) || !plain_parameter(arg[1], 1, &par[1].f[0]))
        return random_through_package("normal", self, args, nargs, kwnames);
    if (par[1].f[0] < 0) {
        PyErr_SetString(PyExc_ValueError, "scale < 0");
        return NULL;
    }
    return rng_draw(self, TD_DIST_NORMAL, arg[2], dt, par);
}

static PyObject *
uniform(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"low", "high", "size", "dtype", NULL};
    PyObject *arg[4];
    double lo, hi;
    int dt;

    if (!py_parse("uniform", names, 0, 3, args, nargs, kwnames, arg) ||
        !float_dtype("uniform", arg[3], &dt))
        return NULL;
    if (plain_parameter(arg[0], 0, &lo) && plain_parameter(arg[1], 1, &hi) && lo == 0 && hi == 1)
        return rng_draw(self, TD_DIST_UNIFORM, arg[2], dt, unit);
    return random_through_package("uniform", self, args, nargs, kwnames);
}

/* Reads the bounds into par, if they are ints whose range int64 can hold.  false: the package handles them, or an
 * exception is set. */
static bool
int_bounds(PyObject *const arg[5], int dt, td_scalar par[2])
{
    int bits = dt == TD_BOOL ? 1 : 8 * (int)td_dtype_size((td_dtype)dt);
    bool endpoint, neg = td_dtype_kind((td_dtype)dt) == 'i';
    int64_t low, high, min, most;

    if (!py_flag(arg[4], false, &endpoint))
        return false;
    low = py_is_none(arg[1]) ? 0 : PyLong_AsLongLong(arg[0]);
    high = PyErr_Occurred() ? 0 : PyLong_AsLongLong(py_is_none(arg[1]) ? arg[0] : arg[1]);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return false;
    }
    min = neg ? bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1)) : 0;
    most = bits == 64 || bits - neg == 63 ? INT64_MAX : ((int64_t)1 << (bits - neg)) - 1;
    if (low < min || (endpoint ? high > most || high == INT64_MAX : high - 1 > most) ||
        low >= high + endpoint)
        return false;
    par[0] = (td_scalar){.dt = TD_U64, .u = (uint64_t)low}; /* added modulo 2^64 */
    par[1] = (td_scalar){.dt = TD_U64, .u = (uint64_t)high + endpoint - (uint64_t)low};
    return true;
}

static PyObject *
integers(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"low", "high", "size", "dtype", "endpoint", NULL};
    PyObject *arg[5];
    td_scalar par[2];
    int dt;

    if (!py_parse("integers", names, 1, 5, args, nargs, kwnames, arg) ||
        !py_dtype_or(arg[3], TD_I64, &dt))
        return NULL;
    if ((td_dtype_is_int((td_dtype)dt) || dt == TD_BOOL) && PyLong_Check(arg[0]) &&
        (py_is_none(arg[1]) || PyLong_Check(arg[1])) && int_bounds(arg, dt, par))
        return rng_draw(self, TD_DIST_INTEGERS, arg[2], dt, par);
    return PyErr_Occurred() ? NULL : random_through_package("integers", self, args, nargs, kwnames);
}

/* _words(low, range, size, dtype): low plus a number below range, modulo 2^64; range 0: a number of all 64 bits. */
static PyObject *
words(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"low", "range", "size", "dtype", NULL};
    td_scalar par[2] = {{.dt = TD_U64}, {.dt = TD_U64}};
    PyObject *arg[4];
    int dt;

    if (!py_parse("_words", names, 4, 4, args, nargs, kwnames, arg) ||
        !py_dtype_or(arg[3], TD_U64, &dt))
        return NULL;
    for (int i = 0; i < 2; i++)
        par[i].u = PyLong_AsUnsignedLongLongMask(arg[i]);
    return PyErr_Occurred() ? NULL : rng_draw(self, TD_DIST_INTEGERS, arg[2], dt, par);
}

/* (key, next counter): the state that determines the next draw. */
static PyObject *
get_state(PyObject *self, void *unused)
{
    td_rng g = *rng_of(self);

    (void)unused;
    return Py_BuildValue("(KK)", (unsigned long long)g.key, (unsigned long long)g.offset);
}

static int
set_state(PyObject *self, PyObject *value, void *unused)
{
    unsigned long long key, offset;

    (void)unused;
    if (!value || !PyTuple_Check(value) || !PyArg_ParseTuple(value, "KK", &key, &offset)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "state is a tuple (key, counter)");
        return -1;
    }
    *rng_of(self) = (td_rng){.key = key, .offset = offset};
    return 0;
}

static PyMethodDef generator_methods[] = {
    {"random", PY_FAST(uniform01), FAST_KW,
     "random(size=None, dtype=float, out=None)\n\n"
     "Uniform in [0, 1).\n\n"
     "Parameters\n"
     "----------\n"
     "size : int or tuple of ints, optional\n"
     "    Shape of the result; None means one number, or the parameters' shape.\n"
     "dtype : dtype, default float\n"
     "    float32 or float64.\n"
     "out : ndarray, optional\n"
     "    Takes the draws and is returned; of size's shape and of dtype.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of size's shape.\n\n"
     "Raises\n"
     "------\n"
     "TypeError\n"
     "    dtype is none of both, or out has another one.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.random.default_rng(7).random(3).shape\n"
     "(3,)"},
    {"standard_normal", PY_FAST(standard_normal), FAST_KW,
     "standard_normal(size=None, dtype=float, out=None)\n\n"
     "Normal with mean 0 and deviation 1.\n\n"
     "Parameters\n"
     "----------\n"
     "size : int or tuple of ints, optional\n"
     "    Shape of the result; None means one number, or the parameters' shape.\n"
     "dtype : dtype, default float\n"
     "    float32 or float64.\n"
     "out : ndarray, optional\n"
     "    Takes the draws and is returned; of size's shape and of dtype.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of size's shape.\n\n"
     "Raises\n"
     "------\n"
     "TypeError\n"
     "    dtype is none of both, or out has another one.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.random.default_rng(7).standard_normal(3).shape\n"
     "(3,)"},
    {"normal", PY_FAST(rng_normal), FAST_KW,
     "normal(loc=0.0, scale=1.0, size=None, *, dtype=float)\n\n"
     "Normal of a mean and a deviation.\n\n"
     "Parameters\n"
     "----------\n"
     "loc : float or array_like, default 0.0\n"
     "    Mean.\n"
     "scale : float or array_like, default 1.0\n"
     "    Deviation, 0 or more.\n"
     "size : int or tuple of ints, optional\n"
     "    Shape of the result; None means one number, or the parameters' shape.\n"
     "dtype : dtype, default float\n"
     "    float32 or float64.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of size's shape, or the parameters'.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    scale is negative.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.random.default_rng(7).normal(size=3).shape\n"
     "(3,)"},
    {"uniform", PY_FAST(uniform), FAST_KW,
     "uniform(low=0.0, high=1.0, size=None, *, dtype=float)\n\n"
     "Uniform in [low, high).\n\n"
     "Parameters\n"
     "----------\n"
     "low : float or array_like, default 0.0\n"
     "    Least number.\n"
     "high : float or array_like, default 1.0\n"
     "    Upper bound.\n"
     "size : int or tuple of ints, optional\n"
     "    Shape of the result; None means one number, or the parameters' shape.\n"
     "dtype : dtype, default float\n"
     "    float32 or float64.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of size's shape, or the parameters'.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    high is below low.\n"
     "OverflowError\n"
     "    high - low is not finite.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.random.default_rng(7).uniform(size=3).shape\n"
     "(3,)"},
    {"integers", PY_FAST(integers), FAST_KW,
     "integers(low, high=None, size=None, dtype=int, endpoint=False)\n\n"
     "Integers of an interval, all equally likely.\n\n"
     "Parameters\n"
     "----------\n"
     "low : int or array_like of int\n"
     "    Least number; without high the upper bound, and 0 is the least.\n"
     "high : int or array_like of int, optional\n"
     "    Upper bound, which is left out.\n"
     "size : int or tuple of ints, optional\n"
     "    Shape of the result; None means one number, or the parameters' shape.\n"
     "dtype : dtype, default int\n"
     "    An integer dtype or bool.\n"
     "endpoint : bool, default False\n"
     "    The upper bound may be drawn.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of size's shape, or the parameters'.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    low is not below high, or dtype does not hold them.\n"
     "TypeError\n"
     "    dtype is neither integers nor bool.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.random.default_rng(7).integers(0, 6, size=3).shape\n"
     "(3,)"},
    {"_words", PY_FAST(words), FAST_KW, "_words(low, range, size, dtype): integers modulo 2**64."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef generator_getset[] = {
    {"state", get_state, set_state, "(key, next counter), to save and to restore.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot generator_slots[] = {
    {Py_tp_doc, "Generator(seed, device=None): counter-based random numbers (Philox4x32-10)."},
    PY_SLOT(Py_tp_new, generator_new),
    PY_SLOT(Py_tp_dealloc, generator_dealloc),
    {Py_tp_methods, generator_methods},
    {Py_tp_getset, generator_getset},
    {0, NULL},
};

static PyType_Spec generator_spec = {
    .name = "treadle.random.Generator",
    .basicsize = sizeof(generator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = generator_slots,
};

bool
py_random_init(PyObject *m)
{
    return py_add_type(m, "Generator", &generator_spec, &py.generator);
}
