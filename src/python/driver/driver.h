/* driver.h - shared by the files that implement treadle.pycuda.driver: driver.c (memory), driverset.c (arrays,
 * settings). */
#ifndef TD_PYTHON_DRIVER_H
#define TD_PYTHON_DRIVER_H
#include "python/common/py.h"

#include "dev/core/raw.h"

/* py_address - device memory that an argument names. */
typedef struct py_address {
    uintptr_t at;
    td_dev   *dev;
    size_t    known; /* bytes known to be there; 0: look them up */
} py_address;

/* the thread's device; LogicError: it has popped its last context */
bool py_raw_dev(td_dev **out);
bool py_raw_stream(PyObject *o, td_dev *d, td_stream **out);      /* as py_stream, for the current context */
bool py_raw_address(PyObject *o, const char *call, py_address *out);
/* Copies without the GIL; waits for the end if asked to.  None, or NULL with an exception. */
PyObject *py_raw_move(const py_address *dst, const py_address *src, size_t nbytes, td_stream *s, bool wait);
bool py_raw_size(Py_ssize_t n, const char *call);                 /* LogicError: negative */

bool      py_is_allocation(PyObject *o);
td_buf   *py_allocation_buf(PyObject *o); /* borrowed; NULL: it was freed */
PyObject *py_raw_wrap(PyTypeObject *type, td_buf *b); /* a DeviceAllocation of b, which it takes, also on failure */

bool py_rawset_init(PyObject *m); /* driverset.c */

#endif
