/* choice.c - x[mask] as an array whose size nobody has asked for yet.
 *
 * The program sees a choice of chosen.h as an array of one axis.  Its number of elements is
 * computed when somebody looks: until then the array's extents are in a page that faults, like
 * its values.  Its memory is as long as all of x.
 */
#include "python/unchanged/unchanged.h"

#include "python/ndarray/chosen.h"

#include <string.h>

static destructor near_dealloc;

static np_array *
choice_array(PyObject *o)
{
    return (np_array *)o;
}

px_block *
px_choice_of(PyObject *o)
{
    px_block *page;

    if (!px_is_np(o) || px_np(o)->ndim != 1)
        return NULL;
    page = px_block_of(px_np(o)->dim);
    return page && page->of && page->of->chosen ? page->of : NULL;
}

PyObject *
px_choice_new(PyObject *chosen)
{
    const td_array *value = py_array_of(((py_chosen *)chosen)->value);
    td_dtype dt = td_array_dtype(value);
    td_view v = {.shape = {.ndim = 1, .dim = {td_array_size(value)}}, .stride = {1}};
    px_block *b = px_block_new((size_t)td_array_size(value) * td_dtype_size(dt), PX_AHEAD, false),
             *page = b ? px_block_new(2 * sizeof(Py_ssize_t), PX_AHEAD, false) : NULL;
    PyObject *r = page ? px_numpy_new(b, dt, &v) : NULL;

    if (!r) {
        if (b)
            px_block_free(b);
        if (page)
            px_block_free(page);
        r = page ? NULL : px_shown(py_chosen_taken(chosen));
        Py_DECREF(chosen);
        return r;
    }
    b->chosen = chosen;
    b->array = r;
    b->page = page;
    b->dim = choice_array(r)->dim;
    page->of = b;
    choice_array(r)->dim = (Py_ssize_t *)(void *)page->at;
    choice_array(r)->stride = choice_array(r)->dim + 1;
    return r;
}

/* Puts the array's extents back where NumPy allocated them. */
static void
restore(px_block *b)
{
    choice_array(b->array)->dim = b->dim;
    choice_array(b->array)->stride = b->dim + 1;
}

td_status
px_choice_settle(px_block *b)
{
    PyObject *chosen = b->chosen, *taken;
    char *extents;
    int64_t n;

    if (!chosen)
        return TD_OK;
    Py_INCREF(chosen); /* another thread may settle it meanwhile */
    taken = py_chosen_taken(chosen);
    Py_DECREF(chosen);
    if (!taken) {
        PyErr_Clear();
        return td_fail(TD_ERR_NOMEM, "the elements that a mask chooses: %s", td_error());
    }
    if (!b->chosen) {
        Py_DECREF(taken);
        return TD_OK;
    }
    n = td_array_size(py_array_of(taken));
    extents = px_pages_new(b->page->room);
    if (!extents) {
        Py_DECREF(taken);
        return td_fail(TD_ERR_NOMEM, "array: out of host memory");
    }
    b->dim[0] = n;
    memcpy(extents, b->dim, 2 * sizeof *b->dim);
    if (n) {
        b->whole = td_array_ref(py_array_of(taken));
        b->nbytes = (size_t)n * td_dtype_size(td_array_dtype(&b->whole));
    } else {
        px_block_turn(b, PX_OPEN);
        (void)px_protect(b->at, b->room, PX_OPEN);
    }
    Py_DECREF(taken);
    if (!px_pages_move(extents, b->page->at, b->page->room, PX_OPEN))
        return td_fail(TD_ERR_NOMEM, "array: the system moves no pages");
    px_pages_free(extents, b->page->room, false);
    px_block_turn(b->page, PX_OPEN);
    restore(b);
    b->chosen = NULL;
    Py_DECREF(chosen);
    return TD_OK;
}

void
px_choice_end(px_block *b)
{
    PyObject *chosen = b->chosen;

    b->chosen = NULL;
    if (b->page)
        px_block_free(b->page);
    b->page = NULL;
    Py_XDECREF(chosen);
}

/* NumPy reads an array's extents when it frees it. */
static void
choice_dealloc(PyObject *o)
{
    px_block *b = px_choice_of(o);

    if (b)
        restore(b);
    near_dealloc(o);
}

/* ---- operations ---- */

PyObject *
px_choice_apply(PyObject *(*f)(const void *how, PyObject *const *whole), const void *how,
                PyObject *const *o, int n)
{
    PyObject *of[3] = {NULL}, *whole[3], *like, *r = NULL;
    int ok;

    for (int i = 0; i < n; i++) {
        px_block *b = px_choice_of(o[i]);

        of[i] = b ? b->chosen : o[i];
        if (!b && (!px_may_lift(o[i]) || (px_is_np(o[i]) && px_np(o[i])->ndim)))
            return NULL;
    }
    ok = py_chosen_whole(of, n, whole, &like);
    if (ok > 0) {
        Py_INCREF(like);
        px_busy++;
        r = f(how, whole);
        px_busy--;
        for (int i = 0; i < n; i++)
            Py_DECREF(whole[i]);
        if (r && !py_is_array(r))
            Py_CLEAR(r);
        r = r ? py_chosen_like(like, r) : NULL;
        Py_DECREF(like);
    }
    if (!r && PyErr_Occurred())
        (void)px_declined();
    return r;
}

PyObject *
px_choice_shown(PyObject *r)
{
    return r && py_is_chosen(r) ? px_choice_new(r) : px_shown(r);
}

bool
px_choice_replace(PyObject *self, PyObject *value)
{
    px_block *b = px_choice_of(self);
    const td_array *old = b ? py_array_of(((py_chosen *)b->chosen)->value) : NULL, *new;
    PyObject *before;

    if (!b || !py_is_chosen(value))
        return false;
    new = py_array_of(((py_chosen *)value)->value);
    if (td_array_dtype(old) != td_array_dtype(new))
        return false;
    before = b->chosen;
    b->chosen = Py_NewRef(value);
    Py_DECREF(before);
    return true;
}

PyObject *
px_choice_reduce(PyObject *o, const char *name)
{
    px_block *b = px_choice_of(o);
    PyObject *r = b ? py_chosen_reduce(b->chosen, name) : NULL;

    if (r == Py_None)
        Py_CLEAR(r);
    if (!r && PyErr_Occurred())
        (void)px_declined();
    return px_shown(r);
}

/* ---- subscripts ---- */

static bool
is_mask(PyObject *a, PyObject *key)
{
    return px_is_np(key) && !px_choice_of(key) && px_np(key)->ndim && px_dtype(key) == TD_BOOL &&
           px_is_far(a) && px_np(a)->ndim == px_np(key)->ndim && px_size(a) == px_size(key);
}

PyObject *
px_choice_get(PyObject *a, PyObject *mask)
{
    PyObject *x, *m, *c = NULL;

    if (!is_mask(a, mask))
        return NULL;
    x = px_lift(a);
    m = x ? px_lift(mask) : NULL;
    if (m && py_is_array(m))
        c = py_choose(x, m);
    Py_XDECREF(x);
    Py_XDECREF(m);
    if (c == Py_None)
        Py_CLEAR(c);
    return c ? px_choice_new(c) : NULL;
}

int
px_choice_put(PyObject *a, PyObject *mask, PyObject *value)
{
    px_block *b = px_choice_of(value);
    PyObject *c, *x, *m;
    int r = 0;

    if (!b || !is_mask(a, mask))
        return 0;
    c = Py_NewRef(b->chosen);
    m = px_lift(mask);
    x = m ? px_target(a) : NULL;
    if (x && x != Py_None && py_is_array(m))
        r = py_chosen_put(x, m, c);
    else if (!x)
        r = -1;
    px_written(a, x);
    Py_XDECREF(m);
    Py_DECREF(c);
    return r < 0 && px_declined() ? 0 : r;
}

bool
px_choice_init(void)
{
    void **at = px_slot_at(px.ndarray, Py_tp_dealloc);

    if (at && *at != (void *)(uintptr_t)choice_dealloc) {
        near_dealloc = (destructor)(uintptr_t)*at;
        *at = (void *)(uintptr_t)choice_dealloc;
    }
    return at;
}
