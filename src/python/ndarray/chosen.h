/* chosen.h - a[mask] before its elements have been taken out.
 *
 * Programs write z[m] = z[m] ** 2 + c[m].  Taken literally that is three compactions, each of which must know its
 * number of elements, and a scatter.  A *chosen* keeps the whole array and the mask.  Operations on chosen with one
 * mask and on numbers are recorded on whole arrays, a[mask] = chosen becomes one selection in the graph, and sums
 * are sums of a selection: so everything fuses and nothing waits.  Operations that need the elements take them out.
 * The price: elements outside the mask are computed too, so choosing few elements costs as much as choosing all.
 */
#ifndef TD_PYTHON_CHOSEN_H
#define TD_PYTHON_CHOSEN_H
#include "python/common/py.h"

typedef struct py_chosen {
    PyObject_HEAD
    PyObject *value, *mask; /* arrays of one shape that nobody else writes; the mask is boolean */
} py_chosen;

bool py_chosen_init(PyObject *module);
bool py_is_chosen(PyObject *o);

PyObject *py_choose(PyObject *a, PyObject *mask); /* a[mask] as a chosen; None: not possible here */
PyObject *py_chosen_taken(PyObject *c);           /* the elements, a new array */
/* Whole arrays for the n operands of an elementwise operation, at least one of which is chosen: new references
 * in `whole`; *like (borrowed) is one of the chosen.  1: done; 0: several masks, or operands that are not
 * numbers; -1: exception. */
int py_chosen_whole(PyObject *const *o, int n, PyObject **whole, PyObject **like);
/* a chosen with like's mask; takes value, which was computed from such operands */
PyObject *py_chosen_like(PyObject *like, PyObject *value);
/* a[mask] = c.  1: done; 0: c has another mask; -1: exception */
int py_chosen_put(PyObject *a, PyObject *mask, PyObject *c);
/* Reduces all elements by a row's name or "mean": a 0-d array; None: take the elements out. */
PyObject *py_chosen_reduce(PyObject *c, const char *name);
#endif
