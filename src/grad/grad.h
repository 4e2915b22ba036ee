/* grad.h - derivatives over the lazy graph: variables, what was done to them, backward passes.
 *
 * A variable (td_var) is an array with a history: the function (td_gradfn) that made it, or none: a leaf.
 * A function knows how gradients of its outputs become gradients of its inputs (td_rule), the edges along
 * which they go on, and the values that it saved.  Backward rules are written with the operations below,
 * so a backward pass is an ordinary recording: lazy, fused, and differentiable where `graph` is asked for.
 *
 * Owners.  A function holds its inputs' functions (or leaves), never its own outputs; what it saves it holds without
 * their history (td_var_twin), so nothing here refers to itself in a circle.  What a program hangs on
 * (hooks, functions of its own) are td_hooks, held by one owner each; td_var_visit shows them to a collector as far
 * as that variable alone holds them.  Chains of a million functions are freed and walked in loops.
 *
 * Threads.  The caller's lock of the graph (under Python the GIL) guards all of this; whether operations
 * are recorded is each thread's own (td_grad_mode).
 *
 * All makers give an owned variable in *out, which is untouched on failure.
 */
#ifndef TD_GRAD_GRAD_H
#define TD_GRAD_GRAD_H
#include "array/graph/array.h"

typedef struct td_var td_var;
typedef struct td_gradfn  td_gradfn;

/* Where a gradient goes: to fn's output `out`, or to a leaf; with neither nowhere. */
typedef struct td_edge {
    td_gradfn   *fn;
    td_var  *leaf;
    uint32_t out;
} td_edge;

/* td_hook - something of a program's that is called in a backward pass.  Its owner frees it. */
typedef struct td_hook {
    struct td_hook *next;
    /* Before a gradient is used; it may exchange *g (owned).  NULL: `after`. */
    td_status (*before)(struct td_hook *h, td_var **g);
    td_status (*after)(struct td_hook *h, td_var *v); /* once v's gradient has been accumulated */
    void (*free)(struct td_hook *h);
    void    *object;  /* the program's, or the variable that retains */
    bool     visited; /* object is one that collectors want to see */
    uint32_t out;     /* of a function: which output it is about */
} td_hook;

/* td_var - refcounted.  value and history change where it is written in place. */
struct td_var {
    int32_t  refs;
    bool     requires_grad; /* asked for; of a variable with fn always true */
    bool     retain;        /* has fn, and wants grad as well */
    bool     busy;          /* a thread adds to grad */
    uint32_t out;           /* which of fn's outputs it is */
    uint32_t seen;          /* a view: the storage's version that fn belongs to */
    td_array value;
    td_gradfn   *fn;
    td_var  *base; /* what it is a view of, never a view itself */
    td_var  *grad; /* NULL: none yet */
    td_var  *twin; /* the same storage without history, made when it is saved */
    td_hook *hooks; /* a leaf's */
    void    *self;  /* the program's object for it, borrowed */
};

/* What a rule is given: gradients g of fn's outputs (NULL: none came), and in[] to fill, NULL for those not wanted. */
typedef struct td_back {
    td_gradfn         *fn;
    td_var *const *g;
    td_var       **in;
    uint64_t       want; /* a bit an input; beyond 63 all are wanted */
    bool           graph;
} td_back;

typedef struct td_rule {
    const char *name; /* as PyTorch calls it, without "Backward0" */
    td_status (*back)(const td_back *b);
    void (*free)(td_gradfn *f);   /* of what par holds; NULL: nothing */
    void (*let_go)(td_gradfn *f); /* of what par has saved, after a pass; NULL: nothing */
} td_rule;

enum { TD_SAVED_NONE = -2, TD_SAVED_RESULT = -1 }; /* else the input whose value was saved */

/* td_gradfn - refcounted; one allocation with its arrays and the rule's parameters. */
struct td_gradfn {
    int32_t        refs;
    uint16_t       nin, nout, nsaved;
    uint64_t       seq;   /* later functions have larger ones: an order that no edge goes against */
    const td_rule *rule;
    td_edge       *in;
    td_var       **saved; /* NULL once a pass has let go of them */
    uint32_t      *version; /* of each, when it was saved */
    int16_t       *from;
    void          *par;
    td_hook       *hooks;  /* on the gradients of its outputs */
    void          *object; /* a program's object that it holds (a custom function's context) */
    void          *self;   /* the program's object for it, borrowed */
    td_gradfn         *dead;
};

/* ---- modes ---- */
bool td_grad_mode(void);
bool td_grad_set_mode(bool on); /* of this thread; returns what it was */

/* ---- variables ---- */
td_status td_var_new(td_array *a, td_var **out); /* takes over a, also on failure */
td_var   *td_var_ref(td_var *v);
void      td_var_unref(td_var *v); /* ok on NULL */
td_status td_var_detach(td_var *v, td_var **out);
bool      td_var_tracked(const td_var *v); /* does it require a gradient? */
td_status td_var_edge(td_var *v, td_edge *out); /* owned; views' histories are brought up to date */
void      td_edge_drop(td_edge *e);
static inline bool td_edge_live(const td_edge *e) { return e->fn || e->leaf; }
td_status td_var_retain(td_var *v); /* keep the gradient although it is no leaf */
void      td_hook_add(td_hook **list, td_hook *h); /* behind the others; the list owns it */
bool      td_hook_drop(td_hook **list, td_hook *h); /* frees it; false: it is not there any more */
td_status td_var_require(td_var *v, bool on); /* TD_ERR_STATE: not a leaf, or not of floats */
/* a, on v's storage (else no view), as what f made of v (f NULL: no history): takes over both, also on failure. */
td_status td_var_view(td_var *v, td_gradfn *f, td_array *a, td_var **out);
void      td_var_visit(td_var *v, int (*visit)(void *object, void *ctx), void *ctx, int *result);

/* ---- functions: for those who write rules ---- */
/* Is what x goes into to be recorded? */
bool      td_grad_wanted(td_var *const *x, int n);
td_status td_gradfn_new(const td_rule *r, td_var *const *x, int nin, int nout, int nsaved, size_t npar, td_gradfn **out);
td_status td_gradfn_save(td_gradfn *f, int k, td_var *v, int from);
void      td_gradfn_unref(td_gradfn *f);
td_gradfn    *td_gradfn_ref(td_gradfn *f);
void      td_gradfn_let_go(td_gradfn *f); /* of what was saved */
/* The value that was saved, with its history if b->graph: owned.  TD_ERR_STATE: written over, or let go of. */
td_status td_gradfn_saved(const td_back *b, int k, td_var **out);
/* a, the result, as a variable that f made (f NULL: none): takes over both, also on failure. */
td_status td_gradfn_result(td_gradfn *f, td_array *a, uint32_t out_number, td_var **out);
static inline bool td_back_wants(const td_back *b, int i) { return i > 63 || (b->want >> i & 1); }

/* ---- operations ---- */
/* An operand: a variable or a number, which takes the dtype of the variables unless they are of a lesser kind. */
typedef struct td_varop {
    td_var   *v; /* NULL: scalar */
    td_scalar scalar;
    char      weak;
} td_varop;

/* PyTorch's promotion among operands: dimensioned ones, then those of no axes, then numbers. */
td_dtype  td_var_promote(const td_varop *x, int n);
td_dtype  td_grad_default(void); /* the float dtype of what has none of its own; float32 */
void      td_grad_set_default(td_dtype dt);
td_status td_var_apply(td_op op, const td_varop *x, int n, td_var **out);
td_status td_var_cast(td_var *v, td_dtype dt, td_var **out); /* v itself where nothing changes */
td_status td_var_copy(td_var *v, td_var **out);
td_status td_var_reduce(td_red red, td_var *v, const td_redargs *g, td_var **out);
td_status td_var_reshape(td_var *v, const td_shape *s, td_var **out); /* one extent may be -1; a view where it can be */
td_status td_var_transpose(td_var *v, const int *axes, td_var **out);
td_status td_var_expand(td_var *v, const td_shape *s, td_var **out);
/* The window w on v's storage, which is `dense` were v contiguous from 0: a subscript of integers and slices. */
td_status td_var_slice(td_var *v, const td_view *w, const td_view *dense, td_var **out);
td_status td_var_strided(td_var *v, const td_view *w, td_var **out); /* any window on v's storage */
td_status td_var_matmul(td_var *x, td_var *y, td_var **out);
/* Index arrays are saved: `index` are the variables whose values p->index points to. */
td_status td_var_pick(td_var *v, const td_pick *p, td_var *const *index, td_var **out);
/* v with value (broadcast, cast) in the places, or added to them, as a new variable. */
td_status td_var_put(td_var *v, const td_pick *p, td_var *const *index, td_var *value, bool add, td_var **out);
/* Elements along an axis, one for each of index, int64 and of v's rank: PyTorch's gather, and the adjoint's kin. */
td_status td_var_gather(td_var *v, int axis, td_var *index, bool trusted, td_var **out);
td_status td_var_scatter(td_var *v, int axis, td_var *index, td_var *value, bool add, td_var **out);
td_status td_var_join(td_var *const *v, int n, int axis, td_var **out); /* one dtype, one device */
td_status td_var_cumulate(td_red red, td_var *v, int axis, td_var **out); /* derivatives: sum, prod */
td_status td_var_flip(td_var *v, uint32_t axes, td_var **out); /* a view */
td_status td_var_to_device(td_var *v, td_dev *d, td_var **out); /* v itself where nothing changes */
/* outputs become what `run` makes gradients for: its gradients are in[] of b, NULL for none.  Takes over object (`end`
 * frees it), also on failure; out[] gets nout variables on the outputs' storages. */
typedef struct td_custom {
    void *object;
    td_status (*run)(void *object, const td_back *b);
    void (*end)(void *object);
} td_custom;
td_status td_var_custom(const td_custom *c, const char *name, td_var *const *in, int nin, td_var *const *output, int nout,
                        td_var **out);
td_status td_var_sum_to(td_var *v, const td_shape *s, td_var **out); /* what expand to v's shape is the adjoint of */

/* ---- writing: v's storage changes, and so does the history of v and of what it is a view of ---- */
td_status td_var_store(td_var *v, const td_varop *value); /* v[...] = value, broadcast and cast */
td_status td_var_apply_into(td_op op, const td_varop *x, int n, td_var *v); /* x[0] is v as a rule */
/* td_var_put into v itself; TD_SKIP where that is recorded: put, then store. */
td_status td_var_put_into(td_var *v, const td_pick *p, td_var *const *index, td_var *value, bool add);
td_status td_var_set(td_var *v, td_array *a); /* v is a from now on, its history and gradient stay: takes over a */
void      td_var_forget(td_var *v); /* its history and hooks: a collector's clearing */

/* ---- backward passes ---- */
typedef struct td_pass {
    td_var *const *root; /* nroot variables and their gradients (NULL: 1, of a single element) */
    td_var *const *grad;
    int      nroot;
    td_var *const *input; /* NULL: all leaves.  Else these alone, */
    int      ninput;
    td_var **found;       /* into found[] (owned; NULL: not reached), or, found being NULL, into their grad */
    bool     retain, graph;
    /* Called with each gradient that a function makes for its k-th input; NULL: nothing is checked. */
    td_status (*check)(td_gradfn *f, int k, td_var *g);
} td_pass;

td_status td_grad_run(const td_pass *p);
uint64_t  td_grad_serial(void); /* the number of the youngest function */
/* The leaves (a new list of owned ones) that the roots were made of by functions younger than `since`; *beyond: older ones
 * had a part too.  TD_ERR_STATE: a root has no history. */
td_status td_grad_reach(td_var *const *root, int n, uint64_t since, td_var ***leaves, int *nleaves, bool *beyond);

#endif
