/* tensorleaf.c - a Tensor's gradient: what backward passes have left, and what a program may put there. */
#include "python/tensor/tensor.h"

static PyObject *
get_grad(PyObject *self, void *unused)
{
    td_var *v = pt_var(self), *g = v->grad;

    (void)unused;
    if (!g && !v->requires_grad && !v->retain && td_var_tracked(v) &&
        PyErr_WarnEx(PyExc_UserWarning,
                     "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. "
                     "Its .grad attribute won't be populated during autograd.backward(). Call "
                     ".retain_grad() on it before the backward pass to have its gradient, or ask "
                     "the leaf Tensor for its own.",
                     1) < 0)
        return NULL;
    return g ? pt_object(td_var_ref(g)) : Py_NewRef(Py_None);
}

/* PyTorch's name of a dtype that it takes from C++, as it stands in one of its errors */
static const char *
cpp_name(td_dtype dt)
{
    switch (dt) {
    case TD_U8:   return "unsigned char";
    case TD_I8:   return "signed char";
    case TD_I16:  return "short int";
    case TD_I32:  return "int";
    case TD_I64:  return "long int";
    case TD_F16:  return "c10::Half";
    case TD_BF16: return "c10::BFloat16";
    case TD_F32:  return "float";
    case TD_F64:  return "double";
    case TD_C64:  return "c10::complex<float>";
    case TD_C128: return "c10::complex<double>";
    default:      return td_dtype_name(dt);
    }
}

/* The dtype that v's gradient must have; false: any will do. */
static bool
gradient_dtype(const td_var *v, td_dtype *out)
{
    *out = v->grad_dtype < 0 ? td_array_dtype(&v->value) : (td_dtype)v->grad_dtype;
    return v->grad_dtype != TD_GRAD_ANY;
}

/* May g be v's gradient?  Sets the exception. */
static bool
fits_as_grad(const td_var *v, const td_var *g)
{
    char have[256], want[256];
    td_dtype dt;

    if (g == v)
        PyErr_SetString(PyExc_RuntimeError, "can't assign Variable as its own grad");
    else if (gradient_dtype(v, &dt) && td_array_dtype(&g->value) != dt)
        PyErr_Format(PyExc_RuntimeError,
                     "attempting to assign a gradient with dtype '%s' to a tensor with grad_dtype "
                     "'%s'. The gradient must match the tensor's grad_dtype (defaults to the "
                     "tensor's dtype). You can set the tensor's grad_dtype attribute with a "
                     "specific dtype, or None to allow any dtype. Set grad_dtype with caution. "
                     "Diverging the dtypes of a tensor and its gradient may break downstream "
                     "systems that assume they match.",
                     cpp_name(td_array_dtype(&g->value)), td_grad_word(dt));
    else if (!td_shape_eq(&g->value.view.shape, &v->value.view.shape))
        PyErr_Format(PyExc_RuntimeError,
                     "attempting to assign a gradient of size '%s' to a tensor of "
                     "size '%s'. Please ensure that the gradient and the tensor are "
                     "the same size",
                     td_shape_list(&g->value.view.shape, have, sizeof have),
                     td_shape_list(&v->value.view.shape, want, sizeof want));
    else
        return true;
    return false;
}

static int
set_grad(PyObject *self, PyObject *value, void *unused)
{
    td_var *v = pt_var(self), *old = v->grad, *g = NULL;

    (void)unused;
    if (!py_is_none(value)) {
        if (!pt_is(value)) {
            pt_wrong_type(PyExc_TypeError,
                          "assigned grad expected to be a Tensor or None but got grad of type %U",
                          value);
            return -1;
        }
        if (!fits_as_grad(v, pt_var(value)))
            return -1;
        g = td_var_ref(pt_var(value));
    }
    v->grad = g;
    td_var_unref(old);
    return 0;
}

static PyObject *
get_grad_dtype(PyObject *self, void *unused)
{
    td_dtype dt;

    (void)unused;
    return gradient_dtype(pt_var(self), &dt) ? pt_dtype_object(dt) : Py_NewRef(Py_None);
}

static int
set_grad_dtype(PyObject *self, PyObject *value, void *unused)
{
    td_var *v = pt_var(self);
    td_dtype dt;

    (void)unused;
    if (py_is_none(value))
        v->grad_dtype = TD_GRAD_ANY;
    else if (pt_dtype(value, &dt))
        v->grad_dtype = (int16_t)dt;
    else
        pt_wrong_type(PyExc_RuntimeError, "grad_dtype must be a torch.dtype or None, but got %U",
                      value);
    return PyErr_Occurred() ? -1 : 0;
}

PyGetSetDef pt_leaf_attributes[] = {
    {"grad", get_grad, set_grad, "The gradient that backward passes have left, or None.", NULL},
    {"grad_dtype", get_grad_dtype, set_grad_dtype, "The dtype that grad has; None: any.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
