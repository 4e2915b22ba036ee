/* t_callmem.c - memory of a call: taken and released by a program in the interpreter, and what outlives the call. */
#include "base/callmem.h"
#include "check.h"
#include "ir/interp/interp.h"

#include <string.h>

enum { TURNS = 100 };

/* Each turn takes a block, writes its number there, and releases all but the last two. */
static void
program(td_fn *f, int64_t nbytes)
{
    td_val heap = td_param(f, TD_U64), out = td_param_ptr(f, TD_U64),
           zero = td_const_int(f, TD_I64, 0);
    td_val one = td_const_int(f, TD_I64, 1), two = td_const_int(f, TD_I64, 2), i, p;
    td_val words = td_local(f, TD_U64, 3), last = td_slot(f, TD_U64, 1);

    i = td_for(f, zero, td_const_int(f, TD_I64, TURNS), one);
    p = td_take(f, heap, td_const_int(f, TD_I64, nbytes));
    td_store(f, td_pointer(f, p, TD_I64), zero, i, TD_NONE, 0);
    td_store(f, words, zero, td_const_int(f, TD_U64, 0), TD_NONE, 0);
    td_store(f, words, one, p, TD_NONE, 0);
    td_store(f, words, two, td_get(f, last), TD_NONE, 0);
    td_release(f, heap, td_address(f, words), td_const_int(f, TD_I64, 3));
    td_store(f, out, zero, td_get(f, last), TD_NONE, 0);
    td_store(f, out, one, p, TD_NONE, 0);
    td_set(f, last, p);
    td_end(f);
}

static int
count(const td_callmem *h)
{
    int n = 0;

    for (const td_callblock *b = h->first; b; b = b->next)
        n++;
    return n;
}

static void
run(void)
{
    static const uint32_t grid[3] = {1, 1, 1};
    td_callmem heap = {0};
    td_arena mem = {0};
    td_fn f = td_fn_new(&mem, "takes");
    uint64_t out[2] = {0}, args[2] = {(uintptr_t)&heap, (uintptr_t)out};
    td_callblock *b;
    int64_t k;

    program(&f, 1000);
    CHECK_OK(td_fn_finish(&f));
    CHECK_OK(td_interp(&f, grid, grid, args, 0, NULL));
    CHECK(heap.taken == TURNS);
    CHECK(count(&heap) == 2);
    for (int j = 0; j < 2; j++) {
        memcpy(&k, (const void *)(uintptr_t)out[j], sizeof k);
        CHECK(k == TURNS - 2 + j);
        CHECK(out[j] % 64 == 0);
    }
    b = td_callmem_find(&heap, out[1] + 500);
    CHECK(b && b->nbytes == 1000);
    CHECK(!td_callmem_find(&heap, 1));
    b->owner = b;
    td_callmem_free(&heap);
    CHECK(!heap.first);
    memcpy(&k, (const void *)(uintptr_t)out[1],
           sizeof k); /* it has an owner, so it is still there */
    CHECK(k == TURNS - 1);
    td_callmem_drop(b);
    td_arena_free(&mem);
}

/* Released blocks serve the next ones of their size; with a count of 0 nothing is kept. */
static void
reuse(uint64_t alone)
{
    td_callmem h = {.alone = alone};
    uint64_t heap = (uintptr_t)&h, all = 0, a, b, large;

    a = td_callmem_take(heap, 100);
    b = td_callmem_take(heap, 200);
    large = td_callmem_take(heap, 1 << 20);
    CHECK(a && b && large && count(&h) == 3 && h.taken == 3);
    td_callmem_release(heap, (uintptr_t)&all, 1);
    CHECK(count(&h) == 0);
    CHECK(td_callmem_take(heap, 120) == a); /* of the same 64 bytes */
    CHECK(td_callmem_take(heap, 110) != a);
    CHECK(td_callmem_take(heap, 255) == b);
    CHECK(count(&h) == 3 && h.first->nbytes == 255);
    td_callmem_release(heap, (uintptr_t)&all, 0);
    CHECK(!h.first);
    for (int i = 0; i < TD_CALLMEM_SPARES; i++)
        CHECK(!h.spare[i]);
}

int
main(void)
{
    td_callmem heap = {0};

    run();
    reuse(0);
    reuse(1);
    CHECK(!td_callmem_take((uintptr_t)&heap, -1));
    CHECK(!td_callmem_take((uintptr_t)&heap, INT64_MAX - 5));
    CHECK(td_callmem_take((uintptr_t)&heap, 0)); /* an empty array has an address, too */
    td_callmem_free(&heap);
    return check_failures != 0;
}
