/* unchanged.h - NumPy's arrays in programs that run unchanged.
 *
 * The program's arrays are numpy.ndarray itself.  The number, comparison and subscript slots of that type, some of its
 * methods and the functions of its module are replaced by ones that look at the operands: where all are small NumPy's own
 * run; big ones, of px.crossover elements and more, and those whose values are not there yet (PX_AHEAD) go to treadle, which
 * records.  A result is an array over a block without pages (arena.h): whoever touches its memory, the program, a
 * library, C code that knows nothing of this, gets the values then.
 * Everything runs with the GIL held.
 */
#ifndef TD_PYTHON_UNCHANGED_H
#define TD_PYTHON_UNCHANGED_H
#include "python/common/py.h"
#include "python/unchanged/arena.h"

/* NumPy's array as its C interface has laid it out since 1.7; setup.c compares it with an array's attributes before it
 * is relied on. */
typedef struct np_array {
    PyObject_HEAD
    char       *data;
    int         ndim;
    Py_ssize_t *dim, *stride;
    PyObject   *base, *dtype;
    int         flags;
} np_array;

enum { NP_C = 1, NP_F = 2, NP_OWN = 4, NP_ALIGNED = 0x100, NP_WRITE = 0x400 };

typedef struct px_state {
    PyTypeObject *ndarray, *generic;    /* NumPy's; NULL: no program is run unchanged */
    PyTypeObject *face, *uface;         /* ours */
    PyObject     *dtype[TD_DTYPE_COUNT]; /* NumPy's singletons; NULL: it has none */
    PyObject     *scalar[TD_DTYPE_COUNT]; /* NumPy's scalar types */
    int64_t       crossover;
    PyObject     *far;   /* treadle.unchanged._far, to which C leaves what has more than a few arguments */
    PyObject     *note;  /* function(name, nbytes) of fallbacks; or NULL */
    PyObject     *watch; /* function(name, elements, ns, array) of NumPy's work on the host; NULL: nobody watches */
    bool          timed; /* the program has read a clock: results that are dropped unseen are computed */
} px_state;

extern px_state px;

/* While treadle works for the program in this thread, what its own Python code asks NumPy for is NumPy's.  Calls nest. */
extern _Thread_local int px_busy;

/* Is o an array of NumPy's, of no subclass? */
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
/* The elements of a choice are counted and taken out (choice.c); ok on other blocks. */
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
td_status px_block_close(px_block *b, td_dev *d, td_dtype dt, const td_shape *shape); /* open -> clean: d gets the value, its memory as elements of dt, of that shape in C order */
td_status px_block_fetch(px_block *b);   /* ahead -> clean */
td_status px_block_open(px_block *b);    /* -> open: the program may write */
/* Between the two calls treadle may write: the block is ahead, and other threads that touch it wait. */
td_status px_write_begin(px_block *b);
void      px_write_end(px_block *b);
void      px_block_end(px_block *b);     /* the array that it was made for has gone */

/* ---- choice.c ---- */
px_block *px_choice_of(PyObject *o);         /* o's block, if o is a choice whose size is not known; else NULL */
PyObject *px_choice_new(PyObject *chosen);   /* takes over what chosen.h keeps: an array */
PyObject *px_choice_shown(PyObject *r);      /* px_shown, and of what chosen.h keeps */
void      px_choice_end(px_block *b);
/* An operation that takes elements one by one, on operands of which some are choices: f of whole arrays, as chosen.h keeps it.
 * NULL without an exception: they have several masks, or f has declined. */
PyObject *px_choice_apply(PyObject *(*f)(const void *how, PyObject *const *whole), const void *how, PyObject *const *o, int n);
bool      px_choice_replace(PyObject *self, PyObject *value); /* self's elements become value's, of its dtype; false: not so */
PyObject *px_choice_reduce(PyObject *o, const char *name); /* NumPy's scalar; NULL without an exception: take the elements out */
PyObject *px_choice_get(PyObject *a, PyObject *mask);      /* NULL without an exception: it is not that simple */
int       px_choice_put(PyObject *a, PyObject *mask, PyObject *value); /* 1; 0: it is not that simple; -1 */
bool      px_choice_init(void);

/* ---- fault.c ---- */
bool px_fault_watch(void); /* page faults come to us first from now on; false: the system refuses */

/* ---- numpyapi.c ---- */
bool      px_numpy_init(PyObject *np);  /* finds NumPy's C interface and replaces its allocator; false: raised */
PyObject *px_numpy_new(px_block *b, td_dtype dt, const td_view *v); /* an array over the whole of b, which it owns; on failure b is the caller's */

/* ---- lift.c: NumPy's arrays as treadle's and back ---- */
int       px_dtype(PyObject *np);      /* the td_dtype of an array of NumPy's; -1: treadle has none, or not as many axes */
bool      px_is_far(PyObject *o);      /* an array that an operation leaves to treadle: big, or not computed yet */
bool      px_may_lift(PyObject *o);    /* is o an operand that treadle may take? */
PyObject *px_lift(PyObject *o);        /* NumPy's array as treadle's, for reading: its value now; others as they are */
PyObject *px_lifted(PyObject *o);      /* the same in lists and tuples too */
PyObject *px_target(PyObject *o);      /* NumPy's array as treadle's, for writing; None: that cannot be, NumPy writes */
void      px_written(PyObject *o, PyObject *target); /* what px_target gave (or NULL) has been written; takes it over */
PyObject *px_shown(PyObject *r);       /* takes over a result: treadle's array becomes NumPy's; others as they are, lists and tuples too */
bool      px_present(PyObject *o);     /* fetches what NumPy is about to read, in lists and tuples too; false: raised */
bool      px_export(PyObject *a);      /* opens the memory of NumPy's array for good: others use it by its address; false: raised */
int64_t   px_reach(PyObject *const *o, int n); /* size of the broadcast of arrays and numbers; -1: not ours */
bool      px_grows(PyObject *const *o, int n); /* small operands whose result is big */
bool      px_declined(void);           /* has treadle raised what NumPy should decide about?  Then it is cleared */
bool      px_note(const char *name, PyObject *o); /* counts a fallback */
int64_t   px_clock(void);              /* now, in ns, where somebody watches; else 0 */
PyObject *px_seen(PyObject *r, const char *name, PyObject *on, int64_t since); /* r; tells of NumPy's work on an array; since 0: nobody watches */
PyObject *px_seen_of(PyObject *r, const char *name, int64_t n, PyObject *on, int64_t since); /* the same, of n elements of the array `on` */

/* ---- slots.c, subscript.c, method.c, face.c, setup.c ---- */
bool px_slots_init(void);     /* numpy.ndarray's operators; false: raised */
bool px_subscript_init(void);
bool px_method_init(void);
bool px_face_init(PyObject *module);
bool px_loops_init(PyObject *m); /* loops.c */
/* Where a slot's pointer stands in NumPy's type; NULL with an exception: not where it has stood since Python 3.5. */
void **px_slot_at(PyTypeObject *t, int slot);
PyObject *px_vectorcall(PyObject *f, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
#endif
