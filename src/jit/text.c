/* text.c - a kernel's stages as text. */
#include "jit/jit.h"
#include "jit/library.h"

#include <string.h>

td_status
td_jit_text(const td_fn *f, const char *stage, const char *arch, char **out)
{
    const td_lower *low;
    td_text text = {0};

    if (strcmp(stage, "ir") == 0) {
        td_fn_print(f, &text);
        *out = td_text_take(&text);
        return *out ? TD_OK : td_fail(TD_ERR_NOMEM, "jit: text of kernel %s", f->name);
    }
    TD_TRY(td_jit_library(&low));
    return low->text(f, stage, arch, out);
}
