/* wide.c - programs of a thread become programs of a block, for the CPU. */
#include "base/opts.h"
#include "ir/widen.h"
#include "jit/engine.h"

#include <stdio.h>

td_status
td_jit_widen(const td_fn *f, int vector_bytes, td_arena *mem, td_fn *out)
{
    const char *why = "";
    td_text text = {0};
    td_status st;

    *out = *f;
    if (!f->simt)
        return TD_OK;
    *out = td_fn_new(mem, f->name);
    st = td_fn_widen(f, vector_bytes, out, &why);
    if (st == TD_SKIP)
        return td_fail(TD_ERR_JIT, "kernel %s: %s: the CPU cannot run it", f->name, why);
    if (!st && td_dump_wants("wide")) {
        td_fn_print(out, &text);
        fprintf(stderr, "%s\n", text.s ? text.s : "");
        td_text_free(&text);
    }
    return st;
}
