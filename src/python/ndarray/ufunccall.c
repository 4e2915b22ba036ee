/* ufunccall.c - a ufunc's call: NumPy's keyword arguments, the loop that they select, where the
 * result goes.
 */
#include "python/common/py.h"

#include <string.h>

/* options - borrowed; NULL: not given. */
typedef struct options {
    PyObject *out, *where, *dtype, *signature;
    bool host;    /* out is NumPy's array */
    char order;   /* how a new result lies: C, F, A, or K, as the operands do */
    char casting; /* of NumPy's rules: n no, e equiv, s safe, k same_kind, u unsafe */
} options;

static const struct {
    const char *word;
    char letter;
} castings[] = {{"no", 'n'}, {"equiv", 'e'}, {"safe", 's'}, {"same_kind", 'k'}, {"unsafe", 'u'}};

enum { CASTINGS = sizeof castings / sizeof *castings };

/* ---- keyword arguments ---- */

enum { OUT, WHERE, DTYPE, CASTING, ORDER, SUBOK, SIG, SIGNATURE, NKEY };

static const char *const keys[] = {"out",   "where", "dtype", "casting",
                                   "order", "subok", "sig",   "signature"};

static bool
take_keywords(const char *fn, PyObject *kw, PyObject *given[NKEY])
{
    PyObject *key, *value;
    Py_ssize_t at = 0;

    while (kw && PyDict_Next(kw, &at, &key, &value)) {
        int i = 0;

        while (i < NKEY && PyUnicode_CompareWithASCIIString(key, keys[i]) != 0)
            i++;
        if (i == NKEY) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", fn, key);
            return false;
        }
        if (given[i]) {
            PyErr_Format(PyExc_TypeError,
                         "cannot specify '%s' as both a positional and keyword argument", keys[i]);
            return false;
        }
        given[i] = value;
    }
    return true;
}

static bool
read_casting(PyObject *word, char *out)
{
    int i = 0;

    *out = 'k';
    if (!word)
        return true;
    if (!PyUnicode_Check(word)) {
        PyErr_Format(PyExc_TypeError, "casting must be a string, not %R",
                     (PyObject *)Py_TYPE(word));
        return false;
    }
    while (i < CASTINGS && PyUnicode_CompareWithASCIIString(word, castings[i].word) != 0)
        i++;
    if (i < CASTINGS)
        *out = castings[i].letter;
    else
        PyErr_Format(PyExc_ValueError,
                     "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got "
                     "%R)",
                     word);
    return i < CASTINGS;
}

static bool
check_out(const char *fn, options *o)
{
    if (o->out && PyTuple_Check(o->out)) {
        if (PyTuple_Size(o->out) != 1) {
            PyErr_SetString(PyExc_ValueError,
                            "The 'out' tuple must have exactly one entry per ufunc output");
            return false;
        }
        o->out = PyTuple_GetItem(o->out, 0);
    }
    if (py_is_none(o->out))
        o->out = NULL;
    if (!o->out)
        return true;
    o->host = !py_is_array(o->out) && py_is_host_out(o->out);
    if (o->host || (py_is_array(o->out) && py_writable((py_ndarray *)o->out)))
        return true;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s: out must be a treadle array, or NumPy's, not %R", fn,
                     (PyObject *)Py_TYPE(o->out));
    return false;
}

static bool
read_options(const char *fn, PyObject *out, PyObject *kw, options *o)
{
    PyObject *given[NKEY] = {out};

    if (!take_keywords(fn, kw, given) || !read_casting(given[CASTING], &o->casting) ||
        !(o->order = py_order(given[ORDER], 'K')))
        return false;
    if (given[SIG] && given[SIGNATURE]) {
        PyErr_SetString(PyExc_TypeError, "cannot specify both 'sig' and 'signature'");
        return false;
    }
    o->out = given[OUT];
    o->where = given[WHERE] == Py_True   ? NULL
               : given[WHERE] == Py_None ? Py_False /* as NumPy takes None */
                                         : given[WHERE];
    o->dtype = py_is_none(given[DTYPE]) ? NULL : given[DTYPE];
    o->signature = given[SIG] ? given[SIG] : given[SIGNATURE];
    if (py_is_none(o->signature))
        o->signature = NULL;
    if (o->dtype && o->signature) {
        PyErr_SetString(PyExc_TypeError, "cannot specify both 'signature' and 'dtype'");
        return false;
    }
    return check_out(fn, o);
}

/* ---- the loop asked for ---- */

bool
py_takes_truth(td_op op)
{
    return strcmp(td_optab[op].kinds, "b") == 0;
}

static bool
no_loop(td_op op)
{
    PyErr_Format(PyExc_TypeError,
                 "No loop matching the specified signature and casting was found for ufunc %s",
                 td_optab[op].name);
    return false;
}

/* Joins an entry of a signature with the others of its side; -1: none yet. */
static bool
join_signature(td_op op, PyObject *entry, int *side)
{
    td_dtype dt;

    if (entry == Py_None)
        return true;
    if (!py_dtype(entry, &dt))
        return false;
    if (*side >= 0 && (td_dtype)*side != dt)
        return no_loop(op);
    *side = (int)dt;
    return true;
}

/* Converts "dd->d" to the tuple of its characters; returns a tuple unchanged. */
static PyObject *
signature_tuple(td_op op, PyObject *given)
{
    PyObject *plain, *r;
    Py_ssize_t n = td_optab[op].arity + 1;

    if (PyUnicode_Check(given)) {
        plain = PyObject_CallMethod(given, "replace", "ss", "->", "");
        r = plain ? PySequence_Tuple(plain) : NULL;
        Py_XDECREF(plain);
    } else if (PyTuple_Check(given))
        r = Py_NewRef(given);
    else {
        PyErr_SetString(PyExc_TypeError,
                        "the signature object to ufunc must be a string or a tuple.");
        return NULL;
    }
    if (r && PyTuple_Size(r) == 1) {
        PyErr_SetString(PyExc_TypeError,
                        "Use `dtype` or  fill the tuple with more than one 'None'.");
        Py_CLEAR(r);
    } else if (r && PyTuple_Size(r) != n) {
        PyErr_Format(PyExc_ValueError,
                     "a type-tuple must be specified of length %zd for ufunc '%s'", n,
                     td_optab[op].name);
        Py_CLEAR(r);
    }
    return r;
}

/* The dtypes that a signature gives for operands and result; -1: not given. */
static bool
read_signature(td_op op, PyObject *given, int *in, int *out)
{
    PyObject *entries = signature_tuple(op, given);
    bool ok = entries != NULL;

    for (int i = op == OP_select; ok && i < td_optab[op].arity; i++)
        ok = join_signature(op, PyTuple_GetItem(entries, i), in);
    ok = ok && join_signature(op, PyTuple_GetItem(entries, td_optab[op].arity), out);
    Py_XDECREF(entries);
    return ok;
}

static bool
any_complex(const td_operand *x, int n)
{
    for (int i = 0; i < n; i++)
        if (td_dtype_is_complex(x[i].array ? td_array_dtype(x[i].array) : x[i].scalar.dt))
            return true;
    return false;
}

/* The dtype that operands must have for a result of `out`; -1: their own. */
static int
loop_for_result(td_op op, td_dtype out, const td_operand *x, int n)
{
    if (td_optab[op].result == TD_RES_BOOL || py_takes_truth(op))
        return -1;
    if (td_optab[op].result == TD_RES_REAL && any_complex(x, n))
        return (int)td_dtype_complex_of(out);
    return (int)out;
}

/* The loop's dtype that dtype= or signature= asks for; -1: the operands'. */
static bool
wanted_loop(td_op op, const options *o, const td_operand *x, int n, int *loop)
{
    td_op row = op;
    td_dtype checked;
    int out = -1;

    *loop = -1;
    if (o->dtype ? !join_signature(op, o->dtype, &out)
                 : !read_signature(op, o->signature, loop, &out))
        return false;
    if (*loop < 0 && out >= 0)
        *loop = loop_for_result(op, (td_dtype)out, x, n);
    if (*loop < 0)
        return out < 0 || out == TD_BOOL || no_loop(op);
    checked = (td_dtype)*loop;
    if (td_op_loop(&row, &checked) || (checked != (td_dtype)*loop && !py_takes_truth(op)) ||
        (out >= 0 && td_op_result(row, checked) != (td_dtype)out))
        return no_loop(op);
    return true;
}

/* ---- operands ---- */

static bool
castable(td_dtype from, td_dtype to, char casting)
{
    return from == to || (casting != 'n' && casting != 'e' && td_can_cast(from, to, casting));
}

static bool
cannot_cast(td_op op, int operand, td_dtype from, td_dtype to, char casting)
{
    int i = 0;
    char which[16] = "";

    while (castings[i].letter != casting)
        i++;
    if (td_optab[op].arity > 1 && operand >= 0)
        PyOS_snprintf(which, sizeof which, " %d", operand);
    PyErr_Format(PyExc_TypeError,
                 "Cannot cast ufunc '%s' %s%s from dtype('%s') to dtype('%s') with casting rule "
                 "'%s'",
                 td_optab[op].name, operand < 0 ? "output" : "input", which, td_dtype_name(from),
                 td_dtype_name(to), castings[i].word);
    return false;
}

/* Can a Python number become dt?  It takes any dtype of its kind or a later one; True and
 * False are of dtype bool. */
static bool
number_fits(const td_operand *x, td_dtype dt, char casting)
{
    if (casting == 'u')
        return true;
    if (x->weak == 'b')
        return castable(TD_BOOL, dt, casting);
    return x->weak == 'i'            ? dt != TD_BOOL
           : td_dtype_is_complex(dt) ? true
                                     : x->weak == 'f' && td_dtype_is_float(dt);
}

static bool
cast_array(py_args *g, int i, td_dtype dt)
{
    td_array cast;

    if (td_array_dtype(g->x[i].array) == dt)
        return true;
    if (!py_ok(td_array_cast(g->x[i].array, dt, &cast)))
        return false;
    if (g->own[i].store)
        td_array_unref(&g->own[i]);
    g->own[i] = cast;
    g->x[i].array = &g->own[i];
    return true;
}

/* A Python number among other operands has no dtype of its own. */
static bool
is_weak(const py_args *g, int i)
{
    return g->n > 1 && !g->x[i].array && g->x[i].weak;
}

/* A Python integer has to fit, whatever the casting, and whatever the other operands are. */
static bool
integers_fit(const py_args *g, td_dtype dt)
{
    for (int i = 0; i < g->n; i++)
        if (is_weak(g, i) && g->x[i].weak == 'i' && !py_int_fits(g->x[i].scalar, dt))
            return false;
    return true;
}

/* Casts a number to the loop's dtype. */
static void
cast_number(td_operand *x, td_dtype dt, char casting)
{
    uint64_t bits[2];

    if (x->weak == 'i' && x->scalar.dt == TD_F64)
        x->weak = 'f';
    if (!x->weak || x->weak == 'b' || casting == 'u') {
        td_scalar_bits(x->scalar, dt, bits);
        *x = (td_operand){.scalar = td_scalar_load(dt, bits)};
    }
}

/* Casts operands to the loop's dtype; loop -1: their own loop, for which they stay. */
static bool
cast_operands(py_args *g, td_op op, int loop, char casting)
{
    td_op row = op;
    td_dtype dt = (td_dtype)loop;

    if (loop < 0 &&
        !(py_ok(td_op_dtype(op, g->x, op == OP_select, g->n, &dt)) && py_ok(td_op_loop(&row, &dt))))
        return false;
    if (loop >= 0 && !integers_fit(g, dt))
        return false;
    for (int i = op == OP_select; i < g->n; i++) {
        td_operand *x = &g->x[i];
        td_dtype from = x->array ? td_array_dtype(x->array) : x->scalar.dt;
        bool weak = is_weak(g, i);

        if (weak ? !number_fits(x, dt, casting) && (loop >= 0 || x->weak == 'b')
                 : !castable(from, dt, casting))
            return cannot_cast(op, i, x->weak == 'i' ? TD_I64 : from, dt, casting);
        if (!weak)
            x->weak = 0;
        if (loop < 0)
            continue;
        if (!x->array)
            cast_number(x, dt, casting);
        else if (!cast_array(g, i, dt))
            return false;
    }
    return true;
}

/* If all operands are numbers, makes the first an array of the loop's dtype (-1: its own), since the core needs one. */
static bool
anchor(py_args *g, int loop)
{
    td_dtype dt = loop < 0 ? g->x[0].scalar.dt : (td_dtype)loop;
    td_dev *dev;
    int i = 0;

    while (i < g->n && !g->x[i].array)
        i++;
    if (i < g->n)
        return true;
    if (!py_device(NULL, &dev) ||
        !py_ok(td_array_full(dev, dt, &(td_shape){0}, g->x[0].scalar, &g->own[0])))
        return false;
    g->x[0] = (td_operand){.array = &g->own[0]};
    return true;
}

/* ---- delivering the result ---- */

/* where=: the result where the mask is true; elsewhere what out held, or zero. */
static PyObject *
masked(PyObject *value, const options *o)
{
    PyObject *args[3] = {o->where, value, o->out};
    td_operand zero = {.scalar = {.dt = TD_I64}, .weak = 'i'};
    py_ndarray *r = NULL;
    td_status st;
    py_args g;
    int ok = py_args_fill(&g, OP_select, args, o->out ? 3 : 2);
    td_dtype mask;

    if (ok <= 0) {
        if (ok == 0)
            PyErr_SetString(PyExc_TypeError, "where must be a boolean array");
        return NULL;
    }
    mask = g.x[0].array ? td_array_dtype(g.x[0].array) : g.x[0].scalar.dt;
    if (mask != TD_BOOL)
        PyErr_Format(PyExc_TypeError,
                     "Cannot cast array data from dtype('%s') to dtype('bool') according to the "
                     "rule 'safe'",
                     td_dtype_name(mask));
    else
        r = py_new();
    if (!r) {
        py_args_free(&g);
        return NULL;
    }
    if (!o->out)
        g.x[2] = zero;
    st = td_array_apply(OP_select, g.x, 3, &r->a);
    py_args_free(&g);
    return py_done(r, st);
}

static PyObject *
ufunc_store(td_op op, PyObject *value, const options *o)
{
    td_operand x = {.array = py_array_of(value)};
    td_dtype from = td_array_dtype(x.array), to = td_array_dtype(py_array_of(o->out));

    if (!castable(from, to, o->casting)) {
        cannot_cast(op, -1, from, to, o->casting);
        return NULL;
    }
    return py_ok(td_array_assign(py_array_of(o->out), &x)) ? Py_NewRef(o->out) : NULL;
}

static PyObject *
store_host(td_op op, PyObject *value, const options *o)
{
    int i = 0;

    while (castings[i].letter != o->casting)
        i++;
    return py_store_host(td_optab[op].name, o->out, value, o->where, castings[i].word);
}

/* Delivers the result to out, or returns it; consumes value. */
static PyObject *
deliver(td_op op, PyObject *value, const options *o)
{
    PyObject *shown, *r;

    if (o->host) {
        r = store_host(op, value, o);
        Py_DECREF(value);
        return r;
    }
    shown = o->where ? masked(value, o) : Py_NewRef(value);
    Py_DECREF(value);
    if (!shown || !o->out)
        return shown;
    r = ufunc_store(op, shown, o);
    Py_DECREF(shown);
    return r;
}

/* Is the result smaller than out, so that out repeats it?  In-place operators do not do that. */
static bool
is_repeated(td_op op, const py_args *g, const td_array *out)
{
    td_shape s = {0}, both;

    for (int i = 0; i < g->n; i++)
        if (g->x[i].array && td_broadcast(td_optab[op].name, &s, &g->x[i].array->view.shape, &s))
            return false; /* the error is raised when the operation is recorded */
    return !td_shape_eq(&s, &out->view.shape) &&
           !td_broadcast(td_optab[op].name, &s, &out->view.shape, &both) &&
           td_shape_eq(&both, &out->view.shape);
}

/* The result (consumed) in the requested order; the copy is recorded, so it fuses. */
static PyObject *
ufunc_in_order(PyObject *value, const td_array *operand, char order)
{
    const td_array *a = py_array_of(value);
    td_view layout = py_layout(operand ? &operand->view : NULL, &a->view.shape, order);
    py_ndarray *r;
    PyObject *laid;

    if (py_is_laid(&a->view, py_is_fortran(&layout) && a->view.shape.ndim > 1 ? 'F' : 'C'))
        return value;
    r = py_new();
    laid = r ? py_done(r, td_array_cast_as(a, td_array_dtype(a), &layout, &r->a)) : NULL;
    Py_DECREF(value);
    return laid;
}

/* The operand that decides order 'A': one that is not in Fortran order, if there is one. */
static const td_array *
order_operand(const py_args *g)
{
    const td_array *found = NULL;

    for (int i = 0; i < g->n; i++)
        if (g->x[i].array && (!found || !py_is_fortran(&g->x[i].array->view)))
            found = g->x[i].array;
    return found;
}

static PyObject *
ufunc_apply(td_op op, PyObject *const *args, const options *o)
{
    bool straight = o->out && !o->host && !o->where && o->casting == 'k';
    PyObject *r = NULL;
    int loop = -1;
    py_args g;
    int ours = py_args_read(&g, args, td_optab[op].arity);

    if (ours <= 0)
        return NULL;
    if (((o->dtype || o->signature) && !wanted_loop(op, o, g.x, g.n, &loop)) ||
        (loop < 0 && !py_args_settle(&g, op)) ||
        ((loop >= 0 || o->casting != 'k') && !cast_operands(&g, op, loop, o->casting)) ||
        !anchor(&g, loop))
        goto out;
    straight = straight && !is_repeated(op, &g, py_array_of(o->out));
    if (straight)
        r = py_ok(td_array_apply_into(op, g.x, g.n, py_array_of(o->out))) ? Py_NewRef(o->out)
                                                                          : NULL;
    else if ((r = (PyObject *)py_new()))
        r = py_done((py_ndarray *)r, td_array_ufunc(op, g.x, g.n, py_array_of(r)));
    if (r && !o->out && o->order && o->order != 'K')
        r = ufunc_in_order(r, order_operand(&g), o->order);
out:
    py_args_free(&g);
    return r && !straight && (o->where || o->out) ? deliver(op, r, o) : r;
}

PyObject *
py_ufunc_call(td_op op, PyObject *args, PyObject *kw)
{
    int arity = td_optab[op].arity;
    Py_ssize_t n = PyTuple_Size(args);
    PyObject *x[TD_MAXARG + 1], *out = n == arity + 1 ? PyTuple_GetItem(args, arity) : NULL;
    PyObject *quick;
    options o = {.casting = 'k'};

    if (n != arity && n != arity + 1) {
        PyErr_Format(PyExc_TypeError,
                     "%s() takes from %d to %d positional arguments but %zd %s given",
                     td_optab[op].name, arity, arity + 1, n, n == 1 ? "was" : "were");
        return NULL;
    }
    for (int i = 0; i < arity; i++)
        x[i] = PyTuple_GetItem(args, i);
    quick = kw || out ? Py_None : py_floats_apply(op, x, arity);
    if (quick != Py_None)
        return quick;
    return (kw || out) && !read_options(td_optab[op].name, out, kw, &o) ? NULL
                                                                        : ufunc_apply(op, x, &o);
}
