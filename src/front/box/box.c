/* box.c - what lists, dicts, sets and strings share: sites, types, words of elements, asking the runtime. */
#include "front/infer/box.h"
#include "front/infer/lazy.h"

#include <string.h>

td_status
box_here(walk *w, uint32_t node, const char *what)
{
    if (box_may(w))
        return TD_OK;
    return bad(w, node, TD_ERR_TYPE,
               w->how->gpu ? "%s cannot be compiled for a GPU: fill an array, or call the function "
                             "with arrays on the CPU"
                           : "%s cannot be compiled here: functions of treadle.jit have them, "
                             "kernels and ufuncs fill arrays",
               what);
}

void
box_note(walk *w)
{
    iterations_ordered(w, "it uses a list, dict, set or string");
    recursive_touch(w);
}

td_status
box_fail_unless(walk *w, td_val ok, td_report kind, const char *text, const thing *value,
                uint32_t n)
{
    return must(w, ok, kind, text, value, n);
}

/* ---- sites ---- */

static boxsite *
root_of(boxsite *s)
{
    while (s->up)
        s = s->up;
    return s;
}

static boxsite *
site_at(walk *w, td_hash key, td_boxkind which)
{
    boxsite *s = td_map_get(&w->sites, key);

    if (s)
        return s;
    if (w->nsites == w->capsites) {
        boxsite **more = td_alloc(w->mem, (w->capsites = 2 * w->capsites + 8) * sizeof(boxsite *));

        if (w->nsites)
            memcpy(more, w->site, w->nsites * sizeof *more);
        w->site = more;
    }
    s = td_alloc(w->mem, sizeof *s);
    *s = (boxsite){.which = which, .id = w->nsites};
    w->site[w->nsites++] = s;
    if (td_map_set(&w->sites, key, s))
        w->mem->failed = true;
    return s;
}

static const td_type *
type_of(const boxsite *s)
{
    return td_type_site(s->which, s->id);
}

static boxsite *
site_of_type(walk *w, const td_type *t)
{
    return root_of(w->site[t->object - 1]);
}

boxsite *
box_site(walk *w, const thing *x)
{
    return site_of_type(w, x->type);
}

const td_type *
box_elem(walk *w, const thing *b, int which)
{
    return box_site(w, b)->elem[which];
}

/* Can numbers of type t be stored as elements of type `to`? */
static bool
casts(const td_type *t, const td_type *to)
{
    return t && to && t->kind == TD_T_NUM && to->kind == TD_T_NUM &&
           (td_can_cast(t->dt, to->dt, 'k') || (t->weak && td_dtype_is_int(t->dt)));
}

/* Joins the element types of both; false: they cannot be joined. */
static bool
unify_elements(walk *w, boxsite *to, const boxsite *from)
{
    for (int i = 0; i < 2; i++) {
        const td_type *t = to->elem[i];

        if (!from->elem[i])
            continue;
        t = t ? join_types(w, t, from->elem[i]) : from->elem[i];
        if (to->fixed && casts(from->elem[i], to->elem[i]))
            t = to->elem[i];
        if (!t || (to->fixed && t != to->elem[i]))
            return false;
        to->elem[i] = t;
    }
    return true;
}

const td_type *
box_unify(walk *w, const td_type *a, const td_type *b)
{
    boxsite *x, *y;

    if (a->ndim != b->ndim)
        return NULL;
    if (a == b || a->ndim == TD_BOX_STR)
        return a;
    if (a->ndim == TD_BOX_OBJECT)
        return NULL;
    x = site_of_type(w, a);
    y = site_of_type(w, b);
    if (x == y)
        return type_of(x);
    if (x->typed != y->typed || (x->fixed && y->fixed))
        return NULL;
    if (y->fixed) {
        boxsite *z = x;

        x = y;
        y = z;
    }
    y->up = x; /* before the elements, which may hold boxes of these sites */
    w->again = true;
    return unify_elements(w, x, y) ? type_of(x) : NULL;
}

/* ---- types of callers ---- */

static bool
has_references(const td_type *t)
{
    bool has = t->kind != TD_T_NUM && t->kind != TD_T_TUPLE;

    for (uint32_t i = 0; t->kind == TD_T_TUPLE && i < t->n; i++)
        has |= has_references(t->item[i]);
    return has;
}

bool
box_pins(const td_type *t)
{
    bool pins = t->ndim == TD_BOX_OBJECT;

    for (uint32_t i = 0; t->layout == 'T' && t->ndim != TD_BOX_STR && i < t->n; i++)
        pins |= has_references(t->item[i]);
    return pins;
}

const td_type *
box_inside(walk *w, const td_type *t)
{
    const td_type *item[64];
    boxsite *s;

    if (t->kind == TD_T_TUPLE && t->n <= 64) {
        for (uint32_t i = 0; i < t->n; i++)
            item[i] = box_inside(w, t->item[i]);
        return td_type_tuple_like(t, item);
    }
    if (t->kind != TD_T_BOX || t->ndim == TD_BOX_STR || t->ndim == TD_BOX_OBJECT || !t->n)
        return t;
    s = site_at(w, td_hash_u64(TD_HASH_INIT, (uintptr_t)t), (td_boxkind)t->ndim);
    s->fixed = true;
    s->typed = t->layout == 'T';
    for (uint32_t i = 0; i < t->n; i++)
        s->elem[i] = box_inside(w, t->item[i]);
    return type_of(s);
}

/* Numba's functions return typed dicts. One whose values are lists cannot be: those have no Python object of their own. */
static bool
typed_dict(const walk *w, const boxsite *s, const td_type *const *item)
{
    return w->numba && s->which == TD_BOX_DICT &&
           (item[1]->kind != TD_T_BOX || item[1]->ndim == TD_BOX_STR || item[1]->layout == 'T');
}

td_status
box_outside(walk *w, const td_type *t, const td_type **out)
{
    const td_type *item[64];
    const boxsite *s = NULL;
    uint32_t n = t->n;

    *out = t;
    if (t->kind == TD_T_BOX && t->object && t->ndim != TD_BOX_OBJECT) {
        s = site_of_type(w, t);
        n = s->which == TD_BOX_DICT ? 2 : 1;
    } else if ((t->kind != TD_T_TUPLE && !td_type_optional_of(t)) || t->n > 64) {
        return TD_OK;
    }
    for (uint32_t i = 0; i < n; i++) {
        const td_type *e = s ? s->elem[i] : t->item[i];

        if (!e)
            return bad(w, w->fr->s->root, TD_ERR_TYPE,
                       "%s returns a %s into which nothing is put, so that its type is not known",
                       w->fr->s->name, t->name);
        TD_TRY(box_outside(w, e, &item[i]));
    }
    *out = s ? td_type_box(s->which, item, n, s->typed || typed_dict(w, s, item))
           : td_type_optional_of(t) ? td_type_optional(item[1])
                                    : td_type_tuple_like(t, item);
    return TD_OK;
}

/* ---- words of elements ---- */

uint32_t
box_words(const td_type *t)
{
    uint32_t n = 0;

    switch ((td_tkind)t->kind) {
    case TD_T_NUM: return td_dtype_is_complex(t->dt) ? 2 : 1;
    case TD_T_BOX: return 1;
    case TD_T_TUPLE:
        for (uint32_t i = 0; i < t->n; i++)
            n += box_words(t->item[i]);
        return n;
    case TD_T_ARRAY:
    case TD_T_RECORD: return words_of(t);
    default:          return 0;
    }
}

/* Describes words, from word *at on. */
static uint64_t
describe_words(const td_type *t, uint32_t *at)
{
    uint64_t d = 0, what;

    if (t->kind == TD_T_TUPLE) {
        for (uint32_t i = 0; i < t->n; i++)
            d |= describe_words(t->item[i], at);
        return d;
    }
    if (t->kind != TD_T_NUM && !(t->kind == TD_T_BOX && t->ndim == TD_BOX_STR)) {
        *at += box_words(t);
        return 0;
    }
    what = t->kind == TD_T_BOX      ? TD_WORD_STR
           : td_dtype_is_int(t->dt) ? (t->dt == TD_U64 ? TD_WORD_UINT : TD_WORD_INT)
           : t->dt == TD_BOOL       ? TD_WORD_INT
                                    : TD_WORD_FLOAT;
    for (uint32_t i = 0; i < box_words(t); i++, ++*at)
        if (*at < TD_WORD_MAX)
            d |= what << (TD_WORD_BITS * *at);
    return d;
}

static td_dtype
word_dtype(td_dtype dt)
{
    if (td_dtype_is_float(dt) || td_dtype_is_complex(dt))
        return TD_F64;
    return dt == TD_U64 ? TD_U64 : TD_I64;
}

static td_val
zero(walk *w)
{
    return td_const_int(w->f, TD_I64, 0);
}

static td_val
word_place(walk *w, td_val ptr, uint32_t at, td_dtype dt)
{
    return td_at_byte(w->f, ptr, td_const_int(w->f, TD_I64, 8 * (int64_t)at), dt);
}

td_val
box_word(walk *w, td_val words, uint32_t i, td_dtype dt)
{
    return td_load(w->f, word_place(w, words, i, dt), zero(w), TD_NONE, 1, 0);
}

static void
put_word(walk *w, td_val ptr, uint32_t at, td_val v)
{
    td_store(w->f, word_place(w, ptr, at, (td_dtype)td_at(w->f, v)->dt), zero(w), v, TD_NONE, 0);
}

td_status
box_put_words(walk *w, td_val ptr, uint32_t *at, const thing *x)
{
    const td_type *t = x->type;
    td_num v;

    switch ((td_tkind)t->kind) {
    case TD_T_NUM:
        if (!td_dtype_is_complex(t->dt)) {
            put_word(w, ptr, (*at)++, val_as(w, x, word_dtype(t->dt)));
            break;
        }
        v = num_as(w, x, TD_C128);
        put_word(w, ptr, (*at)++, v.re);
        put_word(w, ptr, (*at)++, v.im);
        break;
    case TD_T_BOX: put_word(w, ptr, (*at)++, x->num.re); break;
    case TD_T_TUPLE:
        for (uint32_t i = 0; i < t->n; i++)
            TD_TRY(box_put_words(w, ptr, at, &x->item[i]));
        break;
    case TD_T_ARRAY:
    case TD_T_RECORD:
        if (!w->holds)
            w->holds = w->again = true;
        words_put(w, ptr, at, x);
        break;
    case TD_T_NONE:
    case TD_T_OBJECT: break;
    default:          return bad(w, w->node, TD_ERR_TYPE, "%s cannot stand in a list, dict or set", t->name);
    }
    return built(w, w->node);
}

static thing
get_element(walk *w, td_val ptr, uint32_t *at, const td_type *t)
{
    thing x = {.type = t};
    td_num v = {TD_NONE, TD_NONE};

    switch ((td_tkind)t->kind) {
    case TD_T_NUM:
        v.re = box_word(w, ptr, (*at)++, word_dtype(t->dt));
        if (!td_dtype_is_complex(t->dt)) {
            x = num_of(t, (td_num){td_cast(w->f, v.re, t->dt), TD_NONE});
            break;
        }
        v.im = box_word(w, ptr, (*at)++, TD_F64);
        x = num_of(td_type_num(TD_C128), v);
        x = num_convert(w, &x, t);
        break;
    case TD_T_BOX: x = box_thing(w, t, box_word(w, ptr, (*at)++, TD_U64)); break;
    case TD_T_TUPLE:
        x.item = td_alloc(w->mem, (t->n + 1) * sizeof *x.item);
        for (uint32_t i = 0; i < t->n; i++)
            x.item[i] = get_element(w, ptr, at, t->item[i]);
        break;
    case TD_T_ARRAY:
    case TD_T_RECORD: x = words_get(w, ptr, at, t); break;
    default:          break;
    }
    return x;
}

thing
box_thing(walk *w, const td_type *t, td_val at)
{
    (void)w;
    return (thing){.type = t, .num = {at, TD_NONE}};
}

/* Joins x with the elements of the site's boxes. */
static td_status
note_element(walk *w, boxsite *s, int which, const thing *x)
{
    const td_type *have = s->elem[which], *t = have ? join_types(w, have, x->type) : x->type;

    if (t && have && td_type_optional_of(t) && !td_type_optional_of(have))
        t = NULL;   /* no box holds None among other values */
    s = root_of(s); /* joining may have united it with another */
    if (s->elem[which] != have && s->elem[which])
        return TD_OK; /* the next walk decides */
    if (s->fixed && t != have && casts(x->type, have))
        return TD_OK;
    if (!t || (s->fixed && t != have))
        return bad(w, w->node, TD_ERR_TYPE, "this %s holds %s, and cannot hold %s as well",
                   type_of(s)->name, have ? have->name : "nothing", x->type->name);
    if (t != have) {
        s->elem[which] = t;
        w->again = true;
    }
    return TD_OK;
}

td_status
box_fit(walk *w, const thing *b, int which, const thing *x, thing *own)
{
    boxsite *s = box_site(w, b);
    join j = {0};

    *own = *x;
    TD_TRY(settle(w, own));
    TD_TRY(loaded(w, own));
    TD_TRY(boxed(w, own));
    TD_TRY(note_element(w, s, which, own));
    s = box_site(w, b);
    j.type = s->elem[which];
    if (j.type->kind == TD_T_NUM && is_num(own)) {
        if (own->type != j.type)
            *own = num_convert(w, own, j.type);
        return TD_OK;
    }
    return join_fitted(w, &j, own, own);
}

td_status
box_put(walk *w, const thing *b, int which, td_val ptr, uint32_t at, const thing *x)
{
    thing own;

    TD_TRY(box_fit(w, b, which, x, &own));
    return box_put_words(w, ptr, &at, &own);
}

td_status
box_put_as(walk *w, const td_type *t, td_val ptr, uint32_t at, const thing *x, const char *what)
{
    thing own = *x;
    join j = {.type = t};

    TD_TRY(settle(w, &own));
    TD_TRY(loaded(w, &own));
    TD_TRY(boxed(w, &own));
    if (t->kind == TD_T_NUM && is_num(&own) &&
        (td_dtype_is_complex(t->dt) || !td_dtype_is_complex(own.type->dt)))
        own = num_convert(w, &own, t);
    else if (join_types(w, t, own.type) != t)
        return bad(w, w->node, TD_ERR_TYPE, "%s is %s, and %s does not go into that", what, t->name,
                   own.type->name);
    else
        TD_TRY(join_fitted(w, &j, &own, &own));
    return box_put_words(w, ptr, &at, &own);
}

td_status
box_get_as(walk *w, const td_type *t, td_val ptr, uint32_t at, thing *out)
{
    *out = get_element(w, ptr, &at, t);
    return built(w, w->node);
}

td_status
box_wait(walk *w, const thing *b)
{
    if (w->walks > 4)
        return bad(w, w->node, TD_ERR_TYPE,
                   "nothing is put into this %s, so that its elements' type is not known",
                   b->type->name);
    w->again = true;
    return TD_SKIP;
}

td_status
box_get(walk *w, const thing *b, int which, td_val ptr, uint32_t at, thing *out)
{
    const td_type *t = box_elem(w, b, which);

    if (!t)
        return box_wait(w, b);
    *out = get_element(w, ptr, &at, t);
    return built(w, w->node);
}

/* ---- calls of the runtime ---- */

static bool
makes_box(int which)
{
    switch (which) {
    case TD_ASK_NEW:
    case TD_ASK_SLICE:
    case TD_ASK_REPEAT:
    case TD_ASK_COPY:
    case TD_ASK_JOINED:
    case TD_ASK_INT_TEXT:
    case TD_ASK_FLOAT_TEXT:
    case TD_ASK_CASE:
    case TD_ASK_STRIP:
    case TD_ASK_REPLACE:
    case TD_ASK_SPLIT:
    case TD_ASK_JOIN:
    case TD_ASK_FILL:       return true;
    default:                return false;
    }
}

td_status
box_ask(walk *w, int which, const td_val *in, uint32_t n, td_val *words)
{
    td_val answer, at;

    TD_TRY(box_here(w, w->node, "a list, dict, set or computed string"));
    box_note(w);
    w->boxes += makes_box(which);
    *words = td_local(w->f, TD_U64, n < 4 ? 4 : n);
    for (uint32_t i = 0; i < n; i++) {
        at = td_at(w->f, in[i])->dt == TD_F64 ? td_bitcast(w->f, in[i], TD_U64)
                                              : td_cast(w->f, in[i], TD_U64);
        td_store(w->f, *words, td_const_int(w->f, TD_I64, i), at, TD_NONE, 0);
    }
    answer = td_ask(w->f, hidden_address(w, TD_HIDDEN_CALLMEM), td_address(w->f, *words),
                    td_const_int(w->f, TD_I64, which));
    TD_TRY(must(w, TD_E2(w->f, not_equal, answer, td_const_int(w->f, TD_U64, TD_ASK_NO_MEMORY)),
                TD_REPORT_ROOM, "no memory for a list, dict, set or string", NULL, 0));
    if (which == TD_ASK_CASE || which == TD_ASK_IS)
        return must(w, TD_E2(w->f, equal, answer, td_const_int(w->f, TD_U64, TD_ASK_OK)),
                    TD_REPORT_VALUE, "cases and kinds of characters beyond ASCII are not known",
                    NULL, 0);
    if (which == TD_ASK_NUMBER)
        return must(w, TD_E2(w->f, equal, answer, td_const_int(w->f, TD_U64, TD_ASK_OK)),
                    TD_REPORT_VALUE, "the string is no number", NULL, 0);
    if (which == TD_ASK_PUT_SLICE)
        return must(w, TD_E2(w->f, equal, answer, td_const_int(w->f, TD_U64, TD_ASK_OK)),
                    TD_REPORT_VALUE, "attempt to assign sequence to extended slice of another size",
                    NULL, 0);
    return built(w, w->node);
}

td_val
box_head(walk *w, const thing *b, size_t field)
{
    td_val p = td_pointer(w->f, b->num.re, TD_I64);

    return td_load(w->f, p, td_const_int(w->f, TD_I64, (int64_t)(field / 8)), TD_NONE, 1, 0);
}

void
box_set_n(walk *w, const thing *b, td_val n)
{
    td_store(w->f, td_pointer(w->f, b->num.re, TD_I64),
             td_const_int(w->f, TD_I64, (int64_t)(offsetof(td_box, n) / 8)), n, TD_NONE, 0);
}

/* Words of one of b's elements; a dict's and a set's begin with a hash. */
static int64_t
width_of(walk *w, const thing *b)
{
    const boxsite *s = box_site(w, b);
    int64_t n = 0;

    for (int i = 0; i < 2; i++)
        n += s->elem[i] ? box_words(s->elem[i]) : 0;
    return n + (s->which != TD_BOX_LIST);
}

td_val
box_element(walk *w, const thing *b, td_val i)
{
    td_val data = td_cast(w->f, box_head(w, b, offsetof(td_box, data)), TD_U64);
    td_val byte = TD_E2(w->f, multiply, i, td_const_int(w->f, TD_I64, 8 * width_of(w, b)));

    return td_at_byte(w->f, td_pointer(w->f, data, TD_U64), byte, TD_U64);
}

/* ---- new boxes ---- */

static td_status
make_box(walk *w, const boxsite *s, td_val room, thing *out)
{
    uint32_t at = 0, words[2] = {0};
    uint64_t desc = 0;
    td_val in[5], got;

    for (int i = 0; i < 2; i++)
        if (s->elem[i]) {
            words[i] = box_words(s->elem[i]);
            desc |= describe_words(s->elem[i], &at);
        }
    in[0] = td_const_int(w->f, TD_I64, s->which);
    in[1] = td_const_int(w->f, TD_I64, words[0]);
    in[2] = td_const_int(w->f, TD_I64, words[1]);
    in[3] = td_const_int(w->f, TD_I64, (int64_t)desc);
    in[4] = room;
    TD_TRY(box_ask(w, TD_ASK_NEW, in, 5, &got));
    *out = box_thing(w, type_of(s), box_word(w, got, 0, TD_U64));
    return built(w, w->node);
}

td_status
box_new(walk *w, td_boxkind which, uint32_t node, uint32_t salt, td_val room, thing *out)
{
    td_hash key = td_hash_u64(join_key(w, node, UINT32_MAX - 16 - salt), which);

    return make_box(w, root_of(site_at(w, key, which)), room, out);
}

td_status
box_typed(walk *w, const td_type *t, thing *out)
{
    return make_box(w, site_of_type(w, box_inside(w, t)), td_const_int(w->f, TD_I64, 0), out);
}

const td_type *
box_list_of(walk *w, const thing *elem, uint32_t node)
{
    td_hash key = td_hash_u64(join_key(w, node, UINT32_MAX - 15), TD_BOX_LIST);
    boxsite *s = root_of(site_at(w, key, TD_BOX_LIST));

    return note_element(w, s, BOX_ELEM, elem) ? NULL : type_of(root_of(s));
}
