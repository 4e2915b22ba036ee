/* walk.h - the state of one walk over a function's tree; internal to front/.
 *
 * A walk computes a thing for each expression: a value with a type, known at compile time or held by instructions.
 * Variables that do not change under control flow are just things.  Where paths join, the variables assigned on
 * them go through slots (a place), whose types are in a table of joins that outlives the walk.  When a join's type
 * grows, the walk is repeated with the new table; the last walk's IR is kept.
 */
#ifndef TD_FRONT_WALK_H
#define TD_FRONT_WALK_H
#include "base/map.h"
#include "front/infer/front.h"
#include "front/infer/report.h"
#include "front/infer/syntax.h"
#include "ir/core/complex.h"

typedef struct dim { /* an int64 extent or stride */
    td_val  v;       /* TD_NONE: known */
    int64_t known;   /* -1: only v */
} dim;

/* flat - a number as an index into a flattened array (flat.c). */
typedef struct flatix flatix;

enum { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL };
enum { NO_ARG = 64 };

/* lin - an integer that is mul * i + add + inv for a loop's variable i: what the dependence test knows of an index. */
typedef struct lin {
    struct iterations *loop;
    int64_t mul, add;
    td_val  inv; /* computed before the loop, or the same in all its iterations; TD_NONE: none */
    bool    nonneg; /* inv is never below 0 */
    bool    wraps;  /* as an index: it may be negative, which counts from the end */
    const flatix *own; /* as an index: see thing */
} lin;

/* iterations - what one walk sees of a loop's iterations (parallel.c). */
typedef struct iterations iterations;

/* carry - a variable's value that comes from an earlier iteration of a loop. */
typedef struct carry {
    iterations *loop;
    uint32_t    name;
    bool        behind; /* the value left when the loop ended */
    bool        weak;   /* an inner loop sets it, if that runs at all */
    const struct carry *also;
} carry;

/* view - where an array's elements (or a record) lie.  Arena of the compilation. */
typedef struct view {
    td_val   base;   /* pointer to elements of the dtype (complex: its parts); records: to bytes */
    td_val   offset; /* int64, in units of stride; TD_NONE: 0 */
    dim      shape[TD_MAXDIM_KERNEL], stride[TD_MAXDIM_KERNEL]; /* stride in elements; records: bytes */
    td_val   mask;   /* TD_NONE, or whether the element exists: after a failed check memory is left alone */
    int      space;
    uint32_t align;     /* of every element's address, where it is less than its size; else 0 */
    bool     fixed;     /* records: of a constant of the program, which nobody writes to */
    bool     fresh;     /* memory that the function allocated: it belongs to no argument */
    uint32_t arg;       /* the argument that it is part of; NO_ARG: none */
    const char *name;   /* for errors: the argument's or variable's */
    uint32_t root;      /* identifies the memory: arrays of different roots do not overlap; 0: not known */
    uint32_t form;      /* which view with other axes the axes are of: reshape's; 0: the root's own */
    uint8_t  nroot;     /* dims of the root, for lin; 0: they are not followed */
    int8_t   axis[TD_MAXDIM_KERNEL];    /* the root's axis that each of this view's is; -1: none */
    const lin *at[TD_MAXDIM_KERNEL];    /* by the root's axis: the index taken there; NULL: several, or not known */
} view;

typedef struct thing {
    const td_type *type;
    bool      known;  /* NUM: lit is its value */
    bool      prange; /* RANGE: its iterations may run in any order */
    bool      nonneg; /* NUM of integers: never below 0, so that an index needs no look at its sign */
    uint32_t  least;  /* the same: never below this; 0: not known */
    bool      small;  /* the same, in an exact function: its size grows by little steps, so that it never comes near 2**63 */
    bool      maybe;  /* a variable that has no value on some path; `given` tells whether it has one */
    td_val    given;  /* bool; TD_NONE: nobody has asked for it in an earlier walk */
    td_val    tag;    /* a mixed NUM's kind, uint8: exact.h */
    const td_num *pair; /* in an exact function: the number is this one's absolute value; NULL: not known as one */
    uint32_t  listed; /* TUPLE that is written as a list: its node; 0: none */
    td_scalar lit;
    td_num    num;    /* NUM: value; re is TD_NONE while it is only known.  BOX: re is its address, uint64 */
    struct thing *item; /* TUPLE, SLICE, RANGE, ITER: type->n of them */
    view     *view;   /* ARRAY, RECORD */
    struct lazy *lazy; /* ARRAY without memory: lazy.h */
    const lin   *lin;   /* NUM of integers: NULL: not known as one */
    const flatix *own, *bound; /* the same: within a block that belongs to one iteration; from 0 up to a bound */
    const carry *carry; /* NULL: a value of this iteration, or from before the loops */
    const struct generator *generator; /* ITER of that kind */
    const struct join *clash; /* type is NULL: a variable whose values on several paths have no common type; it must not be read */
} thing;

/* from may be NULL where n is 0, as an empty tuple's items are; memcpy takes no NULL. */
static inline void
copy_things(thing *to, const thing *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i];
}

typedef struct join {
    const td_type *type;
    bool nonneg, small;
    const td_type *clash; /* of a path's value that does not join `type`; NULL: all do */
    bool unbound; /* on some path there is no value, */
    bool asked;   /* and the program reads it where that matters */
} join;

/* place - slots that hold a thing of a type: the td_vals in it are slots. */
typedef struct place {
    thing slots;
    bool  nonneg, small;
    bool  maybe;
    td_val given; /* where `maybe` says so: the slot that tells whether there is a value; TD_NONE: nobody asks */
} place;

typedef struct loop { /* the innermost loop that break and continue leave */
    struct loop *up;
    uint32_t depth_break, depth_next; /* regions open outside of the one that is left */
    uint32_t  nvar, *var; /* names assigned in the loop */
    place    *where;      /* their places; valid where `has` says */
    bool     *has;
    bool     *unset;      /* without a value on a path that comes to the loop's head, */
    bool     *unset_next; /* at the end of some iteration, */
    bool     *unset_left; /* on some path that leaves the loop from within */
    bool      runs;       /* it has at least one iteration, whatever the arguments */
    bool      endless;    /* only break leaves it */
    uint32_t  node;
    uint64_t  path; /* the joins' */
    td_val    mark;  /* valid where `sweeps`: how many arrays had been made before the loop */
    bool      sweeps;
    bool      yields; /* what the loop around a generator assigns may be younger than this one: nothing is swept */
    uint32_t  arrays, boxes; /* those of walk when the loop began */
    iterations    *iterations;
    const carry **before; /* what the variables carried when the loop began */
} loop;

typedef struct outline outline; /* a function that calls itself: recurse.c */

typedef struct nested nested; /* a function defined inside of one that is compiled: nested.c */

typedef struct generator generator;   /* a call of a function that yields: generator.c, */
typedef struct generating generating; /* who iterates over one that is being walked */

typedef struct frame { /* a function that is being walked */
    struct frame    *up;
    const thing     *bound;  /* its parameters' values by name; NULL: a call gives them */
    bool             skipped; /* a return waits for the next walk */
    const td_source *s;
    const nested    *nested; /* it is such a function, and its free names are variables of another frame; NULL: they are not */
    thing           *var;   /* by name; type NULL: not bound */
    uint8_t         *grown; /* by name: 2: a list under it changes; NULL: nobody has asked */
    bool            *local; /* by name: assigned somewhere in the function */
    loop            *loop;
    uint32_t         call;  /* the node in up that called */
    uint32_t         folds; /* generator expressions being iterated: frames of Python's */
    uint32_t         origin; /* td_inst.from of its instructions */
    uint64_t         path;  /* hash of the calls down to here, and of the items for which a body is walked */
    uint64_t         entered; /* path when the function's body began */
    const td_signature *as; /* the declared one that the call follows; NULL: none */
    bool             inlined, blocked; /* blocked: returns leave a block region */
    uint32_t         depth_return;
    thing            result; /* of a single return at the end */
    place            results; /* else */
    generating      *to;      /* takes what the function yields; NULL: it is called as others are */
} frame;

typedef struct dynpart { /* a part of dynamic shared memory, from byte start to byte end, int64 */
    struct dynpart *up;
    const char     *name;
    td_val          start, end;
    int64_t         bytes; /* end, before it is made a multiple of what parts begin at; -1: known at a launch only */
} dynpart;

typedef struct guard guard; /* of an exact function: exact.h */

typedef struct finally finally; /* a try with a finally: try.c */

typedef struct trying trying; /* a try that is being walked: try.c */

typedef struct walk {
    td_fn            *f;
    td_arena         *mem;
    const td_host    *host;
    const td_compile *how;
    td_made          *made;
    frame            *fr;
    td_map            joins; /* hash of path, node and name -> join */
    bool     again;  /* a join grew, or something was not known yet: walk again */
    uint32_t walks;  /* done before */
    uint32_t depth;  /* open regions of loop, for, block */
    uint32_t node;   /* being walked, for errors */
    bool     dead;   /* control does not reach this point */
    const lin *item; /* of the number of the iteration whose item is being made */
    iterations   *iterations;  /* the innermost loop that is being walked, over all frames */
    bool     parallel; /* inside of a parallel region */
    uint32_t arrays, boxes; /* places so far that make such */
    bool     fails;    /* an iteration may fail there, so each is in a block; known from the walk before */
    bool     iteration_block; /* it does, */
    uint32_t iteration_depth; /* and this is the depth around it */
    td_val   heap;       /* address of the td_callmem of that part, where its iterations make arrays; TD_NONE: the call's */
    td_val   piece;      /* int64: which part of a CPU's parallel loop takes the iterations; TD_NONE: none */
    uint32_t forms;    /* views with other axes that have been made */
    uint32_t inner;    /* the loop whose iterations a GPU's threads share along x; 0: none */
    uint32_t nests;    /* open loops over the elements of whole arrays */
    uint32_t loops;    /* parallel loops that a GPU's function has begun */
    uint32_t sync;     /* of these the first so many are over for all threads before anything else, kept from walk to walk */
    td_map   verdicts; /* hash of path and node -> verdict, kept from walk to walk */
    td_map   asked;    /* hash of function and name: a read looks whether the variable has a value; kept from walk to walk */
    thing   *hidden; /* values of made->hidden */
    uint32_t capsite, caphidden;
    dynpart *parts;  /* the last one first */
    outline  *outlines; /* kept from walk to walk */
    outline  *outline;  /* the innermost that is being emitted */
    td_origin *origin; /* of f, where it is watched */
    uint32_t caporigin;
    bool     keeps;  /* the next expression may give an optional value */
    bool     walked; /* the next expression is only iterated over: a list may stand for a tuple */
    bool     lists;  /* exact functions make lists: known from the walk before */
    uint64_t aliased; /* bit i: argument i is reached through variables of unknown origin, */
    bool     stores_aliased; /* through which the function stores */
    bool     ufunc;  /* NumPy computes it: dividing by zero raises nothing */
    bool     library; /* inside of what stands for a function of NumPy's */
    bool     checked; /* td_compile's, or that of the compiled function whose body is being walked */
    bool     numba;  /* td_compile's, outside of what stands for NumPy's functions */
    td_map   sites;  /* hash of path and node -> site (box.h); kept from walk to walk, as the next three */
    struct boxsite **site; /* by number */
    uint32_t nsites, capsites;
    bool     holds;  /* boxes hold arrays, */
    bool     pins;   /* and boxes that are no call's hold arrays or boxes: iterations free none */
    td_map   nested, nested_by_id; /* the functions defined inside, by tree and node, and by their types' numbers; kept from walk to walk */
    uint32_t nnested;
    trying  *tries;  /* the innermost try around, of this function or one that called it; NULL: none */
    finally *finals; /* the innermost one around; NULL: none */
    generating *generating; /* the innermost generator that is being walked; NULL: none */
    guard   *exact;  /* inside of a function that must be exact; NULL: outside */
} walk;

/* ---- the tree ---- */
static inline uint32_t
field_of(const walk *w, uint32_t node, int field)
{
    return w->fr->s->tree[node + (uint32_t)field];
}
#define F(node, field) field_of(w, node, syn_##field)

static inline td_syn
kind_of(const walk *w, uint32_t node)
{
    return node ? (td_syn)w->fr->s->tree[node] : TD_SYN_NONE;
}

static inline uint32_t
count_of(const walk *w, uint32_t list)
{
    return list ? w->fr->s->tree[list] : 0;
}

static inline uint32_t
item_of(const walk *w, uint32_t list, uint32_t i)
{
    return w->fr->s->tree[list + 1 + i];
}

static inline const char *
name_of(const walk *w, uint32_t id) /* id as in the tree: number + 1 */
{
    return w->fr->s->names[id - 1];
}

/* ---- diag.c ---- */
/* Fails with a paragraph: the sentence, file and line, the line with a caret under `node`, the calls around it.
 * what: what was found and what to write instead, without a full stop at the end. */
td_status bad(walk *w, uint32_t node, td_status st, const char *what, ...) TD_PRINTF(4, 5);
/* Fails for a kind of node that kernels do not have, with what to write instead. */
td_status refuse(walk *w, uint32_t node);
/* An error of the IR builder, told with the node. */
td_status built(walk *w, uint32_t node);

/* ---- join.c ---- */
const td_type *join_types(const walk *w, const td_type *a, const td_type *b); /* NULL: they cannot be joined */
td_hash   join_key(const walk *w, uint32_t node, uint32_t name);
td_hash   join_key_at(uint64_t path, uint32_t node, uint32_t name); /* the same where w->fr->path was `path` */
join     *join_get(walk *w, td_hash key); /* NULL: no path has come there yet */
/* A path arrives with x: the join grows.  TD_ERR_TYPE, naming `name`: it cannot. */
td_status join_add(walk *w, td_hash key, const thing *x, uint32_t node, const char *name);
/* The same for a variable: values that cannot be joined are an error only where the variable is read afterwards. */
td_status join_meet(walk *w, td_hash key, const thing *x, uint32_t node, const char *name);
thing     join_stand_in(walk *w, const join *j); /* some value of its type, where no place holds one; of NULL nothing */
void      join_unbound(walk *w, td_hash key); /* a path arrives without a value; no join: nothing */
join     *join_variable(walk *w, td_hash key, uint32_t name); /* join_get, and whether the program asks for its value's being there; NULL also where values clash */
bool      tells_unbound(const walk *w); /* does reading a variable without a value tell so?  Kernels do when they are debugged */
/* x, the variable's value, is read: fails if it has none */
td_status want_bound(walk *w, thing *x, uint32_t name, uint32_t node);
place     place_new(walk *w, const join *j);
/* set to 0; otherwise an iteration would see what another one left there */
place     place_empty(walk *w, const join *j);
td_status place_set(walk *w, const place *p, const thing *x);
thing     place_get(walk *w, const place *p);
thing     stand_in(walk *w, const td_type *t); /* some value of type t, where only its type matters */

/* ---- num.c ---- */
thing  num_known(td_scalar s, const td_type *t);
thing  num_int(int64_t v);    /* a Python int */
thing  num_float(double v);
thing  num_bool(bool v);
thing  num_of(const td_type *t, td_num v);
thing  num_val(td_dtype dt, td_val v);
int64_t num_least(const thing *x);            /* what an integer is never below; -1: perhaps below 0 */
int64_t num_least_of(td_syn op, const thing *a, const thing *b); /* operator.c: the same of a op b, which does not wrap */
thing  num_index(td_val v, bool nonneg);   /* a Python int held by an int64 */
td_num num_as(walk *w, const thing *x, td_dtype dt); /* emits: the value as dt */
td_val val_as(walk *w, const thing *x, td_dtype dt); /* the same for real dtypes */
thing  num_convert(walk *w, const thing *x, const td_type *to); /* explicit or at a join */
const td_type *num_common(const walk *w, const thing *a, const thing *b); /* the type that two operands meet in */
const td_type *num_operator_type(const thing *a, const thing *b); /* w->numba: what Numba computes an operator of scalars in */
td_status num_op(walk *w, td_op op, const thing *x, int n, thing *out); /* an elementwise row over operands of any types */

/* ---- operator.c ---- */
td_status num_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status num_ufunc(walk *w, td_syn op, const thing *a, const thing *b, thing *out); /* as NumPy's of that name */
td_status num_unary(walk *w, td_syn op, const thing *a, thing *out);
td_status num_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
double as_double(const thing *x); /* of a real number known when compiling */
td_status truth(walk *w, const thing *x, thing *out); /* bool(x) */

/* ---- num.c: what a thing is; extents ---- */
static inline bool
is_num(const thing *x)
{
    return x->type->kind == TD_T_NUM;
}
static inline bool
is_none(const thing *x)
{
    return x->type->kind == TD_T_NONE;
}
bool is_int(const thing *x);                  /* an integer or bool */
bool known_int(const thing *x, int64_t *out); /* an integer known when compiling */
td_val dim_val(walk *w, const dim *d);        /* int64 */
static inline dim dim_known(int64_t v) { return (dim){TD_NONE, v}; }
static inline dim dim_of(td_val v) { return (dim){v, -1}; }
bool same_val(const walk *w, td_val a, td_val b, int depth); /* computed from the same by the same; depth: how far to look */
bool same_dim(const walk *w, const dim *a, const dim *b);
dim dim_mul(walk *w, dim a, dim b);
dim dim_of_thing(walk *w, const thing *x);
thing dim_thing(const dim *d); /* a Python int, not negative */

/* ---- expr.c ---- */
td_status expr(walk *w, uint32_t node, thing *out);
td_status expr_optional(walk *w, uint32_t node, thing *out); /* the same where the value may be None: expr takes the value */
td_status compare_things(walk *w, td_syn op, const thing *a, const thing *b, thing *out);
td_status expr_folded(walk *w, uint32_t node, thing *out); /* folded.c */
td_status object(walk *w, uint32_t obj, uint32_t node, thing *out); /* what an object is worth in a kernel */
thing     tuple_of(walk *w, const thing *item, uint32_t n);
/* choice.c: both branches of a choice: emits `then` and `other` under cond and joins what they give. */
td_status choose(walk *w, uint32_t node, const thing *cond, uint32_t then, uint32_t other, thing *out);
td_status expr_ifexp(walk *w, uint32_t node, thing *out);
td_status expr_boolop(walk *w, uint32_t node, thing *out);

/* ---- memory.c ---- */
uint32_t  element_align(const view *v, const td_type *e); /* bytes that the address of an element of type e is a multiple of */
void      note_alias(walk *w, const view *v); /* v's memory is now reached through a variable of unknown origin: a store through one may write to it */
void      note_written(walk *w, const view *v); /* a store through v, or someone else may store there */
td_dtype  memory_dtype(const td_type *t);     /* what the base pointer of an array or record of type t points to */
td_status array_load(walk *w, const thing *a, thing *out);           /* the element of a 0-d view */
td_status array_store(walk *w, const thing *a, const thing *x, uint32_t node);
thing     array_thing(walk *w, const td_type *item, uint32_t ndim, const dim *shape, td_val base, int space, const char *name);
dim       stride_of(walk *w, const thing *a, uint32_t axis);
td_status loaded(walk *w, thing *x); /* a 0-d view of a number becomes the number */
view     *at_record(walk *w, const view *v); /* the record at a 0-d view of records: its offset goes into the pointer */
static inline bool
is_records(const td_type *array)
{
    return array->item[0]->kind == TD_T_RECORD;
}

/* ---- index.c ---- */
td_status check_range(walk *w, const char *name, const dim *shape, uint32_t ndim, uint32_t axis, td_val v, const thing *given, uint32_t node, td_val *ok); /* debug: reports an index beyond its axis */
td_val    position(walk *w, const thing *i, const dim *n); /* i on an axis of extent n; a negative i counts from the end */
td_status expr_compare(walk *w, uint32_t node, thing *out); /* a < b < c: evaluates each operand once */
td_status lists_as_places(walk *w, const thing *a, uint32_t node, thing *key); /* lists in an array's index, written at the node, become arrays, where a function may make them */
td_status array_index(walk *w, const thing *a, const thing *key, uint32_t node, thing *out); /* a[key]: element or view */
td_status element_view(walk *w, const thing *a, const thing *key, uint32_t node, thing *out); /* a[key] as a view, 0-d for an element */
bool      chooses(const thing *key); /* has the key an array of numbers or bools? */
/* a[key] = x, or (x NULL) a[key], for such a key, in functions on a CPU */
td_status array_chosen(walk *w, const thing *a, const thing *key, const thing *x, uint32_t node, thing *out);
thing     slice_of(walk *w, const thing *start, const thing *stop, const thing *step); /* each an integer, None, or one of the two */
td_status new_slice(walk *w, const thing part[3], uint32_t node, thing *out); /* the same; TD_ERR_TYPE: a part is something else */
td_status tuple_index(walk *w, const thing *t, const thing *key, uint32_t node, thing *out);
bool      is_packed(const thing *x); /* a field of an array of packed records: computed from these */
/* Its elements where they lie in the records; without `store` perhaps copies. */
td_status packed_cut(walk *w, const thing *x, const thing *key, bool store, uint32_t node, thing *out);
bool      is_record(const thing *x); /* or an array of no axes that holds one */
td_status record_part(walk *w, const thing *r, const thing *key, uint32_t node, thing *out); /* record_field by name or number */
td_status record_field(walk *w, const thing *r, const char *name, uint32_t node, thing *out); /* a view: number (0-d array), record or array */

/* ---- stmt.c, loop.c ---- */
typedef struct meeting { /* of the two paths of a condition, in the variables that they assign */
    uint32_t n, *name;
    place *place;
    bool *has, *missing; /* missing: without a value on a path that gets here */
    thing *before;
    const carry **carried; /* on any path */
} meeting;
void      meet_begin(walk *w, uint32_t node, meeting *m); /* of the n names, before the condition */
void      meet_again(walk *w, const meeting *m);          /* a path begins */
td_status meet_path(walk *w, uint32_t node, meeting *m);  /* and ends */
void      meet_end(walk *w, uint32_t node, meeting *m);   /* behind both */
uint32_t *names_of_two(walk *w, const uint32_t *x, uint32_t nx, const uint32_t *y, uint32_t ny, uint32_t *n); /* the names of two lists, each once */
td_status stmts(walk *w, uint32_t list);
td_status assign(walk *w, uint32_t target, const thing *x);
void      bind(walk *w, uint32_t name, const thing *x); /* name: as in the tree */
td_status stmt_for(walk *w, uint32_t node);
td_status stmt_while(walk *w, uint32_t node);
td_status leave_finally(walk *w, const loop *l); /* runs the finally of each try that control leaves now: with this loop, or (NULL) the function */
thing    *finally_begin(walk *w); /* the variables, which statements of a finally change on a path that ends there: */
void      finally_end(walk *w, const thing *before); /* they are back */
td_status leave_loop(walk *w, uint32_t node, bool next);
/* Names assigned in a list of statements, each once; in *n. */
uint32_t *assigned(walk *w, uint32_t list, uint32_t also, uint32_t *n);
uint32_t *assigned_by(walk *w, uint32_t node, uint32_t *n); /* the same for one statement */
bool      has_loops(const walk *w, uint32_t list);
td_status emit_iteration(walk *w, loop *l, uint32_t body); /* emits one iteration and keeps its variables */
td_hash   loop_key(const loop *l, uint32_t name);
bool      contains(const walk *w, uint32_t list, td_syn kind); /* outside of inner loops, for Continue and Break */
void      open_block(walk *w);
void      close_region(walk *w);
void      leave(walk *w, uint32_t depth); /* control leaves all regions opened since `depth` of them were open */

/* ---- parallel.c ---- */
typedef enum how_run {
    RUN_IN_ORDER,
    RUN_PARALLEL,
    RUN_LANES,   /* inside of a parallel loop: its iterations are lanes of vectors */
    RUN_ACROSS,  /* inside of a GPU's parallel loop, whose only statement it is: along x */
} how_run;
/* asked: by prange; few: too few iterations for lanes */
iterations *iterations_begin(walk *w, loop *l, uint32_t node, bool asked, bool few);
how_run   iterations_how(const iterations *t);
bool      iterations_draws(const iterations *t); /* do its iterations draw random numbers?  Known from the walk before */
void      note_draws(walk *w);         /* the iterations of all open loops do */
bool      iterations_lanes(const iterations *t); /* are a parallel loop's iterations lanes, too? */
bool      iterations_free(walk *w, uint32_t node); /* was the loop found independent by an earlier walk? */
/* A store: on a GPU only iterations of loops that run in parallel may. */
td_status iterations_store(walk *w, uint32_t node);
void      iterations_recurse(walk *w); /* a function is called that calls itself, and reads or writes arrays */
void      iterations_fail(walk *w); /* an iteration may fail, and the function goes on behind a try */
void      iterations_raise(walk *w); /* an iteration may raise what the program says; those behind it must not have stored then */
void      iterations_print(walk *w); /* what is printed comes in the iterations' order */
td_status iterations_end(walk *w, iterations *t);
/* Control leaves this loop, or (NULL) all loops of the function: their iterations cannot run in any order. */
void      iterations_left(walk *w, iterations *only, const char *why);
void      iterations_ordered(walk *w, const char *why); /* all open loops, of the function's callers too, run in order */
const lin *lin_of(walk *w, iterations *t);                              /* the loop's variable */
const lin *lin_binary(walk *w, td_syn op, const thing *a, const thing *b);
const lin *lin_reversed(walk *w, const lin *x, td_val last);       /* last - x, of x the loop's variable */
const lin *lin_index(walk *w, const thing *k);                     /* of an index: does it count from the end? */
/* A variable is read.  Fails where iterations that prange spreads have left it. */
td_status carry_read(walk *w, const thing *x, uint32_t node);
iterations *iterations_outer(const iterations *t);
bool      iterations_touch(const iterations *t, uint32_t root); /* an iteration reads or writes such memory (view.root) */
bool      iterations_are_prange(const iterations *t); /* do its iterations run at once because prange asks so? */
/* Iterations of a prange read what other iterations have left: fails, behind their body. */
td_status iterations_refuse(walk *w, const iterations *t);
const carry *carry_weak(walk *w, const carry *c); /* of the loops that prange spreads */
const carry *carry_gone(walk *w, const carry *c, const carry *had); /* had, and what of c iterations in any order have left */
const carry *carry_new(walk *w, iterations *t, uint32_t name, bool behind, const carry *also);
const carry *carry_join(walk *w, const carry *a, const carry *b);
void      touch(walk *w, const view *v, bool write); /* an element, or the whole of a view, is read or written */
void      view_root(view *v, uint32_t ndim);  /* v is memory of its own */
void      view_of(walk *w, view *v, const view *from, uint32_t ndim); /* v is from's memory with axes of its own */
void      iterations_reduce(walk *w, iterations *t, const char *name); /* its iterations' values of the variable are combined */
uint32_t  iterations_first(const iterations *t); /* the instructions of the loop begin there */

/* ---- flat.c ---- */
bool is_invariant(const walk *w, td_val v, uint32_t first, int depth); /* made of what stands before instruction `first` by arithmetic alone */
const flatix *flat_variable(walk *w, iterations *t);
const flatix *flat_below(walk *w, const dim *end); /* of what runs over range(end) */
void flat_binary(walk *w, td_syn op, const thing *a, const thing *b, const flatix **own, const flatix **bound);
bool flat_is_whole(const flatix *x); /* NULL is none: x counts through its block, so it is not negative */
bool flat_is_scaled(const flatix *x, const iterations *t); /* t's variable times something */
bool flat_apart(const walk *w, const iterations *t, const flatix *a, const flatix *b); /* they meet in no two different iterations of t */

/* ---- reduced.c ---- */
typedef struct reducing { /* how iterations change a variable */
    td_syn   op;      /* Add, Mult, BitAnd, BitOr, BitXor; Lt: min, Gt: max; And, Or: of bools; Eq: it is set to `same` */
    uint32_t same;    /* node of a constant */
    bool     renames; /* it is assigned, not only changed in its place */
} reducing;
/* How the iterations of loop `node` change the variable; false: it is not a reduction. */
bool find_reducing(walk *w, uint32_t node, uint32_t name, reducing *out);
/* Arrays that iterations of the loop do not assign, of which each changes the same elements: how many; *at: the statements. */
uint32_t find_shared(walk *w, uint32_t node, uint32_t **name, uint32_t **at);

/* ---- prange.c ---- */
typedef struct combining {
    td_syn op;  /* as in reducing */
    thing  same;
} combining;
td_status reduce_combine(walk *w, const combining *how, const thing *a, const thing *b, thing *out);

/* ---- draws.c: random numbers of compiled functions ---- */
td_val draws_base(walk *w);                         /* uint32: from it the pieces of one parallel loop seed their generators */
td_status draws_seed(walk *w, td_val base, td_val piece); /* piece's generators begin */

/* ---- gridsum.c: what a GPU's threads have found, combined, in an order that only depends on the grid ---- */
td_status grid_part(walk *w, const combining *how, const thing *own, uint32_t *entry); /* all threads come here, and then to a grid barrier */
td_status grid_total(walk *w, const combining *how, const thing *neutral, uint32_t entry, thing *out); /* of all blocks, in every thread */
td_status for_parallel(walk *w, uint32_t node, const thing *it, iterations *t, const thing *n); /* n iterations */

/* ---- call.c ---- */
typedef struct call {
    uint32_t node, n; /* positional arguments */
    thing   *arg;
    uint32_t nkw;
    const char **kw;
    thing   *kwarg;
    uint64_t *asked; /* of a known function's call: bit i: it has looked at keyword i (arg_or_kw); NULL: nobody asks */
} call;

/* ---- optional.c: values that may be None ---- */
bool      is_optional(const thing *x);
const td_type *join_optional(const walk *w, const td_type *a, const td_type *b); /* one is None or optional; NULL: they do not meet */
thing     optional_as(walk *w, const thing *x, const td_type *t); /* None, or a value, as the optional type t */
td_status optional_new(walk *w, td_val has, const thing *value, thing *out);
td_status optional_boxed(walk *w, thing *x); /* boxed() for the value of an optional x */
td_val    optional_given(walk *w, thing *x); /* x becomes the value, if it is optional; returns a bool, whether there is one, else TD_NONE */
td_status optional_value(walk *w, thing *x); /* x becomes the value, if it is optional: the program fails where there is none */
td_status optional_truth(walk *w, const thing *x, thing *out);
td_status optional_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out); /* at least one is optional */

/* ---- nested.c ---- */
bool      is_nested(const thing *x);
td_status stmt_define(walk *w, uint32_t node); /* def inside of a function */
td_status expr_lambda(walk *w, uint32_t node, thing *out);
td_status call_nested(walk *w, const thing *f, const call *c, thing *out);
const thing *nested_default(const nested *n, uint32_t i, bool keyword); /* of the i-th parameter that may have one; NULL: it has none */
frame    *nested_home(const nested *n); /* the function that defines it */

/* ---- call.c ---- */
td_status call_defined(walk *w, const td_source *s, const nested *n, const call *c, thing *out); /* walks s in place; n: s is that one's */
td_status as_declared(walk *w, const char *what, const td_type *t, thing *x); /* x as the declared type t: numbers are cast, arrays must have it */
td_status expr_call(walk *w, uint32_t node, thing *out);
td_status call_object(walk *w, const thing *f, const call *c, thing *out); /* a function value over things */
/* Enters the function: parameters bound to c's arguments; then its body. */
td_status walk_body(walk *w, frame *fr, const call *c, thing *out);

td_status bind_params(walk *w, uint32_t args, const call *c); /* of w->fr */
td_hash   result_key(const walk *w); /* of the join of what w->fr returns */

/* ---- recurse.c: functions that call themselves ---- */
/* Is s one?  Known from the walk before. */
bool      is_recursive(const walk *w, const td_source *s);
void      recursive_found(walk *w, const td_source *s); /* for the next walk */
td_status call_recursive(walk *w, const td_source *s, const call *c, thing *out);
void      recursive_touch(walk *w);  /* the function that is being emitted reads or writes arrays */
void      recursive_end(walk *w);    /* and its thread gives up here */
void      recursive_reset(walk *w);  /* a walk begins */
/* A value's words in memory, from word *at on, which counts on. */
void      words_put(walk *w, td_val ptr, uint32_t *at, const thing *x);
thing     words_get(walk *w, td_val ptr, uint32_t *at, const td_type *t);
uint32_t  words_of(const td_type *t);
td_status join_fitted(walk *w, const join *j, const thing *x, thing *out); /* x as the join's type */

/* ---- named.c: named tuples ---- */
bool      is_member(walk *w, const thing *x); /* of an enum: a tuple of its value, of the enum's class */
td_status call_named(walk *w, const td_objinfo *class, uint32_t object_, const call *c, thing *out);
td_status named_replace(walk *w, const thing *self, const call *c, thing *out);
td_status named_attribute(walk *w, const thing *self, const char *name, uint32_t node, thing *out);

/* ---- intrin.c ---- */
typedef td_status intrinsic_fn(walk *w, const call *c, int number, thing *out);
td_status call_intrinsic(walk *w, int number, const call *c, thing *out);
td_status value_intrinsic(walk *w, int number, uint32_t node, bool *is_value, thing *out);
td_status call_stand_in(walk *w, const char *name, const thing *self, const call *c, thing *out); /* the function that stands for it; TD_SKIP: none */
td_status call_method(walk *w, const thing *self, const char *name, const call *c, thing *out);
td_status attribute(walk *w, const thing *self, const char *name, uint32_t node, thing *out);
/* The keyword argument of that name, else the i-th positional; NULL: neither. */
const thing *arg_or_kw(const call *c, uint32_t i, const char *name);
td_status want_args(walk *w, const call *c, const char *what, uint32_t least, uint32_t most);

td_status call_row(walk *w, intrinsic_fn *fn, int row, const thing *x, uint32_t n, thing *out); /* the row with that function and number */
td_status array_attribute(walk *w, const thing *a, const char *name, uint32_t node, thing *out);
td_status in_order(walk *w, const call *c, thing *out); /* ravel, flatten with an order */
td_status number_attribute(walk *w, const thing *x, const char *name, uint32_t node, thing *out);
td_status array_operator(walk *w, intrinsic_fn *fn, td_syn op, const thing *x, uint32_t n, thing *out); /* lazily, of elements */
td_status array_product(walk *w, const thing *a, const thing *b, thing *out);                           /* a @ b */
td_status as_dtype(walk *w, const thing *x, uint32_t node, const td_type **out); /* what an object means as a dtype */
td_status shape_from(walk *w, const call *c, uint32_t first, const thing *given, bool many, dim *shape, uint32_t *n);
td_status complex_parts(walk *w, const td_type *t, const call *c, thing *out); /* complex(re, im) */
td_val    call_heap(walk *w); /* address of the td_callmem that new arrays are taken from */
void      piece_heap_begin(walk *w, const loop *l); /* a part of a parallel loop begins: what its iterations take is released at each one's end */
td_status piece_heap_sweep(walk *w, const loop *l, uint32_t arrays); /* an iteration of it ends; arrays: walk.arrays when it began */
void      piece_heap_end(walk *w);
td_status loop_mark(walk *w, loop *l);  /* a loop begins: iterations free what they leave behind */
td_status loop_sweep(walk *w, loop *l); /* an iteration ends */
td_status settle(walk *w, thing *x); /* an array expression gets memory: before it is named, passed or returned */
static inline bool
is_array(const thing *x)
{
    return x->type->kind == TD_T_ARRAY && x->type->ndim > 0;
}

td_status store_result_array(walk *w, const thing *x, td_val ptr, uint32_t *at);

/* ---- generator.c, loop.c: functions that yield ---- */
bool      is_generator(const thing *x);
bool      generator_new(walk *w, const td_source *s, const nested *n, const call *c, thing *out); /* false: s does not yield */
td_status generator_misplaced(walk *w, const thing *x); /* fails: it is not iterated over where it is made */
td_status stmt_yield(walk *w, uint32_t node);
td_status for_generator(walk *w, loop *l, const thing *x); /* the iterations of loop l over generator x */
td_status for_each_generated(walk *w, const thing *x, uint32_t node, td_status (*add)(walk *, const thing *, const thing *), const thing *to); /* add(to, value) */
td_status loop_with(walk *w, loop *l, const thing *x); /* one iteration of a for loop */
void      loop_recall(walk *w, const loop *l); /* the variables that the loop assigns have the values that its last iteration left */
/* A generator's body reads variables of fr, which the loops over generators that are being walked assign: they are recalled. */
void      generating_recall(walk *w, const frame *fr);

/* ---- try.c ---- */
td_status stmt_try(walk *w, uint32_t node);
bool      try_leave(walk *w); /* control goes to the except or finally of the innermost try; false: there is none */

/* ---- report.c ---- */
void      report_clear(walk *w); /* what has been reported is forgotten */
uint32_t  site_new(walk *w, td_report kind, uint32_t node, const char *text);
td_status report_fail(walk *w, uint32_t site, const thing *value, uint32_t n); /* emits; the thread goes on */
td_status stmt_raise(walk *w, uint32_t node);
td_status stmt_assert(walk *w, uint32_t node);
td_status emit_print(walk *w, const call *c);
td_val    hidden_address(walk *w, td_hiddenkind kind);
thing     hidden_array(walk *w, uint32_t object, const td_type *t);
thing     param_thing(walk *w, const td_type *t, uint32_t arg); /* declares the words of an argument */
void      thread_end(walk *w); /* the thread, the function, or the iteration of a parallel loop gives up here */
void      end_if_failed(walk *w); /* behind a parallel loop: the function gives up if an iteration has */

/* The values, a word each (complex: two), from ptr[index] on; ptr points to words.  The site gets their types. */
td_status put_values(walk *w, td_val ptr, td_val index, const thing *value, uint32_t n, td_site *site);

/* ---- debug.c: what only who watches a kernel wants ---- */
void      at_line(walk *w, uint32_t node);         /* what is emitted now is the program's line of node */
void      enter_function(walk *w, frame *fr);      /* its instructions have an origin */
void      note_name(walk *w, const thing *x);      /* x's memory has its view's name */

/* ---- pyfn.c: what iterates ---- */
td_status iter_of(walk *w, const thing *x, uint32_t node, thing *out); /* RANGE, TUPLE, ARRAY, ITER */
void      range_facts(walk *w, const thing *r, thing *x); /* what is known of x, the range's value in the iteration w->item */
bool      range_is_short(const thing *x);            /* known to have too few iterations for lanes */
bool      iter_runs(const thing *it); /* known to have an iteration */
bool      range_goes_up(const thing *x); /* a RANGE whose step is known to be above 0 */
td_val    range_for(walk *w, const thing *r); /* opens the loop over such a range, whose counter is the number itself */
td_status iter_length(walk *w, const thing *it, uint32_t node, thing *n);           /* not of a TUPLE */
td_status iter_limit(walk *w, const thing *it, uint32_t node, thing *n);            /* the most that a loop over it has */
td_status iter_item(walk *w, const thing *it, td_val k, uint32_t node, thing *out); /* the k-th; k: int64, below the length */
call      out_by_name(walk *w, const call *c); /* the same call with its last argument as out= */
td_status call_fill(walk *w, const thing *to, const thing *x, uint32_t node);       /* to[...] = x, a number or an array that broadcasts */

#endif
