/* stop.c - ends compiled code early (base/stop.h): on the program's signals, or on a flag that says that nobody wants
 * the result.
 */
#include "base/stop.h"

#include "python/common/py.h"

static _Thread_local Py_buffer wish; /* obj NULL: none */

static PyObject *
obey(PyObject *self, PyObject *o)
{
    (void)self;
    td_stop_obey(NULL);
    PyBuffer_Release(&wish);
    if (o == Py_None)
        Py_RETURN_NONE;
    if (PyObject_GetBuffer(o, &wish, PyBUF_SIMPLE) < 0)
        return NULL;
    td_stop_obey(wish.buf);
    Py_RETURN_NONE;
}

PyMethodDef py_stop_functions[] = {{"_obey", obey, METH_O,
                                    "_obey(flag): what this thread launches on the CPU from now on "
                                    "ends with RuntimeError once the first of the bytes flag is "
                                    "not 0. None: no more."},
                                   {NULL, NULL, 0, NULL}};

td_status
py_handle_signals(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    td_status st = py_poll();

    PyGILState_Release(gil);
    return st;
}
