/* ir.h - the kernel IR: a typed program that one thread of a kernel runs.
 *
 * A kernel is a flat array of fixed-size instructions.  Control is structured: `if`/`else`/`end`,
 * `for`/`end`, `loop`/`end`, `block`/`end`, left by `break_if`, and `parallel`/`end`; variables that
 * change are slots.  A value is visible from its instruction to the end of the region that holds it.
 * An instruction has 1 lane or several: lanes are neighbouring elements that one thread handles
 * together, vector registers on a CPU and 16-byte accesses on a GPU.  Every instruction is total: no
 * operand makes it undefined.
 */
#ifndef TD_IR_IR_H
#define TD_IR_IR_H
#include "base/arena.h"
#include "base/text.h"
#include "base/hash.h"
#include "ir/core/op.h"

typedef struct td_val {
    uint32_t i; /* index of the defining instruction; TD_NONE.i: no value */
} td_val;

#define TD_NONE ((td_val){UINT32_MAX})

enum {
    TD_INST_PTR = 1,
    TD_INST_CACHE = 0xf00, /* load, store: TD_CACHE_*, a cache hint for a GPU: td_inst_cache */
    TD_INST_CHECK = 4, /* less: check number imm that an index is within its array.  Only ranges.c reads it: no kernel is
                        * compiled from a function that has it */
    TD_INST_EACH = 2, /* for: its iterations do not depend on each other, and no break leaves a region around it */
};

typedef struct td_inst {
    uint16_t op;
    uint8_t  dt;
    uint8_t  lanes; /* 1..64 */
    uint32_t flags; /* TD_INST_PTR */
    td_val   arg[TD_MAXARG];
    uint32_t line; /* source line; 0: none */
    uint64_t imm;
    uint32_t jump; /* of an opener or closer of a region: the matching instruction, set by td_fn_finish */
    uint32_t from; /* the function that `line` belongs to: td_fn.origin[from - 1]; 0: unknown */
} td_inst;

_Static_assert(sizeof(td_inst) == 48, "td_inst is hashed as bytes: no padding");

/* PTX's cache operators; td_cache_name(TD_CACHE_NONE) is NULL. */
enum { TD_CACHE_NONE, TD_CACHE_CA, TD_CACHE_CG, TD_CACHE_CS, TD_CACHE_LU, TD_CACHE_CV, TD_CACHE_WB, TD_CACHE_WT, TD_CACHES };
const char *td_cache_name(int cache);

static inline int
td_inst_cache(const td_inst *s)
{
    return (int)((s->flags & TD_INST_CACHE) >> 8);
}

enum { TD_FUNCS = 32, TD_DEPTH = 1024 }; /* most functions of a kernel, most nested regions */
enum { TD_TARGET_CPU, TD_TARGET_GPU };
enum { TD_FENCE_BLOCK, TD_FENCE_DEVICE, TD_FENCE_SYSTEM };

/* What is known of a check that an index is within its array: nothing; it is, wherever a thread comes to it; a failure
 * has been told by an earlier check of the same. */
enum { TD_CHECK_OPEN, TD_CHECK_HOLDS, TD_CHECK_TOLD };

/* td_origin - a function of the program that instructions come from. */
typedef struct td_origin {
    const char *file, *function; /* borrowed */
} td_origin;

/* td_note - the program's name for the memory that a pointer points to.  In the td_fn's arena. */
typedef struct td_note {
    const struct td_note *next;
    td_val          v;
    const char     *text;
    size_t          size; /* bytes of an element, as the program sees them */
} td_note;

typedef struct td_fn {
    td_arena   *mem; /* borrowed */
    const char *name;
    td_inst    *ins;
    uint32_t    n, cap, nparam;
    uint32_t    line, from; /* recorded in the instructions that are emitted */
    uint32_t    cache; /* recorded in the loads and stores that are emitted */
    uint32_t    norigin;
    const td_origin *origin; /* set for kernels that are debugged only */
    const td_note   *note;
    uint32_t    registers; /* most registers of a thread on a GPU; 0: as many as its compiler chooses */
    uint32_t    threads, resident; /* most threads of a block; blocks that a multiprocessor should hold at once.
                                  * A GPU's compiler assigns registers by them; 0: not given */
    bool        simt; /* the program of one thread of a block, on every device: a CPU widens it (widen.h) */
    bool        lines; /* a GPU's code has line information; origin is set */
    bool        fast; /* arithmetic may be reordered and approximate, and assumes that numbers are finite */
    bool        libm; /* on a CPU, math functions equal the C library's to the last bit */
    uint32_t    warp; /* threads of a warp: TD_WARP, or the number on the device that it is built for */
    uint32_t    optimise; /* 0: unchanged; 3: loops are unrolled and vectorised */
    td_status   st;   /* the first failure; later calls do nothing */
} td_fn;

td_fn  td_fn_new(td_arena *mem, const char *name); /* name: borrowed, a C identifier */

/* For passes and the parser: makes an instruction without operands, and appends one unchanged but for f->line. */
td_inst td_inst_new(td_op op, td_dtype dt, int lanes);
td_val  td_push(td_fn *f, td_inst s);

/* The builder (ir.c; for threads, warps, blocks and grids build_thread.c).  On a failed td_fn all calls do nothing and
 * return value 0. */
td_val td_param(td_fn *f, td_dtype dt);            /* one 8-byte argument word holding dt's bits */
td_val td_param_ptr(td_fn *f, td_dtype dt);
td_val td_const(td_fn *f, td_dtype dt, double val);     /* floats and small integers */
td_val td_const_int(td_fn *f, td_dtype dt, int64_t val);
td_val td_emit(td_fn *f, td_op op, const td_val *arg);  /* an elementwise row, expanded if it is a composite;
                                                            one-lane operands are splat to the widest */
td_val td_emit_raw(td_fn *f, td_op op, const td_val *arg); /* the same, never expanded */
td_val td_cast(td_fn *f, td_val v, td_dtype dt);        /* v itself if it has that dtype */
td_val td_bitcast(td_fn *f, td_val v, td_dtype dt);
td_val td_splat(td_fn *f, td_val v, int lanes);         /* v itself if it has that many */
td_val td_iota(td_fn *f, td_dtype dt, int lanes);
td_val td_rotate(td_fn *f, td_val v, int k);
td_val td_extract(td_fn *f, td_val v, int lane);
td_val td_zip(td_fn *f, td_val a, td_val b);            /* one-lane operands are splat to the other's lanes */
td_val td_unzip(td_fn *f, td_val v, int odd);
td_val td_permute(td_fn *f, td_val v, td_val index);    /* lane j takes lane index[j] */
td_val td_any(td_fn *f, td_val v);
td_val td_all(td_fn *f, td_val v);
td_val td_bits(td_fn *f, td_val v);                     /* uint64 */
td_val td_unbits(td_fn *f, td_val v, int lanes);
td_val td_load(td_fn *f, td_val ptr, td_val index, td_val mask, int lanes, int align);
void   td_store(td_fn *f, td_val ptr, td_val index, td_val val, td_val mask, int align);
td_val td_atomic(td_fn *f, td_op how, td_val ptr, td_val index, td_val val, td_val mask); /* OP_atomic_add, …, _dec: the old value */
td_val td_atomic_cas(td_fn *f, td_val ptr, td_val index, td_val expected, td_val val, td_val mask);
td_val td_at_byte(td_fn *f, td_val ptr, td_val nbytes, td_dtype dt); /* a pointer to dt, nbytes after ptr */
td_val td_address(td_fn *f, td_val ptr);                /* uint64 */
td_val td_pointer(td_fn *f, td_val address, td_dtype dt);
td_val td_local(td_fn *f, td_dtype dt, uint64_t count); /* the thread's own; one array, even in a loop */
td_val td_dynamic(td_fn *f, td_dtype dt);               /* the launch's shared memory */
void   td_fence(td_fn *f, int scope);                   /* TD_FENCE_* */
td_val td_slot(td_fn *f, td_dtype dt, int lanes);
td_val td_get(td_fn *f, td_val slot);
void   td_set(td_fn *f, td_val slot, td_val val);
void   td_if(td_fn *f, td_val cond);
void   td_else(td_fn *f);
td_val td_for(td_fn *f, td_val lo, td_val hi, td_val step);
td_val td_each(td_fn *f, td_val lo, td_val hi);        /* for by ones with TD_INST_EACH: a CPU runs iterations as lanes */
void   td_loop(td_fn *f);
void   td_block(td_fn *f);
void   td_break_if(td_fn *f, td_val cond);              /* leaves the innermost loop, for or block */
void   td_break_out(td_fn *f, td_val cond, int level);  /* leaves level + 1 of them */
void   td_exit_if(td_fn *f, td_val cond);
td_val td_pieces(td_fn *f, td_val lo, td_val hi, int most); /* opens `parallel` */
td_val td_piece_end(td_fn *f, td_val first);            /* first: what td_pieces gave */
td_val td_piece(td_fn *f, td_val first);                /* int64 */
td_val td_open_func(td_fn *f, uint32_t number);              /* opens `func`; uint64 */
void   td_call_func(td_fn *f, td_val frame, uint32_t number); /* frame: uint64 */
void   td_end(td_fn *f);
td_val td_index(td_fn *f, td_op which, int axis);       /* OP_tid, OP_bid, OP_bdim, OP_gdim; int32 */
td_val td_lane(td_fn *f);                               /* int32, 0..warp-1 */
td_val td_shared(td_fn *f, td_dtype dt, uint64_t count);
void   td_barrier(td_fn *f);
td_val td_barrier_count(td_fn *f, td_val cond);         /* int32 */
void   td_grid_barrier(td_fn *f, td_val counter);       /* a pointer to one uint32, 0 at launch */
td_val td_shuffle_xor(td_fn *f, td_val v, int mask);
td_val td_shuffle(td_fn *f, td_val v, td_val lane, td_val members); /* members: uint32, a bit for each thread of the warp */
td_val td_ballot(td_fn *f, td_val cond, td_val members); /* uint32, as the next two */
td_val td_match_any(td_fn *f, td_val v, td_val members);
void   td_syncwarp(td_fn *f, td_val members);
void   td_release(td_fn *f, td_val heap, td_val words, td_val n);
td_val td_take(td_fn *f, td_val heap, td_val nbytes);    /* uint64: an address; CPU functions */
td_val td_ask(td_fn *f, td_val heap, td_val words, td_val which); /* uint64: td_box_ask's answer; CPU functions */
td_val td_core(td_fn *f, td_op op, const td_val *x);    /* activemask, clock, nanosleep: a row of core.def without imm over its operands */

#define TD_E1(f, op, a)       td_emit(f, OP_##op, (td_val[]){a})
#define TD_E2(f, op, a, b)    td_emit(f, OP_##op, (td_val[]){a, b})
#define TD_E3(f, op, a, b, c) td_emit(f, OP_##op, (td_val[]){a, b, c})

/* contract.c: fuses a product that only one sum or difference uses into an fma.  Before td_fn_finish; renumbers
 * values. */
td_status td_fn_contract(td_fn *f);

/* early.c: moves loads, and what their addresses need, before other arithmetic between the same effects. Before
 * td_fn_finish; renumbers values. */
td_status td_fn_loads_first(td_fn *f);

/* exits.c: a copy of a finished kernel whose early returns are exit_if: barriers do not wait for those threads.
 * Values keep their numbers. */
td_status td_fn_exits(const td_fn *in, td_arena *mem, td_fn *out);

/* waits.c: does a loop of the finished f seem to wait for what another thread writes? */
td_status td_fn_waits(const td_fn *f, td_arena *mem, bool *out);

/* Does it have a `func`?  Then, on a CPU, the interpreter runs its threads: the fibers' stacks are too small for deep
 * calls. */
bool td_fn_has_functions(const td_fn *f);

/* Is f so long that steps whose time is quadratic in its length (LLVM's scheduler, most of its passes) are left out? */
bool td_fn_is_long(const td_fn *f);

/* Matches the regions, then verifies.  Called once, after the last instruction. */
td_status td_fn_finish(td_fn *f);

/* Checks dtypes, lanes, scopes and regions, and that each operation admits its dtype. */
td_status td_fn_verify(const td_fn *f);

void      td_fn_note(td_fn *f, td_val v, const char *text, size_t size); /* text: borrowed; v: a pointer */

void      td_fn_print(const td_fn *f, td_text *out);
td_status td_fn_parse(const char *text, td_arena *mem, td_fn *out); /* what td_fn_print writes; errors give the line */
td_hash   td_fn_hash(const td_fn *f);                               /* of everything except source lines */

static inline const td_inst *
td_at(const td_fn *f, td_val v)
{
    TD_ASSERT(v.i < f->n);
    return &f->ins[v.i];
}

#endif
