/* front.h - from a Python function's syntax tree to the IR of one thread.
 *
 * The caller flattens the tree (syntax.h) and answers questions about Python objects (td_host).  The front infers
 * types by walking the tree with the arguments' types until nothing changes; the last walk's instructions are kept.
 * Calls of other Python functions are inlined.  Nothing here knows devices or LLVM: an error in a user's function
 * is reported in its own words, with file, line and the line's text.  Not thread-safe: callers hold one lock (under
 * Python: the GIL).
 */
#ifndef TD_FRONT_FRONT_H
#define TD_FRONT_FRONT_H
#include "front/infer/parloops.h"
#include "front/infer/type.h"
#include "ir/core/ir.h"

/* ---- what the caller knows about Python objects ---- */

typedef enum td_objkind {
    TD_OBJ_OTHER,     /* nothing a kernel can use but its attributes; `text` is its repr, shortened */
    TD_OBJ_NONE,
    TD_OBJ_BOOL,      /* num */
    TD_OBJ_INT,       /* num; beyond int64 and uint64: OTHER */
    TD_OBJ_FLOAT,
    TD_OBJ_COMPLEX,
    TD_OBJ_NUMBER,    /* a NumPy scalar: num with its dtype */
    TD_OBJ_STR,       /* text */
    TD_OBJ_TUPLE,     /* item[n], handles; of a named one `object` is its class and `text` that one's name */
    TD_OBJ_NAMED,     /* a class of named tuples: item[n], its fields' names; text */
    TD_OBJ_ARRAY,     /* type: an array that becomes a hidden argument */
    TD_OBJ_TYPE,      /* a dtype, a class of numbers, a type of treadle.types: type */
    TD_OBJ_INTRINSIC, /* number: a row of intrinsic.def */
    TD_OBJ_FUNCTION,  /* source */
    TD_OBJ_EXCEPTION, /* an exception class; text is its name */
    TD_OBJ_ELLIPSIS,
    TD_OBJ_SLICE,     /* item[3], handles: start, stop, step */
    TD_OBJ_RECORD,    /* a NumPy void scalar: type; not a constant yet */
} td_objkind;

struct td_source;

typedef struct td_objinfo {
    td_objkind  kind;
    td_scalar   num;
    const char *text;   /* borrowed until the front returns */
    const uint32_t *item;
    uint32_t    n, object;
    const td_type *type;
    int         number;
    bool        member;   /* NAMED: an enum, whose members stand as tuples of their value */
    bool        stand_in; /* FUNCTION: it stands for a library's, whose numbers it gives */
    const struct td_source *source;
    char        division; /* FUNCTION, when b is 0, a / b …: 'r' raises, 'n' gives what NumPy gives, 0: as in its caller */
} td_objinfo;

/* td_host - questions to the host.  Objects are handles, small numbers from 1 on that the host gives out; one
 * object has one handle. */
typedef struct td_host {
    void *ctx;
    /* A free name of a function: its closure, globals, builtins.  TD_ERR_VALUE: not defined. */
    td_status (*name)(void *ctx, const struct td_source *s, uint32_t name, uint32_t *obj);
    td_status (*attr)(void *ctx, uint32_t obj, const char *name, uint32_t *out); /* TD_ERR_VALUE: none */
    /* The Python function that exact functions call in place of obj.  TD_ERR_VALUE: there is none. */
    td_status (*spelled)(void *ctx, uint32_t obj, uint32_t *out);
    /* The Python function that stands for an array's method or index, by name.  TD_ERR_VALUE: there is none. */
    td_status (*stand_in)(void *ctx, const char *name, uint32_t *out);
    /* NULL: nothing does so.  The Python function that stands for obj called with arguments of these types, the last nkw by names.  TD_SKIP: there
     * is none, obj is called itself. */
    td_status (*overload)(void *ctx, uint32_t obj, const td_type *const *type, uint32_t n, const char *const *kw, uint32_t nkw,
                          uint32_t *out);
    td_status (*describe)(void *ctx, uint32_t obj, td_objinfo *out);
    td_status (*dtype)(void *ctx, const td_type *t, uint32_t *out); /* the object that a.dtype is */
    /* What to do in place of a call of an object that cannot be compiled.  NULL: nobody knows. */
    const char *(*advice)(void *ctx, uint32_t obj);
} td_host;

/* ---- a function ---- */

typedef struct td_signature {
    const td_type **type; /* of the arguments */
    uint32_t        narg;
    const td_type  *result; /* NULL: inferred */
} td_signature;

typedef struct td_source {
    const char     *name, *file;
    const char     *text;  /* the lines of the function, for errors; NULL: not known */
    uint32_t        line;  /* of text's first */
    const uint32_t *tree;  /* syntax.h */
    uint32_t        ntree;
    uint32_t        root;  /* the FunctionDef's or Lambda's place in tree */
    const char *const *names; /* identifiers by number */
    uint32_t        nnames;
    const uint32_t *defaults; /* handles of the last ndefault positional parameters' */
    uint32_t        ndefault;
    const uint32_t *kwdefaults; /* of keyword-only parameters; 0: none */
    uint32_t        nkwdefault;
    bool            device; /* may only be called from kernels */
    const td_signature *signature; /* nsignature that were declared: numbers are converted to theirs */
    uint32_t        nsignature;
    const char *const *declared; /* ndeclared names of variables that have a type from the first assignment on */
    const td_type *const *declared_type;
    uint32_t        ndeclared;
    uint32_t        object; /* its own handle */
} td_source;

/* ---- compiling ---- */

typedef enum td_mode {
    TD_MODE_KERNEL,   /* one thread of a grid; returns nothing */
    TD_MODE_FUNCTION, /* an ordinary function: one thread; its result goes to memory (td_made.result) */
    TD_MODE_ELEMENT,  /* a scalar function over elements, for vectorize: result as FUNCTION's */
} td_mode;

/* Most bytes of a GPU thread's stack for recursive functions; a launch must provide them in addition. */
enum { TD_GPU_STACK = 16 << 10 };

typedef struct td_compile {
    td_mode mode;
    bool    debug;    /* index checks, and what else costs */
    bool    watched;  /* the interpreter runs it and checks: lines and names are kept, breakpoint() stops */
    bool    fma;      /* products and sums contract */
    bool    fast;     /* fastmath */
    bool    checked;  /* division by zero raises (Numba's error_model="python"; kernels: debug=True) */
    bool    parallel; /* FUNCTION: loops of independent iterations run on all cores, or over a whole GPU */
    bool    overlap;  /* FUNCTION: arrays of different arguments may share memory */
    bool    prange;   /* loops over prange too, even if they are not known to be independent */
    bool    gpu;      /* the target */
    bool    alone;    /* the code is for a file: there is no runtime but what `treadle.build` adds */
    bool    lines;    /* of a GPU's code: it tells which lines it is of */
    bool    by_parts; /* exact functions: a real and a complex number are combined by parts, as from Python 3.14 on */
    int64_t frames;   /* exact functions: deeper calls are left to Python */
    bool    plain;    /* loops stay as written: nothing is unrolled or vectorised */
    bool    numba;    /* numbers meet in the types that Numba gives them: Python's are int64 and float64, integers at least 64 bits */
    bool    numbered; /* all checks of indices have a number for ranges.c; else those of exact functions */
    bool    marked;   /* these checks are marked with it */
    const uint8_t *verdict; /* of check i: TD_CHECK_…, as said by ranges.c of the marked function; NULL: all are open */
    uint32_t threads, registers; /* most threads of a block, bounds; 0: not said */
} td_compile;

/* What follows the arguments' words. */
typedef enum td_hiddenkind {
    TD_HIDDEN_MAILBOX, /* address: report.h */
    TD_HIDDEN_GRID,    /* address of 2 zero words, for grid.sync() */
    TD_HIDDEN_SHARED,  /* no address: how many bytes of dynamic shared memory the launch gives */
    TD_HIDDEN_ARRAY,   /* the words of array object `object` */
    TD_HIDDEN_RESULT,  /* address of td_made.result_bytes bytes */
    TD_HIDDEN_PORT,    /* address that breakpoints store to: td_check.port in ir/interp/interp.h */
    TD_HIDDEN_PARTIALS, /* address of td_made.partials times 16 bytes for each block of the grid */
    TD_HIDDEN_DRAWS,    /* address of the calling thread's random state: base/draws.h */
    TD_HIDDEN_CALLMEM,    /* address of a td_callmem, for the arrays that a function makes: base/callmem.h */
} td_hiddenkind;

typedef struct td_hidden {
    td_hiddenkind kind;
    uint32_t      object;
    const td_type *type;
} td_hidden;

typedef struct td_site { /* a place in the program that reports: raise, assert, print, a check */
    uint32_t    kind;     /* report.h */
    uint32_t    object;   /* exception class; 0: the kind's own */
    const char *text;     /* message; or print's pieces */
    const char *file, *function;
    uint32_t    line;
    const td_type *const *arg; /* of the values that travel */
    uint32_t    narg;
} td_site;

typedef struct td_made {
    td_fn          fn;      /* finished; in the caller's arena, like all below */
    td_hidden     *hidden;
    uint32_t       nhidden;
    td_site       *site;    /* a report's number is its index + 1 */
    uint32_t       nsite;
    const td_type *result;  /* FUNCTION, ELEMENT */
    uint32_t       result_bytes;
    uint64_t       written; /* bit i: argument i is, or contains, an array that may be written */
    uint64_t       read;
    uint32_t       nindex;  /* numbered checks of indices, those that are left out too */
    bool           cooperative; /* grid.sync() */
    bool           barrier, warp;
    uint32_t       shared;  /* static shared memory, bytes */
    uint64_t       dynamic; /* dynamic shared memory, bytes that a launch must give at the least */
    bool           sized;   /* which is all that is used: other parts' sizes are known to a launch only */
    uint32_t       spread;  /* FUNCTION on a GPU: axes of the grid that its loops are parallelised over, 0..2 */
    td_parloops     loops;  /* the iteration counts of those loops */
    uint32_t       partials; /* of TD_HIDDEN_PARTIALS, for each block */
    bool           apart;   /* valid only if no array that is written overlaps another argument */
    const char    *notes;   /* for explain: what became of each loop, one line each; NULL: none */
} td_made;

/* Errors: TD_ERR_TYPE, TD_ERR_VALUE…; the text is a paragraph for the user. */
td_status td_front(const td_source *s, const td_host *host, const td_type *const *arg, uint32_t narg,
                   const td_compile *how, td_arena *mem, td_made *out);

/* The names of intrinsics ("math.sin", "cuda.grid"): number -> space-separated Python names; NULL beyond the last. */
const char *td_intrinsic(int number);
/* "function", "value", "pure" or "elementwise"; *signature: typed.def's, NULL for others. */
const char *td_intrinsic_how(int number, const char **signature);
int td_intrinsic_op(const char *ufunc); /* the row of ops.def that numpy.<ufunc> is, a td_op; -1: none */

#endif
