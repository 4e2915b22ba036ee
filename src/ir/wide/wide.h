/* wide.h - what the files of the widening pass share.
 *
 * Every value of the input has a shape (NONE: not found yet).  BLOCK: one value for the block.  GROUP: one for a group of
 * lanes.  AFFINE: lane l has `one + l * stride`.  PREFIX: a bool, true in the first `one` lanes; SUFFIX:
 * false in them.  LANES: a vector.  A value that is not LANES is held as one lane, `one`, and made a
 * vector, `vec`, where it meets vectors.
 *
 * A region is *at block level* when it holds a barrier, or a break out of such a region: it becomes
 * control flow of the block.  What lies between two of its barriers or inner regions at block level is
 * a *phase*: its BLOCK values are computed once, then a loop over the groups runs the rest.
 *
 * A function that is no kernel of threads is a block that runs its loops of independent turns in groups.
 */
#ifndef TD_IR_WIDE_H
#define TD_IR_WIDE_H
#include "ir/wide/widen.h"

enum { W_ROOT = UINT32_MAX, W_SPLIT_MOST = 1500 /* instructions that are made twice */ };

typedef enum wshape { W_NONE, W_BLOCK, W_GROUP, W_AFFINE, W_PREFIX, W_SUFFIX, W_LANES } wshape;

/* How a slot is kept: one for the block; one for the group that is at work; an array over the block's
 * threads, since its value outlives a phase. */
typedef enum wkeep { W_ONCE, W_LOCAL, W_ARRAY } wkeep;

/* wat - of each instruction of the input.  Arena. */
typedef struct wat {
    uint8_t shape, keep;
    bool vary;    /* region: lanes that entered it together may part in it or leave it apart */
    bool leak;    /* loop, for, block: lanes leave it one by one, so it has a mask of its own */
    bool cross;   /* region: lanes leave it for a region further out, or end */
    bool block;   /* region: at block level */
    bool each;    /* for: its turns are lanes */
    bool strip;   /* for: lanes count up together from their own first to one bound */
    bool dead;    /* get: nobody wants it */
    bool used;    /* a value that some instruction takes */
    bool one_by_one; /* loop, for, block: lanes go on behind it before others have left it */
    bool clean;   /* load: nothing was written before it in its phase */
    bool partial; /* set: lanes that do not take part must keep their value */
    bool zero;    /* slot: may be read before it is set */
    bool meets;   /* is wanted as a vector */
    bool spill;   /* is kept in `array` for later phases */
    int64_t stride;
    uint32_t parent; /* the opener of the region that holds it: if, else, for, loop, block; or W_ROOT */
    uint32_t target; /* break_if: the region that it leaves; else: its if */
    uint32_t alias;  /* get: the value that it is known to give, or itself */
    uint32_t next;   /* get, set: the slot's next access; slot: its first; W_ROOT: none */
    uint32_t gets;   /* slot: its reads */
    uint32_t home;   /* slot: the region whose every run begins with a set of it */
    uint32_t phase, when; /* static number of the phase; the run of a phase for which one and vec hold */
    td_val one, vec, array;
} wat;

typedef enum wkind { W_FULL, W_COUNT, W_SOME } wkind;

/* Which lanes are at work: all, the first `count`, those of `cur`. */
typedef struct wmask {
    wkind kind;
    bool any; /* one at least, for certain */
    td_val count, cur;
} wmask;

typedef struct wframe {
    uint32_t opener;
    wmask m;     /* at its entry */
    td_val live; /* slot of the lanes that have not left it; TD_NONE: they leave together */
} wframe;

typedef struct wide {
    const td_fn *in;
    td_fn *f;
    wat *at;
    int lanes;
    bool host;   /* not a kernel of threads: some of its loops are widened */
    bool linear; /* groups are cut from the linear index, not from rows of threads */
    bool warps;  /* holds instructions of the warp: 32 lanes */
    bool barriers, exits; /* exits: threads end one by one within regions or before barriers */
    bool leaves;          /* groups end as a whole within regions */
    const char *why;
    /* while code is made */
    wmask m;
    wframe open[TD_DEPTH + 1];
    uint32_t depth;      /* open[0] is the group */
    uint32_t epoch, runs;
    uint32_t *undo, nundo, capundo; /* values that hold in the innermost regions only */
    td_val bdim[3], gdim[3], bid[3], shared;
    td_val tid[3], place, tail; /* of the group: thread index of lane 0 (linear: of all lanes), linear index of
                                   lane 0, lanes that exist */
    td_val alive, ended;        /* array over threads, slot of the block: when `exits` */
} wide;

/* ---- widecanon.c: a copy of a finished kernel of threads, returns as exits ---- */
td_status w_canon(const td_fn *in, td_arena *mem, td_fn *out);

/* ---- wideflow.c: regions, slots ---- */
td_status w_flow(wide *w); /* parent, target, alias, next, gets, home, block, clean */
bool w_inside(const wide *w, uint32_t i, uint32_t region);
bool w_at_block(const wide *w, uint32_t i); /* i stands in a region at block level, or in none */

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

/* One value for all lanes? */
static inline bool
w_is_alike(wshape s)
{
    return s == W_BLOCK || s == W_GROUP;
}

/* The instruction behind region i. */
static inline uint32_t
w_end(const wide *w, uint32_t i)
{
    uint32_t e = w->in->ins[i].jump;

    return w->in->ins[e].op == OP_else ? w->in->ins[e].jump : e;
}

/* Does the if i have an else that holds anything? */
static inline bool
w_has_else(const wide *w, uint32_t i)
{
    uint32_t mid = w->in->ins[i].jump, end = w_end(w, i);

    return mid != end && mid + 1 != end;
}

/* ---- wideshape.c: shapes ---- */
td_status w_shapes(wide *w); /* everything else of wat; TD_SKIP */
bool w_edge(const wide *w, uint32_t i); /* i ends a phase */
int w_lanes(const wide *w, int vector_bytes);

/* ---- widevalue.c: values, slots ---- */
td_val w_one(wide *w, td_val v);
td_val w_vec(wide *w, td_val v);
void w_inst(wide *w, uint32_t i); /* an instruction that neither opens nor closes */
void w_defined(wide *w, uint32_t i, td_val one, td_val vec);
td_val w_select(wide *w, td_val mask, td_val a, td_val b); /* of any dtype */
void w_close(wide *w, uint32_t mark); /* forgets what was made since nundo was `mark` */
td_val w_int(wide *w, td_dtype dt, int64_t v);

/* ---- widememory.c ---- */
bool w_is_local(const wide *w, td_val p); /* an array of each lane's own */
bool w_once(const wide *w, uint32_t i); /* all lanes load or store the same */
void w_access(wide *w, uint32_t i);
void w_pointer(wide *w, uint32_t i);

/* ---- widewarp.c ---- */
bool w_is_warp(unsigned op);
void w_warp(wide *w, uint32_t i);

/* ---- widemask.c: control within a group ---- */
td_val w_mask(wide *w); /* TD_NONE: all */
td_val w_and(wide *w, td_val a, td_val b); /* masks, TD_NONE: all */
td_val w_any(wide *w, td_val mask);
wmask w_some(td_val cur, bool any);
void w_push(wide *w, uint32_t i, td_val live); /* enters region i */
void w_refresh(wide *w); /* lanes left from within a region */
void w_range(wide *w, uint32_t i, uint32_t end);

/* ---- wideloop.c ---- */
uint32_t w_loop(wide *w, uint32_t i); /* gives what comes behind */

/* ---- widehost.c: functions ---- */
bool w_host(wide *w); /* chooses loops: each, and block outside of them; false: there are none */
void w_function(wide *w);

/* ---- wideblock.c: phases ---- */
void w_storage(wide *w, uint32_t i, uint32_t end); /* of [i, end): slots, arrays, parameters */
void w_do_once(wide *w, uint32_t i, uint32_t end);
void w_run_group(wide *w, uint32_t i, uint32_t end); /* instructions of a group of w->m */
void w_entry(wide *w);  /* indices of the block */
void w_blocks(wide *w); /* the rest; linear is set */

#endif
