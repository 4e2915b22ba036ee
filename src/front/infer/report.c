/* report.c - raise, assert, print and failed checks: how a thread tells the host (report.h). */
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

#include <stddef.h>
#include <string.h>

/* ---- hidden arguments: declared before the first statement, so a new one means another walk ---- */

static uint32_t
hidden_find(walk *w, td_hiddenkind kind, uint32_t object, const td_type *t)
{
    td_made *m = w->made;

    for (uint32_t i = 0; i < m->nhidden; i++)
        if (m->hidden[i].kind == kind && m->hidden[i].object == object)
            return i;
    if (m->nhidden == w->caphidden) {
        td_hidden *more = td_alloc(w->mem, (w->caphidden = 2 * w->caphidden + 8) * sizeof *more);
        thing *values = td_alloc(w->mem, w->caphidden * sizeof *values);

        if (m->nhidden) {
            memcpy(more, m->hidden, m->nhidden * sizeof *more);
            memcpy(values, w->hidden, m->nhidden * sizeof *values);
        }
        m->hidden = more;
        w->hidden = values;
    }
    m->hidden[m->nhidden] = (td_hidden){kind, object, t};
    w->hidden[m->nhidden] = param_thing(w, t ? t : td_type_num(TD_U64), NO_ARG);
    w->again = true;
    return m->nhidden++;
}

td_val
hidden_address(walk *w, td_hiddenkind kind)
{
    uint32_t i = hidden_find(w, kind, 0, NULL); /* may move the list */

    return w->hidden[i].num.re;
}

thing
hidden_array(walk *w, uint32_t object, const td_type *t)
{
    uint32_t i = hidden_find(w, TD_HIDDEN_ARRAY, object, t);

    return w->hidden[i];
}

/* ---- sites ---- */

uint32_t
site_new(walk *w, td_report kind, uint32_t node, const char *text)
{
    td_made *m = w->made;

    if (m->nsite == w->capsite) {
        td_site *more = td_alloc(w->mem, (w->capsite = 2 * w->capsite + 8) * sizeof *more);

        if (m->nsite)
            memcpy(more, m->site, m->nsite * sizeof *more);
        m->site = more;
    }
    m->site[m->nsite] = (td_site){.kind = kind,
                                  .text = text,
                                  .file = w->fr->s->file,
                                  .function = w->fr->s->name,
                                  .line = w->fr->s->tree[node + 1]};
    return m->nsite++;
}

static td_val
mail(walk *w, td_dtype dt, size_t offset)
{
    td_val box = td_pointer(w->f, hidden_address(w, TD_HIDDEN_MAILBOX), TD_U8);

    return td_at_byte(w->f, box, td_const_int(w->f, TD_I64, (int64_t)offset), dt);
}

static void
mailbox_put(walk *w, td_val ptr, td_val index, td_val v)
{
    td_store(w->f, ptr, index, v, TD_NONE, 0);
}

/* A number, or a str: its address. */
static void
put_value(walk *w, td_val ptr, td_val index, uint32_t *word, const thing *x)
{
    td_dtype dt = x->type->dt, real = td_dtype_real_of(dt);
    bool text = is_box(x);
    td_num v = text ? x->num : num_as(w, x, dt);

    real = text ? TD_U64 : real;
    for (int part = 0; part < (td_num_is_pair(v) ? 2 : 1); part++, ++*word) {
        td_val at = TD_E2(w->f, add, index, td_const_int(w->f, TD_I64, *word));
        td_val byte = TD_E2(w->f, multiply, at, td_const_int(w->f, TD_I64, 8));

        mailbox_put(w, td_at_byte(w->f, ptr, byte, real), td_const_int(w->f, TD_I64, 0),
                    part ? v.im : v.re);
    }
}

td_status
put_values(walk *w, td_val ptr, td_val index, const thing *value, uint32_t n, td_site *site)
{
    const td_type **type = td_alloc(w->mem, (n + 1) * sizeof *type);
    uint32_t word = 0;

    for (uint32_t i = 0; i < n; i++) {
        type[i] = value[i].type;
        if (is_num(&value[i]) || box_is(&value[i], TD_BOX_STR)) {
            put_value(w, ptr, index, &word, &value[i]);
        } else {
            td_val byte = TD_E2(w->f, multiply, index, td_const_int(w->f, TD_I64, 8));

            TD_TRY(box_put_words(w, td_at_byte(w->f, ptr, byte, TD_U64), &word, &value[i]));
            TD_TRY(print_type(w, value[i].type, &type[i]));
        }
    }
    site->arg = type;
    site->narg = n;
    return TD_OK;
}

/* Is this an iteration of a loop that runs on the cores of a CPU, or may it be called from one? */
static bool
on_piece(const walk *w)
{
    return (w->parallel || (w->outline && w->how->mode != TD_MODE_KERNEL)) && !w->how->gpu;
}

td_status
report_fail(walk *w, uint32_t site, const thing *value, uint32_t n)
{
    td_val none, at0, number, first;

    if (w->exact)
        return TD_OK;
    none = td_const_int(w->f, TD_U32, 0);
    at0 = td_const_int(w->f, TD_I64, 0);
    number = td_const_int(w->f, TD_U32, site + 1);
    first = td_atomic_cas(w->f, mail(w, TD_U32, offsetof(td_mailbox, site)), at0, none, number,
                          TD_NONE);

    td_if(w->f, TD_E2(w->f, equal, first, none));
    for (int axis = 0; axis < 3 && !on_piece(w); axis++) {
        td_val i = td_const_int(w->f, TD_I64, axis);

        mailbox_put(w, mail(w, TD_I32, offsetof(td_mailbox, block)), i,
                    td_index(w->f, OP_bid, axis));
        mailbox_put(w, mail(w, TD_I32, offsetof(td_mailbox, thread)), i,
                    td_index(w->f, OP_tid, axis));
    }
    TD_TRY(put_values(w, mail(w, TD_U64, offsetof(td_mailbox, value)), at0, value, n,
                      &w->made->site[site]));
    td_fence(w->f, 2);
    mailbox_put(w, mail(w, TD_U32, offsetof(td_mailbox, ready)), at0,
                td_const_int(w->f, TD_U32, 1));
    td_end(w->f);
    return built(w, w->node);
}

void
report_clear(walk *w)
{
    td_val at0 = td_const_int(w->f, TD_I64, 0), none = td_const_int(w->f, TD_U32, 0);

    mailbox_put(w, mail(w, TD_U32, offsetof(td_mailbox, ready)), at0, none);
    mailbox_put(w, mail(w, TD_U32, offsetof(td_mailbox, site)), at0, none);
}

void
thread_end(walk *w)
{
    if (w->tries)
        iterations_fail(w);
    if (w->exact) {
        exact_leave(w);
    } else if (try_leave(w)) {
        return;
    } else if (w->outline) {
        recursive_end(w);
    } else if (!w->parallel) {
        td_exit_if(w->f, td_const_int(w->f, TD_BOOL, 1));
    } else if (w->iteration_block) {
        leave(w, w->iteration_depth);
    } else { /* the next walk gives iterations a block that can be left */
        w->fails = w->again = true;
    }
}

void
end_if_failed(walk *w)
{
    td_val at0 = td_const_int(w->f, TD_I64, 0), none = td_const_int(w->f, TD_U32, 0), site;

    if (!w->fails)
        return;
    site = td_load(w->f, mail(w, TD_U32, offsetof(td_mailbox, site)), at0, TD_NONE, 1, 0);
    site = TD_E2(w->f, not_equal, site, none);
    if (!w->tries) {
        td_exit_if(w->f, site);
        return;
    }
    td_if(w->f, site);
    thread_end(w);
    td_end(w->f);
}

/* ---- statements ---- */

/* The text of a constant string node; NULL: another expression. */
static const char *
constant_text(walk *w, uint32_t node)
{
    td_objinfo info = {0};

    if (!node)
        return "";
    if (kind_of(w, node) != TD_SYN_Constant ||
        w->host->describe(w->host->ctx, F(node, Constant_value), &info))
        return NULL;
    return info.kind == TD_OBJ_STR ? info.text : NULL;
}

/* The arguments of raise X(…), of which some are no constant strings: pieces of a text, each behind \2, with \1 for
 * numbers and computed strings. */
static td_status
raised_values(walk *w, uint32_t args, const char **text, thing *value, uint32_t *n)
{
    td_text all = {0};
    td_status st = TD_OK;
    char *kept;

    for (uint32_t i = 0; !st && i < count_of(w, args); i++) {
        uint32_t node = item_of(w, args, i);
        const char *constant = constant_text(w, node);

        td_text_addf(&all, "\2%s", constant ? constant : "\1");
        if (constant)
            continue;
        if (*n == TD_REPORT_VALUES)
            st =
                bad(w, node, TD_ERR_TYPE, "an exception takes at most %d values", TD_REPORT_VALUES);
        if (!st)
            st = expr(w, node, &value[*n]);
        if (!st)
            st = loaded(w, &value[*n]);
        if (!st)
            st = boxed(w, &value[*n]);
        if (!st && (!is_num(&value[*n]) || td_dtype_is_complex(value[*n].type->dt)) &&
            !box_is(&value[*n], TD_BOX_STR))
            st = bad(w, node, TD_ERR_TYPE, "an exception takes numbers and strings, not %s",
                     value[*n].type->name);
        ++*n;
    }
    kept = td_alloc(w->mem, all.n + 1);
    if (all.n)
        memcpy(kept, all.s, all.n + 1);
    *text = kept;
    td_text_free(&all);
    return st;
}

/* raise X, raise X("text"): the class, and the text in *text; of more, the values that it has. */
static td_status
raised(walk *w, uint32_t exc, uint32_t *object_, const char **text, thing *value, uint32_t *n)
{
    uint32_t cls = exc;
    td_objinfo info = {0};
    thing x;

    *text = "";
    if (kind_of(w, exc) == TD_SYN_Call) {
        uint32_t args = F(exc, Call_args);

        cls = F(exc, Call_func);
        if (box_may(w) && !count_of(w, F(exc, Call_keywords)) &&
            (count_of(w, args) > 1 ||
             (count_of(w, args) && !constant_text(w, item_of(w, args, 0))))) {
            TD_TRY(raised_values(w, args, text, value, n));
            args = 0;
        }
        if (count_of(w, args) > 1 || count_of(w, F(exc, Call_keywords)))
            return bad(w, exc, TD_ERR_TYPE,
                       "a kernel raises an exception with one constant string");
        if (count_of(w, args))
            *text = constant_text(w, item_of(w, args, 0));
        if (!*text)
            return bad(w, exc, TD_ERR_TYPE,
                       "a kernel raises an exception with a constant string, nothing computed");
    }
    TD_TRY(expr(w, cls, &x));
    if (x.type->kind == TD_T_OBJECT)
        TD_TRY(w->host->describe(w->host->ctx, x.type->object, &info));
    if (info.kind != TD_OBJ_EXCEPTION)
        return bad(w, exc, TD_ERR_TYPE, "%s is no exception class", x.type->name);
    *object_ = x.type->object;
    return TD_OK;
}

td_status
stmt_raise(walk *w, uint32_t node)
{
    uint32_t site, object_ = 0, n = 0;
    const char *text = "";
    thing value[TD_REPORT_VALUES + 1];

    if (w->exact) {
        exact_leave(w);
        w->dead = true;
        return built(w, node);
    }
    if (!F(node, Raise_exc))
        return bad(w, node, TD_ERR_TYPE,
                   "raise without an exception: kernels have none to raise again");
    TD_TRY(raised(w, F(node, Raise_exc), &object_, &text, value, &n));
    w->node = node;
    site = site_new(w, *text == '\2' ? TD_REPORT_RAISE_WITH : TD_REPORT_RAISE, node, text);
    w->made->site[site].object = object_;
    TD_TRY(report_fail(w, site, value, n));
    iterations_raise(w);
    thread_end(w);
    w->dead = true;
    return built(w, node);
}

td_status
stmt_assert(walk *w, uint32_t node)
{
    const char *text = constant_text(w, F(node, Assert_msg));
    uint32_t site;
    thing c;

    TD_TRY(expr(w, F(node, Assert_test), &c));
    TD_TRY(truth(w, &c, &c));
    if (!text && !w->exact)
        return bad(w, F(node, Assert_msg), TD_ERR_TYPE,
                   "an assertion's message is a constant string in a kernel");
    if (c.known && c.lit.i)
        return TD_OK;
    if (w->exact) {
        TD_TRY(num_unary(w, TD_SYN_Not, &c, &c));
        exact_flag(w, val_as(w, &c, TD_BOOL));
        return built(w, node);
    }
    site = site_new(w, TD_REPORT_ASSERT, node, text);
    TD_TRY(num_unary(w, TD_SYN_Not, &c, &c));
    td_if(w->f, val_as(w, &c, TD_BOOL));
    TD_TRY(report_fail(w, site, NULL, 0));
    iterations_raise(w);
    thread_end(w);
    td_end(w->f);
    return built(w, node);
}

/* ---- print ---- */

/* How many pieces x has. */
static uint32_t
count_pieces(const thing *x, uint32_t n)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += x[i].type->kind == TD_T_ITER || x[i].type->kind == TD_T_TUPLE
                   ? 1 + count_pieces(x[i].item, x[i].type->n)
               : x[i].type->kind == TD_T_OBJECT ? 3 /* threadIdx and its like */
                                                : 1;
    return sum;
}

static td_status print_piece(walk *w, const call *c, const thing *x, td_text *text, thing *value,
                             uint32_t *n);

/* A tuple or written list as Python writes it: strings in it have quotes. */
static td_status
print_tuple(walk *w, const call *c, const thing *x, td_text *text, thing *value, uint32_t *n)
{
    td_text_addf(text, x->listed ? "[" : "(");
    for (uint32_t i = 0; i < x->type->n; i++) {
        td_objinfo info = {0};
        const char *quote;

        if (x->item[i].type->kind == TD_T_OBJECT)
            TD_TRY(w->host->describe(w->host->ctx, x->item[i].type->object, &info));
        quote = info.kind == TD_OBJ_STR ? "'" : "";
        td_text_addf(text, "%s%s", i ? ", " : "", quote);
        TD_TRY(print_piece(w, c, &x->item[i], text, value, n));
        td_text_addf(text, "%s", quote);
    }
    td_text_addf(text, x->listed ? "]" : x->type->n == 1 ? ",)" : ")");
    return TD_OK;
}

/* threadIdx and its like: what they have as x, y and z.  *done: it is one. */
static td_status
print_place(walk *w, const call *c, const thing *x, td_text *text, thing *value, uint32_t *n,
            bool *done)
{
    static const char *const axis[3] = {"x", "y", "z"};
    thing part[3], all;

    *done = false;
    for (int i = 0; i < 3; i++) {
        td_objinfo info = {0};
        bool is_value = false;
        uint32_t o;

        if (w->host->attr(w->host->ctx, x->type->object, axis[i], &o))
            return TD_OK;
        TD_TRY(w->host->describe(w->host->ctx, o, &info));
        if (info.kind == TD_OBJ_INTRINSIC)
            TD_TRY(value_intrinsic(w, info.number, c->node, &is_value, &part[i]));
        if (!is_value)
            return TD_OK;
    }
    *done = true;
    all = tuple_of(w, part, 3);
    return print_tuple(w, c, &all, text, value, n);
}

static td_status
print_piece(walk *w, const call *c, const thing *x, td_text *text, thing *value, uint32_t *n)
{
    td_objinfo info = {0};

    if (x->type->kind == TD_T_ITER && x->type->object == ITER_TEXT) {
        for (uint32_t i = 0; i < x->type->n; i++)
            TD_TRY(print_piece(w, c, &x->item[i], text, value, n));
        return TD_OK;
    }
    if (x->type->kind == TD_T_TUPLE && print_is_plain(w, x))
        return print_tuple(w, c, x, text, value, n);
    if (x->type->kind == TD_T_OBJECT) {
        bool done;

        TD_TRY(w->host->describe(w->host->ctx, x->type->object, &info));
        if (info.kind == TD_OBJ_OTHER) {
            TD_TRY(print_place(w, c, x, text, value, n, &done));
            if (done)
                return TD_OK;
        }
    }
    if (is_num(x) || box_is(x, TD_BOX_STR)) {
        value[(*n)++] = *x;
        td_text_addf(text, "\1");
    } else if (is_none(x)) {
        td_text_addf(text, "None");
    } else if (info.kind == TD_OBJ_STR) {
        td_text_addf(text, "%s", info.text);
    } else {
        TD_TRY(print_value(w, x, c->node, &value[(*n)++]));
        td_text_addf(text, "\1");
    }
    return TD_OK;
}

static td_status
emit_record(walk *w, const thing *value, uint32_t n, td_site *site, uint32_t number)
{
    td_val at0 = td_const_int(w->f, TD_I64, 0), words, used, end, cap, first;
    uint32_t nwords = 1;

    for (uint32_t i = 0; i < n; i++)
        nwords += box_words(value[i].type);
    words = td_const_int(w->f, TD_U64, nwords);
    used = td_atomic(w->f, OP_atomic_add, mail(w, TD_U64, offsetof(td_mailbox, used)), at0, words,
                     TD_NONE);
    end = TD_E2(w->f, add, used, words);
    cap = td_load(w->f, mail(w, TD_U64, offsetof(td_mailbox, capacity)), at0, TD_NONE, 1, 0);
    td_if(w->f, TD_E2(w->f, less_equal, end, cap));
    first = td_cast(w->f, used, TD_I64);
    TD_TRY(put_values(w, mail(w, TD_U64, offsetof(td_mailbox, word)),
                      TD_E2(w->f, add, first, td_const_int(w->f, TD_I64, 1)), value, n, site));
    td_fence(w->f, 2);
    mailbox_put(w, mail(w, TD_U64, offsetof(td_mailbox, word)), first,
                td_const_int(w->f, TD_U64, number));
    td_end(w->f);
    return TD_OK;
}

/* Must, or can, the host show a print of these values at once?  It cannot while other threads run iterations. */
static bool
is_shown_at_once(walk *w, const thing *value, uint32_t n)
{
    bool must = false;

    for (uint32_t i = 0; i < n; i++)
        must = must || (!is_num(&value[i]) && value[i].type->kind != TD_T_OBJECT);
    return box_may(w) && !w->how->alone && (must || !on_piece(w));
}

td_status
emit_print(walk *w, const call *c)
{
    td_text text = {0};
    thing *value = td_alloc(w->mem, (count_pieces(c->arg, c->n) + 1) * sizeof *value);
    uint32_t n = 0, site;
    td_status st =
        c->nkw ? bad(w, c->node, TD_ERR_TYPE, "print takes no keyword arguments in a kernel")
               : TD_OK;
    char *kept = NULL;

    for (uint32_t i = 0; !st && i < c->n; i++) {
        td_text_addf(&text, "%s", i ? " " : "");
        st = print_piece(w, c, &c->arg[i], &text, value, &n);
    }
    if (!st) {
        kept = td_alloc(w->mem, text.n + 1);
        if (text.n)
            memcpy(kept, text.s, text.n);
    }
    td_text_free(&text);
    if (st)
        return st;
    iterations_print(w);
    site = site_new(w, TD_REPORT_PRINT, c->node, kept);
    TD_TRY(emit_record(w, value, n, &w->made->site[site], site + 1));
    if (is_shown_at_once(w, value, n))
        print_now(w, hidden_address(w, TD_HIDDEN_MAILBOX));
    return built(w, c->node);
}
