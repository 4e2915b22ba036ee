/* syntax.c - converts a function's ast to the flat tree of front/infer/syntax.h.
 *
 * Python finds and parses the source (treadle._compile._source) once per code object.  The nodes'
 * classes and fields are listed in syntax.def; Folded is treadle's own.  A tree keeps the objects
 * whose handles it contains.
 */
#include "python/kernel/kernel.h"

#include "front/infer/syntax.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 8 };

/* The table of ast classes as Python objects; made for the first tree. */
static struct syn {
    PyObject *kinds; /* dict: class -> number */
    PyObject *lineno, *col, *end_col;
    struct row {
        uint32_t n;
        PyObject *name[FIELDS_MAX];
        char what[FIELDS_MAX];
    } row[TD_SYN_COUNT];
    PyTypeObject *tree;
} syn;

typedef struct flat {
    py_tree *t;
    uint32_t cap;
    PyObject *seen; /* dict: identifier -> its number + 1 */
    long shift;     /* added to the nodes' lines */
    /* the source as UTF-8 if it is not pure ASCII, since columns count bytes there; else NULL */
    const char *text;
    size_t *starts; /* where text's lines begin */
    uint32_t nlines;
} flat;

/* ---- the table ---- */

static bool
read_row(struct row *r, const char *fields)
{
    while (*fields) {
        const char *colon = strchr(fields, ':');
        PyObject *name = PyUnicode_FromStringAndSize(fields, colon - fields);

        if (!name)
            return false;
        PyUnicode_InternInPlace(&name);
        r->name[r->n] = name;
        r->what[r->n++] = colon[1];
        fields = colon[2] ? colon + 3 : colon + 2;
    }
    return true;
}

/* Importing runs Python code, and other threads may come here meanwhile: the first to finish
 * stores its table. */
static bool
read_table(void)
{
    struct syn x = {.tree = syn.tree};
    PyObject *m = PyImport_ImportModule("_ast"), *kinds = m ? PyDict_New() : NULL;
    PyObject *own = PyImport_ImportModule("treadle._compile._folded");
    bool ok = kinds != NULL && own;

    x.lineno = PyUnicode_InternFromString("lineno");
    x.col = PyUnicode_InternFromString("col_offset");
    x.end_col = PyUnicode_InternFromString("end_col_offset");
    ok = ok && x.lineno && x.col && x.end_col;
    for (int k = 1; ok && k < TD_SYN_COUNT; k++) {
        PyObject *class = PyObject_GetAttrString(k == TD_SYN_Folded ? own : m, td_syntab[k].name),
                 *n = PyLong_FromLong(k);

        ok = class && n && PyDict_SetItem(kinds, class, n) == 0 &&
             read_row(&x.row[k], td_syntab[k].fields);
        Py_XDECREF(class);
        Py_XDECREF(n);
    }
    Py_XDECREF(m);
    Py_XDECREF(own);
    x.kinds = kinds;
    if (ok && !syn.kinds)
        syn = x;
    else
        Py_XDECREF(kinds);
    return ok;
}

/* ---- the buffer ---- */

/* Room for n words; 0: out of memory. */
static uint32_t
flat_reserve(flat *f, uint32_t n)
{
    py_tree *t = f->t;
    uint32_t at = t->ntree;

    if (at + n > f->cap) {
        uint32_t cap = 2 * (at + n) + 256;
        uint32_t *p = realloc(t->tree, cap * sizeof *p);

        if (!p) {
            PyErr_NoMemory();
            return 0;
        }
        t->tree = p;
        f->cap = cap;
    }
    memset(t->tree + at, 0, n * sizeof *t->tree);
    t->ntree += n;
    return at;
}

static bool
put_name(flat *f, PyObject *o, uint32_t *out)
{
    PyObject *n;

    *out = 0;
    if (o == Py_None)
        return true;
    n = PyDict_GetItemWithError(f->seen, o);
    if (n) {
        *out = (uint32_t)PyLong_AsUnsignedLong(n);
        return true;
    }
    *out = (uint32_t)PyList_Size(f->t->strings) + 1;
    n = PyLong_FromUnsignedLong(*out);
    if (!n || PyDict_SetItem(f->seen, o, n) < 0 || PyList_Append(f->t->strings, o) < 0)
        *out = 0;
    Py_XDECREF(n);
    return *out != 0;
}

/* ---- places ---- */

static bool
int_attr(PyObject *o, PyObject *name, long *out)
{
    PyObject *v = PyObject_GetAttr(o, name);

    *out = 0;
    if (!v) {
        PyErr_Clear(); /* operators and arguments have no line */
        return false;
    }
    *out = v == Py_None ? 0 : PyLong_AsLong(v);
    Py_DECREF(v);
    return true;
}

/* A column in characters; the ast counts bytes. */
static uint32_t
column(const flat *f, long line, long col)
{
    long i = line - (long)f->t->line;
    long n = 0;

    if (!f->text || i < 0 || i >= (long)f->nlines)
        return (uint32_t)col;
    for (long k = 0; k < col; k++)
        n += (f->text[f->starts[i] + (size_t)k] & 0xc0) != 0x80;
    return (uint32_t)n;
}

static void
put_place(flat *f, PyObject *node, uint32_t at)
{
    long line, col, end;
    uint32_t *w;

    if (!int_attr(node, syn.lineno, &line))
        return;
    int_attr(node, syn.col, &col);
    int_attr(node, syn.end_col, &end);
    line += f->shift;
    w = f->t->tree + at;
    w[1] = (uint32_t)line;
    w[2] = column(f, line, col);
    w[3] = column(f, line, end);
}

/* ---- nodes ---- */

static bool put_node(flat *f, PyObject *node, uint32_t *out);

static bool
put_list(flat *f, PyObject *list, char what, uint32_t *out)
{
    Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : 0;
    uint32_t at = n ? flat_reserve(f, (uint32_t)n + 1) : 0, item;

    *out = at;
    if (!n)
        return true;
    if (!at)
        return false;
    f->t->tree[at] = (uint32_t)n;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyList_GetItem(list, i);

        if (!(what == 'I' ? put_name(f, o, &item) : put_node(f, o, &item)))
            return false;
        f->t->tree[at + 1 + (uint32_t)i] = item;
    }
    return true;
}

static bool
put_field(flat *f, PyObject *value, char what, uint32_t *out)
{
    switch (what) {
    case 'n': return put_node(f, value, out);
    case 'i': return put_name(f, value, out);
    case 'o': return (*out = py_handle(f->t->keep, value)) != 0;
    default:  break;
    }
    return put_list(f, value, what, out);
}

/* A node whose class is not in the table gets kind TD_SYN_NONE. */
static bool
put_node(flat *f, PyObject *node, uint32_t *out)
{
    PyObject *number;
    const struct row *r;
    uint32_t kind, at, field;

    *out = 0;
    if (node == Py_None)
        return true;
    number = PyDict_GetItemWithError(syn.kinds, (PyObject *)Py_TYPE(node));
    kind = number ? (uint32_t)PyLong_AsUnsignedLong(number) : TD_SYN_NONE;
    r = &syn.row[kind];
    at = flat_reserve(f, TD_SYN_HEAD + r->n);
    if (!at)
        return false;
    f->t->tree[at] = kind;
    put_place(f, node, at);
    for (uint32_t i = 0; i < r->n; i++) {
        PyObject *value = PyObject_GetAttr(node, r->name[i]);
        bool ok = value && put_field(f, value, r->what[i], &field);

        Py_XDECREF(value);
        if (!ok)
            return false;
        f->t->tree[at + TD_SYN_HEAD + i] = field;
    }
    *out = at;
    return true;
}

/* ---- a tree ---- */

/* Finds where the text's lines begin, if it has multi-byte characters. */
static bool
find_lines(flat *f)
{
    Py_ssize_t n;
    const char *text = PyUnicode_AsUTF8AndSize(f->t->text, &n);
    uint32_t lines = 1;

    if (!text)
        return false;
    if (n == PyUnicode_GetLength(f->t->text))
        return true;
    for (Py_ssize_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    f->starts = calloc(lines, sizeof *f->starts);
    if (!f->starts)
        return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < n; i++)
        if (text[i] == '\n')
            f->starts[++f->nlines] = (size_t)i + 1;
    f->nlines = lines;
    f->text = text;
    return true;
}

static bool
take_names(py_tree *t)
{
    Py_ssize_t n = PyList_Size(t->strings);

    t->names = calloc((size_t)n + 1, sizeof *t->names);
    if (!t->names)
        return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < n; i++) {
        t->names[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(t->strings, i), NULL);
        if (!t->names[i])
            return false;
    }
    t->nnames = (uint32_t)n;
    return true;
}

static bool
fill_tree(py_tree *t, PyObject *found)
{
    PyObject *node = PyObject_GetAttrString(found, "node"),
             *shift = PyObject_GetAttrString(found, "shift"),
             *line = PyObject_GetAttrString(found, "line");
    flat f = {.t = t, .seen = PyDict_New()};
    bool ok;

    t->file = PyObject_GetAttrString(found, "file");
    t->text = PyObject_GetAttrString(found, "text");
    t->strings = PyList_New(0);
    t->keep = PyDict_New();
    ok = node && shift && line && f.seen && t->file && t->text && t->strings && t->keep;
    if (ok) {
        f.shift = PyLong_AsLong(shift);
        t->line = (uint32_t)PyLong_AsUnsignedLong(line);
    }
    ok = ok && !PyErr_Occurred() && find_lines(&f) && (flat_reserve(&f, 1), t->tree) &&
         put_node(&f, node, &t->root) && take_names(t);
    free(f.starts);
    Py_XDECREF(node);
    Py_XDECREF(shift);
    Py_XDECREF(line);
    Py_XDECREF(f.seen);
    return ok;
}

static void
tree_dealloc(PyObject *self)
{
    py_tree *t = (py_tree *)self;
    PyTypeObject *type = Py_TYPE(self);

    free(t->tree);
    free(t->names);
    py_handles_drop(t->keep);
    Py_XDECREF(t->strings);
    Py_XDECREF(t->file);
    Py_XDECREF(t->text);
    PyObject_Free(self);
    Py_DECREF(type);
}

static py_tree *
new_tree(PyObject *found)
{
    py_tree *t = PyObject_New(py_tree, syn.tree);

    if (!t)
        return NULL;
    memset((char *)t + sizeof(PyObject), 0, sizeof *t - sizeof(PyObject));
    if (!fill_tree(t, found))
        Py_CLEAR(t);
    return t;
}

py_tree *
py_tree_of(PyObject *fn)
{
    PyObject *find, *found, *tree;

    if (!syn.kinds && !read_table())
        return NULL;
    find = py_package("treadle._compile._source", "find");
    found = find ? PyObject_CallFunctionObjArgs(find, fn, NULL) : NULL;
    Py_XDECREF(find);
    if (!found)
        return NULL;
    tree = PyObject_GetAttrString(found, "tree");
    if (tree == Py_None) {
        Py_DECREF(tree);
        tree = (PyObject *)new_tree(found);
        if (tree && PyObject_SetAttrString(found, "tree", tree) < 0)
            Py_CLEAR(tree);
    }
    Py_DECREF(found);
    return (py_tree *)tree;
}

bool
py_syntax_init(PyObject *m)
{
    static PyType_Slot slots[] = {PY_SLOT(Py_tp_dealloc, tree_dealloc), {0, NULL}};
    static PyType_Spec spec = {
        .name = "treadle._core.tree",
        .basicsize = sizeof(py_tree),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };

    (void)m;
    syn.tree = (PyTypeObject *)PyType_FromSpec(&spec);
    return syn.tree != NULL;
}
