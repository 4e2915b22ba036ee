/* wide.c - prepares kernels for the CPU: threads become the lanes of a block, or fibers. */
#include "base/opts.h"
#include "ir/wide/widen.h"
#include "jit/engine.h"

/* TREADLE_DUMP=wide also says why a kernel does not become lanes. */
static void
dump_reason(const td_fn *f, const char *how, const char *why)
{
    td_text text = {0};

    if (!td_dump_wants("wide"))
        return;
    td_text_addf(&text, "kernel %s%s: %s", f->name, how, why);
    td_dump("wide", text.s ? text.s : "");
    td_text_free(&text);
}

td_status
td_jit_widen(const td_fn *f, int vector_bytes, td_arena *mem, td_fn *out)
{
    const char *why = "";
    td_text text = {0};
    td_status st;

    *out = td_fn_new(mem, f->name);
    if (f->simt && td_fn_has_functions(f)) { /* they may recurse, and fibers have small stacks */
        dump_reason(f, " is interpreted", "it has functions inside");
        return TD_SKIP;
    }
    if (f->simt && td_options()->kernels == TD_KERNELS_SWITCH)
        return td_fn_exits(f, mem, out);
    st =
        f->simt ? td_fn_widen(f, vector_bytes, out, &why) : td_fn_widen_loops(f, vector_bytes, out);
    if (!f->simt &&
        (st == TD_SKIP || (!st && td_fn_is_long(out)))) { /* lanes would triple a long one */
        *out = *f;
        return TD_OK;
    }
    if (st == TD_SKIP) {
        dump_reason(f, ": its threads take turns", why);
        return td_fn_exits(f, mem, out);
    }
    if (!st && td_dump_wants("wide")) {
        td_fn_print(out, &text);
        td_dump("wide", text.s ? text.s : "");
        td_text_free(&text);
    }
    return st;
}
