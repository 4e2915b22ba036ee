/* stmt.c - statements. */
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/intrin.h"
#include "front/infer/lazy.h"

#include <stdio.h>
#include <string.h>

void
bind(walk *w, uint32_t name, const thing *x)
{
    w->fr->var[name] = *x;
    if (x->view && !x->view->name) {
        x->view->name = name_of(w, name);
        note_name(w, x);
    }
}

/* The elements of x, of which there must be n. */
static td_status
elements(walk *w, const thing *x, uint32_t n, uint32_t node, thing *out)
{
    thing *item = td_alloc(w->mem, (n + 1) * sizeof *item), own = *x, len;
    char *text = td_alloc(w->mem, 64);
    td_val same;

    TD_TRY(settle(w, &own));
    TD_TRY(iter_length(w, &own, node, &len));
    same = TD_E2(w->f, equal, val_as(w, &len, TD_I64), td_const_int(w->f, TD_I64, n));
    snprintf(text, 64, "not %u values to unpack into %u names", n, n);
    if (w->exact)
        exact_flag(w, TD_E1(w->f, logical_not, same));
    else if (w->how->mode != TD_MODE_KERNEL || w->how->debug)
        TD_TRY(must(w, same, TD_REPORT_VALUE, text, NULL, 0));
    for (uint32_t i = 0; i < n; i++) {
        thing at = num_int(i);

        if (is_box(&own))
            TD_TRY(box_index(w, &own, &at, &item[i]));
        else
            TD_TRY(array_index(w, &own, &at, node, &item[i]));
    }
    *out = tuple_of(w, item, n);
    return built(w, node);
}

static td_status
unpack_targets(walk *w, uint32_t list, const thing *x, uint32_t node)
{
    uint32_t n = count_of(w, list), star = n, have;
    thing all;

    for (uint32_t i = 0; i < n; i++)
        if (kind_of(w, item_of(w, list, i)) == TD_SYN_Starred)
            star = i;
    if (star == n && (is_array(x) || (box_is(x, TD_BOX_LIST) && !w->exact))) {
        TD_TRY(elements(w, x, n, node, &all));
        x = &all;
    }
    if (x->type->kind != TD_T_TUPLE)
        return bad(w, node, TD_ERR_TYPE,
                   "%s cannot be unpacked into %u names: tuples, arrays and lists can",
                   x->type->name, n);
    have = x->type->n;
    if (star == n ? have != n : have + 1 < n)
        return bad(w, node, TD_ERR_VALUE, "%u values to unpack into %u names", have, n);
    for (uint32_t i = 0, at = 0; i < n; i++) {
        uint32_t target = item_of(w, list, i);

        if (i == star) {
            uint32_t m = have - (n - 1);
            thing rest = tuple_of(w, x->item + at, m);

            rest.listed = box_may(w) ? target : 0;
            TD_TRY(assign(w, F(target, Starred_value), &rest));
            at += m;
        } else {
            TD_TRY(assign(w, target, &x->item[at++]));
        }
    }
    return TD_OK;
}

/* a[i:j] = x: element by element over the view. */
static td_status
store_view(walk *w, const thing *to, const thing *x, uint32_t node)
{
    return call_fill(w, to, x, node);
}

/* to, an element or a field, = x: copies, as NumPy's records do.  A nested record is an element of its kind. */
static td_status
store_to(walk *w, const thing *to, const thing *x, uint32_t node)
{
    thing own = *to;

    if (to->type->kind == TD_T_RECORD)
        own.type = td_type_array(to->type, 0, 'C', to->view->fixed);
    if (w->exact && own.type->kind == TD_T_ARRAY)
        return numpy_store(w, &own, x, node);
    return own.type->ndim ? store_view(w, &own, x, node) : array_store(w, &own, x, node);
}

/* Is key an array of bools of a's shape, which chooses what becomes the number x? */
static bool
is_mask_of(const thing *a, const thing *key, const thing *x)
{
    return is_array(key) && key->type->item[0]->dt == TD_BOOL && key->type->ndim == a->type->ndim &&
           is_num(x);
}

static td_status
same_shape(walk *w, const thing *a, const thing *mask)
{
    for (uint32_t i = 0; i < a->type->ndim && box_may(w); i++)
        if (!same_dim(w, &a->view->shape[i], &mask->view->shape[i]))
            TD_TRY(must(w,
                        TD_E2(w->f, equal, dim_val(w, &a->view->shape[i]),
                              dim_val(w, &mask->view->shape[i])),
                        TD_REPORT_LOOKUP, "boolean index did not match indexed array", NULL, 0));
    return TD_OK;
}

static td_status
assign_subscript(walk *w, uint32_t target, const thing *x)
{
    thing a, key = {0}, to;

    TD_TRY(expr(w, F(target, Subscript_value), &a));
    TD_TRY(expr(w, F(target, Subscript_slice), &key));
    w->node = target;
    TD_TRY(lists_as_places(w, &a, F(target, Subscript_slice), &key));
    if (is_packed(&a)) {
        TD_TRY(packed_cut(w, &a, &key, true, target, &to));
        return store_to(w, &to, x, target);
    }
    TD_TRY(settle(w, &a)); /* (-a)[0] = x changes an array that nobody sees, as in NumPy */
    if (is_list(&a))
        return exact_list_set(w, &a, &key, x);
    if (is_box(&a))
        return box_assign(w, &a, &key, x);
    if (a.type->kind == TD_T_RECORD ||
        (is_record(&a) && (key.type->kind == TD_T_OBJECT || is_num(&key)))) {
        TD_TRY(record_part(w, &a, &key, target, &to));
    } else if (is_array(&a) && box_may(w) && chooses(&key) && !is_mask_of(&a, &key, x)) {
        return array_chosen(w, &a, &key, x, target, &to);
    } else if (is_array(&a) && is_array(&key)) { /* a[mask] = x */
        if (!is_mask_of(&a, &key, x))
            return bad(
                w, target, TD_ERR_TYPE,
                "an array of bools of the array's shape chooses what becomes one number; here "
                "%s chooses in %s what becomes %s: use numpy.where, or a loop",
                key.type->name, a.type->name, x->type->name);
        TD_TRY(same_shape(w, &a, &key));
        TD_TRY(array_operator(w, fn_where, 0, (thing[]){key, *x, a}, 3, &to));
        return call_fill(w, &a, &to, target);
    } else if (a.type->kind == TD_T_ARRAY) {
        TD_TRY(element_view(w, &a, &key, target, &to));
    } else {
        return bad(w, target, TD_ERR_TYPE, "an element of %s cannot be assigned in a kernel",
                   a.type->name);
    }
    return store_to(w, &to, x, target);
}

static td_status
assign_attribute(walk *w, uint32_t target, const thing *x)
{
    thing r, to;

    TD_TRY(expr(w, F(target, Attribute_value), &r));
    if (box_is(&r, TD_BOX_OBJECT))
        return object_assign(w, &r, name_of(w, F(target, Attribute_attr)), target, x);
    if (!is_record(&r))
        return bad(w, target, TD_ERR_TYPE, "an attribute of %s cannot be assigned in a kernel",
                   r.type->name);
    TD_TRY(record_field(w, &r, name_of(w, F(target, Attribute_attr)), target, &to));
    return store_to(w, &to, x, target);
}

static td_status
fit_declared(walk *w, const char *name, thing *x)
{
    for (uint32_t i = 0; i < w->fr->s->ndeclared; i++)
        if (strcmp(w->fr->s->declared[i], name) == 0)
            return as_declared(w, name, w->fr->s->declared_type[i], x);
    return TD_OK;
}

td_status
assign(walk *w, uint32_t target, const thing *x)
{
    thing own;

    switch (kind_of(w, target)) {
    case TD_SYN_Name:
        if (!w->fr->local[F(target, Name_id)])
            return bad(w, target, TD_ERR_TYPE, "%s is a global: a kernel cannot change it",
                       name_of(w, F(target, Name_id)));
        own = *x;
        if (is_packed(x))
            return bad(
                w, target, TD_ERR_TYPE,
                "%s would be a copy of a field, for the records are packed: make their dtype "
                "with align=True, or copy the field, a[name].copy()",
                name_of(w, F(target, Name_id)));
        TD_TRY(settle(w, &own));
        TD_TRY(fit_declared(w, name_of(w, F(target, Name_id)), &own));
        TD_TRY(box_named(w, F(target, Name_id), &own));
        bind(w, F(target, Name_id), &own);
        return TD_OK;
    case TD_SYN_Tuple:     return unpack_targets(w, F(target, Tuple_elts), x, target);
    case TD_SYN_List:      return unpack_targets(w, F(target, List_elts), x, target);
    case TD_SYN_Subscript: return assign_subscript(w, target, x);
    case TD_SYN_Attribute: return assign_attribute(w, target, x);
    default:
        return bad(w, target, TD_ERR_TYPE, "%s cannot be assigned to",
                   td_syntab[kind_of(w, target)].name);
    }
}

static td_status
stmt_assign(walk *w, uint32_t node)
{
    uint32_t targets = F(node, Assign_targets);
    thing x;

    TD_TRY(expr_optional(w, F(node, Assign_value), &x));
    for (uint32_t i = 0; i < count_of(w, targets); i++)
        TD_TRY(assign(w, item_of(w, targets, i), &x));
    return TD_OK;
}

/* a[key] op= v of an element that is a number, or of elements that an array chooses: their places are computed once.
 * *done: false for another target. */
static td_status
change_element(walk *w, uint32_t node, bool *done)
{
    uint32_t target = F(node, AugAssign_target);
    thing a, key, to, x, v;
    bool places;

    *done = false;
    if (kind_of(w, target) != TD_SYN_Subscript)
        return TD_OK;
    TD_TRY(expr(w, F(target, Subscript_value), &a));
    if (a.type->kind != TD_T_ARRAY || a.lazy || !a.type->ndim ||
        a.type->item[0]->kind == TD_T_RECORD)
        return TD_OK;
    TD_TRY(expr(w, F(target, Subscript_slice), &key));
    w->node = target;
    TD_TRY(lists_as_places(w, &a, F(target, Subscript_slice), &key));
    places = box_may(w) && chooses(&key);
    if (places) { /* what an array chooses is copied, changed and put back */
        TD_TRY(array_chosen(w, &a, &key, NULL, target, &x));
    } else {
        TD_TRY(element_view(w, &a, &key, target, &to));
        if (to.type->ndim)
            return TD_OK;
        TD_TRY(array_load(w, &to, &x));
    }
    *done = true;
    TD_TRY(expr(w, F(node, AugAssign_value), &v));
    w->node = node;
    TD_TRY(num_binary(w, kind_of(w, F(node, AugAssign_op)), &x, &v, &v));
    if (!places)
        return store_to(w, &to, &v, target);
    TD_TRY(settle(w, &v));
    return array_chosen(w, &a, &key, &v, target, &to);
}

/* x op= v.  What is read and written again is computed twice: expressions have no effects that would tell. */
static td_status
stmt_augassign(walk *w, uint32_t node)
{
    uint32_t target = F(node, AugAssign_target);
    thing a, b, r;
    bool done;

    TD_TRY(change_element(w, node, &done));
    if (done)
        return TD_OK;
    TD_TRY(expr(w, target, &a));
    TD_TRY(expr(w, F(node, AugAssign_value), &b));
    w->node = node;
    if (is_box(&a) || (is_text(w, &a) && box_may(w))) {
        TD_TRY(box_binary(w, kind_of(w, F(node, AugAssign_op)), &a, &b, is_box(&a), &r));
        return assign(w, target, &r);
    }
    if (is_array(&a)) { /* in its place, under all its names */
        TD_TRY(num_binary(w, kind_of(w, F(node, AugAssign_op)), &a, &b, &r));
        if (!is_array(&r)) /* a @= b of vectors */
            return bad(w, node, TD_ERR_TYPE, "%s cannot be changed to %s in its place",
                       a.type->name, r.type->name);
        if (!td_can_cast(r.type->item[0]->dt, a.type->item[0]->dt, 'k'))
            return bad(w, node, TD_ERR_TYPE, "%s cannot be changed to %s in its place",
                       a.type->name, r.type->item[0]->name);
        return call_fill(w, &a, &r, node);
    }
    if (a.type->kind == TD_T_ARRAY) { /* of no axes: its one element */
        TD_TRY(num_binary(w, kind_of(w, F(node, AugAssign_op)), &a, &b, &r));
        return store_to(w, &a, &r, target);
    }
    if (a.type->kind == TD_T_TUPLE && b.type->kind == TD_T_TUPLE) {
        uint32_t n = a.type->n + b.type->n;
        thing *item = td_alloc(w->mem, (n + 1) * sizeof *item);

        copy_things(item, a.item, a.type->n);
        copy_things(item + a.type->n, b.item, b.type->n);
        r = tuple_of(w, item, n);
    } else {
        TD_TRY(num_binary(w, kind_of(w, F(node, AugAssign_op)), &a, &b, &r));
    }
    return assign(w, target, &r);
}

/* ---- if ---- */

/* The variables of one branch arrive where the branches meet. */
static td_status
arrive(walk *w, uint32_t node, const uint32_t *name, uint32_t n, const place *p, const bool *has,
       bool *missing)
{
    for (uint32_t i = 0; i < n; i++) {
        const thing *x = &w->fr->var[name[i]];

        if (!x->type && !x->clash) {
            missing[i] = true;
            continue;
        }
        TD_TRY(join_meet(w, join_key(w, node, name[i]), x, node, name_of(w, name[i])));
        if (has[i] && x->type)
            TD_TRY(place_set(w, &p[i], x));
    }
    return TD_OK;
}

void
meet_begin(walk *w, uint32_t node, meeting *m)
{
    m->place = td_alloc(w->mem, (m->n + 1) * sizeof *m->place);
    m->has = td_alloc(w->mem, (m->n + 1) * sizeof *m->has);
    m->missing = td_alloc(w->mem, m->n + 1);
    m->before = td_alloc(w->mem, (m->n + 1) * sizeof *m->before);
    m->carried = td_alloc(w->mem, (m->n + 1) * sizeof *m->carried);
    for (uint32_t i = 0; i < m->n; i++) {
        join *j = join_variable(w, join_key(w, node, m->name[i]), m->name[i]);

        m->has[i] = j != NULL;
        if (j)
            m->place[i] = place_empty(w, j);
        m->before[i] = w->fr->var[m->name[i]];
    }
}

void
meet_end(walk *w, uint32_t node, meeting *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        join *j = join_get(w, join_key(w, node, m->name[i]));

        if (m->missing[i])
            join_unbound(w, join_key(w, node, m->name[i]));
        if (m->has[i])
            w->fr->var[m->name[i]] = place_get(w, &m->place[i]);
        else /* without a join it came here on no path */
            w->fr->var[m->name[i]] = j ? join_stand_in(w, j) : m->before[i];
        if (w->fr->var[m->name[i]].view && m->before[i].view)
            w->fr->var[m->name[i]].view->name = m->before[i].view->name;
        w->fr->var[m->name[i]].carry = m->carried[i];
    }
}

void
meet_again(walk *w, const meeting *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        w->fr->var[m->name[i]] = m->before[i];
}

td_status
meet_path(walk *w, uint32_t node, meeting *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        m->carried[i] = carry_join(w, w->fr->var[m->name[i]].carry, m->carried[i]);
    return arrive(w, node, m->name, m->n, m->place, m->has, m->missing);
}

static td_status
one_branch(walk *w, uint32_t node, uint32_t list, meeting *m, bool *dead)
{
    meet_again(w, m);
    w->dead = false;
    TD_TRY(stmts(w, list));
    *dead = w->dead;
    return w->dead ? TD_OK : meet_path(w, node, m);
}

uint32_t *
names_of_two(walk *w, const uint32_t *x, uint32_t nx, const uint32_t *y, uint32_t ny, uint32_t *n)
{
    uint32_t *all = td_alloc(w->mem, (nx + ny + 1) * sizeof *all);

    if (nx)
        memcpy(all, x, nx * sizeof *all);
    *n = nx;
    for (uint32_t i = 0; i < ny; i++) {
        bool seen = false;

        for (uint32_t j = 0; j < nx; j++)
            seen = seen || x[j] == y[i];
        if (!seen)
            all[(*n)++] = y[i];
    }
    return all;
}

static td_status
stmt_if(walk *w, uint32_t node)
{
    uint32_t body = F(node, If_body), orelse = F(node, If_orelse);
    meeting m = {0};
    uint32_t *then, *other, nthen, nother;
    bool dead_then, dead_else;
    thing c;

    TD_TRY(expr_optional(w, F(node, If_test), &c));
    TD_TRY(truth(w, &c, &c));
    if (c.known)
        return stmts(w, c.lit.i ? body : orelse);
    then = assigned(w, body, 0, &nthen);
    other = assigned(w, orelse, 0, &nother);
    m.name = names_of_two(w, then, nthen, other, nother, &m.n);
    meet_begin(w, node, &m);
    td_if(w->f, c.num.re);
    TD_TRY(one_branch(w, node, body, &m, &dead_then));
    td_else(w->f);
    TD_TRY(one_branch(w, node, orelse, &m, &dead_else));
    td_end(w->f);
    w->dead = dead_then && dead_else;
    if (!w->dead)
        meet_end(w, node, &m);
    return built(w, node);
}

/* ---- return ---- */

static td_status
stmt_return(walk *w, uint32_t node)
{
    thing x = {.type = td_type_none()};
    td_hash key = result_key(w);
    thing *before;

    if (F(node, Return_value))
        TD_TRY(expr_optional(w, F(node, Return_value), &x));
    TD_TRY(settle(w, &x));
    if (box_may(w) && x.type->kind != TD_T_OBJECT)
        TD_TRY(boxed(w, &x));
    iterations_left(w, NULL, "the function returns inside the loop");
    before = finally_begin(w);
    TD_TRY(leave_finally(w, NULL));
    finally_end(w, before);
    if (w->dead) /* the finally has left by itself */
        return TD_OK;
    w->dead = true;
    if (!w->fr->blocked) {
        w->fr->result = x;
        return TD_OK;
    }
    TD_TRY(join_add(w, key, &x, node, "the value returned"));
    if (w->fr->results.slots.type)
        TD_TRY(place_set(w, &w->fr->results, &x));
    leave(w, w->fr->depth_return);
    return TD_OK;
}

static td_status
stmt_expr(walk *w, uint32_t node)
{
    thing x;

    if (kind_of(w, F(node, Expr_value)) == TD_SYN_Constant)
        return TD_OK; /* a docstring */
    if (kind_of(w, F(node, Expr_value)) == TD_SYN_Yield)
        return stmt_yield(w, F(node, Expr_value));
    return expr_optional(w, F(node, Expr_value), &x);
}

static td_status
stmt_annassign(walk *w, uint32_t node)
{
    thing x;

    if (!F(node, AnnAssign_value))
        return TD_OK;
    TD_TRY(expr_optional(w, F(node, AnnAssign_value), &x));
    return assign(w, F(node, AnnAssign_target), &x);
}

/* del a[i], del d[k] */
static td_status
stmt_delete(walk *w, uint32_t node)
{
    uint32_t list = F(node, Delete_targets);
    thing a, key;

    for (uint32_t i = 0; i < count_of(w, list); i++) {
        uint32_t target = item_of(w, list, i);

        if (kind_of(w, target) != TD_SYN_Subscript)
            return refuse(w, node);
        TD_TRY(expr(w, F(target, Subscript_value), &a));
        TD_TRY(expr(w, F(target, Subscript_slice), &key));
        w->node = node;
        if (!is_box(&a))
            return bad(w, node, TD_ERR_TYPE, "elements of %s cannot be deleted", a.type->name);
        TD_TRY(box_delete(w, &a, &key));
    }
    return TD_OK;
}

static td_status
stmt(walk *w, uint32_t node)
{
    if (w->mem->failed)
        return td_fail(TD_ERR_NOMEM, "compiling %s: host memory is out", w->f->name);
    w->node = node;
    at_line(w, node);
    switch (kind_of(w, node)) {
    case TD_SYN_Assign:      return stmt_assign(w, node);
    case TD_SYN_AugAssign:   return stmt_augassign(w, node);
    case TD_SYN_AnnAssign:   return stmt_annassign(w, node);
    case TD_SYN_Expr:        return stmt_expr(w, node);
    case TD_SYN_If:          return stmt_if(w, node);
    case TD_SYN_For:         return stmt_for(w, node);
    case TD_SYN_While:       return stmt_while(w, node);
    case TD_SYN_Return:      return stmt_return(w, node);
    case TD_SYN_Break:       return leave_loop(w, node, false);
    case TD_SYN_Continue:    return leave_loop(w, node, true);
    case TD_SYN_Raise:       return stmt_raise(w, node);
    case TD_SYN_Assert:      return stmt_assert(w, node);
    case TD_SYN_Try:         return stmt_try(w, node);
    case TD_SYN_Delete:      return stmt_delete(w, node);
    case TD_SYN_FunctionDef: return stmt_define(w, node);
    case TD_SYN_Pass:        return TD_OK;
    default:                 return refuse(w, node);
    }
}

td_status
stmts(walk *w, uint32_t list)
{
    for (uint32_t i = 0; i < count_of(w, list) && !w->dead; i++) {
        frame *fr = w->fr;
        loop *around = fr->loop;
        iterations *t = w->iterations;
        uint64_t path = fr->path;
        bool parallel = w->parallel;
        td_status st = stmt(w, item_of(w, list, i));

        if (st && !(st == TD_SKIP && w->again)) /* skipped: it waits for the next walk */
            return st;
        if (st) { /* the loops that it had begun are gone with the C functions that walked them */
            fr->loop = around;
            fr->path = path;
            w->iterations = t;
            w->parallel = parallel;
        }
        if (st && kind_of(w, item_of(w, list, i)) == TD_SYN_Return)
            w->dead = w->fr->skipped = true;
    }
    return TD_OK;
}
