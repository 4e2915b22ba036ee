/* box.c - boxes: their memory, lists, and td_box_ask, which compiled code calls.  Dicts and sets
 * are in boxmap.c, strings in boxtext.c.
 */
#include "base/boxpart.h"
#include "base/ufunc.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static void (*unhold_memory)(void *held);

void
td_box_on_drop(void (*unhold)(void *held))
{
    unhold_memory = unhold;
}

static void (*show_prints)(uint64_t mailbox);

void
td_box_on_print(void (*show)(uint64_t mailbox))
{
    show_prints = show;
}

td_box *
td_box_new(td_callmem *h, td_boxkind kind, uint32_t key, uint32_t value, uint64_t desc)
{
    td_box *b = calloc(1, sizeof *b);

    if (!b)
        return NULL;
    b->kind = kind;
    b->key = key;
    b->width = key + value + (kind == TD_BOX_DICT || kind == TD_BOX_SET);
    b->desc = desc;
    b->mask = -1;
    if (kind == TD_BOX_OBJECT) {
        b->data = box_address(calloc(1, item_bytes(b) + 1));
        if (!b->data)
            return free(b), NULL;
        b->n = b->room = 1;
    }
    td_call_grown += sizeof *b;
    if (!h)
        return b;
    b->serial = td_callmem_serial(h);
    b->next = h->boxes;
    b->place = &h->boxes;
    if (b->next)
        b->next->place = &b->next;
    h->boxes = b;
    return b;
}

void
td_box_own(td_box *b)
{
    if (!b->place)
        return;
    *b->place = b->next;
    if (b->next)
        b->next->place = b->place;
    b->next = NULL;
    b->place = NULL;
}

static void
box_release(td_box *b)
{
    if (b->held && unhold_memory)
        unhold_memory(b->held);
    free(box_memory(b->data));
    free(box_memory(b->table));
    free(b);
}

void
td_box_drop(td_box *b)
{
    if (!b)
        return;
    td_box_own(b);
    box_release(b);
}

void
td_box_free_all(td_callmem *h)
{
    for (td_box *b = h->boxes, *next; b; b = next) {
        next = b->next;
        box_release(b);
    }
    h->boxes = NULL;
    free(h->texts);
    h->texts = NULL;
    h->ntext = h->captext = 0;
}

bool
td_box_room(td_box *b, int64_t n)
{
    int64_t room = b->room + b->room / 2;
    size_t size = item_bytes(b), nbytes;
    void *data;

    if (n <= b->room && (b->data || n == 0))
        return true;
    room = room < n ? n : room;
    room = room < 4 ? 4 : room;
    if (__builtin_mul_overflow((size_t)room, size, &nbytes) || nbytes > (size_t)INT64_MAX)
        return false;
    data = realloc(box_memory(b->data), nbytes ? nbytes : 1);
    if (!data)
        return false;
    td_call_grown += (uint64_t)(room - b->room) * size;
    b->data = box_address(data);
    b->room = room;
    return true;
}

uint64_t *
td_box_at(const td_box *b, int64_t i)
{
    return (uint64_t *)box_memory(b->data) + i * (int64_t)b->width;
}

/* An empty box whose elements have the layout of b's. */
static td_box *
like(td_callmem *h, const td_box *b)
{
    td_box *r = td_box_new(h, b->kind, b->key, 0, b->desc);

    if (r)
        r->width = b->width;
    return r;
}

static void
copy_items(td_box *to, int64_t at, const td_box *from, int64_t first, int64_t n)
{
    size_t size = item_bytes(to);

    if (n > 0)
        memmove((char *)box_memory(to->data) + (size_t)at * size,
                (const char *)box_memory(from->data) + (size_t)first * size, (size_t)n * size);
}

/* ---- slices ---- */

/* Resolves a Python slice of n elements: its first index, its step, and (returned) how many
 * elements it has.  w holds start, stop, step and a mask: bits 0, 1 and 2 say which of the
 * three the program gave. */
static int64_t
slice(int64_t n, const int64_t *w, int64_t *first, int64_t *by)
{
    int64_t bits = w[3], step = bits & 4 ? w[2] : 1, lo = step < 0 ? -1 : 0,
            hi = step < 0 ? n - 1 : n, start, stop;

    start = bits & 1 ? w[0] : step < 0 ? hi : lo;
    stop = bits & 2 ? w[1] : step < 0 ? lo : hi;
    if (bits & 1) {
        start += start < 0 ? n : 0;
        start = start < lo ? lo : start > hi ? hi : start;
    }
    if (bits & 2) {
        stop += stop < 0 ? n : 0;
        stop = stop < lo ? lo : stop > hi ? hi : stop;
    }
    *first = start;
    *by = step;
    if (step < 0)
        return stop < start ? (start - stop - 1) / -step + 1 : 0;
    return start < stop ? (stop - start - 1) / step + 1 : 0;
}

static uint64_t
ask_slice(td_callmem *h, uint64_t *w)
{
    const td_box *b = td_box_of(w[0]);
    td_box *r = like(h, b);
    int64_t first, by, n;

    n = slice(b->n, (const int64_t *)&w[1], &first, &by);
    if (!r || !td_box_room(r, n)) {
        td_box_drop(r);
        return TD_ASK_NO_MEMORY;
    }
    if (by == 1)
        copy_items(r, 0, b, first, n);
    else
        for (int64_t i = 0; i < n; i++)
            copy_items(r, i, b, first + i * by, 1);
    r->n = n;
    w[0] = box_address(r);
    return TD_ASK_OK;
}

static uint64_t
remove_slice(td_box *b, int64_t first, int64_t by, int64_t n)
{
    int64_t to, step = by < 0 ? -by : by;

    if (n <= 0)
        return TD_ASK_OK;
    if (by < 0)
        first += (n - 1) * by;
    to = first;
    for (int64_t i = 0; i < n; i++) { /* moves the elements between two removed ones down */
        int64_t from = first + i * step + 1, end = i + 1 < n ? from + step - 1 : b->n;

        copy_items(b, to, b, from, end - from);
        to += end - from;
    }
    b->n -= n;
    return TD_ASK_OK;
}

static uint64_t
put_slice(td_box *b, uint64_t *w)
{
    const td_box *from = td_box_of(w[5]);
    td_box own = {0};
    int64_t first, by, n = slice(b->n, (const int64_t *)&w[1], &first, &by), m = from->n;
    bool given = (w[4] & 4) != 0 && (int64_t)w[3] != 1;

    if (given && n != m) {
        w[0] = (uint64_t)m;
        w[1] = (uint64_t)n;
        return TD_ASK_BAD;
    }
    if (from == b) {
        own = *b;
        own.data = own.room = 0;
        if (!td_box_room(&own, m))
            return TD_ASK_NO_MEMORY;
        copy_items(&own, 0, b, 0, m);
        from = &own;
    }
    if (given) {
        for (int64_t i = 0; i < n; i++)
            copy_items(b, first + i * by, from, i, 1);
    } else if (td_box_room(b, b->n + m - n)) {
        copy_items(b, first + m, b, first + n, b->n - first - n);
        copy_items(b, first, from, 0, m);
        b->n += m - n;
    } else {
        free(box_memory(own.data));
        return TD_ASK_NO_MEMORY;
    }
    free(box_memory(own.data));
    return TD_ASK_OK;
}

/* ---- order ---- */

static int
order_word(uint64_t a, uint64_t b, unsigned what)
{
    double x, y;

    switch (what) {
    case TD_WORD_INT: return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    case TD_WORD_FLOAT:
        memcpy(&x, &a, sizeof x);
        memcpy(&y, &b, sizeof y);
        return (x > y) - (x < y);
    case TD_WORD_STR: return td_box_order(td_box_of(a), td_box_of(b));
    default:          return (a > b) - (a < b);
    }
}

static int
compare_elements(const td_box *b, const uint64_t *x, const uint64_t *y)
{
    int r = 0;

    for (uint32_t i = 0; !r && i < b->width; i++)
        r = order_word(x[i], y[i], word_kind(b->desc, i));
    return r;
}

/* A stable merge sort.  It takes the right element only if it is strictly less: with NaN,
 * neither of two elements is. */
static void
merge_sort(const td_box *b, uint64_t *x, uint64_t *room, int64_t n, bool down)
{
    size_t size = b->width;
    int64_t half = n / 2, i = 0, k = 0;
    uint64_t *y = x + half * (int64_t)size;

    if (n <= 8) {
        for (i = 1; i < n; i++) {
            memcpy(room, x + (size_t)i * size, 8 * size);
            for (k = i; k > 0; k--) {
                uint64_t *before = x + (size_t)(k - 1) * size;

                if (down ? compare_elements(b, before, room) >= 0
                         : compare_elements(b, room, before) >= 0)
                    break;
                memcpy(before + size, before, 8 * size);
            }
            memcpy(x + (size_t)k * size, room, 8 * size);
        }
        return;
    }
    merge_sort(b, x, room, half, down);
    merge_sort(b, y, room, n - half, down);
    memcpy(room, x, (size_t)half * 8 * size);
    while (i < half) {
        const uint64_t *left = room + (size_t)i * size, *right = y + (size_t)k * size;
        bool take = k < n - half && (down ? compare_elements(b, left, right) < 0
                                          : compare_elements(b, right, left) < 0);

        memmove(x, take ? right : left, 8 * size);
        x += size;
        if (take)
            k++;
        else
            i++;
    }
}

static uint64_t
ask_sort(const td_box *b, bool down)
{
    size_t nbytes = ((size_t)b->n / 2 + 1) * 8 * b->width;
    uint64_t *room = malloc(nbytes);

    if (!room)
        return TD_ASK_NO_MEMORY;
    if (b->n > 1)
        merge_sort(b, td_box_at(b, 0), room, b->n, down);
    free(room);
    return TD_ASK_OK;
}

static void
reverse(td_box *b)
{
    for (int64_t i = 0, j = b->n - 1; i < j; i++, j--)
        for (uint32_t k = 0; k < b->width; k++) {
            uint64_t x = td_box_at(b, i)[k];

            td_box_at(b, i)[k] = td_box_at(b, j)[k];
            td_box_at(b, j)[k] = x;
        }
}

/* ---- td_box_ask ---- */

static uint64_t
ask_new(td_callmem *h, uint64_t *w)
{
    td_box *b = td_box_new(h, (td_boxkind)w[0], (uint32_t)w[1], (uint32_t)w[2], w[3]);

    if (b && b->kind == TD_BOX_OBJECT) {
        w[0] = box_address(b);
        return TD_ASK_OK;
    }
    if (!b || !td_box_room(b, (int64_t)w[4] < 4 ? 4 : (int64_t)w[4])) {
        td_box_drop(b);
        return TD_ASK_NO_MEMORY;
    }
    w[0] = box_address(b);
    return TD_ASK_OK;
}

static uint64_t
ask_copy(td_callmem *h, uint64_t *w)
{
    const td_box *b = td_box_of(w[0]);
    td_box *r = like(h, b);
    int64_t n = b->kind == TD_BOX_DICT || b->kind == TD_BOX_SET ? b->fill : b->n;

    if (!r || !td_box_room(r, n)) {
        td_box_drop(r);
        return TD_ASK_NO_MEMORY;
    }
    copy_items(r, 0, b, 0, n);
    r->n = b->n;
    r->fill = b->fill;
    if (b->mask >= 0 && !td_box_rebuild(r, b->n)) {
        td_box_drop(r);
        return TD_ASK_NO_MEMORY;
    }
    w[0] = box_address(r);
    return TD_ASK_OK;
}

static uint64_t
extend(td_box *a, const td_box *b)
{
    int64_t n = b->n;

    if (!td_box_room(a, a->n + n))
        return TD_ASK_NO_MEMORY;
    copy_items(a, a->n, b, 0, n);
    a->n += n;
    return TD_ASK_OK;
}

static uint64_t
ask_repeat(td_callmem *h, uint64_t *w)
{
    const td_box *b = td_box_of(w[0]);
    int64_t times = (int64_t)w[1] > 0 && b->n ? (int64_t)w[1] : 0, n;
    td_box *r = like(h, b);

    if (__builtin_mul_overflow(b->n, times, &n) || !r || !td_box_room(r, n)) {
        td_box_drop(r);
        return TD_ASK_NO_MEMORY;
    }
    /* the copied part doubles each time */
    for (int64_t i = 0, done = 0; i < times; i = done / b->n) {
        int64_t m = done == 0 ? b->n : done < n - done ? done : n - done;

        copy_items(r, done, done ? r : b, 0, m);
        done += m;
    }
    r->n = n;
    w[0] = box_address(r);
    return TD_ASK_OK;
}

static uint64_t
ask_list(td_callmem *h, td_box *b, uint64_t *w, int64_t which)
{
    int64_t first, by, n;

    switch (which) {
    case TD_ASK_SLICE:     return ask_slice(h, w);
    case TD_ASK_PUT_SLICE: return put_slice(b, w);
    case TD_ASK_CUT:
        n = slice(b->n, (const int64_t *)&w[1], &first, &by);
        return remove_slice(b, first, by, n);
    case TD_ASK_OPEN:
        if (!td_box_room(b, b->n + 1))
            return TD_ASK_NO_MEMORY;
        copy_items(b, (int64_t)w[1] + 1, b, (int64_t)w[1], b->n - (int64_t)w[1]);
        b->n++;
        return TD_ASK_OK;
    case TD_ASK_CLOSE:   return remove_slice(b, (int64_t)w[1], 1, 1);
    case TD_ASK_EXTEND:  return extend(b, td_box_of(w[1]));
    case TD_ASK_REPEAT:  return ask_repeat(h, w);
    case TD_ASK_REVERSE: reverse(b); return TD_ASK_OK;
    case TD_ASK_SORT:    return ask_sort(b, w[1] != 0);
    case TD_ASK_SAME:
        n = td_box_of(w[1])->n;
        w[0] = n == b->n;
        for (int64_t i = 0; w[0] && i < n; i++)
            w[0] = td_box_same_words(b->desc, td_box_at(b, i), td_box_at(td_box_of(w[1]), i),
                                     b->width);
        return TD_ASK_OK;
    default: return TD_ASK_BAD;
    }
}

static uint64_t
ask_ufunc(uint64_t *w)
{
    double x[2];

    memcpy(x, w, sizeof x);
    x[0] = td_ufunc_call((int)w[2], x);
    memcpy(w, x, sizeof *w);
    return TD_ASK_OK;
}

uint64_t
td_box_ask(uint64_t heap, uint64_t words, int64_t which)
{
    td_callmem *h = box_memory(heap);
    uint64_t *w = box_memory(words);

    switch (which) {
    case TD_ASK_NEW: return ask_new(h, w);
    case TD_ASK_ROOM:
        return td_box_room(td_box_of(w[0]), (int64_t)w[1]) ? TD_ASK_OK : TD_ASK_NO_MEMORY;
    case TD_ASK_COPY:   return ask_copy(h, w);
    case TD_ASK_CLEAR:  return td_box_clear(td_box_of(w[0]));
    case TD_ASK_UFUNC:  return ask_ufunc(w);
    case TD_ASK_LINEAR: return td_linear_call(w);
    case TD_ASK_SWEEP:  td_box_sweep(h, w[0], &w[2], (int64_t)w[1]); return TD_ASK_OK;
    case TD_ASK_PRINT:
        if (show_prints)
            show_prints(w[0]);
        return TD_ASK_OK;
    default: break;
    }
    if (which < TD_ASK_FIND || which == TD_ASK_SAME)
        return ask_list(h, td_box_of(w[0]), w, which);
    return which < TD_ASK_TEXT ? td_box_ask_map(td_box_of(w[0]), w, which)
                               : td_box_ask_text(h, w, which);
}
