/* random.c - treadle.random.Generator: draws that are recorded like any operation.
 *
 * The counter's offset is taken when a draw is recorded, so evaluation order never changes numbers.
 */
#include "python/py.h"

#include "array/capture.h"
#include "base/hash.h"

#define FAST_KW (METH_FASTCALL | METH_KEYWORDS)

typedef struct generator {
    PyObject_HEAD td_rng rng;
    td_dev *dev; /* NULL: the default device at each draw */
} generator;

static PyObject *
generator_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"seed", "device", NULL};
    PyObject *seed = NULL, *where = NULL;
    generator *g;
    td_dev *dev = NULL;
    uint64_t key;

    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|O:Generator", names, &seed, &where) ||
        (!py_is_none(where) && !py_device(where, &dev)))
        return NULL;
    key = PyLong_AsUnsignedLongLongMask(seed);
    if (PyErr_Occurred())
        return NULL;
    g = PyObject_New(generator, py.generator);
    if (!g)
        return NULL;
    g->rng = (td_rng){
        .key = td_mix64(key + 0x9e3779b97f4a7c15u)}; /* neighbouring seeds give distant keys */
    g->rng.born = td_capture_serial();
    g->dev = dev;
    return (PyObject *)g;
}

static void
generator_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *
draw(PyObject *self, td_dist dist, PyObject *size, int dt, const td_scalar par[2])
{
    generator *g = (generator *)self;
    td_dev *dev = g->dev;
    td_shape s = {.ndim = 0}, checked;
    py_ndarray *r;

    if ((!dev && !py_device(NULL, &dev)) || (!py_is_none(size) && !py_shape(size, &s)) ||
        !py_ok(td_shape_make(s.ndim, s.dim, &checked)) || !py_capture_keep(self))
        return NULL;
    r = py_new();
    return r ? py_done(r, td_array_random(dev, &g->rng, dist, (td_dtype)dt, &checked, par, &r->a))
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

/* The draw itself, or out filled with it. */
static PyObject *
into(PyObject *drawn, PyObject *out)
{
    td_operand x;
    td_status st;

    if (!drawn || py_is_none(out))
        return drawn;
    x = (td_operand){.array = py_array_of(drawn)};
    st = td_array_assign(py_array_of(out), &x);
    Py_DECREF(drawn);
    return st ? py_raise(st) : Py_NewRef(out);
}

static PyObject *
simple(const char *fn, td_dist dist, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
       PyObject *kwnames)
{
    static const char *const names[] = {"size", "dtype", "out", NULL};
    PyObject *arg[3], *shape, *r;
    int dt;

    if (!py_parse(fn, names, 0, 3, args, nargs, kwnames, arg) || !float_dtype(fn, arg[1], &dt))
        return NULL;
    if (py_is_none(arg[2]))
        return draw(self, dist, arg[0], dt, unit);
    if (!py_is_array(arg[2])) {
        PyErr_Format(PyExc_TypeError, "%s: out must be a treadle array", fn);
        return NULL;
    }
    if (!py_writable((py_ndarray *)arg[2]))
        return NULL;
    shape = py_shape_tuple(&py_array_of(arg[2])->view.shape);
    r = shape ? into(draw(self, dist, shape, dt, unit), arg[2]) : NULL;
    Py_XDECREF(shape);
    return r;
}

static PyObject *
uniform01(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return simple("random", TD_DIST_UNIFORM, self, args, nargs, kwnames);
}

static PyObject *
standard_normal(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return simple("standard_normal", TD_DIST_NORMAL, self, args, nargs, kwnames);
}

/* 1: a plain number; 0: an array; -1: exception. */
static int
plain(PyObject *o, double dflt, double *out)
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

/* A parameter that is not a plain number: an array. */
static PyObject *
parameter(PyObject *o)
{
    td_scalar s;
    td_array own;
    char weak;

    if (py_is_array(o) || py_number(o, &s, &weak) > 0)
        return Py_NewRef(o);
    return !PyErr_Occurred() && py_asarray(o, -1, NULL, &own) ? py_wrap(&own) : NULL;
}

/* shift + scale * z with z of `size`, or of the shape that the parameters broadcast to. */
static PyObject *
scaled(PyObject *self, td_dist dist, PyObject *shift, PyObject *scale, PyObject *size, int dt)
{
    PyObject *sum = NULL, *shape = NULL, *z = NULL, *prod = NULL, *r = NULL;

    shift = parameter(shift);
    scale = shift ? parameter(scale) : NULL;
    if (scale && !py_is_none(size))
        shape = Py_NewRef(size);
    else if (scale) {
        sum = PyNumber_Add(shift, scale);
        shape = !sum               ? NULL
                : py_is_array(sum) ? py_shape_tuple(&py_array_of(sum)->view.shape)
                                   : PyTuple_New(0);
    }
    z = shape ? draw(self, dist, shape, dt, unit) : NULL;
    prod = z ? PyNumber_Multiply(z, scale) : NULL;
    r = prod ? PyNumber_Add(prod, shift) : NULL;
    Py_XDECREF(shift);
    Py_XDECREF(scale);
    Py_XDECREF(sum);
    Py_XDECREF(shape);
    Py_XDECREF(z);
    Py_XDECREF(prod);
    return r;
}

static PyObject *
normal(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"loc", "scale", "size", "dtype", NULL};
    td_scalar par[2] = {{.dt = TD_F64}, {.dt = TD_F64}};
    PyObject *arg[4], *zero, *one, *r;
    int dt;

    if (!py_parse("normal", names, 0, 3, args, nargs, kwnames, arg) ||
        !float_dtype("normal", arg[3], &dt))
        return NULL;
    if (plain(arg[0], 0, &par[0].f[0]) && plain(arg[1], 1, &par[1].f[0])) {
        if (par[1].f[0] < 0) {
            PyErr_SetString(PyExc_ValueError, "scale < 0");
            return NULL;
        }
        return draw(self, TD_DIST_NORMAL, arg[2], dt, par);
    }
    zero = PyFloat_FromDouble(0);
    one = PyFloat_FromDouble(1);
    r = zero && one ? scaled(self, TD_DIST_NORMAL, arg[0] ? arg[0] : zero, arg[1] ? arg[1] : one,
                             arg[2], dt)
                    : NULL;
    Py_XDECREF(zero);
    Py_XDECREF(one);
    return r;
}

static PyObject *
uniform(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"low", "high", "size", "dtype", NULL};
    PyObject *arg[4], *zero, *one, *low, *width, *high, *r;
    double lo, hi;
    int dt;

    if (!py_parse("uniform", names, 0, 3, args, nargs, kwnames, arg) ||
        !float_dtype("uniform", arg[3], &dt))
        return NULL;
    if (plain(arg[0], 0, &lo) && plain(arg[1], 1, &hi) && lo == 0 && hi == 1)
        return draw(self, TD_DIST_UNIFORM, arg[2], dt, unit);
    zero = PyFloat_FromDouble(0);
    one = PyFloat_FromDouble(1);
    low = zero ? parameter(arg[0] ? arg[0] : zero) : NULL;
    high = one ? parameter(arg[1] ? arg[1] : one) : NULL;
    width = low && high ? PyNumber_Subtract(high, low) : NULL;
    r = width ? scaled(self, TD_DIST_UNIFORM, low, width, arg[2], dt) : NULL;
    Py_XDECREF(zero);
    Py_XDECREF(one);
    Py_XDECREF(low);
    Py_XDECREF(high);
    Py_XDECREF(width);
    return r;
}

/* Draws spelled with others, in treadle/_draws.py. */
static PyObject *
through_package(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    PyObject *f = py_package("treadle._draws", name);
    PyObject *r = f ? py_call_with(f, self, args, nargs, kwnames) : NULL;

    Py_XDECREF(f);
    return r;
}

static bool
int_bounds(PyObject *const arg[5], int dt, td_scalar par[2])
{
    bool endpoint;
    int64_t low, high;

    if (!py_flag(arg[4], false, &endpoint))
        return false;
    low = py_is_none(arg[1]) ? 0 : PyLong_AsLongLong(arg[0]);
    high = PyErr_Occurred() ? 0 : PyLong_AsLongLong(py_is_none(arg[1]) ? arg[0] : arg[1]);
    if (PyErr_Occurred())
        return false;
    if (endpoint && high == INT64_MAX) {
        PyErr_SetString(PyExc_ValueError, "high is out of bounds for int64");
        return false;
    }
    high += endpoint;
    if (low >= high) {
        PyErr_SetString(PyExc_ValueError, "low >= high");
        return false;
    }
    if (td_dtype_size((td_dtype)dt) < 8) {
        int bits = 8 * (int)td_dtype_size((td_dtype)dt);
        bool neg = td_dtype_kind((td_dtype)dt) == 'i';
        int64_t min = neg ? -((int64_t)1 << (bits - 1)) : 0, top = min + ((int64_t)1 << bits);

        if (low < min || high > top) {
            PyErr_Format(PyExc_ValueError, "%s is out of bounds for %s", low < min ? "low" : "high",
                         td_dtype_name((td_dtype)dt));
            return false;
        }
    }
    par[0] = (td_scalar){.dt = TD_U64, .u = (uint64_t)low}; /* added modulo 2^64 */
    par[1] = (td_scalar){.dt = TD_U64, .u = (uint64_t)high - (uint64_t)low};
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
    if (!td_dtype_is_int((td_dtype)dt)) {
        PyErr_Format(PyExc_TypeError, "integers: Unsupported dtype %s",
                     td_dtype_name((td_dtype)dt));
        return NULL;
    }
    if (!PyIndex_Check(arg[0]) || (!py_is_none(arg[1]) && !PyIndex_Check(arg[1])) ||
        py_is_array(arg[0]) || (arg[1] && py_is_array(arg[1])))
        return through_package("integers", self, args, nargs, kwnames);
    return int_bounds(arg, dt, par) ? draw(self, TD_DIST_INTEGERS, arg[2], dt, par) : NULL;
}

#define DRAW(name)                                                                                 \
    static PyObject *draw_##name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,          \
                                 PyObject *kwnames)                                                \
    {                                                                                              \
        return through_package(#name, self, args, nargs, kwnames);                                 \
    }

DRAW(choice)
DRAW(exponential)
DRAW(gumbel)
DRAW(laplace)
DRAW(logistic)
DRAW(lognormal)
DRAW(pareto)
DRAW(permutation)
DRAW(permuted)
DRAW(rayleigh)
DRAW(shuffle)
DRAW(standard_cauchy)
DRAW(standard_exponential)
DRAW(triangular)
DRAW(weibull)

/* (key, next counter): what the next draw depends on. */
static PyObject *
get_state(PyObject *self, void *unused)
{
    td_rng g = ((generator *)self)->rng;

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
    ((generator *)self)->rng = (td_rng){.key = key, .offset = offset};
    return 0;
}

bool
py_random_init(PyObject *m)
{
    static PyMethodDef methods[] = {
        {"random", PY_FAST(uniform01), FAST_KW,
         "random(size=None, dtype=float, out=None): uniform in [0, 1)."},
        {"standard_normal", PY_FAST(standard_normal), FAST_KW,
         "standard_normal(size=None, dtype=float, out=None)"},
        {"normal", PY_FAST(normal), FAST_KW,
         "normal(loc=0.0, scale=1.0, size=None, *, dtype=float)"},
        {"uniform", PY_FAST(uniform), FAST_KW,
         "uniform(low=0.0, high=1.0, size=None, *, dtype=float)"},
        {"integers", PY_FAST(integers), FAST_KW,
         "integers(low, high=None, size=None, dtype=int, endpoint=False): uniform in [low, high)."},
#define ROW(name, text) {#name, PY_FAST(draw_##name), FAST_KW, text}
        ROW(choice,
            "choice(a, size=None, replace=True, p=None, axis=0, shuffle=True): elements of a."),
        ROW(exponential, "exponential(scale=1.0, size=None)"),
        ROW(gumbel, "gumbel(loc=0.0, scale=1.0, size=None)"),
        ROW(laplace, "laplace(loc=0.0, scale=1.0, size=None)"),
        ROW(logistic, "logistic(loc=0.0, scale=1.0, size=None)"),
        ROW(lognormal, "lognormal(mean=0.0, sigma=1.0, size=None)"),
        ROW(pareto, "pareto(a, size=None)"),
        ROW(permutation, "permutation(x, axis=0): x, or range(x), in random order."),
        ROW(permuted,
            "permuted(x, axis=None, out=None): every slice along axis in an order of its own."),
        ROW(rayleigh, "rayleigh(scale=1.0, size=None)"),
        ROW(shuffle, "shuffle(x, axis=0): puts x in random order, in place."),
        ROW(standard_cauchy, "standard_cauchy(size=None)"),
        ROW(standard_exponential,
            "standard_exponential(size=None, dtype=float, method='inv', out=None)"),
        ROW(triangular, "triangular(left, mode, right, size=None)"),
        ROW(weibull, "weibull(a, size=None)"),
#undef ROW
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef getset[] = {
        {"state", get_state, set_state, "(key, next counter), to save and to restore.", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Generator(seed, device=None): counter-based random numbers (Philox4x32-10)."},
        PY_SLOT(Py_tp_new, generator_new),
        PY_SLOT(Py_tp_dealloc, generator_dealloc),
        {Py_tp_methods, methods},
        {Py_tp_getset, getset},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle.random.Generator",
        .basicsize = sizeof(generator),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    py.generator = (PyTypeObject *)PyType_FromSpec(&spec);
    return py.generator && PyModule_AddObjectRef(m, "Generator", (PyObject *)py.generator) == 0;
}
