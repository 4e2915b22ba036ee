/* Boxes: lists, dicts, sets and strings of compiled functions, beside plain models of them; memory that is used up. */
#include "base/box.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

static uint64_t
ask(td_callmem *h, int which, uint64_t *w)
{
    return td_box_ask((uint64_t)(uintptr_t)h, (uint64_t)(uintptr_t)w, which);
}

static td_box *
new_box(td_callmem *h, td_boxkind kind, uint32_t value, uint64_t desc)
{
    return td_box_new(h, kind, 1, value, desc);
}

static uint64_t
next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

static void
push(td_box *b, uint64_t v)
{
    CHECK(td_box_room(b, b->n + 1));
    *td_box_at(b, b->n++) = v;
}

/* Every slice of a list of 0..6 elements beside one that is counted out. */
static void
slices(td_callmem *h)
{
    td_box *b = new_box(h, TD_BOX_LIST, 0, TD_WORD_INT);

    for (int64_t n = 0; n < 7; n++) {
        for (int64_t start = -8; start < 9; start++)
            for (int64_t stop = -8; stop < 9; stop++)
                for (int64_t step = -3; step < 4; step++) {
                    uint64_t w[8] = {(uint64_t)(uintptr_t)b, (uint64_t)start, (uint64_t)stop,
                                     (uint64_t)step, 7};
                    int64_t lo = start < 0 ? start + n : start, hi = stop < 0 ? stop + n : stop,
                            k = 0;
                    const td_box *r;

                    if (!step)
                        continue;
                    CHECK(ask(h, TD_ASK_SLICE, w) == TD_ASK_OK);
                    r = td_box_of(w[0]);
                    lo = step > 0 ? (lo < 0 ? 0 : lo) : (lo > n - 1 ? n - 1 : lo);
                    for (int64_t i = lo; step > 0 ? i < hi && i < n : i > hi && i >= 0; i += step) {
                        CHECK(k < r->n && *td_box_at(r, k) == (uint64_t)i);
                        k++;
                    }
                    CHECK(k == r->n);
                }
        push(b, (uint64_t)n);
    }
}

static void
lists(td_callmem *h)
{
    td_box *b = new_box(h, TD_BOX_LIST, 0, TD_WORD_INT), *c;
    uint64_t w[8], state = 7;

    for (int i = 0; i < 2000; i++)
        push(b, next(&state) % 1000);
    w[0] = (uint64_t)(uintptr_t)b;
    CHECK(ask(h, TD_ASK_COPY, w) == TD_ASK_OK);
    c = td_box_of(w[0]);
    w[0] = (uint64_t)(uintptr_t)b;
    w[1] = 0;
    CHECK(ask(h, TD_ASK_SORT, w) == TD_ASK_OK);
    for (int i = 1; i < 2000; i++)
        CHECK(*td_box_at(b, i - 1) <= *td_box_at(b, i));
    CHECK(c->n == 2000 && *td_box_at(c, 0) != *td_box_at(b, 0));
    w[0] = (uint64_t)(uintptr_t)b; /* a[2:5] = a */
    w[1] = 2, w[2] = 5, w[3] = 1, w[4] = 3, w[5] = w[0];
    CHECK(ask(h, TD_ASK_PUT_SLICE, w) == TD_ASK_OK);
    CHECK(b->n == 3997 && *td_box_at(b, 2) == *td_box_at(b, 0));
    w[0] = (uint64_t)(uintptr_t)b; /* a[::2] = a: another length */
    w[1] = w[2] = 0, w[3] = 2, w[4] = 4, w[5] = w[0];
    CHECK(ask(h, TD_ASK_PUT_SLICE, w) == TD_ASK_BAD);
    w[0] = (uint64_t)(uintptr_t)b;
    w[1] = UINT64_C(1) << 60;
    CHECK(ask(h, TD_ASK_REPEAT, w) == TD_ASK_NO_MEMORY);
    CHECK(!td_box_room(b, INT64_MAX / 4));
}

enum { KEYS = 500 };

/* Random insertions and deletions beside an array; then deletions of the last element for ever. */
static void
maps(td_callmem *h)
{
    td_box *b = new_box(h, TD_BOX_DICT, 1, TD_WORD_INT);
    int64_t model[KEYS], n = 0;
    uint64_t state = 3;

    memset(model, 0xff, sizeof model);
    for (int i = 0; i < 200000; i++) {
        uint64_t key = next(&state) % KEYS, word = key << 40; /* low bits that are all alike */
        int64_t at = td_box_find(b, &word);
        bool fresh;

        CHECK((at >= 0) == (model[key] >= 0));
        if (at >= 0)
            CHECK((int64_t)td_box_at(b, at)[2] == model[key]);
        if (next(&state) % 2) {
            at = td_box_enter(b, &word, &fresh);
            CHECK(at >= 0 && fresh == (model[key] < 0));
            td_box_at(b, at)[2] = (uint64_t)i;
            n += fresh;
            model[key] = i;
        } else if (at >= 0) {
            td_box_delete(b, at);
            model[key] = -1;
            n--;
        }
        CHECK(b->n == n && b->fill >= n);
    }
    CHECK(td_box_pack(b) && b->fill == b->n);
    for (uint64_t i = 0; i < 100000; i++) {
        bool fresh;
        int64_t at = td_box_enter(b, &i, &fresh);

        CHECK(at >= 0);
        if (fresh)
            td_box_delete(b, at);
    }
    CHECK(b->room < 100000);
}

static td_box *
text(td_callmem *h, const char *s)
{
    uint32_t c[64];
    int64_t n = (int64_t)strlen(s);

    for (int64_t i = 0; i < n; i++)
        c[i] = (unsigned char)s[i];
    return td_box_text(h, c, n);
}

static bool
says(uint64_t b, const char *s)
{
    const td_box *x = td_box_of(b);
    const uint32_t *c = (const uint32_t *)(uintptr_t)x->data;

    for (int64_t i = 0; i < x->n; i++)
        if (c[i] != (unsigned char)s[i] || !s[i])
            return false;
    return !s[x->n];
}

static void
texts(td_callmem *h)
{
    static const struct {
        double x;
        const char *s;
    } floats[] = {{0.1, "0.1"},
                  {1e16, "1e+16"},
                  {123456789.0, "123456789.0"},
                  {1e-5, "1e-05"},
                  {-0.0, "-0.0"},
                  {1.0 / 3, "0.3333333333333333"},
                  {5e-324, "5e-324"},
                  {1e22, "1e+22"},
                  {1.5e300, "1.5e+300"},
                  {1e15, "1000000000000000.0"}};
    uint64_t w[8];

    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        memcpy(w, &floats[i].x, sizeof floats[i].x);
        CHECK(ask(h, TD_ASK_FLOAT_TEXT, w) == TD_ASK_OK && says(w[0], floats[i].s));
    }
    w[0] = (uint64_t)(uintptr_t)text(h, "  a bb  c ");
    w[1] = 0, w[2] = UINT64_MAX;
    CHECK(ask(h, TD_ASK_SPLIT, w) == TD_ASK_OK && td_box_of(w[0])->n == 3);
    w[1] = w[0];
    w[0] = (uint64_t)(uintptr_t)text(h, "--");
    CHECK(ask(h, TD_ASK_JOIN, w) == TD_ASK_OK && says(w[0], "a--bb--c"));
    w[1] = (uint64_t)(uintptr_t)text(h, "b");
    w[2] = (uint64_t)(uintptr_t)text(h, "xyz");
    w[3] = UINT64_MAX;
    CHECK(ask(h, TD_ASK_REPLACE, w) == TD_ASK_OK && says(w[0], "a--xyzxyz--c"));
    w[0] = (uint64_t)(uintptr_t)text(h, " -12_3 ");
    w[1] = 1;
    CHECK(ask(h, TD_ASK_NUMBER, w) == TD_ASK_OK && (int64_t)w[0] == -123);
    w[0] = (uint64_t)(uintptr_t)text(h, "1__2");
    w[1] = 1;
    CHECK(ask(h, TD_ASK_NUMBER, w) == TD_ASK_BAD);
}

static bool
is_there(const td_callmem *h, const td_box *which)
{
    for (const td_box *b = h->boxes; b; b = b->next)
        if (b == which)
            return true;
    return false;
}

/* After enough garbage a sweep leaves what a word, an older box or a box that it leaves refers to. */
static void
sweeps(td_callmem *h)
{
    td_box *old = new_box(h, TD_BOX_LIST, 0, TD_WORD_OTHER), *inner, *middle, *named, *number,
           *lost;
    uint64_t mark = h->taken, block = td_callmem_take((uint64_t)(uintptr_t)h, 100), word[2];
    uint64_t left = td_callmem_take((uint64_t)(uintptr_t)h, 100);

    inner = new_box(h, TD_BOX_LIST, 0, TD_WORD_INT);
    middle = new_box(h, TD_BOX_LIST, 0, TD_WORD_OTHER);
    named = new_box(h, TD_BOX_LIST, 0, TD_WORD_OTHER);
    number = new_box(h, TD_BOX_LIST, 0, TD_WORD_INT);
    lost = new_box(h, TD_BOX_LIST, 0, TD_WORD_OTHER);
    push(old, (uint64_t)(uintptr_t)middle);
    push(middle, (uint64_t)(uintptr_t)inner);
    push(inner, (uint64_t)(uintptr_t)number); /* a number that looks like an address */
    push(named, block + 50);
    push(lost, (uint64_t)(uintptr_t)lost);
    word[0] = (uint64_t)(uintptr_t)named;
    word[1] = 0;
    for (int i = 0; i < 20000; i++)
        push(new_box(h, TD_BOX_LIST, 0, TD_WORD_INT), 1);
    td_box_sweep(h, mark, word, 2);
    CHECK(is_there(h, old) && is_there(h, middle) && is_there(h, inner) && is_there(h, named));
    CHECK(!is_there(h, number) && !is_there(h, lost));
    CHECK(td_callmem_find(h, block + 1) && !td_callmem_find(h, left + 1));
    CHECK(*td_box_at(named, 0) == block + 50 &&
          *td_box_at(middle, 0) == (uint64_t)(uintptr_t)inner);
    number = new_box(h, TD_BOX_LIST, 0, TD_WORD_INT);
    td_box_sweep(h, mark, word, 2); /* too early */
    CHECK(is_there(h, number));
}

int
main(void)
{
    td_callmem h = {0};
    td_box *mine;

    slices(&h);
    lists(&h);
    maps(&h);
    texts(&h);
    sweeps(&h);
    mine = new_box(&h, TD_BOX_LIST, 0, TD_WORD_INT);
    push(mine, 5);
    td_box_own(mine);
    td_callmem_free(&h);
    CHECK(!h.boxes && *td_box_at(mine, 0) == 5);
    td_box_drop(mine);
    td_box_drop(NULL);
    return check_failures != 0;
}
