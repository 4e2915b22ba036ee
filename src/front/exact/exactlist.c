/* exactlist.c - lists in exact functions.
 *
 * A list is a place in a heap of its own, memory of the thread that each item begins with anew: so names, arguments and
 * results share lists as Python's do.  At that place stand
 *
 *     word 0: its length;  1: for how many there is room;  2: where the elements begin
 *
 * Nothing is freed.  An item that needs more is Python's, and so is one whose index is out of range: control leaves
 * before memory is touched.  The elements of all lists of a function have one type, in which all that is put into
 * them meets.
 */
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

#include <string.h>

enum {
    LENGTH,
    ROOM,
    BEGIN,
    HEAD,
    ELEMENTS = 0x6c69, /* the elements' join */
};

bool
is_list(const thing *x)
{
    return x->type->kind == TD_T_ITER && x->type->object == ITER_LIST;
}

static td_val
exactlist_whole(walk *w, int64_t v)
{
    return td_const_int(w->f, TD_I64, v);
}

static td_val
plus(walk *w, td_val a, int64_t b)
{
    return b ? TD_E2(w->f, add, a, exactlist_whole(w, b)) : a;
}

static td_val
exact_heap_word(walk *w, td_val at)
{
    return td_load(w->f, w->exact->heap, at, TD_NONE, 1, 0);
}

static void
set_word(walk *w, td_val at, td_val v)
{
    td_store(w->f, w->exact->heap, at, v, TD_NONE, 0);
}

static td_val
exact_list_place(const thing *list)
{
    return list->item[0].num.re;
}

static td_hash
elements_key(void)
{
    return td_hash_u64(TD_HASH_INIT, ELEMENTS);
}

/* Words of an element. */
static int64_t
exact_element_words(walk *w)
{
    join *j = join_get(w, elements_key());

    return j ? words_of(j->type) : 1;
}

static void
flag_and_leave(walk *w, td_val cond)
{
    exact_flag(w, cond);
    exact_leave_flagged(w);
}

void
exact_heap(walk *w)
{
    w->exact->heap = w->exact->top = TD_NONE;
    if (!w->lists)
        return;
    w->exact->heap = td_local(w->f, TD_I64, exact_heap_words(w));
    w->exact->top = td_slot(w->f, TD_I64, 1);
    td_set(w->f, w->exact->top, exactlist_whole(w, 0));
}

/* A GPU keeps room for the heaps of all threads that may run at once. */
int64_t
exact_heap_words(const walk *w)
{
    return w->how->gpu ? 256 : 2048;
}

static td_val
exact_list_reserve(walk *w, td_val n)
{
    td_val at = td_get(w->f, w->exact->top), end = TD_E2(w->f, add, at, n);

    flag_and_leave(w, TD_E2(w->f, greater, end, exactlist_whole(w, exact_heap_words(w))));
    td_set(w->f, w->exact->top, end);
    return at;
}

/* A function that calls itself has not the heap of its caller. */
static td_status
refuse_recursion(walk *w)
{
    return w->outline ? bad(w, w->node, TD_ERR_TYPE, "a list in a function that calls itself")
                      : TD_OK;
}

/* A list of n elements, which are not there yet; n is between 0 and the heap's size. */
static td_status
list_of(walk *w, td_val n, thing *out)
{
    thing handle;
    const td_type *type;
    td_val at, room;

    TD_TRY(refuse_recursion(w));
    if (w->exact->heap.i == UINT32_MAX) { /* the next walk has one from the beginning */
        w->lists = w->again = true;
        exact_heap(w);
    }
    room = TD_E2(w->f, maximum, n, exactlist_whole(w, 4));
    at = exact_list_reserve(
        w, plus(w, TD_E2(w->f, multiply, room, exactlist_whole(w, exact_element_words(w))), HEAD));
    set_word(w, plus(w, at, LENGTH), n);
    set_word(w, plus(w, at, ROOM), room);
    set_word(w, plus(w, at, BEGIN), plus(w, at, HEAD));
    handle = num_of(td_type_num(TD_I64), td_num_of(at));
    type = handle.type;
    *out = (thing){.type = td_type_iter(ITER_LIST, &type, 1),
                   .item = td_alloc(w->mem, sizeof *out->item)};
    out->item[0] = handle;
    return built(w, w->node);
}

/* The words of the element at i, which is below the list's room. */
static td_val
element_at(walk *w, const thing *list, td_val i)
{
    td_val begin = exact_heap_word(w, plus(w, exact_list_place(list), BEGIN));
    td_val at = TD_E2(w->f, add, begin,
                      TD_E2(w->f, multiply, i, exactlist_whole(w, exact_element_words(w))));

    return td_at_byte(w->f, w->exact->heap, TD_E2(w->f, multiply, at, exactlist_whole(w, 8)),
                      TD_U64);
}

static td_status
exact_list_put(walk *w, const thing *list, td_val i, const thing *x)
{
    td_hash key = elements_key();
    uint32_t at = 0;
    thing own;

    TD_TRY(join_add(w, key, x, w->node, "what stands in lists"));
    TD_TRY(join_fitted(w, join_get(w, key), x, &own));
    words_put(w, element_at(w, list, i), &at, &own);
    return built(w, w->node);
}

static td_status
exactlist_get(walk *w, const thing *list, td_val i, thing *out)
{
    join *j = join_get(w, elements_key());
    uint32_t at = 0;

    if (!j && w->walks > 3)
        return bad(w, w->node, TD_ERR_TYPE, "nothing is put into this list");
    if (!j) {
        w->again = true;
        return TD_SKIP;
    }
    *out = words_get(w, element_at(w, list, i), &at, j->type);
    return built(w, w->node);
}

static td_val
exactlist_length(walk *w, const thing *list)
{
    return exact_heap_word(w, plus(w, exact_list_place(list), LENGTH));
}

static void
set_length(walk *w, const thing *list, td_val n)
{
    set_word(w, plus(w, exact_list_place(list), LENGTH), n);
}

/* An index into the list, which may count from its end, as one that does not. */
static td_status
exact_list_index(walk *w, const thing *list, const thing *key, td_val *out)
{
    thing k = *key;
    td_val i, n = exactlist_length(w, list), zero = exactlist_whole(w, 0);

    if (is_num(&k))
        exact_pure(w, &k, EXACT_BOOL);
    if (!is_int(&k))
        return bad(w, w->node, TD_ERR_TYPE, "a list is indexed by an int here, not by %s",
                   key->type->name);
    i = val_as(w, &k, TD_I64);
    i = TD_E3(w->f, select, TD_E2(w->f, less, i, zero), TD_E2(w->f, add, i, n), i);
    flag_and_leave(
        w, TD_E2(w->f, logical_or, TD_E2(w->f, less, i, zero), TD_E2(w->f, greater_equal, i, n)));
    *out = i;
    return built(w, w->node);
}

td_status
exact_list_get(walk *w, const thing *list, const thing *key, thing *out)
{
    td_val i;

    TD_TRY(refuse_recursion(w));
    TD_TRY(exact_list_index(w, list, key, &i));
    return exactlist_get(w, list, i, out);
}

td_status
exact_list_set(walk *w, const thing *list, const thing *key, const thing *x)
{
    td_val i;

    TD_TRY(refuse_recursion(w));
    TD_TRY(exact_list_index(w, list, key, &i));
    return exact_list_put(w, list, i, x);
}

td_status
exact_list_length(walk *w, const thing *list, thing *out)
{
    TD_TRY(refuse_recursion(w));
    *out = num_index(exactlist_length(w, list), true);
    out->small = true;
    return built(w, w->node);
}

td_status
exact_list_item(walk *w, const thing *list, td_val k, thing *out)
{
    TD_TRY(refuse_recursion(w));
    iterations_left(w, w->iterations, "it goes over a list");
    td_break_if(w->f, TD_E2(w->f, greater_equal, k, exactlist_length(w, list)));
    return exactlist_get(w, list, k, out);
}

td_status
exact_list(walk *w, const thing *item, uint32_t n, thing *out)
{
    TD_TRY(list_of(w, exactlist_whole(w, n), out));
    for (uint32_t i = 0; i < n; i++)
        TD_TRY(exact_list_put(w, out, exactlist_whole(w, i), &item[i]));
    return TD_OK;
}

/* ---- list * int, list + list ---- */

/* Words [0, n) from `from` on go to `to`, again from `from` after every `period` of them. */
static void
copy_words(walk *w, td_val to, td_val from, td_val n, td_val period)
{
    td_val k = td_for(w->f, exactlist_whole(w, 0), n, exactlist_whole(w, 1));
    td_val at = TD_E2(w->f, add, from, TD_E2(w->f, remainder, k, period));

    set_word(w, TD_E2(w->f, add, to, k), exact_heap_word(w, at));
    td_end(w->f);
}

static td_val
exact_list_begin(walk *w, const thing *list)
{
    return exact_heap_word(w, plus(w, exact_list_place(list), BEGIN));
}

static td_val
words(walk *w, td_val n)
{
    return TD_E2(w->f, multiply, n, exactlist_whole(w, exact_element_words(w)));
}

static td_status
exact_list_repeat(walk *w, const thing *list, const thing *times, thing *out)
{
    td_val n = exactlist_length(w, list), k;
    thing by = *times;

    exact_pure(w, &by, EXACT_BOOL);
    if (!is_int(&by))
        return bad(w, w->node, TD_ERR_TYPE, "a list times %s", times->type->name);
    k = TD_E2(w->f, maximum, val_as(w, &by, TD_I64), exactlist_whole(w, 0));
    flag_and_leave(w, TD_E2(w->f, greater, k, exactlist_whole(w, exact_heap_words(w))));
    TD_TRY(list_of(w, TD_E2(w->f, multiply, n, k), out));
    copy_words(w, exact_list_begin(w, out), exact_list_begin(w, list),
               words(w, exactlist_length(w, out)), words(w, n));
    return built(w, w->node);
}

static td_status
joined(walk *w, const thing *a, const thing *b, thing *out)
{
    td_val n = exactlist_length(w, a), m = exactlist_length(w, b);

    TD_TRY(list_of(w, TD_E2(w->f, add, n, m), out));
    copy_words(w, exact_list_begin(w, out), exact_list_begin(w, a), words(w, n), words(w, n));
    copy_words(w, TD_E2(w->f, add, exact_list_begin(w, out), words(w, n)), exact_list_begin(w, b),
               words(w, m), words(w, m));
    return built(w, w->node);
}

td_status
exact_list_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    TD_TRY(refuse_recursion(w));
    if (op == TD_SYN_Mult && is_list(a) && is_num(b))
        return exact_list_repeat(w, a, b, out);
    if (op == TD_SYN_Mult && is_num(a) && is_list(b))
        return exact_list_repeat(w, b, a, out);
    if (op == TD_SYN_Add && is_list(a) && is_list(b))
        return joined(w, a, b, out);
    return bad(w, w->node, TD_ERR_TYPE, "this operation of lists is Python's");
}

/* x in list: a NaN is in a list that it was put into itself, which only Python can tell. */
td_status
exact_list_has(walk *w, const thing *list, const thing *x, thing *out)
{
    td_val found = td_slot(w->f, TD_BOOL, 1), k;
    thing e, same;
    td_status st;

    TD_TRY(refuse_recursion(w));
    if (!is_num(x))
        return bad(w, w->node, TD_ERR_TYPE, "only numbers are looked for in a list");
    if (x->type->dt == TD_F64)
        exact_flag(w, TD_E1(w->f, isnan, exact_raw(w, x, TD_F64, false)));
    td_set(w->f, found, td_const_int(w->f, TD_BOOL, 0));
    k = td_for(w->f, exactlist_whole(w, 0), exactlist_length(w, list), exactlist_whole(w, 1));
    st = exactlist_get(w, list, k, &e);
    if (!st)
        st = num_compare(w, TD_SYN_Eq, &e, x, &same);
    if (!st)
        td_set(w->f, found,
               TD_E2(w->f, logical_or, td_get(w->f, found), val_as(w, &same, TD_BOOL)));
    td_end(w->f);
    *out = num_val(TD_BOOL, td_get(w->f, found));
    return st ? st : built(w, w->node);
}

/* ---- lists that are returned ---- */

bool
exact_list_tells(walk *w)
{
    join *j = join_get(w, elements_key());

    return !j || (j->type->kind == TD_T_NUM && j->type->dt != TD_C128);
}

/* Of each element what stands `skip` words behind its beginning. */
static thing
exact_list_view(walk *w, const thing *list, td_dtype dt, int64_t skip)
{
    const td_type *item = td_type_num(dt);
    td_val begin =
        TD_E2(w->f, multiply, plus(w, exact_list_begin(w, list), skip), exactlist_whole(w, 8));
    td_val base = td_at_byte(w->f, w->exact->heap, begin, dt);
    dim n = dim_of(exactlist_length(w, list));
    thing x = array_thing(w, item, 1, &n, base, SPACE_LOCAL, "a list");

    x.view->stride[0] = dim_known(exact_element_words(w) * 8 / (int64_t)td_dtype_size(dt));
    x.type = td_type_array(item, 1, 'A', true);
    return x;
}

thing
exact_list_array(walk *w, const thing *list)
{
    join *j = join_get(w, elements_key());
    thing part[2];

    part[0] = exact_list_view(w, list, j ? (td_dtype)j->type->dt : TD_I64, 0);
    if (!j || !j->type->object)
        return part[0];
    part[1] = exact_list_view(w, list, TD_U8, 1);
    return tuple_of(w, part, 2);
}

/* ---- methods ---- */

static td_status
exact_list_append(walk *w, const thing *list, const call *c, thing *out)
{
    td_val n = exactlist_length(w, list), at = exact_list_place(list),
           room = exact_heap_word(w, plus(w, at, ROOM)), more;

    td_if(w->f, TD_E2(w->f, greater_equal, n, room));
    more = TD_E2(w->f, multiply, room, exactlist_whole(w, 2));
    more = exact_list_reserve(w, words(w, more));
    copy_words(w, more, exact_list_begin(w, list), words(w, n), words(w, n));
    set_word(w, plus(w, at, BEGIN), more);
    set_word(w, plus(w, at, ROOM), TD_E2(w->f, multiply, room, exactlist_whole(w, 2)));
    td_end(w->f);
    TD_TRY(exact_list_put(w, list, n, &c->arg[0]));
    set_length(w, list, plus(w, n, 1));
    *out = (thing){.type = td_type_none()};
    return TD_OK;
}

static td_status
pop(walk *w, const thing *list, const call *c, thing *out)
{
    thing last = num_int(-1);
    td_val i, n, at, from;

    TD_TRY(exact_list_index(w, list, c->n ? &c->arg[0] : &last, &i));
    TD_TRY(exactlist_get(w, list, i, out));
    n = plus(w, exactlist_length(w, list), -1);
    set_length(w, list, n);
    if (!c->n)
        return built(w, w->node);
    at = TD_E2(w->f, add, exact_list_begin(w, list), words(w, i));
    from = plus(w, at, exact_element_words(w));
    n = words(w, TD_E2(w->f, subtract, n, i)); /* what stood behind it moves up */
    copy_words(w, at, from, n, TD_E2(w->f, maximum, n, exactlist_whole(w, 1)));
    return built(w, w->node);
}

static td_status
exact_list_clear(walk *w, const thing *list, const call *c, thing *out)
{
    (void)c;
    set_length(w, list, exactlist_whole(w, 0));
    *out = (thing){.type = td_type_none()};
    return built(w, w->node);
}

static td_status
exactlist_copy(walk *w, const thing *list, const call *c, thing *out)
{
    thing one = num_int(1);

    (void)c;
    return exact_list_repeat(w, list, &one, out);
}

static const struct {
    const char *name;
    uint32_t least, most; /* arguments */
    td_status (*fn)(walk *w, const thing *list, const call *c, thing *out);
} methods[] = {
    {"append", 1, 1, exact_list_append},
    {"pop", 0, 1, pop},
    {"clear", 0, 0, exact_list_clear},
    {"copy", 0, 0, exactlist_copy},
};

td_status
exact_list_method(walk *w, const thing *list, const char *name, const call *c, thing *out)
{
    TD_TRY(refuse_recursion(w));
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0 && !c->nkw) {
            TD_TRY(want_args(w, c, name, methods[i].least, methods[i].most));
            return methods[i].fn(w, list, c, out);
        }
    return bad(w, c->node, TD_ERR_TYPE, "a list's %s is Python's", name);
}
