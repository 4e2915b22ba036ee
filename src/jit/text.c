/* text.c - a kernel's stages as text, and the compiler's early start. */
#include "jit/engine.h"
#include "jit/jit.h"
#include "jit/library.h"

#include <pthread.h>
#include <stdlib.h>
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

/* An empty kernel goes the whole way: it loads what the first real one would wait for.  A failure is
 * for that one to report. */
static void *
warm(void *arg)
{
    td_dev *d = arg;
    td_arena mem = {0};
    td_fn f = td_fn_new(&mem, "td_warm");
    td_val p = td_param_ptr(&f, TD_F32);
    size_t nbytes;
    void *code;

    td_store(&f, p, td_const_int(&f, TD_I64, 0), td_const(&f, TD_F32, 0), TD_NONE, 0);
    if (!td_fn_finish(&f) && !td_jit_engine(d)->compile(d, &f, &code, &nbytes))
        free(code);
    td_arena_free(&mem);
    return NULL;
}

void
td_jit_warm(td_dev *d)
{
    pthread_attr_t attr;
    pthread_t thread;

    if (pthread_attr_init(&attr))
        return;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attr, warm, d); /* without it the first kernel is slower, no more */
    pthread_attr_destroy(&attr);
}
