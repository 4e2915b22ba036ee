/* ir.c - kernels as text.  What parses prints, and parses again as the same; the passes take it. */
#include "ir/core/ir.h"
#include "fuzz.h"
#include "ir/wide/widen.h"

/* Passes that renumber work on a kernel that is not finished: a copy without the verifier's blessing. */
static void
early_passes(const td_fn *f, td_arena *mem)
{
    for (int pass = 0; pass < 2; pass++) {
        td_fn copy = *f;

        copy.ins = td_alloc_big(mem, (f->n + 1) * sizeof *copy.ins);
        if (!copy.ins)
            return;
        if (f->n)
            memcpy(copy.ins, f->ins, f->n * sizeof *copy.ins);
        copy.cap = copy.n;
        if (!(pass ? td_fn_loads_first(&copy) : td_fn_contract(&copy)))
            fuzz_expect(td_fn_finish(&copy) == TD_OK);
    }
}

static void
late_passes(const td_fn *f, td_arena *mem)
{
    td_fn out = td_fn_new(mem, f->name), ended = td_fn_new(mem, f->name);
    const char *why = "";
    bool waits;

    (void)td_fn_waits(f, mem, &waits);
    if (f->n > 400 || td_fn_has_functions(f))
        return;
    if (f->simt) {
        (void)td_fn_exits(f, mem, &ended);
        (void)td_fn_widen(f, 32, &out, &why);
    } else {
        (void)td_fn_widen_loops(f, 32, &out);
    }
}

void
td_fuzz(const uint8_t *data, size_t n)
{
    char *text = fuzz_text(data, n);
    td_arena mem = {0};
    td_text printed = {0};
    td_fn f, again;

    if (!td_fn_parse(text, &mem, &f)) {
        td_fn_print(&f, &printed);
        fuzz_expect(printed.s && td_fn_parse(printed.s, &mem, &again) == TD_OK);
        fuzz_expect(memcmp(&(td_hash){td_fn_hash(&f).a, td_fn_hash(&f).b},
                           &(td_hash){td_fn_hash(&again).a, td_fn_hash(&again).b},
                           sizeof(td_hash)) == 0);
        early_passes(&f, &mem);
        late_passes(&f, &mem);
    }
    td_text_free(&printed);
    td_arena_free(&mem);
    free(text);
}
