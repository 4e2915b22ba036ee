/* debug.c - what a debugger needs of a kernel: the lines of its instructions, the names of its
 * memory, and breakpoints.
 */
#include "front/infer/intrin.h"

#include <string.h>

void
at_line(walk *w, uint32_t node)
{
    w->f->line = w->fr->s->tree[node + 1];
    w->f->from = w->f->norigin ? w->fr->origin : 0; /* a function made by itself has no origin */
}

void
enter_function(walk *w, frame *fr)
{
    td_fn *f = w->f;
    td_origin one = {fr->s->file, fr->s->name};

    if (!w->how->watched && !w->how->lines)
        return;
    for (fr->origin = 1; fr->origin <= f->norigin; fr->origin++)
        if (strcmp(w->origin[fr->origin - 1].file, one.file) == 0 &&
            strcmp(w->origin[fr->origin - 1].function, one.function) == 0)
            break;
    if (fr->origin > f->norigin) {
        if (f->norigin == w->caporigin) {
            td_origin *more =
                td_alloc(w->mem, (w->caporigin = 2 * w->caporigin + 8) * sizeof *more);

            if (f->norigin)
                memcpy(more, w->origin, f->norigin * sizeof *more);
            f->origin = w->origin = more;
        }
        w->origin[f->norigin++] = one;
    }
    at_line(w, fr->s->root);
}

void
note_name(walk *w, const thing *x)
{
    const td_type *e = x->type->kind == TD_T_ARRAY ? x->type->item[0] : x->type;

    if (w->how->watched && !x->lazy && x->view->space != SPACE_GLOBAL)
        td_fn_note(w->f, x->view->base, x->view->name, td_type_size(e));
}

/* ---- breakpoint() ---- */

typedef struct words { /* numbers that are told */
    thing *at;
    uint32_t n, cap;
} words;

static void
debug_add(walk *w, words *v, const thing *x)
{
    if (v->n == v->cap) {
        thing *more = td_alloc(w->mem, (v->cap = 2 * v->cap + 32) * sizeof *more);

        if (v->n)
            memcpy(more, v->at, v->n * sizeof *more);
        v->at = more;
    }
    v->at[v->n++] = *x;
}

/* The words of an array as arguments have them.  What a failed check left out has no elements. */
static void
debug_add_array(walk *w, words *v, const thing *x)
{
    const view *a = x->view;
    td_val at = td_address(w->f, a->base), zero = td_const_int(w->f, TD_I64, 0);
    bool strides = x->type->layout == 'A' || x->type->item[0]->kind == TD_T_RECORD;
    thing one;

    if (a->offset.i != UINT32_MAX) {
        uint32_t unit = x->type->item[0]->kind == TD_T_RECORD ? 1 : td_type_size(x->type->item[0]);

        at = TD_E2(w->f, add, at,
                   TD_E2(w->f, multiply, td_cast(w->f, a->offset, TD_U64),
                         td_const_int(w->f, TD_U64, unit)));
    }
    one = num_val(TD_U64, at);
    debug_add(w, v, &one);
    for (uint32_t i = 0; i < x->type->ndim; i++) {
        td_val n = dim_val(w, &a->shape[i]);

        one = num_index(a->mask.i == UINT32_MAX ? n : TD_E3(w->f, select, a->mask, n, zero), true);
        debug_add(w, v, &one);
    }
    for (uint32_t i = 0; strides && i < x->type->ndim; i++) {
        dim s = stride_of(w, x, i);

        one = dim_thing(&s);
        debug_add(w, v, &one);
    }
}

/* False: a debugger cannot show it. */
static bool
debug_add_words(walk *w, words *v, const thing *x)
{
    switch ((td_tkind)x->type->kind) {
    case TD_T_NUM:    debug_add(w, v, x); return true;
    case TD_T_NONE:
    case TD_T_OBJECT: return true;
    case TD_T_TUPLE:
        for (uint32_t i = 0; i < x->type->n; i++)
            if (!debug_add_words(w, v, &x->item[i]))
                return false;
        return true;
    case TD_T_ARRAY:
        if (x->lazy || !x->type->ndim || x->type->item[0]->kind == TD_T_RECORD)
            return false;
        debug_add_array(w, v, x);
        return true;
    case TD_T_RECORD:
    case TD_T_SLICE:
    case TD_T_RANGE:
    case TD_T_ITER:
    case TD_T_BOX:    break;
    }
    return false;
}

/* Lists the function's variables that have a value here: words, types and names. */
static uint32_t
locals(walk *w, words *v, const td_type **type, td_text *names)
{
    uint32_t n = 0;

    for (uint32_t id = 1; id <= w->fr->s->nnames; id++) {
        const thing *x = &w->fr->var[id];
        uint32_t before = v->n;

        if (!x->type)
            continue;
        if (!debug_add_words(w, v, x)) {
            v->n = before;
            continue;
        }
        type[n++] = x->type;
        td_text_addf(names, "\1%s", name_of(w, id));
    }
    return n;
}

/* breakpoint(): stores the address of the variables' words to the port. */
td_status
fn_breakpoint(walk *w, const call *c, int number, thing *out)
{
    td_val at0 = td_const_int(w->f, TD_I64, 0), base, port;
    const td_type **type;
    uint32_t n, site;
    td_text names = {0};
    words v = {0};
    thing head;
    char *kept;

    (void)number;
    *out = (thing){.type = td_type_none()};
    if (!w->how->watched)
        return w->how->debug && w->how->gpu
                   ? bad(w, c->node, TD_ERR_TYPE,
                         "breakpoint() does not stop a GPU's threads: run the kernel on the CPU, "
                         "with treadle.use(\"cpu\") under treadle.debug()")
                   : TD_OK;
    type = td_alloc(w->mem, (w->fr->s->nnames + 1) * sizeof *type);
    site = site_new(w, TD_REPORT_HALT, c->node, "");
    head = num_known((td_scalar){.dt = TD_I64, .i = site + 1}, td_type_num(TD_I64));
    debug_add(w, &v, &head);
    n = locals(w, &v, type, &names);
    kept = td_alloc(w->mem, names.n + 1);
    if (names.n)
        memcpy(kept, names.s, names.n);
    td_text_free(&names);
    base = td_local(w->f, TD_U64, 2 * (uint64_t)v.n);
    TD_TRY(put_values(w, base, at0, v.at, v.n, &w->made->site[site]));
    w->made->site[site].text = kept;
    w->made->site[site].arg = type;
    w->made->site[site].narg = n;
    port = td_pointer(w->f, hidden_address(w, TD_HIDDEN_PORT), TD_U64);
    td_store(w->f, port, at0, td_address(w->f, base), TD_NONE, 0);
    return built(w, c->node);
}
