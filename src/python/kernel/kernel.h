/* kernel.h - what the files about compiled Python functions share.
 *
 *   syntax.c      a function's ast to the flat tree of front/infer/syntax.h, once a code object
 *   handles.c     numbers that stand for Python objects
 *   objects.c     what the front asks about Python objects
 *   intrinsics.c  which objects are rows of the front's table
 *   kerneltype.c  types of dtypes, arrays and values
 *   kernelargs.c  a call's arguments to types and words
 *   kernelmake.c  from argument types to a kernel: front, jit, what the compilation read
 *   kernelrun.c   the launch
 *   kernelbuild.c code for files
 *   kernelbounds.c which checks a launch needs
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
    PY_LEAVES = 128,   /* most values of a call, with tuples' items counted one by one */
    PY_WORDS = 512,    /* most argument words: a GPU's limit */
    PY_VARIANTS = 8,   /* most compilations kept for one row of argument types whose constants have changed */
};

/* ---- handles.c ---- */

/* A handle is a number that no other object ever gets.  Its user keeps the object alive: `keep` is a dict of the
 * user's, handle -> object.  0: exception. */
uint32_t  py_handle(PyObject *keep, PyObject *o);
PyObject *py_handle_object(uint32_t handle); /* borrowed; somebody must keep it */
bool      py_is_named(PyObject *class);     /* is it a class of named tuples, or an enum that stands for one? */
bool      py_is_member_class(PyObject *class); /* an enum whose members are no numbers and no strings themselves */
void      py_handles_drop(PyObject *keep);   /* drops the dict's references; ok on NULL */

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
    uint32_t    line;    /* line number of text's first line */
} py_tree;

py_tree *py_tree_of(PyObject *fn); /* a new reference; OSError: no source */
bool     py_syntax_init(PyObject *module);

/* ---- intrinsics.c ---- */
/* The number of the row that o is; -1: none; -2: exception. */
int py_intrinsic(PyObject *o);

/* ---- kerneltype.c ---- */
/* The type of a dtype, a class of numbers, or a type of treadle.types.  1: done; 0: another object; -1:
 * exception. */
int            py_type_of(PyObject *o, const td_type **out);
/* NULL: exception, more than 8 axes */
const td_type *py_array_type(const td_type *item, const td_view *v, bool readonly);
/* If class is a class of named tuples, *type becomes its tuple type.  False: exception. */
bool           py_named_type(PyObject *keep, PyObject *class, const td_type **type);
const td_type *py_num_type(td_dtype dt);
PyObject *py_type_dtype(const td_type *t); /* the numpy.dtype of a record's type: a new reference; NULL: exception */
const td_type *py_dtype_type(PyObject *dtype); /* of a numpy.dtype, structured ones too; NULL: exception */

/* ---- compiled functions ---- */

typedef struct py_dep { /* py_dep - a value that a compilation treated as a constant */
    PyObject *space; /* a globals dict, a cell, or the object whose attribute is `name` */
    PyObject *name;  /* NULL: a cell */
    PyObject *value; /* NULL: space must not have the name */
    PyObject *descr; /* the attribute's descriptor if space is a function; borrowed; NULL: none */
    bool      attr;
} py_dep;

/* py_box - a kernel's mailbox, in memory that host and device can access. */
typedef struct py_box {
    struct py_box  *next, **place; /* links in the list of all launched kernels' boxes */
    struct py_spec *spec;          /* borrowed */
    td_dev         *dev;
    td_hostmem      mem;
    td_buf         *buf;    /* over the same memory */
    td_mailbox     *mail;
    uint64_t        read;   /* words of prints that were printed already */
    td_event       *last;   /* recorded after the last launch of a kernel that prints; NULL: none */
    td_stream      *stream; /* of the last launch */
} py_box;

/* py_mode - what treadle.debug() and treadle.config.checks do to launches: nothing; index checks; or the interpreter
 * runs and checks the kernel. */
typedef enum py_mode { PY_PLAIN, PY_CHECKED, PY_WATCHED } py_mode;

py_mode py_mode_of(const td_dev *d); /* mode of the calling thread's launches on d; kerneldebug.c */

/* py_spec - a function compiled for a row of argument types on one device.  Belongs to its dispatcher. */
typedef struct py_spec {
    struct py_spec *next; /* the next one with the same hash */
    struct py_dispatcher *home; /* borrowed */
    uint64_t        hash;
    td_dev         *dev;
    py_mode         mode;
    uint32_t        narg;
    bool            serial; /* arguments overlap: loops run in order, and arrays are assigned by way of copies */
    const td_type **type;
    py_dep         *dep;
    uint32_t        ndep, cdep;
    td_arena        mem; /* memory of made */
    td_made         made;
    td_kernel      *kernel; /* NULL: mode WATCHED, or there are bounds */
    struct py_bounds *bounds; /* the compilations that are launched in its place; NULL: itself */
    uint8_t        *verdict; /* of such a compilation: what is known of its checks, TD_CHECK_…; NULL: nothing, and they are marked */
    py_ndarray    **hidden; /* the arrays of made.hidden; NULL for its other entries */
    py_box         *box;    /* NULL: it reports nothing */
    td_buf         *grid;   /* the words for grid.sync() */
    td_buf         *partials; /* for reductions over a grid; functions run on the default stream, one after another */
    uint32_t        unordered; /* the line of a float that atomic operations add to; 0: there is none */
    uint32_t        busy;   /* calls in progress */
} py_spec;

typedef td_signature py_signature; /* its types are owned */

enum { PY_TABLE = 16, PY_CONFIGS = 4 };

/* py_known - a function that compilations use, with its code and defaults at that time: both can be replaced. */
typedef struct py_known {
    td_source s;
    PyObject *code;
} py_known;

/* py_dispatcher - a Python function that is compiled for the types it is called with. */
typedef struct py_dispatcher {
    PyObject_HEAD
    PyObject  *fn, *name;
    PyObject  *defaults;  /* tuple or NULL */
    PyObject  *params;    /* tuple of the parameters' names */
    uint32_t   nparam, nonly; /* nonly: the last ones, which are keyword-only */
    bool       star, device, gil; /* it takes *args; it is a device function; calls keep the GIL */
    py_signature *signature; /* declared signatures, to which calls are fitted */
    uint32_t   nsignature;
    td_compile how;
    PyObject  *keep;      /* keeps the objects whose handles compilations use */
    PyObject  *texts;     /* set of strings that compilations treated as constants; or NULL */
    PyObject  *trees;     /* list of the functions that compilations use */
    PyObject  *elsewhere; /* what calls go to instead; NULL: nothing */
    py_known  **source;   /* one for each of those; [0]: the dispatcher's own */
    uint32_t   nsource;
    py_spec   *table[PY_TABLE], *last;
    PyObject  *config[PY_CONFIGS]; /* recently used launchers */
    uint32_t   next_config; /* the launcher to replace next */
    const char *label;    /* the name; lives as long as the process; NULL: not made yet */
} py_dispatcher;

static inline bool
py_is_dispatcher(PyObject *o)
{
    return PyObject_TypeCheck(o, py.dispatcher);
}

/* The front's view of `o` (a function or a dispatcher); made once for each code object.  NULL: exception. */
const td_source *py_source(py_dispatcher *d, PyObject *o);
void             py_sources_free(py_dispatcher *d);
/* Records the parts of a function or a dispatcher that can be replaced.  False: exception. */
bool             py_depend_function(py_spec *s, PyObject *o);
/* Reads a py_dep's attribute by its descriptor: three times as fast as by name, and each call does it. */
PyObject        *py_part_of(PyObject *descr, PyObject *fn);
/* Records that s treated a value as a constant; takes no references.  False: exception. */
bool             py_depend(py_spec *s, PyObject *space, PyObject *name, PyObject *value, bool attr);

/* py_asking - the context of the front's questions during one compilation. */
typedef struct py_asking {
    td_host        host;
    py_dispatcher *d;
    py_spec       *spec; /* where dependencies are recorded */
} py_asking;

void py_asking_begin(py_asking *a, py_dispatcher *d, py_spec *spec);
bool py_unforgotten(void); /* true: raised what made an answer wrong, MemoryError or Ctrl-C; after the compilation */

/* ---- arguments (kernelargs.c) ---- */

typedef enum py_leafkind { PY_LEAF_WORD, PY_LEAF_ARRAY, PY_LEAF_HOST, PY_LEAF_RECORD } py_leafkind;
typedef enum py_way { PY_INOUT, PY_IN, PY_OUT } py_way; /* py_way - which copies of host memory a GPU's kernel needs */

/* py_leaf - a number, an array or a record among the arguments. */
typedef struct py_leaf {
    uint8_t        kind, nword, arg;
    bool           readonly;
    uint8_t        way;
    bool           said;   /* In, Out or InOut told which copies to make */
    const td_type *type;
    uint64_t       word[2]; /* WORD */
    const td_array *array;  /* ARRAY */
    td_buf        *buf;     /* ARRAY: borrowed; HOST, RECORD on a GPU: the copy there, owned */
    PyObject      *held;    /* keeps the array alive; or NULL */
    Py_buffer      host;    /* HOST, RECORD */
} py_leaf;

/* py_call - the arguments of one call.  On the caller's stack; only its head must be zeroed. */
typedef struct py_call {
    py_dispatcher *d;
    td_dev        *dev;
    uint32_t       narg, nleaf;
    struct py_boxes *boxes; /* lists and sets among the arguments; NULL: none */
    uint32_t       typed; /* how many arguments are treadle.typed's */
    bool           hosts, plain; /* hosts: some leaves are host memory; plain: no leaf needs py_call_end */
    const td_type *type[PY_LEAVES];
    py_leaf        leaf[PY_LEAVES];
    const struct py_spec *ran; /* what was launched; set by the launch */
} py_call;

/* Sets the head and the device: that of the arrays, else of `stream` (or NULL), else the default one. */
bool    py_call_begin(py_call *c, py_dispatcher *d, td_stream *stream, PyObject *const *args, Py_ssize_t n);
bool    py_call_add(py_call *c, PyObject *o);                /* adds the next argument */
void      py_leaf_number(py_leaf *l, td_scalar s, td_dtype dt); /* WORD: the value s in dt */
td_scalar py_leaf_scalar(const py_leaf *l, td_dtype dt);        /* WORD of dt: its value */
void    py_call_end(py_call *c);                             /* releases what the leaves hold */
/* Address, shape and, if the type has them, strides; returns the number of words. */
uint32_t py_array_words(const td_type *t, uintptr_t at, const td_view *v, uint64_t *out);
void     py_host_view_of(const py_leaf *l, td_view *v);      /* HOST: strides in units of the type's */

/* ---- kernelmake.c ---- */
py_spec *py_spec_for(py_dispatcher *d, td_dev *dev, bool serial, const td_type *const *type, uint32_t narg); /* borrowed; NULL: exception */
py_spec *py_spec_without(py_spec *s, const uint8_t *verdict); /* s with no more checks than that; NULL: exception */
void     py_spec_free(py_spec *s);
/* Compiles down to instructions, for the CPU or a GPU, and passes them to `use`; keeps nothing. */
typedef bool py_spec_use(py_spec *s, void *ctx);
bool     py_spec_once(py_dispatcher *d, bool gpu, bool serial, const td_type *const *type, uint32_t narg,
                      py_spec_use *use, void *ctx);
void     py_specs_free(py_dispatcher *d);
int      py_specs_visit(py_dispatcher *d, visitproc visit, void *arg);

/* ---- kernelbounds.c ---- */
typedef struct py_bounds py_bounds;

bool     py_bounds_new(py_spec *s); /* s checks indices.  false: exception */
void     py_bounds_free(py_bounds *b);
py_spec *py_bounds_last(py_spec *s); /* what the last launch ran in place of s; s itself if there was none */
/* What a launch with these words runs in place of s, or s itself; belongs to s.  NULL: exception. */
py_spec *py_bounds_choose(py_spec *s, const uint64_t *word, uint32_t nword, const td_dims *dims);

/* ---- kernelrun.c ---- */
typedef struct py_dims {
    td_dims    dims;
    td_stream *stream; /* NULL: the device's default */
} py_dims;

void      py_call_keep(py_call *c, bool on); /* keeps the arrays' buffers while the GIL is released */
/* *refused (or NULL): it fails since an argument or the function cannot be compiled. */
PyObject *py_kernel_call(py_dispatcher *d, const py_dims *dims, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, bool *refused);

/* ---- kerneldebug.c ---- */
bool py_deterministic_may(const py_spec *s); /* may it be launched?  false: exception */
/* Runs s in the interpreter.  port: the value for TD_HIDDEN_PORT.  False: exception. */
bool py_debug_launch(py_spec *s, py_call *c, const td_dims *dims, const uint64_t *word, uint64_t *port);
extern PyMethodDef py_debug_functions[];

/* ---- texts.c ---- */
extern PyMethodDef py_text_functions[];

/* ---- kerneldims.c ---- */
/* reads k[grid, block, stream, shared] */
bool py_dims_read(py_dispatcher *d, PyObject *key, py_dims *out);
/* most blocks that the device holds at once; ignores dims.grid */
td_status py_blocks_most(const py_spec *s, const td_dims *dims, int64_t *out);
bool py_dims_check(py_dispatcher *d, const py_spec *s, const td_dims *dims);      /* checks the device's limits */

/* ---- kernelparallel.c ---- */
bool py_call_overlaps(const py_call *c, uint64_t written); /* does an argument that is written share memory with another? */
/* for a function: spreads its loops' iterations over a GPU's threads; word: the arguments' */
void py_parallel_dims(const py_spec *s, const uint64_t *word, uint32_t n, td_dims *dims);
size_t py_partials_bytes(const py_spec *s);                /* bytes of TD_HIDDEN_PARTIALS that suffice for any launch */

/* ---- kernelresult.c ---- */
PyObject *py_shown(const td_type *t, const uint64_t *word); /* a kernel's variable; arrays are views of their memory */
PyObject *py_of_class(const td_type *t, PyObject *tuple); /* takes the tuple */
/* ---- classtype.c: classes of jitclass ---- */
void      py_class_base(PyTypeObject *base); /* the base class of all of them; borrowed for ever */
/* the type of its instances: 1; 0: not such a class; -1: exception */
int       py_class_type(PyObject *class, const td_type **out);
/* the owner of memory that the call has seen; NULL: none */
PyObject *py_owner_of(uint64_t address, py_call *c, td_callmem *heap);
PyObject *py_block_owner(td_callblock *b); /* a capsule; a new reference */
/* a NumPy array over memory that the keeper keeps alive */
PyObject *py_array_over(const td_type *t, const uint64_t *word, PyObject *keeper);
PyObject *py_result(const td_type *t, const unsigned char *at, py_call *c, td_callmem *heap);

/* ---- typespell.c ---- */
PyObject *py_types_spell(const td_type *const *type, uint32_t n); /* a tuple of texts, as treadle.types reads them */

/* ---- kernelinfo.c ---- */
bool py_signature_fit(py_call *c); /* converts the arguments to those of the best signature; TypeError: none fits */
void py_signatures_free(py_dispatcher *d);
Py_ssize_t py_types_read(PyObject *types, const td_type **out); /* a tuple of treadle.types: how many; -1: exception */
extern PyMethodDef py_kernel_methods[];

/* ---- kernelbuild.c ---- */
PyObject *py_kernel_build(PyObject *self, PyObject *args); /* _build(types, stage, name, arch=None, serial=False) */

/* ---- report.c ---- */
bool      py_box_new(py_spec *s);                 /* fills s->box */
void      py_box_free(py_box *b);                 /* ok on NULL */
void      py_box_watch(py_box *b, td_stream *s);  /* call after the kernel was launched on s */
void      py_box_drop(py_box *b);                 /* forgets a failure */
bool      py_box_read(py_box *b);                 /* prints what kernels printed, raises what failed */
void      py_report_init(void);

bool    py_kernel_init(PyObject *module);
#endif
