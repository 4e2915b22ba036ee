/* cpu.c - td_cxx_for_cpu: the text for a CPU's compiler, followed by the module's table. */
#include "cxx/cpu.h"

#include "base/opts.h"
#include "base/text.h"
#include "cxx/regions.h"

#include <string.h>

enum { PLAIN, SWITCHED, REGIONS }; /* how a kernel's threads run */

static uint8_t
manner(cx_job *j, const cx_fn *f)
{
    uint8_t does = td_reach_range(&j->r, f->open_at, f->end_at) | j->r.all;
    bool waits = (does & (CX_BARRIER | CX_WARP | CX_VOLATILE)) != 0;
    cx_plan p;

    if ((does & (CX_VOLATILE | CX_GRID)) || td_options()->kernels >= TD_KERNELS_SWITCH ||
        j->r.all || !td_plan_make(j, f, &p))
        return waits ? SWITCHED : PLAIN;
    td_plan_write(&p);
    return REGIONS;
}

static void
manners(cx_job *j)
{
    j->manner = td_alloc_big(j->u.a, j->u.nfn + 1);
    for (uint32_t i = 0; j->manner && i < j->u.nfn; i++)
        if (j->u.fn[i].kernel && j->u.fn[i].body_at)
            j->manner[i] = manner(j, &j->u.fn[i]);
}

static void
quoted(td_text *out, const char *s)
{
    td_text_add(out, "\"", 1);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            td_text_add(out, "\\", 1);
        td_text_add(out, s, 1);
    }
    td_text_add(out, "\"", 1);
}

static void
row(cx_job *j, td_text *out, const cx_fn *f, const char *name)
{
    bool bounds = f->bounds_at && !f->is_template;
    uint32_t open = f->bounds_at, comma;

    static const char *const kinds[] = {"TD_CU_PLAIN", "TD_CU_SWITCHED", "TD_CU_REGIONS"};

    td_text_addf(out, "TD_CU_KERNEL(%s, ", kinds[j->manner[f - j->u.fn]]);
    quoted(out, name);
    for (comma = open + 1; bounds && comma < j->u.k.t[open].match && !is(j, comma, ","); comma++)
        if (is(j, comma, "("))
            comma = j->u.k.t[comma].match;
    td_text_addf(out, ", (%s), %s)\n", name,
                 bounds ? td_edit_spell(&j->e, &j->u.k, open + 1, comma) : "0");
}

/* Counts the definitions of kernel ns::name; the last one is returned. */
static uint32_t
kernels_of(const cx_job *j, const char *name, size_t n, const cx_fn **out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < j->u.nfn; i++) {
        const cx_fn *f = &j->u.fn[i];
        size_t space = strlen(f->space);

        if (f->kernel && f->body_at && !f->instance && space + strlen(f->name) == n &&
            memcmp(name, f->space, space) == 0 && memcmp(name + space, f->name, n - space) == 0) {
            *out = f;
            count++;
        }
    }
    return count;
}

static td_status
table(cx_job *j, const char *const *names, uint32_t nname, td_text *out)
{
    td_text_addf(out, "TD_CU_TABLE_BEGIN\n");
    for (uint32_t i = 0; i < j->u.nfn; i++) {
        const cx_fn *f = &j->u.fn[i], *found = NULL;
        const char *name = td_edit_format(&j->e, "%s%s", f->space, f->name);

        /* kernels that share a name cannot be told apart by it */
        if (f->kernel && f->body_at && !f->is_template && !f->instance &&
            kernels_of(j, name, strlen(name), &found) == 1)
            row(j, out, f, name);
    }
    for (uint32_t i = 0; i < nname; i++) {
        const char *s = names[i];
        size_t n = strcspn(s, "<"), skip = strncmp(s, "::", 2) == 0 ? 2 : 0;
        const cx_fn *f = NULL;

        while (n > skip && s[n - 1] == ' ')
            n--;
        if (!kernels_of(j, s + skip, n - skip, &f))
            return td_fail(TD_ERR_VALUE, "%s: it has no kernel %s", j->u.k.file, s);
        if (f->is_template)
            row(j, out, f, s);
    }
    td_text_addf(out, "TD_CU_GLOBALS\n");
    for (uint32_t i = 0; i < j->u.nvar; i++)
        if (j->u.var[i].global && !j->u.var[i].external)
            td_text_addf(out, "TD_CU_GLOBAL(\"%s%s\", %s%s)\n", j->u.var[i].space, j->u.var[i].name,
                         j->u.var[i].space, j->u.var[i].name);
    for (uint32_t i = 0; i < j->u.ntexref; i++)
        td_text_addf(out, "TD_CU_GLOBAL(\"%s\", %s%s)\n", j->u.texref[i].name, j->u.texref[i].space,
                     j->u.texref[i].name);
    td_text_addf(out, "TD_CU_TABLE_END\n");
    return TD_OK;
}

td_status
td_cxx_for_cpu(td_arena *a, const td_cxx *c, const char *const *names, uint32_t nname, bool checked,
               const char **out)
{
    cx_job *j = td_alloc(a, sizeof *j);
    td_text text = {0};
    td_status st;

    TD_TRY(td_unit_read(a, c->text, c->file, &j->u));
    TD_TRY(td_reach_find(&j->u, &j->r));
    j->e = (edits){.a = a, .text = c->text};
    j->checked = checked;
    TD_TRY(td_cpu_refuse(j));
    td_cpu_textures(&j->u, &j->e, c);
    td_cpu_shared(j);
    td_cpu_indices(j);
    if (checked)
        td_cpu_check(j);
    td_cpu_step(j);
    manners(j);
    if (!j->manner)
        return td_fail(TD_ERR_NOMEM, "%s: no memory for the rewritten text", c->file);
    td_text_addf(&text, "%s#include \"treadle_cuda.h\"\n#line 1 ",
                 j->globals ? "" : "#define TD_CU_NO_GLOBALS 1\n");
    quoted(&text, c->file);
    td_text_addf(&text, "\n");
    td_edit_apply(&j->e, &text);
    td_text_addf(&text, "\n");
    st = table(j, names, nname, &text);
    *out = td_cxx_dup(a, text.n ? text.s : "", text.n);
    if (!st && (text.failed || a->failed))
        st = td_fail(TD_ERR_NOMEM, "%s: no memory for the rewritten text", c->file);
    td_text_free(&text);
    return st;
}
