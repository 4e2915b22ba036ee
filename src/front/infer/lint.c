/* lint.c - looks for slow patterns in a kernel's instructions.
 *
 * Every integer is described as `coef * threadIdx.x + a value shared by a row of threads`:
 * constants, arguments and loop counters have coefficient 0.  A slot has the coefficient that all
 * its assignments agree on.  What depends on threadIdx.x in another way is unknown, and nothing
 * is reported about it.
 */
#include "front/infer/lint.h"

#include "base/map.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum form {
    UNSEEN,  /* a slot without an assignment so far */
    AFFINE,  /* coef */
    STRIDED, /* a multiple of threadIdx.x that is known only when the kernel runs */
    UNKNOWN,
} form;

typedef struct fact {
    form form;
    int64_t coef; /* of pointers in bytes */
    /* known when compiling; or known except for a loop with few iterations */
    bool is_const, by_loop;
    int64_t value;
} fact;

typedef struct lint {
    const td_fn *f;
    const td_source *s;
    uint32_t lines; /* of the source's text */
    fact *at;       /* of each instruction */
    bool narrow;    /* arrays of floats are at most float32 */
    bool grew;
    td_map said;
    td_text *out;
    td_status st;
} lint;

enum { FEW = 64, PASSES = 8 }; /* iterations that a compiler unrolls; passes until slots settle */

/* ---- saying ---- */

/* A line, once a place and kind. */
static void TD_PRINTF(4, 5) say(lint *l, uint32_t line, uint32_t kind, const char *format, ...)
{
    td_hash key = td_hash_u64(td_hash_u64(TD_HASH_INIT, line), kind);
    char text[400];
    va_list args;

    if (l->st || td_map_get(&l->said, key))
        return;
    l->st = td_map_set(&l->said, key, l);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (line >= l->s->line && line < l->s->line + l->lines)
        td_text_addf(l->out, "%s:%u: %s\n", l->s->file, line, text);
    else
        td_text_addf(l->out, "line %u of a function that %s calls: %s\n", line, l->s->name, text);
}

enum { SAY_WIDE, SAY_STRIDE, SAY_BANKS, SAY_LOCAL, SAY_DIVIDE, SAY_ATOMIC };

/* ---- coefficients ---- */

static const fact none = {.form = AFFINE};

static fact
arg_fact(const lint *l, const td_inst *s, int a)
{
    return s->arg[a].i < l->f->n ? l->at[s->arg[a].i] : none;
}

static bool
shared_by_row(fact x)
{
    return x.form == AFFINE && x.coef == 0;
}

static fact
sum(fact x, fact y, int64_t sign)
{
    fact r = {.form = x.form > y.form ? x.form : y.form, .coef = x.coef + sign * y.coef};

    if (x.form == STRIDED || y.form == STRIDED)
        r.coef = 1;
    r.is_const = x.is_const && y.is_const;
    r.by_loop = (x.is_const || x.by_loop) && (y.is_const || y.by_loop);
    r.value = (int64_t)((uint64_t)x.value + (uint64_t)(sign * y.value));
    return r;
}

static fact
lint_product(fact x, fact y)
{
    fact r = {.form = UNKNOWN};

    if (y.is_const)
        r = (fact){.form = x.form, .coef = x.form == AFFINE ? x.coef * y.value : x.coef};
    else if (x.is_const)
        return lint_product(y, x);
    else if (shared_by_row(x) && shared_by_row(y))
        r = none;
    else if ((shared_by_row(x) && y.form != UNKNOWN) || (shared_by_row(y) && x.form != UNKNOWN))
        r = (fact){.form = STRIDED, .coef = 1};
    if (y.is_const && y.value == 0)
        r = none;
    r.is_const = x.is_const && y.is_const;
    r.by_loop = (x.is_const || x.by_loop) && (y.is_const || y.by_loop);
    r.value = (int64_t)((uint64_t)x.value * (uint64_t)y.value);
    return r;
}

static fact
meet_facts(fact x, fact y)
{
    if (x.form == UNSEEN)
        return y;
    if (y.form == UNSEEN)
        return x;
    if (x.form != y.form || x.coef != y.coef)
        return (fact){.form = UNKNOWN};
    x.by_loop = (x.by_loop || x.is_const) && (y.by_loop || y.is_const);
    x.is_const = x.is_const && y.is_const && x.value == y.value;
    return x;
}

static bool
same_facts(fact x, fact y)
{
    return x.form == y.form && x.coef == y.coef && x.is_const == y.is_const &&
           x.by_loop == y.by_loop && x.value == y.value;
}

/* All operands shared by the row: the result too. */
static fact
other(const lint *l, const td_inst *s)
{
    int n = s->op < TD_OPS ? td_optab[s->op].arity : TD_MAXARG;
    fact r = none;

    r.by_loop = s->op < TD_OPS; /* not what is loaded */
    for (int a = 0; a < n; a++)
        if (s->arg[a].i < l->f->n) {
            fact x = l->at[s->arg[a].i];

            r.by_loop = r.by_loop && (x.by_loop || x.is_const);
            if (!shared_by_row(x))
                r.form = UNKNOWN;
        }
    return r;
}

static fact
counter(const lint *l, const td_inst *s)
{
    fact lo = arg_fact(l, s, 0), hi = arg_fact(l, s, 1), step = arg_fact(l, s, 2), r = lo;

    r.is_const = false;
    r.by_loop = lo.is_const && hi.is_const && step.is_const && step.value > 0 &&
                (hi.value - lo.value) / step.value <= FEW;
    return shared_by_row(step) ? r : (fact){.form = UNKNOWN};
}

static fact
fact_of(lint *l, uint32_t i)
{
    const td_inst *s = &l->f->ins[i];
    fact x, y;

    switch (s->op) {
    case OP_const:
        if (td_dtype_is_float((td_dtype)s->dt))
            return none;
        return (fact){.form = AFFINE, .is_const = true, .value = (int64_t)s->imm};
    case OP_tid:      return (fact){.form = AFFINE, .coef = s->imm == 0};
    case OP_lane:     return (fact){.form = AFFINE, .coef = 1};
    case OP_cast:
    case OP_address:
    case OP_pointer:  return arg_fact(l, s, 0);
    case OP_at:
    case OP_add:      return sum(arg_fact(l, s, 0), arg_fact(l, s, 1), 1);
    case OP_subtract: return sum(arg_fact(l, s, 0), arg_fact(l, s, 1), -1);
    case OP_multiply: return lint_product(arg_fact(l, s, 0), arg_fact(l, s, 1));
    case OP_left_shift:
        y = arg_fact(l, s, 1);
        if (!y.is_const || y.value < 0 || y.value > 62)
            return other(l, s);
        y.value = INT64_C(1) << y.value;
        return lint_product(arg_fact(l, s, 0), y);
    case OP_select: /* a negative index counts from the end: both ways run along the same */
        x = arg_fact(l, s, 1);
        y = arg_fact(l, s, 2);
        return meet_facts(x, y);
    case OP_for:  return counter(l, s);
    case OP_get:  return arg_fact(l, s, 0);
    case OP_slot: return l->at[i]; /* its assignments fill it */
    case OP_set:
        y = meet_facts(l->at[s->arg[0].i], arg_fact(l, s, 1));
        x = l->at[s->arg[0].i];
        if (!same_facts(x, y)) {
            l->at[s->arg[0].i] = y;
            l->grew = true;
        }
        return none;
    default:
        return td_op_is_atomic(s->op) || td_op_is_exchange(s->op) ? (fact){.form = UNKNOWN}
                                                                  : other(l, s);
    }
}

static void
find_facts(lint *l)
{
    int pass = 0;

    do {
        l->grew = false;
        for (uint32_t i = 0; i < l->f->n; i++)
            l->at[i] = fact_of(l, i);
    } while (l->grew && ++pass < PASSES);
    for (uint32_t i = 0; l->grew && i < l->f->n;
         i++) /* not settled: nothing is known of variables */
        if (l->f->ins[i].op == OP_slot || l->f->ins[i].op == OP_get)
            l->at[i] = (fact){.form = UNKNOWN};
}

/* ---- what is looked for ---- */

/* The instruction that made the memory which p points into. */
static const td_inst *
memory_root(const lint *l, td_val p)
{
    const td_inst *s = td_at(l->f, p);

    while (s->op == OP_at)
        s = td_at(l->f, s->arg[0]);
    return s;
}

static bool
is_access(unsigned op)
{
    return op == OP_load || op == OP_store || td_op_is_atomic(op);
}

static void
check_global(lint *l, const td_inst *s, fact bytes, int64_t size)
{
    int64_t stride = bytes.coef < 0 ? -bytes.coef : bytes.coef;
    const char *what = s->op == OP_load ? "read" : s->op == OP_store ? "written" : "changed";

    if (bytes.form == STRIDED)
        say(l, s->line, SAY_STRIDE,
            "memory is %s in strides: threads with neighbouring threadIdx.x reach elements that "
            "lie "
            "apart; let threadIdx.x run along the last axis",
            what);
    else if (bytes.form == AFFINE && stride > size)
        say(l, s->line, SAY_STRIDE,
            "memory is %s in strides: threads with neighbouring threadIdx.x reach places %" PRId64
            " bytes apart, of %" PRId64 " bytes each",
            what, stride, size);
}

/* Banks of 4 bytes: how many lanes of a warp meet in one. */
static void
check_shared(lint *l, const td_inst *s, fact bytes, int64_t size)
{
    int64_t words = bytes.coef / 4, ways = 1;

    if (bytes.form != AFFINE || bytes.coef % 4 || words == 0 || size > 4)
        return;
    while (ways < 32 && words % (2 * ways) == 0)
        ways *= 2;
    if (ways > 1)
        say(l, s->line, SAY_BANKS,
            "%d threads of a warp reach the same bank of shared memory: neighbouring threadIdx.x "
            "are "
            "%" PRId64 " bytes apart; make the last axis one element longer",
            (int)ways, bytes.coef);
}

static void
check_access(lint *l, const td_inst *s)
{
    const td_inst *from = memory_root(l, s->arg[0]);
    int64_t size = (int64_t)(td_dtype_size((td_dtype)s->dt) * s->lanes);
    fact index = arg_fact(l, s, 1), p = arg_fact(l, s, 0),
         bytes = sum(p,
                     lint_product(index, (fact){.form = AFFINE,
                                                .is_const = true,
                                                .value = (int64_t)td_dtype_size((td_dtype)s->dt)}),
                     1);

    switch (from->op) {
    case OP_param:
    case OP_pointer: check_global(l, s, bytes, size); break;
    case OP_shared:
    case OP_dynamic: check_shared(l, s, bytes, size); break;
    case OP_local:
        if (!index.is_const && !index.by_loop)
            say(l, s->line, SAY_LOCAL,
                "a local array is indexed by a value that only the running kernel knows: it lies "
                "in "
                "memory; constants and short loops of constant length keep it in registers");
        break;
    }
}

static bool
is_wide_float(const lint *l, const td_inst *s)
{
    if (s->op >= TD_OPS)
        return false;
    if (s->dt == TD_F64)
        return true;
    return td_optab[s->op].result == TD_RES_BOOL && td_at(l->f, s->arg[0])->dt == TD_F64;
}

static void
check_width(lint *l, const td_inst *s)
{
    if (l->narrow && is_wide_float(l, s))
        say(l, s->line, SAY_WIDE,
            "%s computes in float64, the arrays are float32: an int32 or a float64 beside a "
            "float32 "
            "gives float64; convert it, float32(x)",
            td_optab[s->op].name);
}

static void
check_division(lint *l, const td_inst *s)
{
    bool divides = s->op == OP_truncate_divide || s->op == OP_fmod || s->op == OP_floor_divide ||
                   s->op == OP_remainder;

    if (divides && td_dtype_is_int((td_dtype)s->dt) && td_dtype_size((td_dtype)s->dt) == 8 &&
        !arg_fact(l, s, 1).is_const)
        say(l, s->line, SAY_DIVIDE,
            "a 64-bit integer division by a number that is not constant takes a GPU some hundred "
            "instructions; int32 operands take a tenth");
}

static void
check_atomic(lint *l, const td_inst *s)
{
    if (td_op_is_atomic(s->op) && s->dt == TD_F64)
        say(l, s->line, SAY_ATOMIC,
            "an atomic operation on float64: twice the traffic of float32; add up in the block "
            "first");
}

/* ---- the whole ---- */

static void
array_widths(const td_type *t, bool *narrow, bool *wide)
{
    if (t->kind == TD_T_TUPLE)
        for (uint32_t i = 0; i < t->n; i++)
            array_widths(t->item[i], narrow, wide);
    if (t->kind == TD_T_RECORD)
        for (uint32_t i = 0; i < t->n; i++) {
            const td_type *e = t->field[i].type;

            if (e->kind == TD_T_NUM && td_dtype_real_of(e->dt) == TD_F64)
                *wide = true;
        }
    if (t->kind == TD_T_ARRAY && t->item[0]->kind == TD_T_RECORD)
        array_widths(t->item[0], narrow, wide);
    if (t->kind == TD_T_ARRAY && t->item[0]->kind == TD_T_NUM) {
        td_dtype dt = td_dtype_real_of(t->item[0]->dt);

        *wide = *wide || dt == TD_F64;
        *narrow = *narrow || (td_dtype_is_float(dt) && dt != TD_F64);
    }
}

static uint32_t
count_lines(const char *text)
{
    uint32_t n = 0;

    for (; text && *text; text++)
        n += *text == '\n' || !text[1];
    return n;
}

td_status
td_lint(const td_made *made, const td_source *s, const td_type *const *arg, uint32_t narg,
        td_text *out)
{
    lint l = {.f = &made->fn, .s = s, .out = out, .lines = count_lines(s->text)};
    bool wide = false;

    l.at = calloc(l.f->n + 1, sizeof *l.at);
    if (!l.at)
        return td_fail(TD_ERR_NOMEM, "lint of %s: host memory is out", s->name);
    for (uint32_t i = 0; i < narg; i++)
        array_widths(arg[i], &l.narrow, &wide);
    l.narrow = l.narrow && !wide;
    find_facts(&l);
    for (uint32_t i = 0; i < l.f->n; i++) {
        const td_inst *ins = &l.f->ins[i];

        if (is_access(ins->op))
            check_access(&l, ins);
        check_width(&l, ins);
        check_division(&l, ins);
        check_atomic(&l, ins);
    }
    td_map_free(&l.said);
    free(l.at);
    return l.st;
}
