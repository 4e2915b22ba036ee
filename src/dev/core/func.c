/* func.c - modules, functions and launches on any device: records, checks, dispatch. */
#include "dev/core/site.h"
#include "dev/core/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static td_status
func_no_memory(const td_dev *d, const char *what)
{
    return td_fail(TD_ERR_NOMEM, "%s: no host memory for %s", d->info.name, what);
}

/* ---- variables ---- */

/* Variables that td_module_global has returned: their addresses travel as numbers (raw.c). */
typedef struct variable {
    struct variable *next;
    const td_module *module;
    uintptr_t ptr;
    size_t nbytes;
} variable;

static struct {
    pthread_mutex_t mu;
    variable *first;
} known = {.mu = PTHREAD_MUTEX_INITIALIZER};

static td_status
know(const td_module *m, uintptr_t ptr, size_t nbytes)
{
    variable *v;

    pthread_mutex_lock(&known.mu);
    for (v = known.first; v && v->ptr != ptr;)
        v = v->next;
    if (!v && (v = malloc(sizeof *v))) {
        *v = (variable){known.first, m, ptr, nbytes};
        known.first = v;
    }
    pthread_mutex_unlock(&known.mu);
    return v ? TD_OK : func_no_memory(m->dev, "a variable");
}

static void
forget_variables(const td_module *m)
{
    pthread_mutex_lock(&known.mu);
    for (variable *v, **at = &known.first; (v = *at);) {
        if (v->module == m) {
            *at = v->next;
            free(v);
        } else {
            at = &v->next;
        }
    }
    pthread_mutex_unlock(&known.mu);
}

size_t
td_module_extent(uintptr_t ptr)
{
    size_t n = 0;

    pthread_mutex_lock(&known.mu);
    for (const variable *v = known.first; v && !n; v = v->next)
        if (ptr - v->ptr < v->nbytes)
            n = v->nbytes - (ptr - v->ptr);
    pthread_mutex_unlock(&known.mu);
    return n;
}

/* ---- modules ---- */

td_status
td_module_load(td_dev *d, const void *image, td_module **out)
{
    td_module *m;
    td_status st;

    m = calloc(1, sizeof *m);
    if (!m)
        return func_no_memory(d, "a module");
    m->dev = d;
    st = d->ops->module_load(m, image);
    if (st) {
        free(m);
        return st;
    }
    pthread_mutex_init(&m->mu, NULL);
    *out = m;
    return TD_OK;
}

void
td_module_free(td_module *m)
{
    if (!m)
        return;
    forget_variables(m);
    m->dev->ops->module_free(m);
    for (td_func *f; (f = m->funcs); free(f)) {
        m->funcs = f->next;
    }
    pthread_mutex_destroy(&m->mu);
    free(m);
}

td_status
td_dev_assemble(td_dev *d, const char *ptx, void **out, size_t *nbytes)
{
    return d->ops->assemble
               ? d->ops->assemble(d, ptx, out, nbytes)
               : td_fail(TD_ERR_DEVICE, "%s: runs compiled entries, not PTX", d->info.name);
}

/* Needs the module's lock. */
static td_status
new_func(td_module *m, const char *name, td_func **out)
{
    td_func *f = calloc(1, sizeof *f);
    /* a late failure may name the kernel after its module is gone */
    uint32_t id = td_name_id(name);
    td_status st;

    if (!f || !id) {
        free(f);
        return func_no_memory(m->dev, "a kernel");
    }
    *f = (td_func){.dev = m->dev, .name = td_name_text(id), .module = m};
    st = m->dev->ops->module_func(f);
    if (st) {
        free(f);
        return st;
    }
    f->next = m->funcs;
    m->funcs = f;
    *out = f;
    return TD_OK;
}

td_status
td_module_func(td_module *m, const char *name, td_func **out)
{
    td_status st = TD_OK;
    td_func *f;

    pthread_mutex_lock(&m->mu);
    for (f = m->funcs; f && strcmp(f->name, name) != 0;)
        f = f->next;
    if (f)
        *out = f;
    else
        st = new_func(m, name, out);
    pthread_mutex_unlock(&m->mu);
    return st;
}

td_status
td_module_global(td_module *m, const char *name, uintptr_t *ptr, size_t *nbytes)
{
    TD_TRY(m->dev->ops->module_global(m, name, ptr, nbytes));
    return know(m, *ptr, *nbytes);
}

td_status
td_func_param(const td_func *f, int i, td_cu_param *out, size_t *offset)
{
    return f->dev->ops->func_param(f, i, out, offset);
}

td_status
td_func_of_entry(td_dev *d, const char *name, td_cpu_entry *entry, td_func **out)
{
    td_func *f;

    if (!d->ops->entries)
        return td_fail(TD_ERR_DEVICE, "%s: takes modules, not the compiled entry \"%s\"",
                       d->info.name, name);
    f = calloc(1, sizeof *f);
    if (!f)
        return func_no_memory(d, "a kernel");
    *f = (td_func){.dev = d, .name = name, .entry = entry, .nparam = -1};
    *out = f;
    return TD_OK;
}

void
td_func_blocks(td_func *f)
{
    f->blocks = true;
}

void
td_func_free(td_func *f)
{
    if (f && !f->module)
        free(f);
}

td_status
td_func_attribute(td_func *f, int number, int *out)
{
    return f->dev->ops->func_attribute ? f->dev->ops->func_attribute(f, number, out) : TD_SKIP;
}

td_status
td_func_resident(td_func *f, int threads, size_t shared, int *nblock)
{
    return f->dev->ops->func_resident ? f->dev->ops->func_resident(f, threads, shared, nblock)
                                      : TD_SKIP;
}

/* ---- launches ---- */

td_dev *
td_func_dev(const td_func *f)
{
    return f->dev;
}

const char *
td_launch_text(const td_func *f, const td_dims *d, char *buf, size_t n)
{
    snprintf(buf, n,
             "launch of %s: grid (%u, %u, %u), block (%u, %u, %u), %u bytes of shared memory",
             f->name, d->grid[0], d->grid[1], d->grid[2], d->block[0], d->block[1], d->block[2],
             d->shared);
    return buf;
}

/* Says why a launch is impossible. */
static td_status
refuse(const td_func *f, const td_stream *s, const td_dims *d)
{
    char text[256];

    td_launch_text(f, d, text, sizeof text);
    if (s->dev != f->dev)
        return td_fail(TD_ERR_VALUE, "%s: the kernel belongs to %s, the stream to %s", text,
                       f->dev->info.name, s->dev->info.name);
    return td_fail(TD_ERR_VALUE, "%s: an extent is 0", text);
}

td_status
td_launch(td_func *f, td_stream *s, const td_dims *d, const uint64_t *args, int narg)
{
    s = s ? s : &f->dev->def;
    if (s->dev != f->dev || !d->grid[0] || !d->grid[1] || !d->grid[2] || !d->block[0] ||
        !d->block[1] || !d->block[2])
        return refuse(f, s, d);
    if (td_watched())
        return td_work_watched(
            s,
            &(td_work){.kind = TD_TRACE_kernel, .func = f, .dims = d, .args = args, .narg = narg});
    return f->dev->ops->launch(f, s, d, args, narg);
}
