/* cpumodule.c - the CPU's modules: shared objects made from CUDA C++ (cpucode.c). */
#include "dev/core/devops.h"
#include "dev/cpu/cpucode.h"
#include "dev/pool/pool.h"

#include <stdlib.h>
#include <string.h>

td_status
td_cpu_module_load(td_module *m, const void *image)
{
    td_culib *l = NULL;
    td_status st = td_culib_open(image, &l);

    m->handle = l;
    return st ? td_fail(st, "%s: %s", m->dev->info.name, td_error()) : TD_OK;
}

void
td_cpu_module_free(td_module *m)
{
    td_culib_close(m->handle);
}

td_status
td_cpu_module_func(td_func *f)
{
    const td_cu_kernel *k = td_culib_kernel(f->module->handle, f->name);

    if (!k)
        return td_fail(TD_ERR_VALUE, "%s: no kernel \"%s\" in the module", f->dev->info.name,
                       f->name);
    f->handle = (void *)(uintptr_t)k;
    f->nparam = (int)k->nparam;
    return TD_OK;
}

td_status
td_cpu_module_global(td_module *m, const char *name, uintptr_t *ptr, size_t *nbytes)
{
    return td_culib_global(m->handle, name, ptr, nbytes)
               ? TD_OK
               : td_fail(TD_ERR_VALUE, "%s: no variable \"%s\" in the module", m->dev->info.name,
                         name);
}

td_status
td_cpu_func_param(const td_func *f, int i, td_cu_param *out, size_t *offset)
{
    const td_cu_kernel *k = f->handle;

    if (!f->module)
        return TD_SKIP;
    if (i < 0 || i >= (int)k->nparam)
        return td_fail(TD_ERR_INDEX, "%s has %u parameters", f->name, k->nparam);
    *out = k->param[i];
    *offset = td_culib_offset(k, i);
    return TD_OK;
}

td_status
td_cpu_func_attribute(td_func *f, int number, int *out)
{
    if (!f->module)
        return TD_SKIP;
    return td_culib_attribute(f->module->handle, f->handle, number, out)
               ? TD_OK
               : td_fail(TD_ERR_VALUE, "%s: a kernel has no attribute %d", f->dev->info.name,
                         number);
}

/* Live allocations are the pool's live buffers. */
static size_t
pool_extent(uintptr_t ptr, size_t *before)
{
    size_t n = 0;

    *before = 0;
    return td_pool_find(td_cpu_dev(), ptr, &n, before) == TD_FOUND_LIVE ? n : 0;
}

td_status
td_cpu_module_launch(td_func *f, const td_dims *d, const uint64_t *args, int narg)
{
    void *param[narg > 0 ? narg : 1];
    char text[256];
    td_status st;

    if (narg != f->nparam)
        return td_fail(TD_ERR_VALUE, "%s: %d arguments for %d parameters",
                       td_launch_text(f, d, text, sizeof text), narg, f->nparam);
    for (int i = 0; i < narg; i++)
        param[i] = d->offset ? (char *)(uintptr_t)args + d->offset[i] : (void *)(uintptr_t)&args[i];
    st = td_culib_run(f->module->handle, f->handle, d, param, pool_extent);
    return st ? td_fail(st, "%s: %s", td_launch_text(f, d, text, sizeof text), td_error()) : TD_OK;
}
