/* kernel.h - what the files about compiled Python functions share.
 *
 *   syntax.c      a function's ast to the flat tree of front/infer/syntax.h, once a code object
 *   objects.c     handles of Python objects, what the front asks about them
 *   intrinsics.c  which objects are rows of the front's table
 *   kerneltype.c  types of dtypes, arrays and values
 *   kernelargs.c  a call's arguments to types and words
 *   kernelmake.c  from argument types to a kernel: front, jit, what the compilation read
 *   kernelrun.c   the launch
 *   kernelbuild.c code for files
 *   kerneldebug.c launches under treadle.debug()
 *   report.c      mailboxes: what kernels print and raise
 *   kernel.c      the types that Python sees
 *
 * All with the GIL held, which is the front's lock.
 */
#ifndef TD_PYTHON_KERNEL_H
#define TD_PYTHON_KERNEL_H
#include "python/common/py.h"

#include "base/callmem.h"
#include "front/infer/front.h"
#include "front/infer/report.h"
#include "jit/jit.h"

enum {
    PY_LEAVES = 128,   /* values of a call, tuples' items counted one by one */
    PY_WORDS = 512,    /* argument words: what a GPU takes */
    PY_VARIANTS = 8,   /* compilations kept for one row of argument types whose constants changed */
};

/* ---- handles (objects.c) ---- */

/* A handle is a number that no other object ever gets.  Who uses one keeps its object: `keep` is a dict of the
 * keeper's, handle -> object.  0: an exception is set. */
uint32_t  py_handle(PyObject *keep, PyObject *o);
PyObject *py_handle_object(uint32_t handle); /* borrowed; somebody keeps it */
bool      py_is_named(PyObject *class);     /* is it a class of named tuples? */
void      py_handles_drop(PyObject *keep);   /* the keeper goes, and with it the dict's references; ok on NULL */

/* ---- trees (syntax.c) ---- */

/* py_tree - the syntax tree of a code object. */
typedef struct py_tree {
    PyObject_HEAD
    uint32_t   *tree;
    uint32_t    ntree, root;
    const char **names; /* UTF-8 of the strings in `strings` */
    uint32_t    nnames;
    PyObject   *strings; /* list */
    PyObject   *keep;    /* of constants */
    PyObject   *file, *text;
    uint32_t    line;    /* of text's first */
} py_tree;

py_tree *py_tree_of(PyObject *fn); /* a new reference; OSError: no source */
bool     py_syntax_init(PyObject *module);

/* ---- intrinsics.c ---- */
/* The row that o is: its number; none: -1; exception: -2. */
int py_intrinsic(PyObject *o);

/* ---- kerneltype.c ---- */
/* A dtype, a class of numbers, a type of treadle.types: 1; something else: 0; exception: -1. */
int            py_type_of(PyObject *o, const td_type **out);
const td_type *py_array_type(const td_type *item, const td_view *v, bool readonly); /* NULL: more than 8 axes, exception set */
/* The tuple type *type becomes that of class's tuples, where it is a class of named ones; false: exception. */
bool           py_named_type(PyObject *keep, PyObject *class, const td_type **type);
const td_type *py_num_type(td_dtype dt);
const td_type *py_dtype_type(PyObject *dtype); /* of a numpy.dtype, structured ones too; NULL: exception */

/* ---- compiled functions ---- */

typedef struct py_dep { /* what a compilation took for a constant */
    PyObject *space; /* a globals dict, a cell, or an object with the attribute `name` */
    PyObject *name;  /* NULL: a cell */
    PyObject *value; /* NULL: space must lack the name */
    PyObject *descr; /* the attribute's descriptor, where space is a function; borrowed; NULL: none */
    bool      attr;
} py_dep;

/* py_box - a kernel's mailbox, in memory that host and device see. */
typedef struct py_box {
    struct py_box  *next, **place; /* among those of all kernels that have been launched */
    struct py_spec *spec;          /* borrowed */
    td_dev         *dev;
    td_hostmem      mem;
    td_buf         *buf;    /* over it */
    td_mailbox     *mail;
    uint64_t        read;   /* words of prints that have been printed */
    td_event       *last;   /* after the last launch, where the kernel prints; NULL: none */
    td_stream      *stream; /* of the last launch */
} py_box;

/* What treadle.debug() makes of a launch: nothing; indices are checked; the interpreter runs it and checks the rest. */
typedef enum py_mode { PY_PLAIN, PY_CHECKED, PY_WATCHED } py_mode;

py_mode py_mode_of(const td_dev *d); /* of the calling thread's launches on d; kerneldebug.c */

/* py_spec - a function compiled for a row of argument types on one device.  Its dispatcher's. */
typedef struct py_spec {
    struct py_spec *next; /* under the same hash */
    struct py_dispatcher *home; /* borrowed */
    uint64_t        hash;
    td_dev         *dev;
    py_mode         mode;
    uint32_t        narg;
    bool            serial; /* its loops run in order: arguments overlap */
    const td_type **type;
    py_dep         *dep;
    uint32_t        ndep, cdep;
    td_arena        mem; /* of made */
    td_made         made;
    td_kernel      *kernel; /* NULL: WATCHED */
    py_ndarray    **hidden; /* arrays of made.hidden, NULL for the others */
    py_box         *box;    /* NULL: it reports nothing */
    td_buf         *grid;   /* words of grid.sync() */
    td_buf         *partials; /* of reductions over a grid; functions run on the default stream, one after the other */
    uint32_t        busy;   /* calls under way */
} py_spec;

typedef struct py_signature {
    const td_type **type; /* owned */
    uint32_t        narg;
    const td_type  *result; /* of a device function; NULL: what it returns */
} py_signature;

enum { PY_TABLE = 16, PY_CONFIGS = 4 };

/* py_known - a function that compilations reached, as it was then: its code and defaults can be replaced. */
typedef struct py_known {
    td_source s;
    PyObject *code;
} py_known;

/* py_dispatcher - a Python function that is compiled for what it is called with. */
typedef struct py_dispatcher {
    PyObject_HEAD
    PyObject  *fn, *name;
    PyObject  *defaults;  /* tuple or NULL */
    PyObject  *params;    /* tuple of the positional parameters' names */
    uint32_t   nparam;
    bool       star, device, gil; /* takes *args; device function; keep the GIL while it runs */
    struct py_signature *signature; /* declared ones: calls are fitted to them */
    uint32_t   nsignature;
    td_compile how;
    PyObject  *keep;      /* handles that compilations use */
    PyObject  *texts;     /* set of the strings that are constants of compilations; or NULL */
    PyObject  *trees;     /* of the functions reached: list */
    py_known  **source;   /* of those; [0]: its own */
    uint32_t   nsource;
    py_spec   *table[PY_TABLE], *last;
    PyObject  *config[PY_CONFIGS]; /* bound launchers of late */
    uint32_t   turn;
    const char *label;    /* the name, for the process's life; NULL: not asked for yet */
} py_dispatcher;

static inline bool
py_is_dispatcher(PyObject *o)
{
    return PyObject_TypeCheck(o, py.dispatcher);
}

/* The front's view of `o` (a function or a dispatcher), made once a dispatcher and code; NULL: exception. */
const td_source *py_source(py_dispatcher *d, PyObject *o);
void             py_sources_free(py_dispatcher *d);
/* Notes what of a function or a dispatcher can be replaced; false: exception. */
bool             py_depend_function(py_spec *s, PyObject *o);
/* What the descriptor of a py_dep finds.  A lookup by name takes three times as long, and each call asks. */
PyObject        *py_part_of(PyObject *descr, PyObject *fn);
/* Notes what s took for a constant; takes over no references.  false: exception. */
bool             py_depend(py_spec *s, PyObject *space, PyObject *name, PyObject *value, bool attr);

/* What the front is told during one compilation. */
typedef struct py_asking {
    td_host        host;
    py_dispatcher *d;
    py_spec       *spec; /* collects dependencies */
} py_asking;

void py_asking_begin(py_asking *a, py_dispatcher *d, py_spec *spec);

/* ---- arguments (kernelargs.c) ---- */

typedef enum py_leafkind { PY_LEAF_WORD, PY_LEAF_ARRAY, PY_LEAF_HOST, PY_LEAF_RECORD } py_leafkind;
typedef enum py_way { PY_INOUT, PY_IN, PY_OUT } py_way; /* what of host memory a GPU's kernel needs */

/* py_leaf - a number, an array or a record among the arguments. */
typedef struct py_leaf {
    uint8_t        kind, nword, arg;
    bool           readonly;
    uint8_t        way;
    bool           said;   /* In, Out or InOut: copies are wanted */
    const td_type *type;
    uint64_t       word[2]; /* WORD */
    const td_array *array;  /* ARRAY */
    td_buf        *buf;     /* ARRAY: borrowed; HOST, RECORD on a GPU: the copy there, owned */
    PyObject      *held;    /* what keeps array, or NULL */
    Py_buffer      host;    /* HOST, RECORD */
} py_leaf;

/* py_call - the arguments of one call.  On the caller's stack; only the head is set to 0. */
typedef struct py_call {
    py_dispatcher *d;
    td_dev        *dev;
    uint32_t       narg, nleaf;
    struct py_boxes *boxes; /* lists and sets among the arguments; NULL: none */
    uint32_t       typed; /* how many are treadle.typed's */
    bool           hosts, plain; /* some leaves are host memory; none needs py_call_end */
    const td_type *type[PY_LEAVES];
    py_leaf        leaf[PY_LEAVES];
} py_call;

/* Sets the head and the device: that of the arrays, of `stream` (or NULL), or the default one. */
bool    py_call_begin(py_call *c, py_dispatcher *d, td_stream *stream, PyObject *const *args, Py_ssize_t n);
bool    py_call_add(py_call *c, PyObject *o);                /* the next argument */
void      py_leaf_number(py_leaf *l, td_scalar s, td_dtype dt); /* WORD: the value s in dt */
td_scalar py_leaf_scalar(const py_leaf *l, td_dtype dt);        /* WORD of dt: its value */
void    py_call_end(py_call *c);                             /* releases what the leaves hold */
/* Address, shape and, where the type says so, strides; returns how many. */
uint32_t py_array_words(const td_type *t, uintptr_t at, const td_view *v, uint64_t *out);
void     py_host_view_of(const py_leaf *l, td_view *v);      /* HOST: strides in units of the type's */

/* ---- kernelmake.c ---- */
py_spec *py_spec_for(py_dispatcher *d, td_dev *dev, bool serial, const td_type *const *type, uint32_t narg); /* borrowed; NULL: exception */
/* Compiles down to instructions, of the CPU's or a GPU's kind, and shows them to `use`; nothing is kept. */
typedef bool py_spec_use(py_spec *s, void *ctx);
bool     py_spec_once(py_dispatcher *d, bool gpu, bool serial, const td_type *const *type, uint32_t narg,
                      py_spec_use *use, void *ctx);
void     py_specs_free(py_dispatcher *d);
int      py_specs_visit(py_dispatcher *d, visitproc visit, void *arg);

/* ---- kernelrun.c ---- */
typedef struct py_dims {
    td_dims    dims;
    td_stream *stream; /* NULL: the device's default */
} py_dims;

void      py_call_keep(py_call *c, bool on); /* the arrays' buffers stay while the GIL is given up */
PyObject *py_kernel_call(py_dispatcher *d, const py_dims *dims, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* ---- kerneldebug.c ---- */
/* Runs s in the interpreter.  port: what TD_HIDDEN_PORT is.  False: an exception is set. */
bool py_debug_launch(py_spec *s, py_call *c, const td_dims *dims, const uint64_t *word, uint64_t *port);
extern PyMethodDef py_debug_functions[];

/* ---- texts.c ---- */
extern PyMethodDef py_text_functions[];

/* ---- kerneldims.c ---- */
bool py_dims_read(py_dispatcher *d, PyObject *key, py_dims *out);                 /* of k[grid, block, stream, shared] */
td_status py_blocks_most(const py_spec *s, const td_dims *dims, int64_t *out); /* on the device at once; dims.grid is not read */
bool py_dims_check(py_dispatcher *d, const py_spec *s, const td_dims *dims);      /* the device's limits */

/* ---- kernelparallel.c ---- */
bool py_call_overlaps(const py_call *c, uint64_t written); /* does an argument that is written share memory with another? */
void py_parallel_dims(const py_spec *s, const uint64_t *word, uint32_t n, td_dims *dims); /* of a function: its loops' turns over a GPU's threads; word: the arguments' */
size_t py_partials_bytes(const py_spec *s);                /* of TD_HIDDEN_PARTIALS, for any launch */

/* ---- kernelresult.c ---- */
PyObject *py_shown(const td_type *t, const uint64_t *word); /* a kernel's variable; arrays: views of their memory */
PyObject *py_of_class(const td_type *t, PyObject *tuple); /* takes the tuple */
/* ---- classtype.c: classes of jitclass ---- */
void      py_class_base(PyTypeObject *base); /* what all of them are made of; borrowed for good */
int       py_class_type(PyObject *class, const td_type **out); /* of its instances: 1; 0: it is no such class; -1: exception */
PyObject *py_owner_of(uint64_t address, py_call *c, td_callmem *heap); /* who keeps memory that the call saw; NULL: nobody */
PyObject *py_block_owner(td_callblock *b); /* a capsule; a new reference */
PyObject *py_array_over(const td_type *t, const uint64_t *word, PyObject *keeper); /* NumPy's, over memory that the keeper keeps */
PyObject *py_result(const td_type *t, const unsigned char *at, py_call *c, td_callmem *heap);

/* ---- kernelinfo.c ---- */
bool py_signature_fit(py_call *c); /* the arguments become those of the best signature; TypeError: there is none */
void py_signatures_free(py_dispatcher *d);
Py_ssize_t py_types_read(PyObject *types, const td_type **out); /* a tuple of treadle.types: how many; -1: exception */
PyObject *py_types_spell(const td_type *const *type, uint32_t n); /* a tuple of texts */
extern PyMethodDef py_kernel_methods[];

/* ---- kernelbuild.c ---- */
PyObject *py_kernel_build(PyObject *self, PyObject *args); /* _build(types, stage, name, arch=None, serial=False) */

/* ---- report.c ---- */
bool      py_box_new(py_spec *s);                 /* fills s->box */
void      py_box_free(py_box *b);                 /* ok on NULL */
void      py_box_watch(py_box *b, td_stream *s);  /* the kernel has been launched on s */
void      py_box_drop(py_box *b);                 /* forgets a failure */
bool      py_box_read(py_box *b);                 /* prints what was printed, raises what failed */
void      py_report_init(void);

bool    py_kernel_init(PyObject *module);
#endif
