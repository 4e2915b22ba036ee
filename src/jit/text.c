/* text.c - a kernel's stages as text, and its object. */
#include "jit/engine.h"
#include "jit/jit.h"
#include "jit/library.h"

#include <string.h>

td_status
td_jit_text(const td_fn *f, const char *stage, const char *arch, char **out)
{
    const td_lower *low;
    td_arena mem = {0};
    td_fn wide = *f;
    td_text text = {0};
    td_status st = TD_OK;

    if (strcmp(stage, "ir") == 0) {
        td_fn_print(f, &text);
        *out = td_text_take(&text);
        return *out ? TD_OK : td_fail(TD_ERR_NOMEM, "jit: text of kernel %s", f->name);
    }
    TD_TRY(td_jit_library(&low));
    if (!arch && strcmp(stage, "ptx") != 0)
        st = td_jit_widen(f, low->vector_bytes, &mem, &wide);
    if (st == TD_SKIP)
        st = td_fail(TD_ERR_VALUE, "kernel %s: the interpreter runs it on the CPU", f->name);
    if (!st)
        st = low->text(&wide, stage, arch, out);
    td_arena_free(&mem);
    return st;
}

td_status
td_jit_object(const td_fn *f, void **out, size_t *nbytes)
{
    const td_lower *low;
    td_arena mem = {0};
    td_fn wide;
    td_status st;

    TD_TRY(td_jit_library(&low));
    st = td_jit_widen(f, low->vector_bytes, &mem, &wide);
    if (st == TD_SKIP || (!st && wide.simt))
        st = td_fail(TD_ERR_VALUE,
                     "kernel %s: on a CPU its threads take turns or are interpreted, which an "
                     "object alone cannot: "
                     "TREADLE_DUMP=wide says why",
                     f->name);
    if (!st)
        st = low->object(&wide, out, nbytes);
    td_arena_free(&mem);
    return st;
}
