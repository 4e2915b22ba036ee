/* wide.h - what the files of the widening pass share.
 *
 * Every value of the input gets a shape (NONE: not found yet).  BLOCK: one value for the block.  GROUP: one for a
 * group of lanes.  AFFINE: lane l has `one + l * stride`.  PREFIX: a bool that is true in the first `one` lanes;
 * SUFFIX: false in them.  LANES: a vector.  A value that is not LANES is kept as one lane, `one`, and becomes a
 * vector, `vec`, where it meets vectors.
 *
 * A region is *at block level* if it contains a barrier, or a break out of such a region: it becomes control flow
 * of the block.  What lies between two barriers or inner regions at block level is a *phase*: its BLOCK values are
 * computed once, then a loop over the groups runs the rest.
 *
 * A function that is not a kernel of threads is handled as a block; its loops of independent iterations run in
 * groups.
 */
#ifndef TD_IR_WIDE_H
#define TD_IR_WIDE_H
#include "ir/wide/widen.h"

enum { W_ROOT = UINT32_MAX, W_SPLIT_MOST = 1500 /* most instructions that are emitted twice */ };

typedef enum wshape { W_NONE, W_BLOCK, W_GROUP, W_AFFINE, W_PREFIX, W_SUFFIX, W_LANES } wshape;

/* How a slot is kept: once for the block; once for the current group; or in an array over the block's threads,
 * since its value outlives a phase. */
typedef enum wkeep { W_ONCE, W_LOCAL, W_ARRAY } wkeep;

/* wat - what is known of one instruction of the input.  In the arena. */
typedef struct wat {
    uint8_t shape, keep;
    bool vary;    /* region: lanes that enter it together may diverge in it or leave it separately */
    bool leak;    /* loop, for, block: lanes leave it one by one, so it has a mask of its own */
    bool cross;   /* region: lanes leave it for a region further out, or end inside it */
    bool block;   /* region: at block level */
    bool each;    /* for: its iterations are lanes */
    bool strip;   /* for: lanes count up together from their own starts to one bound */
    bool dead;    /* get: nobody uses it */
    bool used;    /* some instruction uses the value */
    bool one_by_one; /* loop, for, block: lanes continue after it before others have left it */
    bool clean;   /* load: nothing was written before it in its phase */
    bool partial; /* set: lanes that are off must keep their value */
    bool zero;    /* slot: may be read before it is set */
    bool meets;   /* it is needed as a vector */
    bool spill;   /* it is kept in `array` for later phases */
    int64_t stride;
    uint32_t parent; /* the instruction that opens its region: if, else, for, loop, block; or W_ROOT */
    uint32_t target; /* break_if: the region it leaves; else: its if */
    uint32_t alias;  /* get: the value it is known to return, or itself */
    uint32_t next;   /* get, set: the slot's next access; slot: its first; W_ROOT: none */
    uint32_t gets;   /* slot: number of reads */
    uint32_t home;   /* slot: the region that always begins by setting it */
    uint32_t phase, when; /* number of its phase; the execution of a phase for which one and vec are valid */
    td_val one, vec, array;
} wat;

typedef enum wkind { W_FULL, W_COUNT, W_SOME } wkind;

/* wmask - which lanes are on: all, the first `count`, or those of `cur`. */
typedef struct wmask {
    wkind kind;
    bool any; /* at least one lane is on for certain */
    td_val count, cur;
} wmask;

typedef struct wframe {
    uint32_t opener;
    wmask m;     /* the mask at its entry */
    td_val live; /* slot: the lanes that have not left it; TD_NONE: they leave together */
} wframe;

typedef struct wide {
    const td_fn *in;
    td_fn *f;
    wat *at;
    int lanes;
    bool host;   /* not a kernel of threads: some of its loops are widened */
    bool linear; /* groups are cut from the linear index, not from each row of threads */
    bool warps;  /* it has warp instructions: groups have 32 lanes */
    bool barriers, exits; /* exits: threads end one by one, inside regions or before barriers */
    bool leaves;          /* groups end as a whole inside regions */
    const char *why;
    /* the current mask, while code is emitted */
    wmask m;
    wframe open[TD_DEPTH + 1];
    uint32_t depth;      /* open[0] is the group */
    uint32_t epoch, runs;
    uint32_t *undo, nundo, capundo; /* values valid only inside the innermost regions */
    td_val bdim[3], gdim[3], bid[3], shared;
    /* of the group: thread index of lane 0 (linear: of all lanes), linear index of lane 0, lanes that exist */
    td_val tid[3], place, tail;
    td_val alive, ended;        /* array over threads, slot of the block: when `exits` */
} wide;

/* ---- widecanon.c: a copy of a finished kernel of threads, returns as exits ---- */
td_status w_canon(const td_fn *in, td_arena *mem, td_fn *out);

/* ---- wideflow.c: regions, slots ---- */
td_status w_flow(wide *w); /* finds parent, target, alias, next, gets, home, block, clean */
bool w_inside(const wide *w, uint32_t i, uint32_t region);
bool w_at_block(const wide *w, uint32_t i); /* is i in a region at block level, or in none? */

static inline uint32_t
w_src(const wide *w, td_val v)
{
    return w->at[v.i].alias;
}

static inline wshape
w_shape(const wide *w, td_val v)
{
    return (wshape)w->at[w_src(w, v)].shape;
}

/* Is it the same value for all lanes? */
static inline bool
w_is_uniform(wshape s)
{
    return s == W_BLOCK || s == W_GROUP;
}

/* May lanes of a group go different ways in a region between instruction i and the region `until` around it? */
static inline bool
w_diverges(const wide *w, uint32_t i, uint32_t until)
{
    for (uint32_t p = w->at[i].parent; p != until; p = w->at[p].parent)
        if (w->at[p].vary)
            return true;
    return false;
}

/* The instruction after region i. */
static inline uint32_t
w_end(const wide *w, uint32_t i)
{
    uint32_t e = w->in->ins[i].jump;

    return w->in->ins[e].op == OP_else ? w->in->ins[e].jump : e;
}

/* Does the if i have a non-empty else? */
static inline bool
w_has_else(const wide *w, uint32_t i)
{
    uint32_t mid = w->in->ins[i].jump, end = w_end(w, i);

    return mid != end && mid + 1 != end;
}

/* ---- wideshape.c: shapes ---- */
td_status w_shapes(wide *w); /* finds everything else of wat; TD_SKIP: lanes cannot run the kernel */
bool w_edge(const wide *w, uint32_t i); /* does i end a phase? */
int w_lanes(const wide *w, int vector_bytes);

/* ---- widevalue.c: values, slots ---- */
td_val w_one(wide *w, td_val v);
td_val w_vec(wide *w, td_val v);
void w_inst(wide *w, uint32_t i); /* emits an instruction that neither opens nor closes a region */
void w_defined(wide *w, uint32_t i, td_val one, td_val vec);
td_val w_select(wide *w, td_val mask, td_val a, td_val b); /* of any dtype */
void w_close(wide *w, uint32_t mark); /* forgets values made since nundo was `mark` */
td_val w_int(wide *w, td_dtype dt, int64_t v);

/* ---- widememory.c ---- */
bool w_is_local(const wide *w, td_val p); /* is it an array that each lane has for itself? */
bool w_once(const wide *w, uint32_t i); /* do all lanes load or store the same? */
void w_access(wide *w, uint32_t i);
void w_pointer(wide *w, uint32_t i);

/* ---- widewarp.c ---- */
bool w_is_warp(unsigned op);
void w_warp(wide *w, uint32_t i);

/* ---- widemask.c: control within a group ---- */
td_val w_mask(wide *w); /* the current mask as a value; TD_NONE: all lanes */
td_val w_and(wide *w, td_val a, td_val b); /* masks, TD_NONE: all */
td_val w_any(wide *w, td_val mask);
wmask w_some(td_val cur, bool any);
void w_push(wide *w, uint32_t i, td_val live); /* enters region i */
void w_refresh(wide *w); /* recomputes the mask after lanes left from inside */
void w_range(wide *w, uint32_t i, uint32_t end);

/* ---- wideloop.c ---- */
uint32_t w_loop(wide *w, uint32_t i); /* emits loop i; returns the index after it */

/* ---- widehost.c: functions ---- */
bool w_host(wide *w); /* chooses loops: sets each, and block outside them; false: there are none */
void w_function(wide *w);

/* ---- wideblock.c: phases ---- */
void w_storage(wide *w, uint32_t i, uint32_t end); /* emits slots, arrays, parameters of [i, end) */
void w_do_once(wide *w, uint32_t i, uint32_t end);
void w_run_group(wide *w, uint32_t i, uint32_t end); /* emits instructions for a group with mask w->m */
void w_entry(wide *w);  /* emits the block's indices */
void w_blocks(wide *w); /* emits the rest; linear is set */

#endif
