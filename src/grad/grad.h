/* grad.h - derivatives over the lazy graph: variables, their histories, backward passes.
 *
 * A variable (td_var) is an array with a history: the function (td_gradfn) that made it, or none for a leaf.  A
 * function has a rule that turns gradients of its outputs into gradients of its inputs (td_rule), the edges along
 * which these go on, and the values that it saved.  Backward rules use the operations below, so a backward pass is
 * recorded like any other code: lazy, fused, and differentiable if `graph` is set.
 *
 * Owners.  A function holds its inputs' functions (or leaves), never its own outputs.  What it saves it holds
 * without history (td_var_twin), so there are no reference cycles here.  A program's hooks and functions are
 * td_hooks with one owner each; td_var_visit shows them to a garbage collector if only that variable holds them.
 * Chains of a million functions are freed and walked in loops.
 *
 * Threads.  The caller's lock of the graph (under Python the GIL) guards all of this.  Whether operations are
 * recorded is set for each thread (td_grad_mode).
 *
 * All makers return an owned variable in *out, which is untouched on failure.
 */
#ifndef TD_GRAD_GRAD_H
#define TD_GRAD_GRAD_H
#include "array/graph/array.h"

typedef struct td_var td_var;
typedef struct td_gradfn  td_gradfn;

/* td_edge - where a gradient goes: to fn's output `out`, or to a leaf; with neither it is dropped. */
typedef struct td_edge {
    td_gradfn   *fn;
    td_var  *leaf;
    uint32_t out;
} td_edge;

/* td_hook - a program's function that a backward pass calls.  Its owner frees it. */
typedef struct td_hook {
    struct td_hook *next;
    /* called before a gradient is used; may replace *g (owned).  NULL: see `after`. */
    td_status (*before)(struct td_hook *h, td_var **g);
    td_status (*after)(struct td_hook *h, td_var *v); /* called after v's gradient was accumulated */
    void (*free)(struct td_hook *h);
    void    *object;  /* the program's object, or the variable that retains its gradient */
    bool     visited; /* a garbage collector must see `object` */
    uint32_t out;     /* for a function's hook: the output it concerns */
} td_hook;

enum { TD_GRAD_OWN = -1, TD_GRAD_ANY = -2 }; /* the dtype of a gradient: the variable's, or whatever comes */

/* td_var - refcounted.  A write in place changes value and history. */
struct td_var {
    int32_t  refs;
    bool     requires_grad; /* set by the program; always true for a variable with fn */
    bool     retain;        /* has fn, and wants grad as well */
    bool     busy;          /* a thread is adding to grad */
    bool     apart;         /* a tensor's `data`, or a view of it: other variables do not know of its writes */
    bool     inference;     /* its storage was made in inference mode: no function may save it */
    int16_t  grad_dtype;    /* that grad must have, or TD_GRAD_OWN or TD_GRAD_ANY */
    uint32_t out;           /* which of fn's outputs it is */
    uint32_t seen;          /* for a view: the storage's version when fn was set */
    td_array value;
    td_gradfn   *fn;
    td_var  *base; /* the variable that it is a view of, which is not a view itself */
    td_var  *grad; /* NULL: none yet */
    td_var  *twin; /* the same storage without history, made when it is saved */
    td_hook *hooks; /* a leaf's */
    void    *self;  /* the program's object for it; borrowed */
};

/* td_back - the input of a rule: the gradients g of fn's outputs (NULL: none came); and in[], which it fills,
 * NULL for inputs that are not wanted. */
typedef struct td_back {
    td_gradfn         *fn;
    td_var *const *g;
    td_var       **in;
    uint64_t       want; /* one bit per input; inputs beyond 63 are always wanted */
    bool           graph;
} td_back;

typedef struct td_rule {
    const char *name; /* as PyTorch calls it, without "Backward0" */
    td_status (*back)(const td_back *b);
    void (*free)(td_gradfn *f);   /* frees what par holds; NULL: nothing */
    void (*let_go)(td_gradfn *f); /* frees what par has saved, after a pass; NULL: nothing */
} td_rule;

enum { TD_SAVED_NONE = -2, TD_SAVED_RESULT = -1 }; /* otherwise the index of the input whose value was saved */

/* td_gradfn - refcounted; one allocation with its arrays and the rule's parameters. */
struct td_gradfn {
    int32_t        refs;
    uint16_t       nin, nout, nsaved;
    bool           spent; /* a pass has freed what it saved */
    uint64_t       seq;   /* increases with each function; every edge leads to a smaller one */
    const td_rule *rule;
    td_edge       *in;
    td_var       **saved; /* NULL once a pass has freed them */
    uint32_t      *version; /* version of each saved value's storage */
    int16_t       *from;
    void          *par;
    td_hook       *hooks;  /* on the gradients of its outputs */
    void          *object; /* a program's object that it holds: a custom function's context */
    void          *self;   /* the program's object for it; borrowed */
    td_gradfn         *dead;
};

/* ---- modes, of each thread; the setters return what the mode was ---- */
bool td_grad_mode(void);    /* are operations recorded? */
bool td_grad_enabled(void); /* has the program asked for that?  In inference mode nothing is recorded all the same. */
bool td_grad_set_mode(bool on);
bool td_grad_inference(void);
bool td_grad_set_inference(bool on);

/* ---- variables ---- */
td_status td_var_new(td_array *a, td_var **out); /* takes over a, also on failure */
td_var   *td_var_ref(td_var *v);
void      td_var_unref(td_var *v); /* ok on NULL */
td_status td_var_detach(td_var *v, td_var **out);
/* How often the storage was written to, as far as v knows. */
static inline uint32_t td_var_version(const td_var *v)
{
    return v->value.store->version - (v->apart ? 0 : v->value.store->aside);
}
/* v has been written to; `before` is its storage's version before that. */
static inline void td_var_wrote(td_var *v, uint32_t before)
{
    if (v->apart)
        v->value.store->aside += v->value.store->version - before;
}
bool      td_var_tracked(const td_var *v); /* does it require a gradient? */
td_status td_var_edge(td_var *v, td_edge *out); /* owned; updates the history of a view first */
void      td_edge_drop(td_edge *e);
static inline bool td_edge_live(const td_edge *e) { return e->fn || e->leaf; }
/* v becomes `view`, a view of it made by an operation: its shape, strides and history change in place. */
void      td_var_become(td_var *v, const td_var *view);
td_status td_var_retain(td_var *v); /* keeps the gradient of a variable that is not a leaf */
void      td_hook_add(td_hook **list, td_hook *h); /* appends h; the list owns it */
bool      td_hook_drop(td_hook **list, td_hook *h); /* frees it; false: it is not in the list any more */
td_status td_var_require(td_var *v, bool on); /* TD_ERR_STATE: not a leaf, not of floats, or of inference mode */
td_status td_var_savable(const td_var *v);    /* TD_ERR_STATE: it was made in inference mode */
/* Makes a variable of a.  If a shares v's storage it is a view of v, made by f (NULL: no history).  Takes a and
 * f, also on failure. */
td_status td_var_view(td_var *v, td_gradfn *f, td_array *a, td_var **out);
void      td_var_visit(td_var *v, int (*visit)(void *object, void *ctx), void *ctx, int *result);

/* ---- functions: for those who write rules ---- */
/* Must an operation on x be recorded? */
bool      td_grad_wanted(td_var *const *x, int n);
td_status td_gradfn_new(const td_rule *r, td_var *const *x, int nin, int nout, int nsaved, size_t npar, td_gradfn **out);
td_status td_gradfn_save(td_gradfn *f, int k, td_var *v, int from);
void      td_gradfn_unref(td_gradfn *f);
td_gradfn    *td_gradfn_ref(td_gradfn *f);
void      td_gradfn_let_go(td_gradfn *f); /* frees what it saved */
/* TD_ERR_STATE, with PyTorch's words, if a pass has freed what f saved. */
td_status td_gradfn_check_spent(const td_gradfn *f);
/* The k-th saved value, owned, with its history if b->graph.  TD_ERR_STATE: it was overwritten or freed. */
td_status td_gradfn_saved(const td_back *b, int k, td_var **out);
/* Makes the result a variable of f's output (f NULL: no history).  Takes both, also on failure. */
td_status td_gradfn_result(td_gradfn *f, td_array *a, uint32_t out_number, td_var **out);
static inline bool td_back_wants(const td_back *b, int i) { return i > 63 || (b->want >> i & 1); }

/* ---- operations ---- */
/* td_varop - an operand: a variable, or a number, which takes the variables' dtype unless its kind is higher. */
typedef struct td_varop {
    td_var   *v; /* NULL: scalar */
    td_scalar scalar;
    char      weak;
} td_varop;

/* PyTorch's promotion: operands with dimensions come first, then those without axes, then numbers. */
td_dtype  td_var_promote(const td_varop *x, int n);
const char *td_grad_word(td_dtype dt); /* PyTorch's word for it in errors: Float, Long, ComplexDouble */
td_dtype  td_grad_default(void); /* the float dtype of values without one: float32 at first */
void      td_grad_set_default(td_dtype dt);
td_status td_var_apply(td_op op, const td_varop *x, int n, td_var **out);
td_status td_var_cast(td_var *v, td_dtype dt, td_var **out); /* v itself where nothing changes */
td_status td_var_copy(td_var *v, td_var **out); /* in C order */
td_status td_var_clone(td_var *v, td_var **out); /* in v's layout without gaps, as a cast is too */
/* v laid out as PyTorch lays the result of an elementwise operation on like[] out, at most 4, or a copy of the only
 * one; v itself where nothing moves. */
td_status td_var_laid(td_var *v, td_var *const *like, int n, td_var **out);
td_status td_var_reduce(td_red red, td_var *v, const td_redargs *g, td_var **out);
td_status td_var_reshape(td_var *v, const td_shape *s, td_var **out); /* one extent may be -1; a view where it can be */
td_status td_var_transpose(td_var *v, const int *axes, td_var **out);
td_status td_var_expand(td_var *v, const td_shape *s, td_var **out);
/* The view w of v's storage, for a subscript of integers and slices.  dense: the same view if v were contiguous
 * from 0. */
td_status td_var_slice(td_var *v, const td_view *w, const td_view *dense, td_var **out);
td_status td_var_strided(td_var *v, const td_view *w, td_var **out); /* any window on v's storage */
td_status td_var_matmul(td_var *x, td_var *y, td_var **out);
/* Picks by index arrays, which are saved; `index`: the variables whose values p->index points to. */
td_status td_var_pick(td_var *v, const td_pick *p, td_var *const *index, td_var **out);
/* v with value (broadcast, cast) written or added at the picked places, as a new variable. */
td_status td_var_put(td_var *v, const td_pick *p, td_var *const *index, td_var *value, bool add, td_var **out);
/* Elements along an axis, one for each element of index, int64 and of v's rank: PyTorch's gather; and its
 * adjoint. */
td_status td_var_gather(td_var *v, int axis, td_var *index, bool trusted, td_var **out);
td_status td_var_scatter(td_var *v, int axis, td_var *index, td_var *value, bool add, td_var **out);
td_status td_var_join(td_var *const *v, int n, int axis, td_var **out); /* one dtype, one device */
td_status td_var_cumulate(td_red red, td_var *v, int axis, td_var **out); /* derivatives: sum, prod */
td_status td_var_flip(td_var *v, uint32_t axes, td_var **out); /* a view */
td_status td_var_to_device(td_var *v, td_dev *d, td_var **out); /* v itself where nothing changes */
/* The outputs get a history: `run` computes gradients of the inputs from theirs (NULL: none).  Takes object,
 * which `end` frees, also on failure.  `let_go` drops what the object saved (NULL: nothing).  out[] receives nout variables on the outputs' storages. */
typedef struct td_custom {
    void *object;
    td_status (*run)(void *object, const td_back *b);
    void (*let_go)(void *object);
    void (*end)(void *object);
} td_custom;
td_status td_var_custom(const td_custom *c, const char *name, td_var *const *in, int nin, td_var *const *output, int nout,
                        td_var **out);
td_status td_var_sum_to(td_var *v, const td_shape *s, td_var **out); /* the adjoint of expanding to v's shape */

/* ---- writing: v's storage changes, and so does the history of v and of what it is a view of ---- */
td_status td_var_store(td_var *v, const td_varop *value); /* v[...] = value, broadcast and cast */
td_status td_var_apply_into(td_op op, const td_varop *x, int n, td_var *v); /* x[0] is usually v */
/* td_var_put into v itself.  TD_SKIP: it has to be recorded; use td_var_put, then td_var_store. */
td_status td_var_put_into(td_var *v, const td_pick *p, td_var *const *index, td_var *value, bool add);
td_status td_var_set(td_var *v, td_array *a); /* replaces v's value by a (takes it); history and gradient stay */
void      td_var_forget(td_var *v); /* drops history and hooks, for a garbage collector */

/* ---- backward passes ---- */
typedef struct td_pass {
    td_var *const *root; /* nroot variables and their gradients (NULL: 1, of a single element) */
    td_var *const *grad;
    int      nroot;
    td_var *const *input; /* NULL: all leaves.  Else only these, */
    int      ninput;
    /* whose gradients go to found[] (owned; NULL: not reached), or to their grad if found is NULL */
    td_var **found;
    bool     retain, graph;
    /* Called with each gradient that a function makes for its k-th input.  NULL: no check. */
    td_status (*check)(td_gradfn *f, int k, td_var *g);
} td_pass;

td_status td_grad_run(const td_pass *p);
uint64_t  td_grad_serial(void); /* the number of the youngest function so far */
/* The leaves that the roots were computed from by functions younger than `since`: a new list of owned ones.
 * *beyond: older functions took part too.  TD_ERR_STATE: a root has no history. */
td_status td_grad_reach(td_var *const *root, int n, uint64_t since, td_var ***leaves, int *nleaves, bool *beyond);

#endif
