/* engine.c - the engines: x86 objects for the CPU, cubins for CUDA; the null device makes PTX as
 * CUDA does and gives its launches to the interpreter.
 */
#include "jit/engine.h"

#include "base/opts.h"
#include "jit/library.h"

#include <stdlib.h>
#include <string.h>

/* ---- CPU ---- */

enum { PLAIN, BLOCKS, TURNS }; /* the byte behind an object: what its entry runs */

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

static td_status
cpu_load(td_dev *d, const char *name, const void *code, size_t nbytes, td_func **out, bool *turns)
{
    const td_lower *low;
    td_cpu_entry *entry;
    void *at;

    if (!nbytes)
        return td_fail(TD_ERR_JIT, "kernel %s: no code", name);
    TD_TRY(td_jit_library(&low));
    TD_TRY(low->link(code, nbytes - 1, name, &at));
    memcpy(&entry, &at, sizeof entry);
    TD_TRY(td_func_of_entry(d, name, entry, out));
    *turns = ((const char *)code)[nbytes - 1] == TURNS;
    if (((const char *)code)[nbytes - 1] != PLAIN)
        td_func_blocks(*out);
    return TD_OK;
}

static int
cpu_width(void)
{
    const td_lower *low;

    return td_jit_library(&low)
               ? 16
               : low->vector_bytes; /* without a compiler the first kernel will fail */
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
gpu_load(td_dev *d, const char *name, const void *code, size_t nbytes, td_func **out, bool *turns)
{
    td_module *m = NULL;
    td_status st;

    (void)nbytes;
    *turns = false;
    TD_TRY(td_module_load(d, code, &m));
    st = td_module_func(m, name, out);
    if (st)
        td_module_free(m);
    return st; /* a good module stays as long as its function */
}

static int
gpu_width(void)
{
    return 16;
}

static const td_engine engines[] = {
    [TD_DEV_CPU] = {"o", false, cpu_key, cpu_compile, cpu_load, cpu_width},
    [TD_DEV_CUDA] = {"cubin", false, gpu_key, gpu_compile, gpu_load, gpu_width},
    [TD_DEV_NULL] = {"null", true, gpu_key, gpu_compile, gpu_load, gpu_width},
};

const td_engine *
td_jit_engine(td_dev *d)
{
    return &engines[td_dev_info(d)->kind];
}
