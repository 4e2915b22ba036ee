/* tensorvalue.c - Tensor's methods for values: copies, casts, filling, lists. */
#include "python/tensor/tensor.h"

#include "grad/layout.h"

/* ---- memory formats ---- */

enum { WRONG = -1, ORDERLY, LAST, KEPT };

/* The requested memory format, `own` without one.  ORDERLY: C order; LAST: channels last, which only tensors of one
 * rank have, axes[] is their order then; KEPT: the tensor's own; WRONG: exception. */
static int
format(const char *fn, int own, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
       PyObject *kwnames, int axes[TD_MAXDIM])
{
    static const char *const names[] = {"memory_format", NULL};
    int n = pt_var(self)->value.view.shape.ndim;
    PyObject *arg[1], *rank;
    long want;

    if (!nargs && !kwnames)
        return own;
    if (!py_parse(fn, names, 0, 1, args, nargs, kwnames, arg))
        return WRONG;
    if (py_is_none(arg[0]))
        return own;
    rank = PyObject_GetAttrString(arg[0], "_rank");
    want = rank ? PyLong_AsLong(rank) : -1;
    Py_XDECREF(rank);
    if (PyErr_Occurred())
        return WRONG;
    if (want < 0 && own != KEPT) {
        PyErr_Format(PyExc_RuntimeError, "preserve memory format is unsupported by the %s operator",
                     fn);
        return WRONG;
    }
    if (want <= 0)
        return want < 0 ? KEPT : ORDERLY;
    if (n != want) {
        PyErr_Format(PyExc_RuntimeError, "required rank %ld tensor to use channels_last%s format",
                     want, want == 5 ? "_3d" : "");
        return WRONG;
    }
    axes[0] = 0;
    axes[n - 1] = 1;
    for (int i = 1; i < n - 1; i++)
        axes[i] = i + 1;
    return LAST;
}

/* A copy whose channels lie last. */
static PyObject *
channels_last(td_var *v, const int *axes)
{
    td_var *turned, *copy, *r = NULL;
    int back[TD_MAXDIM];
    td_status st;

    for (int i = 0; i < v->value.view.shape.ndim; i++)
        back[axes[i]] = i;
    st = td_var_transpose(v, axes, &turned);
    if (!st) {
        st = td_var_copy(turned, &copy);
        td_var_unref(turned);
    }
    if (!st) {
        st = td_var_transpose(copy, back, &r);
        td_var_unref(copy);
    }
    return pt_done(st, r);
}

/* A copy in that format; axes as format() sets them. */
static PyObject *
copied(td_var *v, int want, const int *axes)
{
    td_var *r = NULL;
    td_status st;

    if (want == LAST)
        return channels_last(v, axes);
    st = want == KEPT ? td_var_clone(v, &r) : td_var_copy(v, &r);
    return pt_done(st, r);
}

static PyObject *
clone(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int axes[TD_MAXDIM], want = format("clone", KEPT, self, args, nargs, kwnames, axes);

    return want == WRONG ? NULL : copied(pt_var(self), want, axes);
}

/* Are self's elements laid out in that order? */
static bool
lies_so(PyObject *self, int want, const int *axes)
{
    const td_view *v = &pt_var(self)->value.view;
    td_view turned;

    if (want != LAST)
        return td_view_is_contiguous(v);
    return !td_view_transpose(v, axes, &turned) && td_view_is_contiguous(&turned);
}

static PyObject *
contiguous(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int axes[TD_MAXDIM], want = format("contiguous", ORDERLY, self, args, nargs, kwnames, axes);

    if (want == WRONG)
        return NULL;
    return lies_so(self, want, axes) ? Py_NewRef(self) : copied(pt_var(self), want, axes);
}

static PyObject *
is_contiguous(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int axes[TD_MAXDIM];
    int want = format("is_contiguous", ORDERLY, self, args, nargs, kwnames, axes);

    if (want == WRONG) { /* another rank: the format does not apply */
        if (!PyErr_ExceptionMatches(PyExc_RuntimeError))
            return NULL;
        PyErr_Clear();
        Py_RETURN_FALSE;
    }
    return PyBool_FromLong(lies_so(self, want, axes));
}

/* ---- casts and values ---- */

/* _cast(dtype): itself where nothing changes */
static PyObject *
tensor_cast(PyObject *self, PyObject *dtype)
{
    td_var *r = NULL;
    td_dtype dt;
    td_status st;

    if (!pt_dtype(dtype, &dt))
        return NULL;
    if (dt == td_array_dtype(&pt_var(self)->value))
        return Py_NewRef(self);
    st = td_var_cast(pt_var(self), dt, &r);
    return pt_done(st, r);
}

/* The methods named like dtypes, with PyTorch's memory_format. */
static PyObject *
cast_to(const char *fn, td_dtype dt, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
        PyObject *kwnames)
{
    int axes[TD_MAXDIM], want = format(fn, KEPT, self, args, nargs, kwnames, axes);
    td_var *v = pt_var(self), *cast = NULL;
    bool last = td_layout_channels_last(&v->value.view);
    PyObject *r;

    if (want == WRONG)
        return NULL;
    if (td_array_dtype(&v->value) == dt && (want == KEPT || last == (want == LAST)))
        return Py_NewRef(self);
    if (!pt_ok(td_var_cast(v, dt, &cast)))
        return NULL;
    if (want == KEPT)
        return pt_object(cast);
    r = copied(cast, want, axes);
    td_var_unref(cast);
    return r;
}

#define CASTS(M)                                                                                   \
    M(half, TD_F16)                                                                                \
    M(bfloat16, TD_BF16)                                                                           \
    M(float, TD_F32)                                                                               \
    M(double, TD_F64)                                                                              \
    M(int, TD_I32)                                                                                 \
    M(long, TD_I64)                                                                                \
    M(short, TD_I16)                                                                               \
    M(bool, TD_BOOL)
#define CAST(name, dt)                                                                             \
    static PyObject *to_##name(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)  \
    {                                                                                              \
        return cast_to(#name, dt, self, args, n, kw);                                              \
    }
CASTS(CAST)

static PyObject *
tolist(PyObject *self, PyObject *unused)
{
    td_array a = td_array_ref(&pt_var(self)->value);
    PyObject *nd = py_wrap(&a), *r = nd ? PyObject_CallMethod(nd, "tolist", NULL) : NULL;

    (void)unused;
    Py_XDECREF(nd);
    return r;
}

/* Writes `from`, from any device, broadcast and cast, into self's storage. */
static PyObject *
written(const char *fn, PyObject *self, PyObject *from)
{
    td_var *v = pt_var(self), *moved = NULL;
    td_varop x;
    int ours = pt_operand(from, &x);
    char have[256], want[256];
    bool ok;

    if (!ours)
        PyErr_Format(PyExc_TypeError, "%s(): argument must be Tensor, not %R", fn,
                     (PyObject *)Py_TYPE(from));
    if (ours <= 0 || !pt_held(&x, td_array_dtype(&v->value)))
        return NULL;
    if (x.v && x.v->value.view.shape.ndim > v->value.view.shape.ndim) {
        PyErr_Format(PyExc_RuntimeError,
                     "output with shape %s doesn't match the broadcast shape %s",
                     td_shape_list(&v->value.view.shape, have, sizeof have),
                     td_shape_list(&x.v->value.view.shape, want, sizeof want));
        return NULL;
    }
    ok = !x.v || pt_ok(td_var_to_device(x.v, td_array_dev(&v->value), &moved));
    x.v = moved;
    ok = ok && pt_ok(td_var_store(v, &x));
    td_var_unref(moved);
    return ok ? Py_NewRef(self) : NULL;
}

/* copy_(src, non_blocking=False) */
static PyObject *
copy_(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"other", "non_blocking", NULL};
    PyObject *arg[2];

    return py_parse("copy_", names, 1, 2, args, nargs, kwnames, arg)
               ? written("copy_", self, arg[0])
               : NULL;
}

/* fill_(value) */
static PyObject *
fill_(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"value", NULL};
    PyObject *arg[1];

    return py_parse("fill_", names, 1, 1, args, nargs, kwnames, arg)
               ? written("fill_", self, arg[0])
               : NULL;
}

static PyObject *
zero_(PyObject *self, PyObject *unused)
{
    td_varop zero = {.scalar = {.dt = TD_I64}, .weak = 'i'};

    (void)unused;
    return pt_ok(td_var_store(pt_var(self), &zero)) ? Py_NewRef(self) : NULL;
}

#define CAST_ROW(name, dt)                                                                         \
    {#name, PY_FAST(to_##name), METH_FASTCALL | METH_KEYWORDS,                                     \
     #name "($self, /, memory_format=None)\n--\n\nThe tensor as " #name "; itself if it is."},

PyMethodDef pt_value_methods[] = {
    CASTS(CAST_ROW){"_cast", tensor_cast, METH_O, NULL},
    {"clone", PY_FAST(clone), METH_FASTCALL | METH_KEYWORDS,
     "clone($self, /, *, memory_format=None)\n--\n\nA copy that derivatives go through."},
    {"contiguous", PY_FAST(contiguous), METH_FASTCALL | METH_KEYWORDS,
     "contiguous($self, /, memory_format=None)\n--\n\nItself where its elements lie in order, else "
     "a copy."},
    {"is_contiguous", PY_FAST(is_contiguous), METH_FASTCALL | METH_KEYWORDS,
     "is_contiguous($self, /, memory_format=None)\n--\n\nDo the elements lie in order, without "
     "gaps?"},
    {"tolist", tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\n"
     "Nested lists of Python numbers."},
    {"copy_", PY_FAST(copy_), METH_FASTCALL | METH_KEYWORDS,
     "copy_($self, /, src, non_blocking=False)\n--\n\nEvery element becomes src's, broadcast."},
    {"fill_", PY_FAST(fill_), METH_FASTCALL | METH_KEYWORDS,
     "fill_($self, /, value)\n--\n\nEvery element becomes value."},
    {"zero_", zero_, METH_NOARGS, "zero_($self, /)\n--\n\nEvery element becomes 0."},
    {NULL, NULL, 0, NULL},
};
