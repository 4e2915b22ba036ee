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

/* How a loop can be left early (leave.c): it never looks; it asks now and then; it takes its iterations from the
 * budget where it begins; it is cut into pieces with a look between them. */
typedef enum low_leave { LOW_LEAVE_NEVER, LOW_LEAVE_ASK, LOW_LEAVE_TAKE, LOW_LEAVE_CUT } low_leave;

/* low_region - an open region.  `next`: the block after it, or the else branch of an `if` until its `else`. */
typedef struct low_region {
    td_op             op; /* if, for, loop, block, parallel */
    LLVMBasicBlockRef next, body;
    LLVMValueRef      counter, hi, step, limit; /* for: limit is hi - step */
    struct low_piece *piece;                    /* parallel */
    struct low_func *func;                      /* func */
    enum low_leave leave;                       /* for, loop: how they can be left early */
    /* LOW_LEAVE_ASK, CUT: the block that starts the iterations, at first and after each look, */
    LLVMBasicBlockRef piece_at;
    LLVMValueRef      first;                    /* and the counter it starts with */
    LLVMValueRef      after, more;              /* CUT: where the next piece begins, and whether there is one; */
    LLVMBasicBlockRef all;                      /* the block after the last piece */
} low_region;

/* lowering - one kernel being lowered.  On the compiling thread's stack; `val` lies in the kernel's arena. */
typedef struct lowering {
    const td_fn      *f;
    int               target; /* TD_TARGET_CPU or _GPU */
    bool              fiber;  /* the kernel is the program of one fiber: ir/interp/kfiber.h */
    uint64_t          nshared, nlocal, nstack; /* fibers: bytes of shared, local and stack arrays so far */
    LLVMContextRef    cx;
    LLVMModuleRef     mod;
    LLVMBuilderRef    b;
    LLVMValueRef      fn;
    LLVMBasicBlockRef entry; /* holds parameters and slots; stays open until the end */
    LLVMBasicBlockRef exit;  /* the block where threads end early; NULL: none does yet */
    LLVMValueRef      budget; /* leave.c; NULL: no loop of this function needs it yet */
    LLVMValueRef     *val;   /* the value of each instruction; NULL if it defines none */
    int               cache; /* cache operator of the access being made: td_inst_cache */
    low_region        open[TD_DEPTH];
    uint32_t          depth;
    struct low_func  *func[TD_FUNCS]; /* by number; func.c */
    bool              leaves;         /* functions return whether they were left early */
    struct low_lines *lines;          /* NULL: no line information is wanted */
    td_status         st; /* first failure */
} lowering;

/* types.c: types, constants and common builder calls. */
LLVMTypeRef  low_elem(const lowering *L, td_dtype dt);           /* of a lane of a value */
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
/* `count` lanes of v from lane `first` on; beyond v's end the last lane is repeated. */
LLVMValueRef low_part(lowering *L, LLVMValueRef v, int lanes, int first, int count);
/* A shuffle: lane i of the result is lane[i] of the lanes of a followed by those of b. */
LLVMValueRef low_pick(lowering *L, LLVMValueRef a, LLVMValueRef b, const int *lane, int n);
LLVMValueRef low_intrin(lowering *L, const char *name, LLVMTypeRef *over, unsigned nover,
                        LLVMValueRef *arg, unsigned narg);
LLVMValueRef low_icmp(lowering *L, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef low_fcmp(lowering *L, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef low_select(lowering *L, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b);
LLVMBasicBlockRef low_block(lowering *L, const char *name);
void low_attr(const lowering *L, LLVMValueRef fn, const char *name, uint64_t v);
void low_attr_text(const lowering *L, LLVMValueRef fn, const char *name, const char *v);

/* One function per kind of instruction.  It returns the value of instruction s, which becomes L->val. */
typedef LLVMValueRef low_inst(lowering *L, const td_inst *s);
#define CORE(n, args, val, im, ty, la, th, wi, lower, py) low_inst lower;
#include "ir/core/core.def"
low_inst low_kfiber_index, low_kfiber_shared, low_kfiber_local; /* kfiber.c */
/* control.c: a region that is open from now on, to be closed by low_end. */
low_region *low_open(lowering *L, td_op op);
void        low_end_parallel(lowering *L, const low_region *r); /* parallel.c */
/* leave.c: how the loop of s can be left.  TAKE: call low_leave_take before the first iteration.  ASK: call
 * low_leave_begin there, with lo NULL if the loop has no counter, and low_leave_ask at the end of an iteration,
 * with the next counter.  CUT: call low_leave_cut there, with r->hi and r->step set, and low_leave_again after
 * the loop. */
low_leave low_leave_of(const lowering *L, const td_inst *s);
void      low_leave_take(lowering *L, LLVMValueRef lo, LLVMValueRef hi);
void      low_leave_begin(lowering *L, low_region *r, LLVMValueRef lo);
void      low_leave_ask(lowering *L, low_region *r, const td_inst *end, LLVMValueRef next);
void      low_leave_cut(lowering *L, low_region *r, LLVMValueRef lo);
void      low_leave_again(lowering *L, low_region *r);
void      low_place_exit(lowering *L); /* ends a function without a value, which may have an exit block */
void      low_leave_if(lowering *L, LLVMValueRef word); /* ends the function if word is not 0 */
/* does a function inside the kernel have loops that can be left? */
bool      low_funcs_leave(const lowering *L);
/* kfiber.c: kernels whose threads are fibers. */
void         low_kfiber_declare(lowering *L); /* L->fn */
void         low_kfiber_entry(lowering *L);   /* after everything else: the entry function */
LLVMValueRef low_kfiber_dynamic(lowering *L);
LLVMValueRef low_kfiber_meet(lowering *L, const td_inst *s, LLVMValueRef value, LLVMValueRef which,
                           LLVMValueRef members); /* integers, or NULL; uint64 */
void         low_kfiber_exit_if(lowering *L, const td_inst *s);
/* gives way to other fibers between iterations of the loop that s ends */
void         low_kfiber_again(lowering *L, const td_inst *s);
void         low_kfiber_unless(lowering *L, LLVMValueRef ok); /* the same after a compare-and-swap that failed */
/* func.c: the outside values that a function uses, which every call passes on.  *n: how many, 0 before the
 * function's code is made. */
const uint32_t *low_func_uses(const lowering *L, uint64_t number, uint32_t *n);
void        low_end_func(lowering *L, const low_region *r);
/* lines.c: around the instructions of a kernel, before each of them; and what is left of a text without debugging
 * information: its length. */
void        low_lines_begin(lowering *L);
void        low_lines_at(lowering *L, const td_inst *s);
void        low_lines_end(lowering *L);
size_t      low_strip_debug(char *ptx);
/* types.c: fails, naming the instruction and why this target does not have it. */
LLVMValueRef low_refuse(lowering *L, const td_inst *s, const char *why);

/* low_access - one memory access, as loads, stores and atomics share it. */
typedef struct low_access {
    const td_inst *s;
    int            lanes, align; /* align: of one lane if the access is scattered */
    LLVMTypeRef    elem, all;    /* types in memory */
    LLVMValueRef   base, index, mask;
    bool           scattered;
} low_access;

/* Stack memory, allocated in the entry block so that SROA turns it into registers. */
LLVMValueRef low_at_entry(lowering *L, LLVMTypeRef t, bool zeroed);
low_access   low_access_of(const lowering *L, const td_inst *s, td_val mask);
LLVMValueRef low_lane_address(lowering *L, const low_access *a, int lane);
/* Opens a block that runs if cond holds, and moves the builder into it.  *join: the block that follows. */
void         low_open_guard(lowering *L, LLVMValueRef cond, LLVMBasicBlockRef *join);

/* An elementwise row whose code is written by hand.  x: operands, dt: their dtype. */
typedef LLVMValueRef low_row(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x);
#define BIN(s, u, f)
#define CMP(s, u, f)
#define INTRIN(n)
#define MATH(n)
#define EXPR(n)
#define SPECIAL(n) low_row low_special_##n;
#define OP(n, ar, k, r, fl, mean, low, ...) low
#include "ir/core/ops.def"
#undef BIN
#undef CMP
#undef INTRIN
#undef MATH
#undef EXPR
#undef SPECIAL

/* approx.c: the row's fast approximation, if the kernel and the target want one; else NULL. */
LLVMValueRef low_approx(lowering *L, const td_inst *s, const LLVMValueRef *x);
/* cast.c */
LLVMValueRef low_cast(lowering *L, LLVMValueRef v, td_dtype from, td_dtype to, int lanes);
/* math.c */
LLVMValueRef low_math(lowering *L, const char *stem, int arity, td_dtype dt, int lanes,
                      const LLVMValueRef *x);
/* Calls a scalar C function for each lane. */
LLVMValueRef low_call_lanes(lowering *L, const char *name, int arity, td_dtype dt, int lanes,
                            const LLVMValueRef *x);

/* runtime.c: calls a C function that CPU code can reach (low_symbol). */
LLVMValueRef low_runtime(lowering *L, const char *name, LLVMTypeRef result, LLVMValueRef *arg,
                         unsigned n);

/* emit.c: sets the attributes that all functions of the CPU's code have. */
void low_host_attrs(const lowering *L, LLVMValueRef fn);

/* emit.c: fills L->mod from L->f; L->cx and L->target are set.  On failure L->mod may be incomplete. */
td_status low_module(lowering *L);
void      low_free(lowering *L); /* frees module, builder and context; ok on an incomplete one */

#endif
