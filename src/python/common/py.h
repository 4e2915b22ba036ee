/* py.h - what the files of the extension share.
 *
 * This folder alone includes Python.h, with the limited API of 3.11.  A function here parses, calls one td_
 * function and wraps its result.  All run with the GIL held: it is the lock of the lazy graph, and the core
 * releases it (td_graph_hooks) while it compiles, runs or waits.
 *
 * Functions that return an object return a new reference, or NULL with an exception set.  Functions that return
 * bool return false with an exception set.
 */
#ifndef TD_PYTHON_PY_H
#define TD_PYTHON_PY_H
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

#include "array/graph/array.h"

/* treadle.ndarray - a view on a storage.  Holds no Python object, so it takes no part in collection. */
typedef struct py_ndarray {
    PyObject_HEAD
    td_array  a;
    bool      readonly; /* broadcast views */
    bool      scalars;  /* integer subscripts give NumPy scalars: device arrays of treadle.cuda, and their views */
    bool      view;     /* a view of another array's memory */
    /* made by asarray, zeros and the like: if 0-d, NumPy has an array here, where a computed 0-d array is a number */
    bool      made;
    PyObject *weak;     /* head of the weak references */
} py_ndarray;

/* In 3.11 number slots cannot reach module state, so it is one static; a second interpreter gets ImportError. */
typedef struct py_state {
    PyInterpreterState *interp;
    PyTypeObject *base, *ndarray;         /* what arrays and numbers have in common; the type of arrays */
    PyTypeObject *numbers;                /* the type of the types of numbers; NULL: there is no number yet */
    PyTypeObject *number[TD_DTYPE_COUNT]; /* the types of numbers, made when they are first needed */
    PyTypeObject *ufunc, *device, *stream, *event, *generator, *memory, *hostmem, *dispatcher, *allocation;
    PyObject *error, *oom, *compile, *device_error, *logic_error, *limit_error, *launch_error, *missing, *distributed, *peer, *slow; /* exception classes; PerformanceWarning */
    PyObject *no_numbers; /* the TypeError that says: arrays hold numbers only */
    PyObject *numpy;                 /* the module, once asked for */
    PyObject *dtype[TD_DTYPE_COUNT]; /* numpy.dtype objects, once asked for */
    PyObject *scalar[TD_DTYPE_COUNT]; /* their types of scalars */
} py_state;

extern py_state py;

/* A function's address as the void * that slots want. */
#define PY_SLOT(id, fn) {id, (void *)(uintptr_t)(fn)}
#define PY_FAST(fn)     ((PyCFunction)(void (*)(void))(fn))

/* ---- fail.c ---- */
PyObject *py_raise(td_status st); /* the exception for st with the core's text; always NULL */
bool      py_ok(td_status st);    /* false: raised */
void     *py_calloc(size_t n, size_t size); /* zeroed, for free(); NULL: MemoryError is raised */
bool      py_warn(void);          /* issues the warning that jit/ left, if any */
/* py_keep keeps the pending exception while a failure passes through the core, and returns that failure's
 * status. py_raise raises it again by the number of td_error_code.  From any thread, with the GIL. */
td_status py_keep(void);
PyObject *py_kept_raise(void);
/* kernel/report.c, program/program.c: raises the failure that a kernel has reported (always NULL); prints what
 * kernels have printed. */
PyObject *py_report_raise(void);
bool      py_program_flush(void);
td_status py_handle_signals(void); /* py_poll for a thread that may have released the GIL */
td_status py_poll(void); /* runs signal handlers; TD_ERR_CALLER: one of them has raised */

/* ---- call.c ---- */
bool py_is_text(PyObject *o, const char *text); /* is o a str of that text? */
/* Arguments of a METH_FASTCALL | METH_KEYWORDS call by name: borrowed, NULL where absent.  names ends
 * with NULL; the first nmin are required, the first npos may be positional. */
bool py_parse(const char *fn, const char *const *names, int nmin, int npos, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames, PyObject **out);
PyObject *py_package(const char *module, const char *name); /* an attribute of a module of the package */
PyObject *py_await(PyObject *o, const char *kind); /* __await__ of an "array", an "event" or a "stream" */
bool      py_is_none(PyObject *o);                          /* NULL or None */
bool      py_flag(PyObject *o, bool dflt, bool *out);       /* truth; NULL: dflt */
/* calls fn(head, *args, **kw) */
PyObject *py_call_with(PyObject *fn, PyObject *head, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* ---- type.c ---- */
/* A new object of the type or of a class that a program derived from it: zeroed, with one reference. */
void *py_allocate(PyTypeObject *type);
/* The last step of a dealloc function: returns the object's memory and drops its reference to its type. */
void  py_free(PyObject *self);
/* Makes a type and enters it in the module under that name. */
bool  py_add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject **out);
/* Gives treadle.ndarray a type of its own, which answers isinstance and class statements. */
bool  py_class_of_arrays(PyTypeObject *type);
PyObject *py_new_array(PyObject *unused, PyObject *args, PyObject *kw); /* treadle.ndarray.__new__ */

/* ---- wrap.c ---- */
py_ndarray *py_new(void);    /* empty: a.store is NULL */
PyObject   *py_done(py_ndarray *r, td_status st);     /* r, or on failure frees it and raises */
PyObject   *py_wrap(td_array *a);                     /* takes a, also on failure */
/* as py_done, for a view of self: r gets self's base and is as writable */
PyObject   *py_view_done(PyObject *self, py_ndarray *r, td_status st);
bool        py_writable(const py_ndarray *self);      /* ValueError when read-only */
bool        py_want_array(const char *fn, PyObject *o); /* TypeError, in fn's name, when o is no treadle.ndarray */
/* Is out a NumPy array in host memory?  And: writes value to out where the mask is true (NULL: everywhere), by
 * NumPy's casting rule, and counts the trip to the host. */
bool        py_is_host_out(PyObject *out);
PyObject   *py_store_host(const char *fn, PyObject *out, PyObject *value, PyObject *where, const char *casting);
/* td_array_empty_as; while the thread debugs, filled with a pattern by which reads of unwritten elements are found.
 * kerneldebug.c */
td_status   py_empty_as(td_dev *d, td_dtype dt, const td_view *layout, td_array *out);
bool        py_shape(PyObject *o, td_shape *out);     /* an int or a sequence of ints; may hold -1 */
PyObject   *py_shape_tuple(const td_shape *s);

/* ---- dtype.c ---- */
bool      py_dtype(PyObject *o, td_dtype *out);           /* a name, a type, a numpy.dtype, … */
bool      py_dtype_or(PyObject *o, int dflt, int *out);   /* NULL, None: dflt */
PyObject *py_dtype_object(td_dtype dt);                   /* numpy.dtype */
PyObject *py_numpy(void);                                 /* borrowed: the module, imported now if it is not there */
bool      py_numpy_meet(void);                            /* does what its import asks for, if it is there; false: raised */
/* is ml_dtypes installed?  Then bfloat16 has a NumPy dtype that prints */
bool      py_ml_dtypes(void);
/* issues NumPy's ComplexWarning if the cast drops imaginary parts; false: it was raised */
bool      py_cast_warning(td_dtype from, td_dtype to);
PyObject *py_scalar_object(td_scalar s);                  /* a Python number */
const char *py_dtype_format(td_dtype dt);                 /* the buffer protocol's format; NULL: it has none */
bool        py_format_dtype(const char *format, Py_ssize_t itemsize, td_dtype *out); /* false, no exception: not ours */

/* ---- order.c ---- */
char    py_order(PyObject *o, char dflt);        /* order= as a capital letter; NULL, None: dflt; 0: raised */
bool    py_is_fortran(const td_view *v);         /* is it in Fortran order, without gaps? */
bool    py_lies_in_fortran(const td_view *v);    /* the same, but not in C order as well */
bool    py_is_laid(const td_view *v, char order); /* is it in that order already, so that nothing need be copied? */
void    py_by_steps(const td_view *v, int axes[]); /* the axes from the longest steps to the shortest */
/* For operations along axes whose results should lie like their operand: a with its axes from the longest step
 * to the shortest, which are its axes[0], axes[1], …; false: they lie so already, and nothing was made. */
bool      py_as_it_lies(const td_array *a, int axes[], td_array *out);
/* Puts the axes of r, computed from py_as_it_lies's result, back into place; bits of gone: the source's axes
 * that r lacks. */
td_status py_as_it_was(const td_array *r, const int axes[], int ndim, uint32_t gone, td_array *out);
/* the layout of a new array of shape s, made like an array with that view (NULL: like none) */
td_view py_layout(const td_view *like, const td_shape *s, char order);

/* ---- convert.c ---- */
/* Converts anything array-like to an array on dev (NULL: the default) of dtype dt (-1: its own).  Has read all
 * of obj on return.  Returns a treadle array as it is if nothing has to change. */
bool py_asarray(PyObject *obj, int dt, td_dev *dev, td_array *out);
/* shares memory of others without a copy; ValueError: it cannot */
bool py_share(PyObject *obj, int dt, td_dev *dev, td_array *out);
bool py_is_word(PyObject *o); /* is it a text or None, which become numbers only with a dtype? */
PyObject *py_array_object(PyObject *obj); /* obj itself, or an array of its numbers on the default device */
/* a itself if nothing changes; dev NULL: where it is */
bool py_to_device(const td_array *a, int dt, td_dev *dev, td_array *out);
/* a, which shares memory of others, in dtype dt (-1: its own) on dev (NULL: where it is).  If it is copied, the
 * memory has been read on return. */
typedef enum py_copy { PY_COPY_NEVER, PY_COPY_IF_NEEDED, PY_COPY_ALWAYS } py_copy;
bool py_settle(const td_array *a, int dt, td_dev *dev, py_copy copy, td_array *out);
/* A number as a scalar.  1: done; 0: obj is not a number; -1: exception.  *weak as in td_operand. */
int  py_number(PyObject *obj, td_scalar *out, char *weak);
/* The numbers of a list or tuple of Python numbers.  1: done; 0: obj is another object; -1: exception (lists.c). */
int  py_list(PyObject *obj, int dt, td_dev *dev, td_array *out);

/* ---- foreign.c, dlpack.c ---- */
/* py_owner - somebody who lends us memory; the head of a record.  `end` frees the record, with the GIL, when no
 * buffer needs it and the device has finished our work on the memory. */
typedef struct py_owner {
    struct py_owner *next;
    void (*end)(struct py_owner *o);
    td_dev   *dev;
    td_event *done;
} py_owner;

void py_owner_end(py_owner *o); /* leaves a pending exception as it is */
void py_owner_retire(void *owner); /* calls `end` later, after the work that its device was given; from any thread */
/* Releases b after the work that s was given.  False: failed, and the caller keeps b. */
bool py_lend(Py_buffer *b, td_stream *s);
/* Memory on d as an array; v counts elements from `at`.  Takes o, also on failure. */
bool py_adopt(td_dev *d, const void *at, td_dtype dt, const td_view *v, bool readonly, py_owner *o, td_array *out);
/* The same for memory that obj keeps. */
bool py_adopt_of(PyObject *obj, td_dev *d, const void *at, td_dtype dt, const td_view *v, bool readonly, td_array *out);
bool py_buffer_shape(const Py_buffer *b, td_dtype *dt, td_shape *s); /* false, no exception: not ours */
/* Shares memory through the buffer protocol, or through the other protocols.  1: done; 0: obj has no usable
 * memory; -1: exception. */
int       py_share_buffer(PyObject *obj, td_array *out);
/* to (or NULL): the device where it is finally needed */
int       py_share_dlpack(PyObject *obj, const td_dev *to, td_array *out);
int       py_share_foreign(PyObject *obj, td_array *out);
PyObject *py_attr(PyObject *o, const char *name); /* NULL without an exception: it has no such attribute */
void      py_owners_release(void); /* releases owners whose last buffer is gone */

/* py_args - the operands of one call; own[i].store is NULL if x[i] needs no array of its own. */
typedef struct py_args {
    td_operand x[3];
    td_array   own[3];
    int        n;
} py_args;

/* 1: done; 0: an operand that we cannot convert; -1: exception.  py_args_read leaves Python integers beyond 64
 * bits as doubles marked as weak integers.  py_args_settle decides what they are among the other operands, or
 * raises OverflowError. py_args_fill does both. */
int  py_args_read(py_args *g, PyObject *const *o, int n);
bool py_args_settle(py_args *g, td_op op);
int  py_args_fill(py_args *g, td_op op, PyObject *const *o, int n);
void py_args_free(py_args *g);
/* Does the object implement NumPy's protocol without having plain memory of numbers (a Series, a Dask array, a
 * masked array)?  Then its own operator must be asked.  1; 0; -1: exception */
int  py_foreign_operand(PyObject *o);
bool py_is_librarys(PyObject *o); /* of a class of a library's with an __array_ufunc__ (pandas, xarray): NumPy asks it */
/* _beside(what, *operands): the operands as a tuple of arrays on the device of the arrays among them;
 * ValueError: they are on several devices. */
PyObject *py_beside(PyObject *module, PyObject *const *args, Py_ssize_t nargs);
bool py_int_fits(td_scalar s, td_dtype dt);                    /* OverflowError for a Python int out of range */
/* raises if a Python float is not such an integer; TypeError or a warning if a complex number becomes real */
bool py_real_fits(td_scalar s, char weak, td_dtype dt);
/* the value to assign to an array of dst: Python numbers, also in lists, must fit; arrays are cast */
bool py_value(PyObject *o, td_dtype dst, td_dev *dev, td_operand *x, td_array *own);
bool py_read_scalar(const td_array *a, td_scalar *out); /* the only element's value */
/* The same for a subscript of integers and slices, and for fill: NumPy makes a Python int of a scalar for signed integers,
 * and that must fit. */
bool py_stored(PyObject *o, td_dtype dst, td_dev *dev, td_operand *x, td_array *own);

/* ---- ndarray.c ---- */
/* py_table - a type's tables, one of each kind, zeroed; slots end with a row for the methods. */
typedef struct py_table {
    PyMethodDef *methods;
    size_t       nmethods;
    PyGetSetDef *attributes;
    size_t       nattributes;
    PyType_Slot *slots;
    size_t       nslots;
} py_table;

/* Collects the files' tables in t; each ends with a row without a name. */
void py_gather(const py_table *t, PyMethodDef *const *parts, size_t nparts, const PyGetSetDef *const *fields,
               size_t nfields, const PyType_Slot *const *rows, size_t nrows);
bool        py_ndarray_init(PyObject *module);
bool        py_numpyloops_init(PyObject *module);
bool        py_numpyloops_take(void); /* small arrays take NumPy's loops from now on; false: raised */
static inline bool
py_is_array(PyObject *o)
{
    return Py_IS_TYPE(o, py.ndarray) || Py_IS_TYPE((PyObject *)Py_TYPE(o), py.numbers);
}
static inline td_array *
py_array_of(PyObject *o)
{
    return &((py_ndarray *)o)->a;
}

/* Does NumPy have a scalar where a is: an element, a sum, what is computed from such? */
static inline bool
py_is_number(const py_ndarray *a)
{
    return !Py_IS_TYPE((PyObject *)a, py.ndarray);
}

/* ---- number.c, methods.c, interop.c, shape.c, reduce.c, numba.c: parts of ndarray, each ends with a zero row ---- */
extern const PyType_Slot py_number_slots[];
extern PyMethodDef       py_value_methods[], py_shape_methods[], py_reduce_methods[], py_interop_methods[], py_dlpack_methods[],
    py_numba_methods[], py_member_methods[];
extern PyGetSetDef py_member_attributes[];
PyObject *py_transposed(PyObject *self);
extern PyMethodDef py_reduce_functions[]; /* the same as functions of the module */
PyObject *py_reduce(td_red red, PyObject *self, PyObject *const arg[6]); /* axis, dtype, out, keepdims, initial, where; NULL: absent */
bool      py_axis(const char *fn, int64_t axis, int ndim, int *out); /* AxisError, as NumPy's */
bool      py_axes(const char *fn, PyObject *axis, int ndim, uint32_t *out); /* None: all */

/* ---- index.c ---- */
/* The view that a subscript of integers, slices, Ellipsis and None selects.  1: done; 0: it has arrays; -1:
 * exception. *single: only integers, and a single element. */
int       py_view_of(PyObject *key, const td_view *from, td_view *out, bool *single);
PyObject *py_subscript(PyObject *self, PyObject *key);
int       py_ass_subscript(PyObject *self, PyObject *key, PyObject *value);
PyObject *py_item(PyObject *self, Py_ssize_t i);

/* ---- numpyapi.c ---- */
void    **py_numpy_table(void); /* NumPy's C interface; NULL: raised */
/* An array of that type (NULL: numpy.ndarray) over data, or over memory of its own where data is NULL.  Strides are in bytes. */
PyObject *py_numpy_new(PyTypeObject *type, td_dtype dt, int ndim, const Py_ssize_t *dim, const Py_ssize_t *stride,
                       void *data, bool writable);
/* What an array is made of; borrowed from it. */
typedef struct py_numpy_parts {
    char             *data;
    int               ndim;
    const Py_ssize_t *dim, *stride; /* bytes */
    td_dtype          dt;
    bool              contiguous; /* in C order */
} py_numpy_parts;

/* False: o is no numpy.ndarray (a subclass's is none) of a dtype that we have made arrays of; raises nothing. */
/* 1: an array of a subclass of NumPy's with a meaning of its own: a matrix, a masked array, a quantity, which its
 * __array_priority__ tells, or of a class that a program derived from treadle.ndarray; 0: none; -1: exception */
int       py_numpy_has_class(PyObject *o);
bool      py_numpy_look(PyObject *o, py_numpy_parts *out);
/* Copies the elements of a numpy.ndarray in C order, as td_dtype dt (negative: its own).  1: done; 0: another object; -1: raised. */
int       py_copy_numpy(PyObject *o, int dt, td_dev *dev, td_array *out);
/* A numpy.ndarray over data, which `owner` keeps; takes the owner's reference. */
PyObject *py_numpy_over(td_dtype dt, int ndim, const Py_ssize_t *dim, const Py_ssize_t *stride, void *data,
                        bool writable, PyObject *owner);

/* ---- few.c ---- */
/* self[key] by NumPy, for a key that holds arrays or lists; NotImplemented: it is not for NumPy, or wrong. */
PyObject *py_few_item(PyObject *self, PyObject *key);
/* self[key] = value by NumPy; false: it is not for NumPy, or wrong, and nothing has happened. */
bool      py_few_assign(PyObject *self, PyObject *key, PyObject *value);

/* ---- host.c ---- */
PyObject *py_get(PyObject *self);                         /* a numpy.ndarray of its own */
/* the same; bfloat16 as uint16 (its bits), or cast to instead */
PyObject *py_get_as(PyObject *self, td_dtype instead);
PyObject *py_get_later(PyObject *self);                   /* a Future of the same */
PyObject *py_host_view(const td_array *a, bool share);    /* CPU: a numpy.ndarray over the same memory */
PyObject *py_host_peek(const td_array *a);                /* the same, read-only */
int       py_getbuffer(PyObject *self, Py_buffer *b, int flags);
void      py_releasebuffer(PyObject *self, Py_buffer *b);
PyObject *py_array_interface(PyObject *self, bool cuda);
PyObject *py_host_bytes(PyObject *module, PyObject *n);
bool      py_memory_init(PyObject *module);

/* ---- create.c, fill.c, basics.c, scan.c, pick.c, device.c, stream.c, event.c, random.c, ufunc.c, dlpack.c, foreign.c:
 * functions and types of the module ---- */
/* arange.c: a METH_FASTCALL | METH_KEYWORDS function */
PyObject *py_arange(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
/* x @ y as a reduction of the graph; None: td_matmul_fuses says no */
PyObject *py_fused_product(PyObject *x, PyObject *y);
extern PyMethodDef py_create_functions[], py_fill_functions[], py_basic_functions[];
extern PyMethodDef py_scan_functions[], py_pick_functions[], py_few_functions[], py_door_functions[], py_device_functions[], py_table_functions[], py_items_functions[], py_stop_functions[],
    py_dlpack_functions[], py_foreign_functions[];
bool      py_ufunc_init(PyObject *module);
bool      py_door_init(PyObject *module);
/* door.c: does NumPy compute what treadle refuses?  Not while treadle works for an unchanged program: that has NumPy do
 * it itself, with the program's own dtypes. */
bool      py_asks_numpy(void);
/* door.c: is this thread within a call of the program that NumPy can compute? */
bool      py_within_door(void);
/* door.c: the function behind a door, borrowed; anything else is returned unchanged */
PyObject *py_behind(PyObject *o);
/* door.c: after a failed call, what computes it in NumPy's arrays with the same arguments: the function `how` of
 * treadle._exchange._foreign.  NULL: the failure was another one, which is still raised. */
PyObject *py_instead(const char *how, PyObject *name);
/* ufunccall.c: takes NumPy's parameters; NULL without an exception: an operand is neither array nor number */
PyObject *py_ufunc_call(td_op op, PyObject *args, PyObject *kw);
/* number.c: op of float64 numbers, ours or Python's, at once; None, borrowed: other operands, or work for later */
PyObject *py_floats_apply(td_op op, PyObject *const *x, int n);
PyObject *py_ufuncs(PyObject *module, PyObject *unused);
bool      py_takes_truth(td_op op); /* is it logical_and or another row that reads operands of any dtype as bool? */
bool      py_device_init(PyObject *module);
extern PyMethodDef py_stream_functions[];
bool      py_stream_init(PyObject *module);
bool      py_event_init(PyObject *module);
td_event *py_event_of(PyObject *o);             /* borrowed; o is a py.event */
/* What stream= means on d: a Stream; NULL or None: the thread's current one; 0 (or 1): d's default one; 2: the
 * calling thread's; the number of a CUstream; an object with __cuda_stream__.  Borrowed.  ValueError: a stream
 * of another device; TypeError. */
bool      py_stream(PyObject *o, td_dev *d, td_stream **out);
bool      py_shared_bytes(PyObject *o, uint32_t *out); /* of a launch; ValueError: no such number (kerneldims.c) */
PyObject *py_stream_wrap(td_stream *s);         /* a Stream that does not own s */
PyObject *py_event_wrap(td_event *e, td_dev *d); /* takes e, also on failure */
td_stream *py_current_stream(td_dev *d);        /* current.c: borrowed */
td_stream *py_captured_stream(td_stream *s);    /* s, or the default one where s is being captured */
bool      py_current_init(PyObject *module);    /* call after py_stream_init */
bool      py_rawcall_init(PyObject *module);    /* rawcall.c */
bool      px_init(PyObject *module);            /* setup.c: unchanged programs */
/* The function or module of NumPy that a face of an unchanged program replaces; other objects are returned unchanged.
 * Borrowed. */
PyObject *px_bare(PyObject *o);
bool      px_works(void); /* is treadle at work for an unchanged program in this thread? */
/* a result for the program (takes r): a NumPy array in place of ours if programs run unchanged */
PyObject *px_shown(PyObject *r);
bool      py_hostmem_init(PyObject *module);    /* hostmem.c */
/* site.c: gives the core the program's lines, for errors and profiles */
bool      py_site_init(void);
extern PyMethodDef py_errstate_functions[];     /* errstate.c */
void py_errstate_hooks(void);
extern PyMethodDef py_source_functions[];       /* source.c */
extern PyMethodDef py_solver_functions[];       /* solver.c */
extern PyMethodDef py_nccl_functions[];         /* nccl.c */
extern PyMethodDef py_memory_functions[];       /* memory.c */
extern PyMethodDef py_share_functions[];        /* share.c */
void      py_memory_hooks(void);                /* installs the hooks that the core asks Python through */
bool      py_random_init(PyObject *module);
bool      py_tensor_init(PyObject *module);     /* tensor.c */
bool      py_graph_init(PyObject *module);
bool      py_capture_keep(PyObject *o);         /* graph.c: keeps o as long as the open capture, if there is one */
extern PyMethodDef py_raw_functions[];          /* driver.c: treadle.pycuda.driver */
bool      py_raw_init(PyObject *module);
extern PyMethodDef py_profile_functions[];
bool      py_device(PyObject *o, td_dev **out); /* None: the default; a name; a Device */
/* treadle's function of that name where its device is a mesh; else NULL, with the exception that is set */
PyObject *py_made_on_mesh(const char *name, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
/* name##_anywhere: the function f, or where it fails because its device is a mesh, the one that makes such arrays */
#define PY_ON_MESH(name, f)                                                                        \
    static PyObject *name##_anywhere(PyObject *module, PyObject *const *args, Py_ssize_t nargs,    \
                                     PyObject *kwnames)                                            \
    {                                                                                              \
        PyObject *r = f(module, args, nargs, kwnames);                                             \
        return r ? r : py_made_on_mesh(#name, args, nargs, kwnames);                               \
    }
PyObject *py_device_object(td_dev *d);
td_dev   *py_cpu(void); /* borrowed; NULL: there is none */
#endif
