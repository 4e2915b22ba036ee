/* engine.c - the engines: x86 objects for the CPU, cubins for CUDA; the null device makes PTX as
 * CUDA does and gives its launches to the interpreter.
 */
#include "jit/engine.h"

#include "base/opts.h"
#include "jit/library.h"

#include <stdlib.h>
#include <string.h>

/* ---- CPU ---- */

enum { PLAIN, BLOCKS, TURNS }; /* the byte after a cached object: how its entry is called */

static td_status
cpu_key(td_dev *d, td_hash *key)
{
    const td_lower *low;
    td_hash cpu;

    (void)d;
    TD_TRY(td_jit_library(&low)); /* links cached objects too */
    cpu = low->cpu_key();
    *key = td_hash_u64(td_hash_u64(*key, cpu.a), cpu.b ^ td_options()->kernels);
    return TD_OK;
}

static td_status
engine_mark(void **code, size_t *nbytes, int runs)
{
    char *p = realloc(*code, *nbytes + 1);

    if (!p)
        return td_fail(TD_ERR_NOMEM, "jit: %zu bytes of code", *nbytes);
    p[(*nbytes)++] = (char)runs;
    *code = p;
    return TD_OK;
}

static td_status
cpu_compile(td_dev *d, const td_fn *f, void **code, size_t *nbytes)
{
    const td_lower *low;
    td_arena mem = {0};
    td_fn wide;
    td_status st;

    (void)d;
    TD_TRY(td_jit_library(&low));
    st = td_jit_widen(f, low->vector_bytes, &mem, &wide);
    if (!st)
        st = low->object(&wide, code, nbytes);
    td_arena_free(&mem);
    return st ? st : engine_mark(code, nbytes, !f->simt ? PLAIN : wide.simt ? TURNS : BLOCKS);
}

static void
cpu_unload(td_loaded *l)
{
    const td_lower *low;

    td_func_free(l->func);
    if (!td_jit_library(&low))
        low->unlink(l->code);
}

static td_status
cpu_load(td_dev *d, const char *name, const void *code, size_t nbytes, td_loaded *out)
{
    const td_lower *low;
    td_cpu_entry *entry;
    td_status st;
    void *at;

    if (!nbytes)
        return td_fail(TD_ERR_JIT, "kernel %s: no code", name);
    TD_TRY(td_jit_library(&low));
    TD_TRY(low->link(code, nbytes - 1, name, &at, &out->code));
    memcpy(&entry, &at, sizeof entry);
    st = td_func_of_entry(d, name, entry, &out->func);
    if (st) {
        low->unlink(out->code);
        return st;
    }
    out->turns = ((const char *)code)[nbytes - 1] == TURNS;
    if (((const char *)code)[nbytes - 1] != PLAIN)
        td_func_blocks(out->func);
    return TD_OK;
}

static int
cpu_width(void)
{
    const td_lower *low;

    return td_jit_library(&low)
               ? 16
               : low->vector_bytes; /* without a compiler, the first kernel reports the failure */
}

/* ---- CUDA ---- */

static td_status
gpu_key(td_dev *d, td_hash *key)
{
    const td_devinfo *info = td_dev_info(d);

    *key = td_hash_add(*key, info->arch, strlen(info->arch));
    *key = td_hash_u64(*key, (uint64_t)info->driver << 8 | info->kind);
    return TD_OK;
}

static td_status
gpu_compile(td_dev *d, const td_fn *f, void **code, size_t *nbytes)
{
    const td_lower *low;
    char *ptx = NULL;
    td_status st;

    TD_TRY(td_jit_library(&low));
    TD_TRY(low->ptx(f, td_dev_info(d)->arch, &ptx));
    st = td_dev_assemble(d, ptx, code, nbytes);
    free(ptx);
    return st;
}

static td_status
gpu_load(td_dev *d, const char *name, const void *code, size_t nbytes, td_loaded *out)
{
    td_module *m = NULL;
    td_status st;

    (void)nbytes;
    out->turns = false;
    TD_TRY(td_module_load(d, code, &m));
    st = td_module_func(m, name, &out->func);
    if (st)
        td_module_free(m);
    else
        out->code = m;
    return st;
}

static void
gpu_unload(td_loaded *l)
{
    td_module_free(l->code); /* and the module's functions */
}

static int
gpu_width(void)
{
    return 16;
}

static const td_engine engines[] = {
    [TD_DEV_CPU] = {"o", false, cpu_key, cpu_compile, cpu_load, cpu_unload, cpu_width},
    [TD_DEV_CUDA] = {"cubin", false, gpu_key, gpu_compile, gpu_load, gpu_unload, gpu_width},
    [TD_DEV_NULL] = {"null", true, gpu_key, gpu_compile, gpu_load, gpu_unload, gpu_width},
};

const td_engine *
td_jit_engine(td_dev *d)
{
    return &engines[td_dev_info(d)->kind];
}
