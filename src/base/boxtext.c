/* boxtext.c - strings of compiled code.
 *
 * Characters are code points, uint32.  A str never changes.  Case and character class are known
 * for ASCII only; for other characters the answer is TD_ASK_BAD, and the compiled function
 * raises.
 */
#include "base/box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t *
chars(const td_box *b)
{
    return (uint32_t *)(uintptr_t)b->data; /* NOLINT(performance-no-int-to-ptr) */
}

/* A str of n characters, which the caller fills. */
static td_box *
text_new(td_callmem *h, int64_t n)
{
    td_box *b = td_box_new(h, TD_BOX_STR, 0, 0, 0);

    if (!b || td_box_room(b, n < 1 ? 1 : n)) {
        if (b)
            b->n = n;
        return b;
    }
    td_box_drop(b);
    return NULL;
}

td_box *
td_box_text(td_callmem *h, const uint32_t *c, int64_t n)
{
    td_box *b = text_new(h, n);

    if (b && n)
        memcpy(chars(b), c, 4 * (size_t)n);
    return b;
}

static uint64_t
give_box(uint64_t *w, td_box *b)
{
    w[0] = (uint64_t)(uintptr_t)b;
    return b ? TD_ASK_OK : TD_ASK_NO_MEMORY;
}

static uint64_t
hash_chars(const uint32_t *c, int64_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) + (uint64_t)n;

    for (int64_t i = 0; i < n; i++)
        h = (h ^ c[i]) * UINT64_C(0x100000001b3);
    return h ? h : 1;
}

uint64_t
td_box_hash_text(td_box *b)
{
    if (!b->hash)
        b->hash = hash_chars(chars(b), b->n);
    return b->hash;
}

int
td_box_order(const td_box *a, const td_box *b)
{
    int64_t n = a->n < b->n ? a->n : b->n;

    for (int64_t i = 0; i < n; i++)
        if (chars(a)[i] != chars(b)[i])
            return chars(a)[i] < chars(b)[i] ? -1 : 1;
    return (a->n > b->n) - (a->n < b->n);
}

/* ---- constants: one str for equal characters, so that a loop makes no new ones ---- */

static bool
grow_table(td_callmem *h)
{
    int64_t cap = h->captext ? 2 * h->captext : 64;
    td_box **table = calloc((size_t)cap, sizeof *table);

    if (!table)
        return false;
    for (int64_t i = 0; i < h->captext; i++) {
        td_box *b = h->texts[i];

        if (!b)
            continue;
        for (int64_t k = (int64_t)b->hash & (cap - 1);; k = (k + 1) & (cap - 1))
            if (!table[k]) {
                table[k] = b;
                break;
            }
    }
    free(h->texts);
    h->texts = table;
    h->captext = cap;
    return true;
}

static td_box *
intern_text(td_callmem *h, const uint32_t *c, int64_t n)
{
    uint64_t hash = hash_chars(c, n);
    int64_t k;
    td_box *b;

    if (2 * h->ntext >= h->captext && !grow_table(h))
        return NULL;
    for (k = (int64_t)hash & (h->captext - 1); (b = h->texts[k]); k = (k + 1) & (h->captext - 1))
        if (b->hash == hash && b->n == n && memcmp(chars(b), c, 4 * (size_t)n) == 0)
            return b;
    b = td_box_text(h, c, n);
    if (!b)
        return NULL;
    b->hash = hash;
    b->constant = true;
    h->texts[k] = b;
    h->ntext++;
    return b;
}

static td_box *
from_ascii(td_callmem *h, const char *s)
{
    int64_t n = (int64_t)strlen(s);
    td_box *b = text_new(h, n);

    for (int64_t i = 0; b && i < n; i++)
        chars(b)[i] = (unsigned char)s[i];
    return b;
}

/* ---- numbers ---- */

/* Writes the shortest digits that read back as x, the way Python writes them. */
static void
float_text(double x, char *out, size_t size)
{
    char digits[40], *e;
    int exponent, n = 1;

    if (isnan(x) || isinf(x)) {
        snprintf(out, size, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
        return;
    }
    do
        snprintf(digits, sizeof digits, "%.*e", n - 1, x);
    while (strtod(digits, NULL) != x && n++ < 17); /* NOLINT(clang-analyzer-core.FloatLoop) */
    e = strchr(digits, 'e');
    exponent = atoi(e + 1);
    if (exponent >= -4 && exponent < 16) {
        int decimals = n - 1 - exponent;

        snprintf(out, size, "%.*f", decimals > 1 ? decimals : 1, x);
        return;
    }
    *e = 0;
    snprintf(out, size, "%se%c%02d", digits, exponent < 0 ? '-' : '+', abs(exponent));
}

/* Python's white space: Unicode's, and the separators of ASCII. */
static bool
is_space(uint32_t c)
{
    return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* int(s) and float(s): digits with a sign, surrounding spaces, underscores between digits. */
static uint64_t
text_to_number(const td_box *b, uint64_t *w)
{
    bool whole = w[1] == 1;
    char text[128], *end;
    size_t n = 0;
    int64_t i = 0, last = b->n;

    while (i < last && is_space(chars(b)[i]))
        i++;
    while (last > i && is_space(chars(b)[last - 1]))
        last--;
    for (bool digit = false; i < last; i++) {
        uint32_t c = chars(b)[i], next = i + 1 < last ? chars(b)[i + 1] : 0;

        if (c == '_' && digit && next >= '0' && next <= '9')
            continue;
        digit = c >= '0' && c <= '9';
        if (n + 1 == sizeof text || c > 126 || c == '_' || c == 'x' || c == 'X' || c == '(' ||
            (whole && !digit && !(n == 0 && (c == '-' || c == '+'))))
            return TD_ASK_BAD;
        text[n++] = (char)c;
    }
    text[n] = 0;
    if (!n)
        return TD_ASK_BAD;
    if (whole) {
        int64_t v = 0;
        bool minus = *text == '-';

        if (n == 1 && (*text == '-' || *text == '+'))
            return TD_ASK_BAD;
        for (const char *p = text + (minus || *text == '+'); *p; p++)
            if (__builtin_mul_overflow(v, 10, &v) ||
                __builtin_add_overflow(v, minus ? '0' - *p : *p - '0', &v))
                return TD_ASK_BAD;
        w[0] = (uint64_t)v;
        return TD_ASK_OK;
    }
    double x = strtod(text, &end);

    memcpy(w, &x, sizeof x);
    return *end ? TD_ASK_BAD : TD_ASK_OK;
}

/* ---- searching ---- */

static bool
matches_at(const td_box *a, int64_t at, const td_box *b)
{
    return at >= 0 && at + b->n <= a->n && memcmp(chars(a) + at, chars(b), 4 * (size_t)b->n) == 0;
}

static int64_t
search(const td_box *a, const td_box *b, int64_t from, int64_t to, bool last)
{
    from = from < 0 ? from + a->n : from;
    to = to < 0 ? to + a->n : to;
    from = from < 0 ? 0 : from;
    to = to < 0 ? 0 : to;
    to = (to > a->n ? a->n : to) - b->n;
    for (int64_t i = 0; i <= to - from; i++)
        if (matches_at(a, last ? to - i : from + i, b))
            return last ? to - i : from + i;
    return -1;
}

static int64_t
count_text(const td_box *a, const td_box *b)
{
    int64_t n = 0;

    if (!b->n)
        return a->n + 1;
    for (int64_t i = 0; i + b->n <= a->n; i += matches_at(a, i, b) ? (n++, b->n) : 1)
        ;
    return n;
}

/* ---- making new strings ---- */

static td_box *
joined(td_callmem *h, const td_box *a, const td_box *b)
{
    td_box *r = text_new(h, a->n + b->n);

    if (r && a->n)
        memcpy(chars(r), chars(a), 4 * (size_t)a->n);
    if (r && b->n)
        memcpy(chars(r) + a->n, chars(b), 4 * (size_t)b->n);
    return r;
}

static uint64_t
change_case(td_callmem *h, const td_box *a, uint64_t *w)
{
    int64_t how = (int64_t)w[1];
    td_box *r = text_new(h, a->n);

    for (int64_t i = 0; r && i < a->n; i++) {
        uint32_t c = chars(a)[i];
        bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z';
        bool up = how == 1 || (how == 2 && i == 0) || (how == 3 && lower);

        if (c > 127)
            return TD_ASK_BAD;
        chars(r)[i] = (lower || upper) ? (up ? c & ~UINT32_C(32) : c | 32) : c;
    }
    return give_box(w, r);
}

static bool
in_set(uint32_t c, const td_box *set)
{
    if (!set)
        return is_space(c);
    for (int64_t i = 0; i < set->n; i++)
        if (chars(set)[i] == c)
            return true;
    return false;
}

static td_box *
strip(td_callmem *h, const td_box *a, const td_box *set, int64_t ends)
{
    int64_t lo = 0, hi = a->n;

    while (ends & 1 && lo < hi && in_set(chars(a)[lo], set))
        lo++;
    while (ends & 2 && hi > lo && in_set(chars(a)[hi - 1], set))
        hi--;
    return td_box_text(h, chars(a) + lo, hi - lo);
}

static bool
add_chars(td_box *r, const uint32_t *c, int64_t n)
{
    if (!td_box_room(r, r->n + n))
        return false;
    if (n)
        memcpy(chars(r) + r->n, c, 4 * (size_t)n);
    r->n += n;
    return true;
}

static td_box *
replace(td_callmem *h, const td_box *a, const td_box *old, const td_box *new, int64_t most)
{
    td_box *r = text_new(h, 0);
    int64_t i = 0, last = 0;
    bool ok = r != NULL;

    for (; ok && most != 0 && i + old->n <= a->n; most--) {
        while (i + old->n <= a->n && !matches_at(a, i, old))
            i++;
        if (i + old->n > a->n)
            break;
        ok = add_chars(r, chars(a) + last, i - last) && add_chars(r, chars(new), new->n);
        last = i + old->n;
        i = last + (old->n == 0);
    }
    ok = ok && add_chars(r, chars(a) + last, a->n - last);
    return ok ? r : NULL;
}

static bool
add_part(td_callmem *h, td_box *list, const uint32_t *c, int64_t n)
{
    td_box *part = td_box_text(h, c, n);

    if (!part || !td_box_room(list, list->n + 1))
        return false;
    *td_box_at(list, list->n++) = (uint64_t)(uintptr_t)part;
    return true;
}

static td_box *
split_text(td_callmem *h, const td_box *a, const td_box *by, int64_t most)
{
    td_box *r = td_box_new(h, TD_BOX_LIST, 1, 0, TD_WORD_STR);
    int64_t i = 0, from = 0;
    bool ok = r && td_box_room(r, 4);

    while (ok && by && most != 0 && i + by->n <= a->n) {
        if (!matches_at(a, i, by)) {
            i++;
            continue;
        }
        ok = add_part(h, r, chars(a) + from, i - from);
        from = i += by->n;
        most--;
    }
    while (ok && !by) {
        while (i < a->n && is_space(chars(a)[i]))
            i++;
        if (i == a->n)
            return r;
        from = i;
        if (most-- == 0)
            break;
        while (i < a->n && !is_space(chars(a)[i]))
            i++;
        ok = add_part(h, r, chars(a) + from, i - from);
    }
    return ok && add_part(h, r, chars(a) + from, a->n - from) ? r : NULL;
}

static td_box *
join_list(td_callmem *h, const td_box *by, const td_box *list)
{
    td_box *r = text_new(h, 0);
    bool ok = r != NULL;

    for (int64_t i = 0; ok && i < list->n; i++) {
        const td_box *part = td_box_of(*td_box_at(list, i));

        ok = (i == 0 || add_chars(r, chars(by), by->n)) && add_chars(r, chars(part), part->n);
    }
    return ok ? r : NULL;
}

static uint64_t
is_all(const td_box *a, uint64_t *w)
{
    int64_t what = (int64_t)w[1];
    bool cased = false, all = a->n > 0;

    for (int64_t i = 0; i < a->n; i++) {
        uint32_t c = chars(a)[i];
        bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z',
             digit = c >= '0' && c <= '9';

        if (c > 127 && what != TD_IS_SPACE)
            return TD_ASK_BAD;
        cased = cased || (what == TD_IS_UPPER ? upper : lower);
        switch (what) {
        case TD_IS_DIGIT: all = all && digit; break;
        case TD_IS_ALPHA: all = all && (lower || upper); break;
        case TD_IS_ALNUM: all = all && (lower || upper || digit); break;
        case TD_IS_SPACE: all = all && is_space(c); break;
        case TD_IS_UPPER: all = all && !lower; break;
        default:          all = all && !upper; break;
        }
    }
    w[0] = all && (cased || (what != TD_IS_UPPER && what != TD_IS_LOWER));
    return TD_ASK_OK;
}

static td_box *
pad_text(td_callmem *h, const td_box *a, int64_t width, uint32_t c, int64_t how)
{
    int64_t more = width > a->n ? width - a->n : 0, left = how == 0 ? 0
                                                           : how == 2
                                                               ? more / 2 + (more & width & 1)
                                                               : more;
    bool sign = how == 3 && a->n && (*chars(a) == '-' || *chars(a) == '+');
    td_box *r = text_new(h, a->n + more);

    for (int64_t i = 0; r && i < r->n; i++)
        chars(r)[i] = c;
    if (r && a->n)
        memcpy(chars(r) + left, chars(a), 4 * (size_t)a->n);
    if (r && sign && more) {
        chars(r)[left] = c;
        chars(r)[0] = *chars(a);
    }
    return r;
}

uint64_t
td_box_ask_text(td_callmem *h, uint64_t *w, int64_t which)
{
    td_box *a = td_box_of(w[0]), *b;
    char digits[64];
    double x;

    switch (which) { /* w[0] is the address of a str, except in the rows that say otherwise */
    case TD_ASK_TEXT:
        return give_box(
            w, intern_text(h, (const uint32_t *)(uintptr_t)w[0], (int64_t)w[1])); /* NOLINT */
    case TD_ASK_INT_TEXT:
        snprintf(digits, sizeof digits, "%lld", (long long)w[0]);
        return give_box(w, from_ascii(h, digits));
    case TD_ASK_FLOAT_TEXT:
        memcpy(&x, w, sizeof x);
        float_text(x, digits, sizeof digits);
        return give_box(w, from_ascii(h, digits));
    default: break;
    }
    b = td_box_of(w[1]); /* a second str, in the rows that have one */
    switch (which) {
    case TD_ASK_ORDER:  w[0] = (uint64_t)(int64_t)td_box_order(a, b); return TD_ASK_OK;
    case TD_ASK_JOINED: return give_box(w, joined(h, a, b));
    case TD_ASK_SEARCH:
        w[0] = (uint64_t)search(a, b, (int64_t)w[2], (int64_t)w[3], w[4] != 0);
        return TD_ASK_OK;
    case TD_ASK_COUNT:   w[0] = (uint64_t)count_text(a, b); return TD_ASK_OK;
    case TD_ASK_AT_END:  w[0] = matches_at(a, w[2] ? a->n - b->n : 0, b); return TD_ASK_OK;
    case TD_ASK_PICK:    return give_box(w, intern_text(h, chars(a) + (int64_t)w[1], 1));
    case TD_ASK_CASE:    return change_case(h, a, w);
    case TD_ASK_STRIP:   return give_box(w, strip(h, a, b, (int64_t)w[2]));
    case TD_ASK_REPLACE: return give_box(w, replace(h, a, b, td_box_of(w[2]), (int64_t)w[3]));
    case TD_ASK_SPLIT:   return give_box(w, split_text(h, a, b, (int64_t)w[2]));
    case TD_ASK_JOIN:    return give_box(w, join_list(h, a, b));
    case TD_ASK_IS:      return is_all(a, w);
    case TD_ASK_NUMBER:  return text_to_number(a, w);
    case TD_ASK_FILL:
        return give_box(w, pad_text(h, a, (int64_t)w[1], (uint32_t)w[2], (int64_t)w[3]));
    default: return TD_ASK_BAD;
    }
}
