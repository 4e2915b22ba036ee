/* unchanged.h - NumPy's arrays in programs that run unchanged.
 *
 * The program's arrays are numpy.ndarray itself.  The number, comparison and subscript slots of that type, some
 * methods, and the functions of its module are replaced by ones that look at the operands.  If all are small,
 * NumPy's own run.  Big ones, of px.crossover elements and more, and those whose values are not there yet
 * (PX_AHEAD), go to treadle, which records the operation.  The result is an array over a block without pages
 * (arena.h).  Whoever accesses its memory, the program, a library, or C code that knows nothing of this, gets the
 * values then.
 *
 * Everything runs with the GIL held.
 */
#ifndef TD_PYTHON_UNCHANGED_H
#define TD_PYTHON_UNCHANGED_H
#include "python/common/py.h"
#include "python/unchanged/arena.h"

/* np_array - NumPy's array as its C interface lays it out since 1.7.  setup.c checks the layout against an
 * array's attributes before it is used. */
typedef struct np_array {
    PyObject_HEAD
    char       *data;
    int         ndim;
    Py_ssize_t *dim, *stride;
    PyObject   *base, *dtype;
    int         flags;
} np_array;

enum { NP_C = 1, NP_F = 2, NP_OWN = 4, NP_ALIGNED = 0x100, NP_WRITE = 0x400 };

enum { PX_TINY = 4096 }; /* elements: a crossover below is for tests */

typedef struct px_state {
    PyTypeObject *ndarray, *generic;    /* NumPy's types; NULL: no program runs unchanged */
    PyTypeObject *face, *uface;         /* ours */
    PyObject     *dtype[TD_DTYPE_COUNT]; /* NumPy's singletons; NULL: NumPy has no such dtype */
    PyObject     *scalar[TD_DTYPE_COUNT]; /* NumPy's scalar types */
    int64_t       crossover;
    PyObject     *far;   /* treadle.unchanged._far, which C calls if there are more than a few arguments */
    PyObject     *note;  /* function(name, nbytes), told of fallbacks to NumPy; or NULL */
    /* function(name, elements, ns, array), told of NumPy's work on the host; NULL: nobody watches */
    PyObject     *watch;
    bool          timed; /* the program has read a clock: results that it drops unseen are computed anyway */
} px_state;

extern px_state px;

/* Depth of calls in which treadle works for the program in this thread: its own Python code then gets NumPy's
 * functions. */
extern _Thread_local int px_busy;

/* Is o a NumPy array, and not of a subclass? */
static inline bool
px_is_np(PyObject *o)
{
    return Py_IS_TYPE(o, px.ndarray);
}
static inline const np_array *
px_np(PyObject *o)
{
    TD_ASSERT(px_is_np(o));
    return (const np_array *)o;
}
/* Counts a choice's elements and takes them out (choice.c); ok on other blocks. */
td_status px_choice_settle(px_block *b);

static inline int64_t
px_size(PyObject *o)
{
    const np_array *a = px_np(o);
    int64_t n = 1;

    if (px_block_of(a->dim))
        (void)px_choice_settle(px_block_of(a->data));

    for (int i = 0; i < a->ndim; i++)
        n *= a->dim[i];
    return n;
}

/* ---- block.c: TD_ERR_NOMEM, and what evaluation fails with ---- */
/* open -> clean: d gets the value, with the memory as elements of dt, of that shape in C order */
td_status px_block_close(px_block *b, td_dev *d, td_dtype dt, const td_shape *shape);
td_status px_buf_new(td_dev *d, size_t nbytes, td_buf **out); /* td_buf_on_new's hook: results that blocks can take */
td_status px_block_fetch(px_block *b);   /* ahead -> clean */
td_status px_block_open(px_block *b);    /* -> open: the program may write */
/* Between begin and end treadle may write: the block is ahead, and other threads that access it wait. */
td_status px_write_begin(px_block *b);
void      px_write_end(px_block *b);
/* counts an access to a small part; were there so many that the block should be fetched? */
bool      px_block_wears(px_block *b);
void      px_block_end(px_block *b);     /* the array that it was made for was freed */

/* ---- choice.c ---- */
px_block *px_choice_of(PyObject *o);         /* o's block if o is a choice whose size is not known; else NULL */
PyObject *px_choice_new(PyObject *chosen);   /* an array for a choice of chosen.h (takes it) */
PyObject *px_choice_shown(PyObject *r);      /* as px_shown, also for choices */
void      px_choice_end(px_block *b);
/* Applies an elementwise operation to operands of which some are choices: f works on whole arrays; the result is
 * a choice. NULL without an exception: the choices have different masks, or f declined. */
PyObject *px_choice_apply(PyObject *(*f)(const void *how, PyObject *const *whole), const void *how, PyObject *const *o, int n);
/* replaces self's elements by value's, of the same dtype; false: it cannot */
bool      px_choice_replace(PyObject *self, PyObject *value);
/* a NumPy scalar; NULL without an exception: take the elements out first */
PyObject *px_choice_reduce(PyObject *o, const char *name);
PyObject *px_choice_get(PyObject *a, PyObject *mask);      /* NULL without an exception: not a case for choices */
/* 1: done; 0: not a case for choices; -1: exception */
int       px_choice_put(PyObject *a, PyObject *mask, PyObject *value);
bool      px_choice_init(void);

/* ---- fault.c ---- */
bool px_fault_watch(void); /* makes page faults come to us first; false: the system refuses */

/* ---- allocator.c ---- */
bool      px_numpy_init(void);          /* finds NumPy's C interface and replaces its allocator; false: raised */
/* an array over all of b, which it owns; on failure the caller keeps b */
PyObject *px_numpy_new(px_block *b, td_dtype dt, const td_view *v);

/* ---- lift.c: NumPy's arrays as treadle's and back ---- */
/* the td_dtype of a NumPy array; -1: treadle has no such dtype, or not that many axes */
int       px_dtype(PyObject *np);
/* Elements of a Python number, or of an array that is small and whose values are in the program's memory; 0: o is
 * something else. */
int64_t   px_small(PyObject *o);
/* Are these small operands of an operator whose result is small too, so that NumPy does the work?  A quick answer:
 * false proves nothing. */
bool      px_are_small(PyObject *x, PyObject *y);
bool      px_is_far(PyObject *o);      /* is it an array whose operations go to treadle: big, or not computed yet? */
/* Should treadle use o where its value is, ahead of the program's memory?  Where o is small, only a few times: then its
 * block is to come. */
bool      px_stays_ahead(PyObject *o);
bool      px_may_lift(PyObject *o);    /* may treadle take o as an operand? */
/* a NumPy array as treadle's, for reading: its current value; other objects as they are */
PyObject *px_lift(PyObject *o);
PyObject *px_lifted(PyObject *o);      /* the same inside lists and tuples too */
PyObject *px_target(PyObject *o);      /* a NumPy array as treadle's, for writing; None: NumPy must write */
void      px_written(PyObject *o, PyObject *target); /* call after writing to px_target's result (or NULL); takes it */
/* takes a result: treadle's array becomes NumPy's, in lists and tuples too; others as they are */
PyObject *px_shown(PyObject *r);
/* fetches arrays that NumPy is about to read, in lists and tuples too; false: exception */
bool      px_present(PyObject *o);
/* opens an array's memory for good, since others will use it by address; false: exception */
bool      px_export(PyObject *a);
int64_t   px_reach(PyObject *const *o, int n); /* size of the broadcast of arrays and numbers; -1: cannot tell */
bool      px_grows(PyObject *const *o, int n); /* are the operands small and the result big? */
/* has treadle raised an exception that NumPy should decide about?  If so, clears it */
bool      px_declined(void);
bool      px_note(const char *name, PyObject *o); /* counts a fallback to NumPy */
int64_t   px_clock(void);              /* the time in ns if somebody watches; else 0 */
/* the larger array of a and b; of two as large the one whose elements lie farther apart; a if neither is an array */
PyObject *px_telling(PyObject *a, PyObject *b);
/* returns r; reports NumPy's work on an array since the time `since`; 0: nobody watches */
PyObject *px_seen(PyObject *r, const char *name, PyObject *on, int64_t since);
PyObject *px_seen_of(PyObject *r, const char *name, int64_t n, PyObject *on, int64_t since); /* the same, of n elements of the array `on` */

/* ---- slots.c, scalar.c, subscript.c, method.c, face.c, setup.c ---- */
bool px_slots_init(void);     /* numpy.ndarray's operators; false: raised */
bool px_scalars_init(void);   /* those of NumPy's scalars; after px_slots_init */
bool px_subscript_init(void);
bool px_method_init(void);
bool px_face_init(PyObject *module);
bool px_module_init(PyObject *module);
bool px_loops_init(PyObject *m); /* loops.c */
/* The address of a slot's pointer in NumPy's type.  NULL with an exception: it is not where it has been since
 * Python 3.5. */
void **px_slot_at(PyTypeObject *t, int slot);
PyObject *px_vectorcall(PyObject *f, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
#endif
