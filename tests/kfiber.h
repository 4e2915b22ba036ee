/* kfiber.h - runs a kernel as compiled code whose threads take turns, as the CPU does where lanes cannot. */
#ifndef TD_TESTS_KFIBER_H
#define TD_TESTS_KFIBER_H
#include "base/scratch.h"
#include "ir/interp/kfiber.h"
#include "lower/lower.h"

#include <stdlib.h>
#include <string.h>

typedef void turns_entry(const uint64_t *args, int64_t bx, int64_t byz);

/* f has been finished.  The caller unlinks the code. */
static inline td_status
turns_compile(const td_fn *f, td_arena *mem, turns_entry **out, void **code)
{
    const td_lower *lw = td_lower_open();
    void *object = NULL, *entry = NULL;
    size_t nbytes;
    td_status st;
    td_fn own;

    TD_TRY(td_fn_exits(f, mem, &own));
    own.simt = true;
    TD_TRY(lw->object(&own, &object, &nbytes));
    st = lw->link(object, nbytes, f->name, &entry, code);
    free(object);
    *out = (turns_entry *)(uintptr_t)entry;
    return st;
}

static inline td_status
turns_run(const td_fn *f, const uint32_t grid[3], const uint32_t block[3], const uint64_t *args, size_t shared)
{
    uint64_t words[64] = {0};
    turns_entry *entry = NULL;
    void *code = NULL;
    td_arena mem = {0};
    td_status st = f->nparam + 7 <= sizeof words / sizeof *words && td_scratch_grow(shared)
                       ? turns_compile(f, &mem, &entry, &code)
                       : TD_ERR_NOMEM;
    td_kfiber_launch t;

    if (!st) {
        memcpy(words, args, f->nparam * sizeof *words);
        words[f->nparam] = (uintptr_t)&t;
        for (int k = 0; k < 3; k++) {
            words[f->nparam + 1 + (uint32_t)k] = block[k];
            words[f->nparam + 4 + (uint32_t)k] = grid[k];
        }
        td_kfiber_launch_init(&t, f->name, shared);
        for (uint32_t z = 0; z < grid[2]; z++)
            for (uint32_t y = 0; y < grid[1]; y++)
                for (uint32_t x = 0; x < grid[0]; x++)
                    entry(words, x, (int64_t)(z << 16 | y));
        st = td_kfiber_launch_status(&t);
        td_lower_open()->unlink(code);
    }
    td_arena_free(&mem);
    return st;
}

#endif
