/* tensor.h - what the files of _core.Tensor share.
 *
 * A Tensor is a td_var (grad/grad.h) as an object of Python.  A variable has one object at most at a time
 * (td_var.self), so x.grad is x.grad.  Shapes and dtypes that the core refuses are RuntimeErrors here, as in PyTorch.
 *
 * What Python composes with.  t, x: Tensors; number: a Python number; names are of treadle._core.
 *   Tensor                             the type, which takes attributes: setattr(Tensor, "softmax", f)
 *     ._array                          the treadle.ndarray on the same storage
 *     operators, comparisons, t[...], t[...] = x, in-place operators; len, iteration, float, int, bool
 *     requires_grad grad grad_fn is_leaf data retains_grad _version _base shape dtype device ndim T mT
 *     backward detach detach_ retain_grad requires_grad_ register_hook register_post_accumulate_grad_hook
 *     item tolist clone contiguous copy_ fill_ zero_ half float double int long short bool bfloat16 _cast(dtype)
 *     reshape view permute transpose swapaxes t expand unsqueeze squeeze flatten size dim numel stride
 *     sum mean prod amax amin any all (dim, keepdim, dtype)  var std (dim, unbiased, keepdim, correction)
 *     and tensornumber.c's lists, each with its _ form: add sub mul div pow neg abs exp log tanh relu sigmoid eq lt ...
 *   tensor_wrap(ndarray, requires_grad=False)        a leaf on the same storage
 *   _make_subclass(cls, t, requires_grad=False)      t's storage as a leaf of a subclass
 *   _tensor_classes(size=, dtype={name: object}, device=f, make=f)   how shapes, dtypes, devices are shown; Tensor(...)
 *   _grad_apply(row, *operands)         any row of ops.def by name, operands Tensors or numbers: "select", "erf" ...
 *   _grad_reduce(row, t, axes, keepdim, dtype, ddof) a row of reduce.def; axes: None or a tuple; dtype: None or one
 *   _grad_cumulate(row, t, dim)         sum, prod, max or min of the elements up to each
 *   _grad_matmul(x, y)                  x @ y
 *   _grad_held(value, dtype)            a number as PyTorch writes it to a tensor; overflow is RuntimeError
 *   _grad_cat(tensors, dim)             joined along an axis, one dtype
 *   _grad_gather(t, dim, index, trusted=False)  index: an int64 Tensor; take_along_dim, gather; differentiable in t;
 *                                       trusted: it is known to be in range, and is not looked at
 *   _grad_pick(t, axes, indices, place, flags)       index arrays (Tensors) for ascending axes of t, as array.h's td_pick
 *   _grad_put(t, axes, indices, place, flags, value, accumulate)   a new Tensor; of several for one place the last, or
 *                                       their sum.  _grad_put_ writes t.  treadle._select._tensor_index takes subscripts apart
 *   _grad_scatter(t, dim, index, value, accumulate)  the same along an axis, as _grad_gather reads: scatter, scatter_add
 *   _grad_flip(t, dims)                 a view
 *   _grad_strided(t, shape, strides, offset)         as_strided, in elements of the storage
 *   _grad_laid(t, *like)                t laid out as an elementwise result of the others; like the only one as torch.clone does
 *   _grad_channels_last(t)              do the strides say channels_last (or channels_last_3d)?
 *   _grad_become(t, view)               t becomes a view that was made of it
 *   _grad_view(t, ndarray)              the same for an ndarray that is a view on t's storage
 *   _grad_to_device(t, device)          a treadle.Device or its name
 *   _grad_custom(object, backward, inputs, outputs)  outputs (Tensors made unrecorded) as new Tensors of which
 *                                       backward(object, *gradients) gives the inputs' (None: zero)
 *   _grad_bucket(parameters, full)      counts them as their gradients become complete, then calls full(bucket);
 *                                       .arrays() .begin() .skip(i) .remove() .got .missing .on
 *   _grad_run(tensors, gradients, inputs, retain_graph, create_graph, collect)   a backward pass: gradients None or
 *                                       a tuple (with None); inputs None: all leaves; collect: a tuple of the inputs'
 *                                       gradients (None: not reached), else they are added to grad
 *   _grad_recur(cell, reverse, gates, weight, bias, h, c)   all steps of a recurrent layer, unrecorded: (h, c, gates) as
 *                                       array/run/recur.h says, None for what the cell has not; NotImplemented where the
 *                                       device multiplies no matrices of the dtype
 *   _grad_recur_back(cell, reverse, weight, h, c, gates, out, dh, dc)   their gradients
 *   _grad_conv(kind, first, second, shape, …)        a convolution or an adjoint of it (dev/core/conv.h), unrecorded;
 *                                       NotImplemented but on a CPU for floats
 *   _grad_each(f, row, n, places, k)    f(*tensors, *n numbers as 0-d tensors) gives a tuple of new values, elementwise, of
 *                                       row[places[i]]; f is called once with placeholders of the row's dtypes, of which the
 *                                       last k have no axes: the same for all elements
 *   _grad_each_run(each, numbers, rows) writes them into every row, a tuple of Tensors; the rows that it cannot take
 *                                       (several layouts, expressions that would fuse, recordings) are a list, untouched
 *   _grad_mode() _grad_set_mode(flag)   of this thread: are operations recorded?  The second gives what it was
 *   _grad_enabled()                     has the program asked for that, in inference mode too?
 *   _grad_inference() or (flag)         is this thread in inference mode?  With a flag: sets it, and gives what it was
 *   _grad_of_inference(tensor)          was its storage made in inference mode?
 *   _grad_savable(object)               RuntimeError if it is such a tensor
 *   _grad_default_dtype(dtype or None)  the default float dtype; gives what it was
 * Promotion is PyTorch's: tensors with dimensions, then those without, then numbers.
 */
#ifndef TD_PYTHON_TENSOR_H
#define TD_PYTHON_TENSOR_H
#include "python/common/py.h"

#include "grad/grad.h"

typedef struct py_tensor {
    PyObject_HEAD
    td_var   *v;
    PyObject *dict, *weak;
} py_tensor;

typedef struct py_tensors {
    PyTypeObject *type, *fn, *handle; /* Tensor; what grad_fn is; what removes a hook */
    PyObject *size, *device; /* registered by Python: how shapes and devices are shown */
    PyObject *make;          /* Tensor(...) */
    PyObject *dtype[TD_DTYPE_COUNT];
} py_tensors;

extern py_tensors pt;

static inline bool
pt_is(PyObject *o)
{
    return Py_IS_TYPE(o, pt.type) || PyObject_TypeCheck(o, pt.type);
}
static inline td_var *
pt_var(PyObject *o)
{
    return ((py_tensor *)o)->v;
}

/* ---- tensorarg.c, tensor.c ---- */
PyObject *pt_raise(td_status st);                  /* always NULL */
bool      pt_ok(td_status st);
PyObject *pt_object(td_var *v);                    /* v's object; takes v, also on failure */
PyObject *pt_done(td_status st, td_var *v);        /* the same, or the exception */
PyObject *pt_matmul(td_var *x, td_var *y);         /* x @ y; bools are refused, as by PyTorch */
bool      pt_held(td_varop *x, td_dtype dt);       /* x, if it is a number, becomes what dt holds; false: overflow */
PyObject *pt_held_object(PyObject *value, td_dtype dt); /* the same for an object; others are given back */
bool      pt_apply(td_op op, const td_varop *x, int n, td_var **out); /* td_var_apply; false: exception */
bool      pt_applied(td_status st); /* of an elementwise operation: false, and an error */
bool      pt_operands_fit(td_op op, const td_varop *x, int n); /* false, and an error: PyTorch refuses the row */
bool      pt_has_order(const char *fn, PyObject *error, td_dtype dt); /* false, and error: complex numbers */
/* Raises error; format has one %U, for the name of value's type. */
void      pt_wrong_type(PyObject *error, const char *format, PyObject *value);
PyObject *pt_dtype_object(td_dtype dt);
bool      pt_dtype(PyObject *o, td_dtype *out);    /* a registered one, or what py_dtype takes */
bool      pt_dtype_or(PyObject *o, int dflt, int *out);
bool      pt_tensor_arg(const char *fn, PyObject *o, td_var **out); /* borrowed; TypeError */
/* A Tensor or a number as an operand, borrowed from o.  1: done; 0: neither; -1: exception. */
int       pt_operand(PyObject *o, td_varop *out);
/* The shape that a call of fn gives: f(2, 3), f((2, 3)) or f(name=(2, 3)). */
bool      pt_shape_args(const char *fn, const char *name, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                        td_shape *out);
bool      pt_axis(PyObject *o, int ndim, int *out);    /* IndexError as PyTorch's */
bool      pt_axes(PyObject *o, int ndim, uint32_t *out); /* NULL, None: all */

/* ---- tensornumber.c, tensorview.c, tensorvalue.c, tensorindex.c, tensorgrad.c: each ends with a zero row ---- */
extern const PyType_Slot pt_number_slots[];
extern PyMethodDef pt_value_methods[], pt_view_methods[], pt_grad_methods[], pt_grad_functions[], pt_apply_methods[], pt_hook_methods[];
extern PyMethodDef pt_compose_functions[], pt_each_functions[], pt_layer_functions[];
extern PyGetSetDef pt_grad_attributes[], pt_leaf_attributes[], pt_view_attributes[];
PyObject *pt_subscript(PyObject *self, PyObject *key);
int       pt_ass_subscript(PyObject *self, PyObject *key, PyObject *value);
PyObject *pt_inplace(td_op op, PyObject *self, const td_varop *x, int n);
bool      pt_grad_init(PyObject *module);
bool      pt_hook_init(PyObject *module);
bool      pt_bucket_init(PyObject *module);
bool      pt_builtin_init(PyObject *m);
PyObject *pt_gradfn_object(td_gradfn *f);
PyObject *pt_gradfn_next(const td_gradfn *f); /* ((function or accumulator, output), ...) */
/* The variables of a sequence of Tensors (None: NULL, where `holes`), borrowed from the tuple *keep.  The caller
 * frees both, also on failure. */
bool      pt_variables(const char *what, PyObject *o, bool holes, PyObject **keep, td_var ***out, int *n);
#endif
