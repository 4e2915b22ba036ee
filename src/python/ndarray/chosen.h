/* chosen.h - a[mask] before the elements have been taken out.
 *
 * Programs write z[m] = z[m] ** 2 + c[m]. Taken literally that is three compactions, each of which must know how many
 * elements there are, and a scatter. A *chosen* keeps the whole array and the mask: operations on chosen of one mask
 * and on numbers are recorded on whole arrays, a[mask] = chosen becomes one selection in the graph, and sums are sums
 * of a selection, so that all of it fuses and nothing waits. What needs the elements themselves takes them out. The
 * price: elements that the mask leaves out are computed too, so what is written where few are chosen costs as much as
 * where all are.
 */
#ifndef TD_PYTHON_CHOSEN_H
#define TD_PYTHON_CHOSEN_H
#include "python/common/py.h"

typedef struct py_chosen {
    PyObject_HEAD
    PyObject *value, *mask; /* arrays of one shape that nobody else writes; mask is boolean */
} py_chosen;

bool py_chosen_init(PyObject *module);
bool py_is_chosen(PyObject *o);

PyObject *py_choose(PyObject *a, PyObject *mask); /* a[mask] as a chosen; None: it is not that simple */
PyObject *py_chosen_taken(PyObject *c);           /* the elements, a new array */
/* What stands for the n operands of an operation that takes elements one by one, at least one of which is chosen: new
 * references in whole; *like (borrowed) is a chosen one. 1; 0: they have several masks, or others are no numbers; -1. */
int py_chosen_whole(PyObject *const *o, int n, PyObject **whole, PyObject **like);
PyObject *py_chosen_like(PyObject *like, PyObject *value); /* takes over value, what was computed from such operands */
int py_chosen_put(PyObject *a, PyObject *mask, PyObject *c); /* a[mask] = c: 1; 0: c has another mask; -1 */
/* A reduction of all elements by its row's name or "mean": an array of no axes; None: take them out. */
PyObject *py_chosen_reduce(PyObject *c, const char *name);
#endif
