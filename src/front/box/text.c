/* text.c - strings of functions on the CPU.
 *
 * A constant string is a value known when compiling until it is combined with a computed one.  Then it becomes a str
 * of the runtime; equal constants share one.
 */
#include "front/infer/box.h"
#include "front/infer/intrin.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 4096 }; /* characters of a constant */

static const td_type *
text_type(void)
{
    return td_type_box(TD_BOX_STR, NULL, 0, false);
}

static thing
text_answer(walk *w, td_val words)
{
    return box_thing(w, text_type(), box_word(w, words, 0, TD_U64));
}

/* ---- constants ---- */

static uint32_t
next_char(const unsigned char **s)
{
    const unsigned char *p = *s;
    uint32_t more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
    uint32_t code = more ? *p & (0x3fu >> more) : *p;

    for (uint32_t i = 1; i <= more; i++)
        code = code << 6 | (p[i] & 0x3f);
    *s = p + 1 + more;
    return code;
}

td_status
text_constant(walk *w, const char *utf8, thing *out)
{
    const unsigned char *s = (const unsigned char *)utf8;
    td_val ptr, words;
    uint32_t n = 0;

    TD_TRY(box_here(w, w->node, "a computed string"));
    for (; *s; n++)
        (void)next_char(&s);
    if (n > TEXT_MAX)
        return bad(w, w->node, TD_ERR_TYPE,
                   "a constant string of %u characters: at most %d are compiled", n, TEXT_MAX);
    ptr = td_local(w->f, TD_U32, n + 1);
    s = (const unsigned char *)utf8;
    for (uint32_t i = 0; i < n; i++)
        td_store(w->f, ptr, box_whole(w, i), td_const_int(w->f, TD_U32, next_char(&s)), TD_NONE, 0);
    TD_TRY(box_ask(w, TD_ASK_TEXT, (td_val[]){td_address(w->f, ptr), box_whole(w, n)}, 2, &words));
    *out = text_answer(w, words);
    return built(w, w->node);
}

/* ---- parts ---- */

td_status
text_index(walk *w, const thing *x, const thing *key, thing *out)
{
    td_val i, words;

    box_note(w);
    if (key->type->kind == TD_T_SLICE)
        TD_TRY(box_slice(w, TD_ASK_SLICE, x, key, NULL, 0, &words));
    else {
        TD_TRY(box_place(w, x, key, "string index out of range", &i));
        TD_TRY(box_ask(w, TD_ASK_PICK, (td_val[]){x->num.re, i}, 2, &words));
    }
    *out = text_answer(w, words);
    return built(w, w->node);
}

td_status
text_item(walk *w, const thing *x, td_val k, thing *out)
{
    td_val words;

    td_break_if(w->f, TD_E2(w->f, greater_equal, k, box_count(w, x)));
    TD_TRY(box_ask(w, TD_ASK_PICK, (td_val[]){x->num.re, k}, 2, &words));
    *out = text_answer(w, words);
    return built(w, w->node);
}

static td_status
two_texts(walk *w, const thing *a, const thing *b, thing *x, thing *y)
{
    *x = *a;
    *y = *b;
    TD_TRY(boxed(w, x));
    return boxed(w, y);
}

td_status
text_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    thing x, y;
    td_val words;

    TD_TRY(two_texts(w, a, b, &x, &y));
    if (op == TD_SYN_Mult && (is_int(&x) || is_int(&y))) {
        const thing *s = is_int(&x) ? &y : &x, *n = is_int(&x) ? &x : &y;

        TD_TRY(box_ask(w, TD_ASK_REPEAT, (td_val[]){s->num.re, val_as(w, n, TD_I64)}, 2, &words));
    } else if (op == TD_SYN_Add && box_is(&x, TD_BOX_STR) && box_is(&y, TD_BOX_STR)) {
        TD_TRY(box_ask(w, TD_ASK_JOINED, (td_val[]){x.num.re, y.num.re}, 2, &words));
    } else {
        return bad(w, w->node, TD_ERR_TYPE,
                   "%s and %s: this operation is not defined for strings here", a->type->name,
                   b->type->name);
    }
    *out = text_answer(w, words);
    return built(w, w->node);
}

td_status
text_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    thing x, y, zero = num_int(0);
    td_val words;

    TD_TRY(two_texts(w, a, b, &x, &y));
    if (!box_is(&x, TD_BOX_STR) || !box_is(&y, TD_BOX_STR)) {
        if (op != TD_SYN_Eq && op != TD_SYN_NotEq)
            return bad(w, w->node, TD_ERR_TYPE, "%s and %s have no order", a->type->name,
                       b->type->name);
        *out = num_bool(op == TD_SYN_NotEq);
        return TD_OK;
    }
    TD_TRY(box_ask(w, TD_ASK_ORDER, (td_val[]){x.num.re, y.num.re}, 2, &words));
    x = num_val(TD_I64, box_word(w, words, 0, TD_I64));
    return num_compare(w, op, &x, &zero, out);
}

td_status
text_has(walk *w, const thing *b, const thing *x, thing *out)
{
    thing a, part;
    td_val words;

    TD_TRY(two_texts(w, b, x, &a, &part));
    if (!box_is(&part, TD_BOX_STR))
        return bad(w, w->node, TD_ERR_TYPE, "only a string is in a string, not %s", x->type->name);
    TD_TRY(box_ask(w, TD_ASK_SEARCH,
                   (td_val[]){a.num.re, part.num.re, box_whole(w, 0), box_whole(w, INT64_MAX),
                              box_whole(w, 0)},
                   5, &words));
    *out = num_val(TD_BOOL,
                   TD_E2(w->f, greater_equal, box_word(w, words, 0, TD_I64), box_whole(w, 0)));
    return built(w, w->node);
}

/* ---- str(x), f"…" ---- */

static td_status
text_pieces(walk *w, const thing *x, thing *out)
{
    thing one;

    if (x->type->n == 0)
        return text_constant(w, "", out);
    TD_TRY(text_of(w, &x->item[0], out));
    for (uint32_t i = 1; i < x->type->n; i++) {
        TD_TRY(text_of(w, &x->item[i], &one));
        TD_TRY(text_binary(w, TD_SYN_Add, out, &one, out));
    }
    return TD_OK;
}

static td_status
of_bool(walk *w, const thing *x, thing *out)
{
    thing yes, no;

    TD_TRY(text_constant(w, "True", &yes));
    TD_TRY(text_constant(w, "False", &no));
    *out =
        box_thing(w, yes.type, TD_E3(w->f, select, val_as(w, x, TD_BOOL), yes.num.re, no.num.re));
    return built(w, w->node);
}

td_status
text_of(walk *w, const thing *x, thing *out)
{
    td_val words;
    thing own = *x;

    if (own.type->kind == TD_T_ITER && own.type->object == ITER_TEXT)
        return text_pieces(w, x, out);
    if (is_none(&own))
        return text_constant(w, "None", out);
    TD_TRY(boxed(w, &own));
    TD_TRY(loaded(w, &own));
    if (box_is(&own, TD_BOX_STR)) {
        *out = own;
        return TD_OK;
    }
    if (!is_num(&own) || (!is_int(&own) && own.type->dt != TD_F64) || own.type->dt == TD_U64)
        return bad(w, w->node, TD_ERR_TYPE,
                   "the text of %s is not compiled: integers, bools, float64 and strings have one",
                   x->type->name);
    if (own.type->dt == TD_BOOL)
        return of_bool(w, &own, out);
    TD_TRY(is_int(&own)
               ? box_ask(w, TD_ASK_INT_TEXT, (td_val[]){val_as(w, &own, TD_I64)}, 1, &words)
               : box_ask(w, TD_ASK_FLOAT_TEXT, (td_val[]){val_as(w, &own, TD_F64)}, 1, &words));
    *out = text_answer(w, words);
    return built(w, w->node);
}

/* ---- numbers ---- */

td_status
text_number(walk *w, const thing *x, bool want_int, thing *out)
{
    thing own = *x;
    td_val words;

    TD_TRY(boxed(w, &own));
    TD_TRY(box_ask(w, TD_ASK_NUMBER, (td_val[]){own.num.re, box_whole(w, want_int ? 1 : 2)}, 2,
                   &words));
    *out = want_int ? num_index(box_word(w, words, 0, TD_I64), false)
                    : num_of(td_type_weak('f'), (td_num){box_word(w, words, 0, TD_F64), TD_NONE});
    return built(w, w->node);
}

td_status
text_code(walk *w, const thing *x, thing *out)
{
    td_val data;

    TD_TRY(box_fail_unless(w, TD_E2(w->f, equal, box_count(w, x), box_whole(w, 1)), TD_REPORT_VALUE,
                           "ord() expected a character", NULL, 0));
    data = td_cast(w->f, box_head(w, x, offsetof(td_box, data)), TD_U64);
    data = td_load(w->f, td_pointer(w->f, data, TD_U32), box_whole(w, 0), TD_NONE, 1, 0);
    *out = num_index(td_cast(w->f, data, TD_I64), true);
    return built(w, w->node);
}

td_status
text_char(walk *w, const thing *x, thing *out)
{
    td_val ptr = td_local(w->f, TD_U32, 1), words, code;

    if (!is_int(x))
        return bad(w, w->node, TD_ERR_TYPE, "chr takes an integer, not %s", x->type->name);
    code = val_as(w, x, TD_I64);
    TD_TRY(box_fail_unless(
        w, TD_E2(w->f, less, td_cast(w->f, code, TD_U64), td_const_int(w->f, TD_U64, 0x110000)),
        TD_REPORT_VALUE, "chr() arg not in range(0x110000)", NULL, 0));
    td_store(w->f, ptr, box_whole(w, 0), td_cast(w->f, code, TD_U32), TD_NONE, 0);
    TD_TRY(box_ask(w, TD_ASK_TEXT, (td_val[]){td_address(w->f, ptr), box_whole(w, 1)}, 2, &words));
    *out = text_answer(w, words);
    return built(w, w->node);
}

/* ---- methods: each row says what is asked, and what its arguments and its answer are ---- */

enum { GIVES_TEXT, GIVES_LIST, GIVES_INT, GIVES_BOOL, GIVES_PLACE };

static const struct {
    const char *name;
    uint8_t ask, gives, least, most; /* arguments */
    /* of each argument: t: a str, n: an integer, N: an integer or None, T: a str or None, S: a str that is not empty, or None,
     * c: a character */
    const char *takes;
    int64_t more[3]; /* further operands for the runtime; first the defaults of arguments */
} methods[] = {
    {"find", TD_ASK_SEARCH, GIVES_INT, 1, 3, "tNN", {0, INT64_MAX, 0}},
    {"rfind", TD_ASK_SEARCH, GIVES_INT, 1, 3, "tNN", {0, INT64_MAX, 1}},
    {"index", TD_ASK_SEARCH, GIVES_PLACE, 1, 3, "tNN", {0, INT64_MAX, 0}},
    {"rindex", TD_ASK_SEARCH, GIVES_PLACE, 1, 3, "tNN", {0, INT64_MAX, 1}},
    {"count", TD_ASK_COUNT, GIVES_INT, 1, 1, "t", {0}},
    {"startswith", TD_ASK_AT_END, GIVES_BOOL, 1, 1, "t", {0}},
    {"endswith", TD_ASK_AT_END, GIVES_BOOL, 1, 1, "t", {1}},
    {"lower", TD_ASK_CASE, GIVES_TEXT, 0, 0, "", {0}},
    {"upper", TD_ASK_CASE, GIVES_TEXT, 0, 0, "", {1}},
    {"capitalize", TD_ASK_CASE, GIVES_TEXT, 0, 0, "", {2}},
    {"swapcase", TD_ASK_CASE, GIVES_TEXT, 0, 0, "", {3}},
    {"strip", TD_ASK_STRIP, GIVES_TEXT, 0, 1, "T", {3}},
    {"lstrip", TD_ASK_STRIP, GIVES_TEXT, 0, 1, "T", {1}},
    {"rstrip", TD_ASK_STRIP, GIVES_TEXT, 0, 1, "T", {2}},
    {"replace", TD_ASK_REPLACE, GIVES_TEXT, 2, 3, "ttn", {-1}},
    {"split", TD_ASK_SPLIT, GIVES_LIST, 0, 2, "Sn", {-1}},
    {"isdigit", TD_ASK_IS, GIVES_BOOL, 0, 0, "", {TD_IS_DIGIT}},
    {"isdecimal", TD_ASK_IS, GIVES_BOOL, 0, 0, "", {TD_IS_DIGIT}},
    {"isalpha", TD_ASK_IS, GIVES_BOOL, 0, 0, "", {TD_IS_ALPHA}},
    {"isalnum", TD_ASK_IS, GIVES_BOOL, 0, 0, "", {TD_IS_ALNUM}},
    {"isspace", TD_ASK_IS, GIVES_BOOL, 0, 0, "", {TD_IS_SPACE}},
    {"isupper", TD_ASK_IS, GIVES_BOOL, 0, 0, "", {TD_IS_UPPER}},
    {"islower", TD_ASK_IS, GIVES_BOOL, 0, 0, "", {TD_IS_LOWER}},
    {"ljust", TD_ASK_FILL, GIVES_TEXT, 1, 2, "nc", {' ', 0}},
    {"rjust", TD_ASK_FILL, GIVES_TEXT, 1, 2, "nc", {' ', 1}},
    {"center", TD_ASK_FILL, GIVES_TEXT, 1, 2, "nc", {' ', 2}},
    {"zfill", TD_ASK_FILL, GIVES_TEXT, 1, 1, "n", {'0', 3}},
};

static td_status
argument(walk *w, const call *c, uint32_t i, char takes, int64_t otherwise, td_val *out)
{
    thing x = c->arg[i];

    TD_TRY(boxed(w, &x));
    if (strchr("TSN", takes) && is_none(&x)) {
        *out = box_whole(w, takes == 'N' ? otherwise : 0);
        return TD_OK;
    }
    takes = takes == 'N' ? 'n' : takes;
    if (takes == 'n' ? !is_int(&x) : !box_is(&x, TD_BOX_STR))
        return bad(w, c->node, TD_ERR_TYPE, "argument %u is %s here, and is %s", i + 1,
                   takes == 'n' ? "an integer" : "a string", c->arg[i].type->name);
    if (takes == 'S')
        TD_TRY(box_fail_unless(w, TD_E2(w->f, not_equal, box_count(w, &x), box_whole(w, 0)),
                               TD_REPORT_VALUE, "empty separator", NULL, 0));
    if (takes == 'c') {
        TD_TRY(text_code(w, &x, &x));
        takes = 'n';
    }
    *out = takes == 'n' ? val_as(w, &x, TD_I64) : x.num.re;
    return TD_OK;
}

static td_status
ask_method(walk *w, size_t row, const thing *self, const call *c, thing *out)
{
    uint32_t takes = (uint32_t)strlen(methods[row].takes), most = methods[row].most, n = 1;
    /* methods[row].more begins with the first optional argument */
    uint32_t first = methods[row].least == 0 && most > 0 ? 1 : methods[row].least, spare = 0;
    td_val in[6] = {self->num.re}, words, v;
    thing elem = {.type = text_type()};
    const td_type *list;

    for (uint32_t i = 0; i < takes; i++, n++) {
        bool given = i < c->n;

        int64_t otherwise = i < first ? 0 : methods[row].more[i - first];

        if (given)
            TD_TRY(argument(w, c, i, methods[row].takes[i], otherwise, &in[n]));
        else
            in[n] = box_whole(w, otherwise);
        spare = i >= first ? i - first + 1 : 0;
    }
    for (; n < 6 && spare < 3; spare++)
        in[n++] = box_whole(w, methods[row].more[spare]);
    TD_TRY(box_ask(w, methods[row].ask, in, n, &words));
    v = box_word(w, words, 0, TD_I64);
    switch (methods[row].gives) {
    case GIVES_TEXT: *out = text_answer(w, words); break;
    case GIVES_INT:  *out = num_index(v, false); break;
    case GIVES_BOOL: *out = num_val(TD_BOOL, TD_E2(w->f, not_equal, v, box_whole(w, 0))); break;
    case GIVES_PLACE:
        *out = num_index(v, true);
        return box_fail_unless(w, TD_E2(w->f, greater_equal, v, box_whole(w, 0)), TD_REPORT_VALUE,
                               "substring not found", NULL, 0);
    default:
        list = box_list_of(w, &elem, c->node);
        if (!list)
            return TD_ERR_TYPE;
        *out = box_thing(w, list, box_word(w, words, 0, TD_U64));
    }
    return built(w, c->node);
}

/* by.join(list) */
static td_status
join_method(walk *w, const thing *self, const call *c, thing *out)
{
    thing list;
    td_val words;
    const td_type *t;

    TD_TRY(want_args(w, c, "join", 1, 1));
    list = c->arg[0];
    TD_TRY(boxed(w, &list));
    if (!box_is(&list, TD_BOX_LIST))
        TD_TRY(box_from(w, TD_BOX_LIST, &c->arg[0], c->node, &list));
    t = box_elem(w, &list, BOX_ELEM);
    if (!t)
        return box_wait(w, &list);
    if (t->kind != TD_T_BOX || t->ndim != TD_BOX_STR)
        return bad(w, c->node, TD_ERR_TYPE, "join takes strings, not %s", t->name);
    TD_TRY(box_ask(w, TD_ASK_JOIN, (td_val[]){self->num.re, list.num.re}, 2, &words));
    *out = text_answer(w, words);
    return TD_OK;
}

td_status
text_method(walk *w, const thing *self, const char *name, const call *c, thing *out)
{
    thing own = *self;
    char written[64];
    td_status st;

    TD_TRY(boxed(w, &own));
    if (strcmp(name, "join") == 0 && !c->nkw)
        return join_method(w, &own, c, out);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0 && !c->nkw && c->n <= methods[i].most &&
            !(c->n && c->arg[0].type->kind == TD_T_TUPLE)) { /* startswith(("a", "b")) */
            TD_TRY(want_args(w, c, name, methods[i].least, methods[i].most));
            return ask_method(w, i, &own, c, out);
        }
    snprintf(written, sizeof written, "str.%s", name);
    st = call_stand_in(w, written, &own, c, out);
    if (st != TD_SKIP)
        return st;
    return bad(w, c->node, TD_ERR_VALUE, "strings have no method %s here", name);
}
