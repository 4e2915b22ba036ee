/* emit.h - what the files of this folder share: one kernel on its way to LLVM IR.
 *
 * A value of dt with n lanes is an LLVM value of low_type(dt, n): <n x T>, or T when n is 1.
 * bool is i1 in values and a byte in memory; half types are their bits, i16, in both: arithmetic
 * never happens on them.  A pointer is an LLVM pointer in the address space that holds its
 * elements.
 */
#ifndef TD_LOWER_EMIT_H
#define TD_LOWER_EMIT_H
#include "lower/lower.h"

#include <llvm-c/Core.h>

/* leave.c: what the turns of a loop do so that it can be left: nothing; ask; count, where it begins; it is cut. */
typedef enum low_turns { LOW_TURNS_FREE, LOW_TURNS_ASK, LOW_TURNS_TAKE, LOW_TURNS_CUT } low_turns;

/* An open region.  `next`: where control goes behind it; of an `if`, the else branch until
 * `else`. */
typedef struct low_region {
    td_op             op; /* if, for, loop, block, parallel */
    LLVMBasicBlockRef next, body;
    LLVMValueRef      counter, hi, step, limit; /* for; limit: hi - step */
    struct low_piece *piece;                    /* parallel */
    struct low_func *func;                      /* func */
    enum low_turns turns;                       /* for, loop */
    LLVMBasicBlockRef piece_at;                 /* LOW_TURNS_ASK, _CUT: where turns begin at first, and after each look, */
    LLVMValueRef      first;                    /* with which counter */
    LLVMValueRef      after, more;              /* CUT: where the next piece begins, whether there is one; */
    LLVMBasicBlockRef all;                      /* behind the last one */
} low_region;

/* One lowering.  On the compiling thread's stack; `val` comes from the kernel's arena. */
typedef struct lowering {
    const td_fn      *f;
    int               target; /* TD_TARGET_CPU or _GPU */
    bool              turns;  /* one of many threads on a CPU: ir/interp/kfiber.h */
    uint64_t          nshared, nlocal, nstack; /* turns: bytes of arrays so far */
    LLVMContextRef    cx;
    LLVMModuleRef     mod;
    LLVMBuilderRef    b;
    LLVMValueRef      fn;
    LLVMBasicBlockRef entry; /* parameters and slots; open until the end */
    LLVMBasicBlockRef exit;  /* where threads end early; NULL: nowhere yet */
    LLVMValueRef      budget; /* leave.c; NULL: no loop of the function has needed it yet */
    LLVMValueRef     *val;   /* of each instruction; NULL where it defines none */
    int               cache; /* of the load or store that is being made: td_inst_cache */
    low_region        open[TD_DEPTH];
    uint32_t          depth;
    struct low_func  *func[TD_FUNCS]; /* by number; func.c */
    bool              leaves;         /* functions tell whether they were left */
    struct low_lines *lines;          /* NULL: nobody wants them */
    td_status         st; /* first failure */
} lowering;

/* types.c: types, constants, and small things that are said often */
LLVMTypeRef  low_elem(const lowering *L, td_dtype dt);           /* of a value's lane */
LLVMTypeRef  low_mem(const lowering *L, td_dtype dt, int lanes); /* in memory: bool is i8 */
LLVMTypeRef  low_type(const lowering *L, td_dtype dt, int lanes);
LLVMTypeRef  low_int(const lowering *L, unsigned bits, int lanes);
LLVMTypeRef  low_ptr(const lowering *L, unsigned space);
LLVMValueRef low_cint(const lowering *L, unsigned bits, int lanes, uint64_t v);
LLVMValueRef low_cfp(const lowering *L, td_dtype dt, int lanes, double v);
LLVMValueRef low_zero(LLVMTypeRef t);
LLVMValueRef low_splat(lowering *L, LLVMValueRef v, int lanes);
LLVMValueRef low_lane(lowering *L, LLVMValueRef v, int lanes, int lane); /* v when lanes is 1 */
LLVMValueRef low_with_lane(lowering *L, LLVMValueRef v, LLVMValueRef x, int lanes, int lane);
/* Lanes first, first + 1, … of v, `count` of them; those beyond v's repeat its last. */
LLVMValueRef low_part(lowering *L, LLVMValueRef v, int lanes, int first, int count);
LLVMValueRef low_intrin(lowering *L, const char *name, LLVMTypeRef *over, unsigned nover,
                        LLVMValueRef *arg, unsigned narg);
LLVMValueRef low_icmp(lowering *L, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef low_fcmp(lowering *L, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef low_select(lowering *L, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b);
LLVMBasicBlockRef low_block(lowering *L, const char *name);
void low_attr(const lowering *L, LLVMValueRef fn, const char *name, uint64_t v);
void low_attr_text(const lowering *L, LLVMValueRef fn, const char *name, const char *v);

/* One function a kind of instruction; they set L->val of the instruction at index i. */
typedef LLVMValueRef low_inst(lowering *L, const td_inst *s);
low_inst low_load, low_store, low_shared, low_local, low_dynamic;     /* memory.c */
low_inst low_at, low_address, low_pointer;                            /* memory.c */
low_inst low_slot, low_get, low_set;                                  /* memory.c */
low_inst low_atomic, low_fence;                                       /* atomic.c */
low_inst low_if, low_else, low_for, low_loop, low_block_region;       /* control.c */
low_inst low_break_if, low_exit_if, low_end;                          /* control.c */
low_inst low_parallel, low_piece_end, low_piece_number;               /* parallel.c */
low_inst low_func_region, low_call;                                   /* func.c */
low_inst low_tid, low_bid, low_bdim, low_gdim, low_lane_index;        /* thread.c */
low_inst low_barrier, low_barrier_count, low_grid_barrier;            /* thread.c */
low_inst low_ask, low_clock, low_take, low_release, low_nanosleep;                                    /* thread.c */
low_inst low_shuffle_xor, low_shuffle, low_ballot, low_match_any;     /* warp.c */
low_inst low_activemask, low_syncwarp;                                /* warp.c */
low_inst low_kfiber_index, low_kfiber_shared, low_kfiber_local;             /* kfiber.c */
low_inst low_permute, low_any, low_all, low_bits, low_unbits;         /* lanes.c */
/* control.c: a region that is open from now on, to be closed by low_end. */
low_region *low_open(lowering *L, td_op op);
void        low_end_parallel(lowering *L, const low_region *r); /* parallel.c */
/* leave.c: how the loop of s can be left.  TAKE: before its first turn.  ASK: there, lo NULL where it has no counter, and as the
 * end of a turn's last block, next as lo.  CUT: there, with r->hi and r->step set, and behind it. */
low_turns low_turns_of(const lowering *L, const td_inst *s);
void      low_turns_take(lowering *L, LLVMValueRef lo, LLVMValueRef hi);
void      low_turns_begin(lowering *L, low_region *r, LLVMValueRef lo);
void      low_turn_asks(lowering *L, low_region *r, const td_inst *end, LLVMValueRef next);
void      low_turns_cut(lowering *L, low_region *r, LLVMValueRef lo);
void      low_turns_again(lowering *L, low_region *r);
void      low_place_exit(lowering *L); /* the end of a function without a value, which may have an exit */
void      low_leave_if(lowering *L, LLVMValueRef word); /* the function ends where word is not 0 */
bool      low_funcs_leave(const lowering *L);           /* has a function inside of the kernel loops? */
/* kfiber.c: threads that take turns. */
void         low_kfiber_declare(lowering *L); /* L->fn */
void         low_kfiber_entry(lowering *L);   /* behind all else */
LLVMValueRef low_kfiber_dynamic(lowering *L);
LLVMValueRef low_kfiber_meet(lowering *L, const td_inst *s, LLVMValueRef value, LLVMValueRef which,
                           LLVMValueRef members); /* integers, or NULL; uint64 */
void         low_kfiber_exit_if(lowering *L, const td_inst *s);
void         low_kfiber_again(lowering *L, const td_inst *s); /* the loop that s ends takes another turn */
void         low_kfiber_unless(lowering *L, LLVMValueRef ok); /* a compare-and-swap that failed */
/* func.c: the values from outside that the function uses, and so a call of it; *n of them, 0 before its code is made. */
const uint32_t *low_func_uses(const lowering *L, uint64_t number, uint32_t *n);
void        low_end_func(lowering *L, const low_region *r);
/* lines.c: around the instructions of a kernel, before each of them; and what is left of a text without debugging
 * information: its length. */
void        low_lines_begin(lowering *L);
void        low_lines_at(lowering *L, const td_inst *s);
void        low_lines_end(lowering *L);
size_t      low_strip_debug(char *ptx);
/* types.c: not on this target; fails with the instruction and why. */
LLVMValueRef low_refuse(lowering *L, const td_inst *s, const char *why);

/* memory.c: one access to memory, as loads, stores and atomics share it. */
typedef struct low_access {
    const td_inst *s;
    int            lanes, align; /* align: of one lane when scattered */
    LLVMTypeRef    elem, all;    /* in memory */
    LLVMValueRef   base, index, mask;
    bool           scattered;
} low_access;

/* Stack memory, made in the entry block so that SROA makes registers of it. */
LLVMValueRef low_at_entry(lowering *L, LLVMTypeRef t, bool zeroed);
low_access   low_access_of(const lowering *L, const td_inst *s, td_val mask);
LLVMValueRef low_lane_address(lowering *L, const low_access *a, int lane);
/* The block that runs when cond holds; the builder moves into it.  *join gets what follows. */
void         low_open_guard(lowering *L, LLVMValueRef cond, LLVMBasicBlockRef *join);

/* An elementwise row that is written by hand: operands in x, their dtype dt. */
typedef LLVMValueRef low_row(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x);
#define BIN(s, u, f)
#define CMP(s, u, f)
#define INTRIN(n)
#define MATH(n)
#define EXPR(n)
#define SPECIAL(n) low_row low_special_##n;
#define OP(n, ar, k, r, fl, mean, low, sl, de) low
#include "ir/core/ops.def"
#undef BIN
#undef CMP
#undef INTRIN
#undef MATH
#undef EXPR
#undef SPECIAL

/* approx.c: the row computed roughly, where the kernel and the target do so; else NULL. */
LLVMValueRef low_approx(lowering *L, const td_inst *s, const LLVMValueRef *x);
/* cast.c */
LLVMValueRef low_cast(lowering *L, LLVMValueRef v, td_dtype from, td_dtype to, int lanes);
/* math.c */
LLVMValueRef low_math(lowering *L, const char *stem, int arity, td_dtype dt, int lanes,
                      const LLVMValueRef *x);
/* A call of a scalar C function for each lane. */
LLVMValueRef low_call_lanes(lowering *L, const char *name, int arity, td_dtype dt, int lanes,
                            const LLVMValueRef *x);

/* runtime.c: a call of a C function that CPU code can reach (low_symbol). */
LLVMValueRef low_runtime(lowering *L, const char *name, LLVMTypeRef result, LLVMValueRef *arg,
                         unsigned n);

/* emit.c: what every function of the CPU's code says of itself. */
void low_host_attrs(const lowering *L, LLVMValueRef fn);

/* emit.c: fills L->mod from L->f; L->cx and L->target are set.  On failure L->mod may be half
 * made. */
td_status low_module(lowering *L);
void      low_free(lowering *L); /* module, builder, context; ok on a half-made one */

#endif
