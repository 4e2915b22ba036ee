/* wide.c - programs of a thread become programs of a block, for the CPU. */
#include "base/opts.h"
#include "ir/wide/widen.h"
#include "jit/engine.h"

#include <stdio.h>

td_status
td_jit_widen(const td_fn *f, int vector_bytes, td_arena *mem, td_fn *out)
{
    const char *why = "";
    td_text text = {0};
    td_status st;

    *out = td_fn_new(mem, f->name);
    if (f->simt && td_fn_has_functions(f)) { /* they may call themselves: turns have small stacks */
        if (td_dump_wants("wide"))
            fprintf(stderr, "kernel %s is interpreted: it has functions inside\n", f->name);
        return TD_SKIP;
    }
    if (f->simt && td_options()->kernels == TD_KERNELS_SWITCH)
        return td_fn_exits(f, mem, out);
    st =
        f->simt ? td_fn_widen(f, vector_bytes, out, &why) : td_fn_widen_loops(f, vector_bytes, out);
    if (st == TD_SKIP && !f->simt) {
        *out = *f;
        return TD_OK;
    }
    if (st == TD_SKIP && td_dump_wants("wide"))
        fprintf(stderr, "kernel %s: its threads take turns: %s\n", f->name, why);
    if (st == TD_SKIP)
        return td_fn_exits(f, mem, out);
    if (!st && td_dump_wants("wide")) {
        td_fn_print(out, &text);
        fprintf(stderr, "%s\n", text.s ? text.s : "");
        td_text_free(&text);
    }
    return st;
}
