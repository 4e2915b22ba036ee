/* tensorvalue.c - Tensor's methods about values: copies, casts, filling, lists. */
#include "python/tensor.h"

static PyObject *
clone(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    td_var *r = NULL;
    td_status st = td_var_copy(pt_var(self), &r);

    (void)args;
    (void)nargs;
    (void)kwnames; /* memory_format */
    return pt_done(st, r);
}

static PyObject *
contiguous(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (td_view_is_contiguous(&pt_var(self)->value.view))
        return Py_NewRef(self);
    return clone(self, args, nargs, kwnames);
}

/* _cast(dtype): itself where nothing changes */
static PyObject *
cast(PyObject *self, PyObject *dtype)
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
    static PyObject *to_##name(PyObject *self, PyObject *unused)                                   \
    {                                                                                              \
        td_var *r = NULL;                                                                          \
        td_status st;                                                                              \
                                                                                                   \
        (void)unused;                                                                              \
        if (td_array_dtype(&pt_var(self)->value) == dt)                                            \
            return Py_NewRef(self);                                                                \
        st = td_var_cast(pt_var(self), dt, &r);                                                    \
        return pt_done(st, r);                                                                     \
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

/* copy_(src, non_blocking=False): src, on whatever device, broadcast and cast into this storage */
static PyObject *
copy_(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"src", "non_blocking", NULL};
    td_var *v = pt_var(self), *moved = NULL;
    PyObject *arg[2];
    td_varop x;
    bool ok;
    int ours;

    if (!py_parse("copy_", names, 1, 2, args, nargs, kwnames, arg))
        return NULL;
    ours = pt_operand(arg[0], &x);
    if (!ours)
        PyErr_Format(PyExc_TypeError, "copy_(): argument must be Tensor, not %R",
                     (PyObject *)Py_TYPE(arg[0]));
    if (ours <= 0)
        return NULL;
    ok = !x.v || pt_ok(td_var_to_device(x.v, td_array_dev(&v->value), &moved));
    x.v = moved;
    ok = ok && pt_ok(td_var_store(v, &x));
    td_var_unref(moved);
    return ok ? Py_NewRef(self) : NULL;
}

static PyObject *
zero_(PyObject *self, PyObject *unused)
{
    td_varop zero = {.scalar = {.dt = TD_I64}, .weak = 'i'};

    (void)unused;
    return pt_ok(td_var_store(pt_var(self), &zero)) ? Py_NewRef(self) : NULL;
}

#define CAST_ROW(name, dt) {#name, to_##name, METH_NOARGS, NULL},

PyMethodDef pt_value_methods[] = {
    CASTS(CAST_ROW){"_cast", cast, METH_O, NULL},
    {"clone", PY_FAST(clone), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"contiguous", PY_FAST(contiguous), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"tolist", tolist, METH_NOARGS, "tolist(): nested lists of Python numbers."},
    {"copy_", PY_FAST(copy_), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"fill_", PY_FAST(copy_), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"zero_", zero_, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
