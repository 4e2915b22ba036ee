/* programmake.c - compiles a program's parts and finds out its kernels' parameters. */
#include "jit/programmake.h"

#include "base/opts.h"
#include "dev/core/trace.h"
#include "jit/cache.h"
#include "jit/programkey.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static const char *
copy_text(td_arena *a, const char *s)
{
    char *p = s ? td_alloc_big(a, strlen(s) + 1) : NULL;

    return p ? strcpy(p, s) : NULL;
}

static const char *const *
copy_list(td_arena *a, const char *const *v, int n, int more)
{
    const char **p = td_alloc_big(a, (size_t)(n + more + 1) * sizeof *p);

    for (int i = 0; p && i < n; i++)
        p[i] = copy_text(a, v[i]);
    return p;
}

/* The architecture that the device's code is compiled for, or "host". */
static const char *
arch_of(const td_program_spec *s)
{
    if (s->dev && td_dev_info(s->dev)->kind != TD_DEV_CUDA)
        return "host";
    return s->arch ? s->arch : s->dev ? td_dev_info(s->dev)->arch : "host";
}

static bool
copy_spec(td_program *p, const td_program_spec *s)
{
    td_arena *a = &p->mem;

    p->spec = *s;
    p->spec.text = copy_text(a, s->text);
    p->spec.file = copy_text(a, s->file);
    p->spec.arch = copy_text(a, arch_of(s));
    p->spec.keep = copy_text(a, s->keep);
    p->spec.cache_dir = copy_text(a, s->cache_dir);
    p->spec.option = copy_list(a, s->option, s->noption, 0);
    return p->spec.text && p->spec.file && p->spec.arch && p->spec.option && !a->failed;
}

td_status
td_program_read(td_program *p, const td_program_spec *s)
{
    const char **name;
    int n = 0;

    if (!copy_spec(p, s))
        return td_fail(TD_ERR_NOMEM, "no host memory for a program");
    TD_TRY(td_cxx_parse(&p->mem, p->spec.text, p->spec.file, &p->cxx));
    name = td_alloc_big(&p->mem, (p->cxx->nkernel + (size_t)s->nname + 1) * sizeof *name);
    for (uint32_t i = 0; name && i < p->cxx->nkernel; i++)
        if (!p->cxx->kernel[i].is_template)
            name[n++] = p->cxx->kernel[i].name;
    for (int i = 0; name && i < s->nname; i++)
        if (strchr(s->name[i], '<'))
            name[n++] = copy_text(&p->mem, s->name[i]);
    p->name = name;
    p->nname = n;
    return name && !p->mem.failed ? TD_OK : td_fail(TD_ERR_NOMEM, "no host memory for a program");
}

/* ---- compiling ---- */

static td_status
rewrite(const td_program *p, const td_source_job *job, td_arena *a, const char **out)
{
    td_status st =
        strcmp(job->arch, "host") == 0
            ? td_cxx_for_cpu(a, p->cxx, job->name, (uint32_t)job->nname, job->checked, out)
            : td_cxx_for_gpu(a, p->cxx, out);

    if (!st)
        td_dump("cxx", *out);
    return st;
}

static td_status
compile_program(const td_program *p, const td_source_job *job, td_image *out)
{
    td_source_job made = *job;
    td_arena a = {0};
    td_span span;
    td_status st;

    td_span_open(&span, TD_TRACE_compile, p->dev, NULL);
    st = rewrite(p, job, &a, &made.text);
    if (!st && a.failed)
        st = td_fail(TD_ERR_NOMEM, "no host memory for the text of %s", job->file);
    if (!st)
        st = td_source_compile(&made, out);
    td_span_close(&span, st, job->file, 0);
    td_arena_free(&a);
    return st;
}

/* Takes the key's lock, so that one process compiles, and looks on disk once more. */
static td_status
compile_and_keep(const td_program *p, const td_source_job *job, td_hash key, td_image *out)
{
    int lock = td_cache_lock(key);
    td_status st = lock < 0 ? TD_SKIP : td_program_find(key, job, out);

    if (st == TD_SKIP) {
        st = compile_program(p, job, out);
        if (!st)
            td_program_keep(key, out);
    }
    td_cache_unlock(lock);
    return st;
}

static td_status
make_image(const td_program *p, const td_source_job *job, td_image *out)
{
    td_hash key;
    td_span span;
    td_status st =
        p->spec.cache && !job->keep && !td_options()->dump ? td_program_key(job, &key) : TD_SKIP;

    if (st == TD_SKIP)
        return compile_program(p, job, out);
    TD_TRY(st);
    td_span_open(&span, TD_TRACE_load, p->dev, NULL);
    st = td_program_find(key, job, out);
    if (st == TD_SKIP)
        return compile_and_keep(p, job, key, out);
    td_span_close(&span, st, job->file, 0);
    return st;
}

td_status
td_program_part(td_program *p, const char *const *name, int nname, td_part **out)
{
    td_source_job job = {.text = p->spec.text,
                         .file = p->spec.file,
                         .option = p->spec.option,
                         .noption = p->spec.noption,
                         .name = name,
                         .nname = nname,
                         .arch = p->spec.arch,
                         .debug = p->spec.debug,
                         .checked = p->spec.checked,
                         .keep = p->spec.keep};
    td_part *q = calloc(1, sizeof *q);
    td_status st;

    if (!q)
        return td_fail(TD_ERR_NOMEM, "no host memory for a program");
    q->name = name;
    q->nname = nname;
    td_cache_use(p->spec.cache_dir);
    st = make_image(p, &job, &q->image);
    td_cache_use(NULL);
    if (!st && p->dev)
        st = td_module_load(p->dev, q->image.data, &q->module);
    if (st) {
        td_image_free(&q->image);
        free(q);
        return st;
    }
    *out = q;
    return TD_OK;
}

/* ---- signatures ---- */

/* Combines what is known of a parameter.  The compiler's and driver's facts win; the text adds
 * names and fills gaps. */
static void
merge_param(td_cxx_param *out, const td_cu_param *have, const td_cxx_param *text)
{
    if (text)
        *out = *text;
    else
        *out = (td_cxx_param){.type = "", .name = "", .kind = '?', .item = '?'};
    out->size = have->size;
    if (have->kind == '?')
        return;
    out->kind = have->kind;
    out->readonly = have->readonly;
    if (have->item != '-' || out->kind != 'p')
        out->item = have->item;
    out->item_size = have->item_size;
}

/* The end of an instance's next argument: its comma, or the closing >. */
static const char *
argument_end(const char *p)
{
    for (int depth = 0; *p; p++) {
        if (*p == '<' || *p == '(' || *p == '[' || *p == '{')
            depth++;
        else if ((*p == '>' || *p == ')' || *p == ']' || *p == '}') && depth-- == 0)
            return p;
        else if (*p == ',' && !depth)
            return p;
    }
    return p;
}

/* The declaration of an instance, "f<float, 4>": the template's, parsed again with its
 * parameters defined as the arguments.  NULL: that failed. */
static const td_cxx_kernel *
instance_of(td_program *p, const td_cxx_kernel *k, const char *name)
{
    const char *at = strchr(name, '<');
    td_text text = {0};
    const char *copy;
    td_cxx *c;

    if (!at || !k->is_template)
        return k;
    for (uint32_t i = 0; i < k->ntname && *at && *at != '>'; i++) {
        const char *end = argument_end(at + 1);

        if (*k->tname[i])
            td_text_addf(&text, "typedef %.*s %s; ", (int)(end - at - 1), at + 1, k->tname[i]);
        at = end;
    }
    td_text_addf(&text, "%s", p->spec.text);
    copy = text.failed ? NULL : copy_text(&p->mem, text.s);
    td_text_free(&text);
    if (!copy || td_cxx_parse(&p->mem, copy, p->spec.file, &c))
        return k;
    for (uint32_t i = 0; i < c->nkernel; i++)
        if (strcmp(c->kernel[i].name, k->name) == 0)
            return &c->kernel[i];
    return k;
}

/* Reads all parameters into sig.  Its count stays UINT32_MAX if nothing is known. */
static td_status
read_params(td_program *p, td_func *f, const td_cxx_kernel *k, td_cxx_kernel *sig)
{
    td_cu_param have[512];
    uint32_t n = 0;
    size_t offset;
    td_status st;

    while (n < sizeof have / sizeof *have && !(st = td_func_param(f, (int)n, &have[n], &offset)))
        n++;
    if (st && st != TD_SKIP && st != TD_ERR_INDEX)
        return st;
    if (st == TD_SKIP) { /* an older driver cannot tell */
        if (k)
            *sig = *k;
        return TD_OK;
    }
    sig->param = td_alloc_big(&p->mem, ((size_t)n + 1) * sizeof *sig->param);
    if (!sig->param)
        return td_fail(TD_ERR_NOMEM, "no memory for a kernel's parameters");
    for (uint32_t i = 0; i < n; i++)
        merge_param(&sig->param[i], &have[i], k && k->nparam == n ? &k->param[i] : NULL);
    sig->nparam = n;
    return TD_OK;
}

td_status
td_program_signed(td_program *p, td_part *q, const char *symbol, const td_cxx_kernel *k,
                  const char *name, td_func **out)
{
    td_signed *s;

    TD_TRY(td_module_func(q->module, symbol, out));
    for (s = p->known; s; s = s->next)
        if (s->func == *out)
            return TD_OK;
    s = td_alloc_big(&p->mem, sizeof *s);
    if (!s)
        return td_fail(TD_ERR_NOMEM, "no memory for a kernel's record");
    k = k ? instance_of(p, k, name) : NULL;
    s->func = *out;
    s->sig = (td_cxx_kernel){.name = k ? k->name : symbol, .nparam = UINT32_MAX};
    TD_TRY(read_params(p, *out, k, &s->sig));
    s->next = p->known;
    p->known = s;
    return TD_OK;
}

/* ---- names ---- */

/* Handles variables in namespaces only: _ZN, each part with its length before it, E. */
char *
td_program_mangled(const char *name)
{
    td_text t = {0};

    td_text_addf(&t, "_ZN");
    for (const char *p = name; *p;) {
        const char *end = strstr(p, "::");
        size_t n = end ? (size_t)(end - p) : strlen(p);

        if (n)
            td_text_addf(&t, "%zu%.*s", n, (int)n, p);
        p += n + (end ? 2 : 0);
    }
    td_text_addf(&t, "E");
    return td_text_take(&t);
}
