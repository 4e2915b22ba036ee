/* program.h - what the files about CUDA C++ programs share.
 *
 *   program.c        Program: a text that is compiled, its kernels and variables
 *   programkernel.c  Kernel and its prepared calls, as types
 *   programrun.c     from grid, block and arguments to a launch
 *   programargs.c    arguments to bytes, by the kernel's signature: pointers
 *   programnumber.c  numbers and structures among them
 */
#ifndef TD_PYTHON_PROGRAM_H
#define TD_PYTHON_PROGRAM_H
#include "jit/program.h"
#include "python/common/py.h"

enum { PY_CU_ARGS = 512, PY_CU_BYTES = 4096 }; /* what every driver accepts for a launch */

/* Declared in the limited API's headers from 3.12 on. */
typedef PyObject *(*py_vectorcall)(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);

typedef struct py_program {
    PyObject_HEAD
    td_program *p;
} py_program;

/* py_cukernel - a kernel of a program.  A prepared one has a signature given by a format, and takes its
 * arguments one by one. */
typedef struct py_cukernel {
    PyObject_HEAD
    py_vectorcall  call;
    PyObject      *program, *name, *weak;
    td_func       *func;
    td_dev        *dev;
    const td_cxx_param *param; /* NULL: its parameters are not known */
    td_cxx_param  *own;        /* parameters given by a format; owned, or NULL */
    uint32_t       nparam, nbytes;
    uint32_t      *offset;     /* offset of each parameter; owned */
    const char    *label;      /* for the process's life */
    uint32_t       most[7];    /* limits: threads of a block along x, y, z; blocks of a grid; threads in all */
} py_cukernel;

/* py_cuargs - the arguments of one launch.  On the caller's stack; py_cuargs_begin initialises what must be. */
typedef struct py_cuargs {
    const py_cukernel *k;
    uint32_t n, nbytes, narray;
    bool     own;                 /* the offsets are here, not in the kernel */
    uint32_t offset[PY_CU_ARGS];
    struct py_cuarray {
        const td_array *a; /* NULL: an allocation's buffer */
        td_buf  *buf;      /* borrowed */
        uint32_t at;       /* in bytes */
        bool     written;
    } array[PY_CU_ARGS];
    _Alignas(16) unsigned char bytes[PY_CU_BYTES];
} py_cuargs;

/* py_cuarg - the argument that is being converted. */
typedef struct py_cuarg {
    py_cuargs *g;
    uint32_t   i;
    const td_cxx_param *p; /* NULL: nothing is known */
    unsigned char *to;     /* its destination; NULL: after the arguments before it */
} py_cuarg;

/* ---- programnumber.c ---- */
bool py_cuarg_number(py_cuarg *w, PyObject *o); /* a number, a structure's bytes */

/* ---- programargs.c ---- */
bool py_cuarg_refuse(const py_cuarg *w, PyObject *error, const char *text);
/* raises TypeError: o's class does not fit the parameter */
bool py_cuarg_refuse_object(const py_cuarg *w, PyObject *o, const char *advice);
PyObject *py_cuarg_place(const py_cuarg *w); /* "add: argument 2 ('n', int)", the beginning of errors */
bool py_cuarg_put(py_cuarg *w, const void *bytes, uint32_t n);
bool py_cuarg_object(py_cuarg *w, PyObject *o); /* an object that has an address */
/* Converts all arguments, except that arrays wait for py_cuargs_settle.  False: exception. */
bool py_cuargs_read(py_cuargs *g, const py_cukernel *k, PyObject *const *args, Py_ssize_t nargs);
/* Evaluates the arrays, gives those that are written memory of their own, and inserts the addresses.  The launch
 * must follow without releasing the GIL. */
bool py_cuargs_settle(py_cuargs *g);
PyObject *py_cukernel_signature(const py_cukernel *k); /* "add(const float *a, int n)" */

/* ---- programrun.c ---- */
void      py_cukernel_limits(py_cukernel *k); /* fills most in */
/* kernel(grid, block, arguments, *, shared, stream, cooperative), and prepared(grid, block, *arguments, …) */
PyObject *py_cukernel_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);
PyObject *py_cukernel_prepared(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);
PyObject *py_cukernel_packed(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);

/* ---- programkernel.c ---- */
PyObject *py_cukernel_new(py_program *p, const char *name);
bool      py_cukernel_init(PyObject *module);

/* ---- program.c ---- */
/* Writes what kernels on the CPU have printed to sys.stdout.  False: exception. */
bool py_program_init(PyObject *module);

#endif
