/* print.c - a kernel as text: one instruction a line, which td_fn_parse reads back exactly.
 *
 *     kernel scale {
 *       %0 = param 0 : ptr float32
 *       %1 = const 0.5 : float32                     @3   (source line 3)
 *       %2 = tid x : int32
 *       %3 = load %0[%2] mask %m align 16 : float32 x4
 *       if %c {
 *         store %0[%2], %3 : float32 x4
 *       }
 *     }
 *
 * `: dtype xLANES` is left out where it is the bool of instructions without a value.
 */
#include "ir/core/ir.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends the fewest digits that read back as v. */
static void
add_float(td_text *out, double v)
{
    char s[40];

    for (int digits = 1; digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, v);
        if (v != v || strtod(s, NULL) == v)
            break;
    }
    td_text_add(out, s, strlen(s));
}

static void
add_bits(td_text *out, const td_inst *s)
{
    double v;

    memcpy(&v, &s->imm, sizeof v);
    if (td_dtype_is_float((td_dtype)s->dt))
        add_float(out, v);
    else if (td_dtype_kind((td_dtype)s->dt) == 'i')
        td_text_addf(out, "%" PRId64, (int64_t)s->imm);
    else
        td_text_addf(out, "%" PRIu64, s->imm);
}

/* Appends operands as `%1, %2`; memory as `%1[%2], %3 mask %4`. */
static void
add_operands(td_text *out, const td_inst *s)
{
    const td_opinfo *o = &td_optab[s->op];
    bool memory = s->op == OP_load || s->op == OP_store || td_op_is_atomic(s->op);

    for (int a = 0; a < o->arity; a++) {
        if (s->op >= TD_OPS && o->kinds[a] == '?') {
            if (s->arg[a].i != UINT32_MAX)
                td_text_addf(out, " mask %%%u", s->arg[a].i);
        } else if (memory && a == 1) {
            td_text_addf(out, "[%%%u]", s->arg[a].i);
        } else {
            td_text_addf(out, a ? ", %%%u" : " %%%u", s->arg[a].i);
        }
    }
}

static void
add_imm(td_text *out, const td_inst *s)
{
    switch (td_optab[s->op].imm) {
    case TD_IMM_NUMBER:
    case TD_IMM_LANE:
        td_text_addf(out, td_optab[s->op].arity ? ", %" PRId64 : " %" PRId64, (int64_t)s->imm);
        break;
    case TD_IMM_BITS:
        td_text_add(out, " ", 1);
        add_bits(out, s);
        break;
    case TD_IMM_AXIS: td_text_addf(out, " %c", s->imm < 3 ? "xyz"[s->imm] : '?'); break;
    case TD_IMM_ALIGN:
        if (s->imm)
            td_text_addf(out, " align %" PRIu64, s->imm);
        break;
    case TD_IMM_LEVEL:
        if (s->imm)
            td_text_addf(out, " level %" PRIu64, s->imm);
        break;
    }
}

static void
add_type(td_text *out, const td_inst *s)
{
    if (!td_optab[s->op].value && s->dt == TD_BOOL && s->lanes == 1)
        return;
    td_text_addf(out, " : %s%s", s->flags & TD_INST_PTR ? "ptr " : "",
                 td_dtype_name((td_dtype)s->dt));
    if (s->lanes != 1)
        td_text_addf(out, " x%u", s->lanes);
}

static void
add_line(td_text *out, const td_inst *s)
{
    if (s->line)
        td_text_addf(out, " @%u", s->line);
}

static bool
opens(const td_inst *s)
{
    return s->op == OP_else || td_op_opens(s->op);
}

static void
add_inst(td_text *out, const td_fn *f, uint32_t i)
{
    const td_inst *s = &f->ins[i];

    if (s->op == OP_end) {
        td_text_addf(out, "}");
    } else {
        if (s->op == OP_else)
            td_text_addf(out, "} ");
        if (td_optab[s->op].value)
            td_text_addf(out, "%%%u = ", i);
        td_text_addf(out, "%s", td_optab[s->op].name);
        add_operands(out, s);
        if (s->flags & TD_INST_EACH)
            td_text_addf(out, " each");
        if (td_inst_cache(s))
            td_text_addf(out, " cache %s", td_cache_name(td_inst_cache(s)));
        add_imm(out, s);
        add_type(out, s);
    }
    add_line(out, s);
    td_text_addf(out, opens(s) ? " {\n" : "\n");
}

void
td_fn_print(const td_fn *f, td_text *out)
{
    /* no decimal comma */
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), old = c ? uselocale(c) : c;
    int depth = 1;

    td_text_addf(out, "kernel %s", f->name);
    if (f->threads)
        td_text_addf(out, " threads %u", f->threads);
    if (f->resident)
        td_text_addf(out, " resident %u", f->resident);
    if (f->registers)
        td_text_addf(out, " registers %u", f->registers);
    if (f->warp != TD_WARP)
        td_text_addf(out, " warp %u", f->warp);
    if (f->simt)
        td_text_addf(out, " simt");
    if (f->fast)
        td_text_addf(out, " fast");
    if (f->libm)
        td_text_addf(out, " libm");
    if (f->optimise)
        td_text_addf(out, " optimise %u", f->optimise);
    td_text_addf(out, " {\n");
    for (uint32_t i = 0; i < f->n; i++) {
        const td_inst *s = &f->ins[i];

        depth -= depth > 1 && (s->op == OP_else || s->op == OP_end);
        td_text_addf(out, "%*s", 2 * depth, "");
        add_inst(out, f, i);
        depth += opens(s);
    }
    td_text_addf(out, "}\n");
    if (c) {
        uselocale(old);
        freelocale(c);
    }
}
