/* nullcode.c - modules, linking and launches of the played driver.
 *
 * A module is PTX, of which only entry names and parameter sizes are read: a launch gathers the
 * parameters into 8-byte words and calls the hook (td_null_on_launch), which knows what the
 * kernel of that name does.  Or a module is CUDA C++ compiled for a CPU (cpucode.h), which runs
 * by itself.
 */
#include "dev/cpu/cpucode.h"
#include "dev/foreign/elf.h"
#include "null/nulldrv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* null_code - an entry.  In its module's list; freed with the module. */
typedef struct null_code {
    struct null_code *next;
    char name[256];
    int nparam;
    uint8_t nbytes[NULL_PARAMS]; /* of each parameter */
    const td_culib *lib;
    const td_cu_kernel *cu; /* NULL: PTX's */
} null_code;

/* null_module - a module object's data. */
typedef struct null_module {
    null_code *codes;
    td_culib *lib; /* NULL: PTX */
} null_module;

static _Thread_local char hook_error[1024];

const char *
td_null_hook_error(void)
{
    return hook_error[0] ? hook_error : "unspecified launch failure";
}

/* ---- reading PTX ---- */

static const char *
skip_space(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* Bytes of a type, ".u64", ".f32", ".b8", ".pred"; 0: it is not a type. */
static uint8_t
type_bytes(const char *p)
{
    int bits = 0;

    if (strchr("usbf", p[0]) && isdigit((unsigned char)p[1]))
        bits = atoi(p + 1);
    return (uint8_t)(bits / 8);
}

/* Bytes of a parameter, up to its comma: ".param .align 8 .b8 name[24]", ".param .u64 .ptr
 * .global a". */
static uint8_t
param_bytes(const char *p, const char *stop)
{
    int count = 1, bytes = 0;

    for (; p < stop; p++) {
        if (*p == '.' && !bytes)
            bytes = type_bytes(p + 1);
        if (*p == '[')
            count = atoi(p + 1);
    }
    return (uint8_t)(bytes * count > 8 ? 8 : bytes * count); /* an argument is one word */
}

/* The parameters between an entry's parentheses. */
static void
read_params(null_code *k, const char *p, const char *end)
{
    while ((p = strstr(p, ".param")) && p < end && k->nparam < NULL_PARAMS) {
        const char *stop = memchr(p, ',', (size_t)(end - p));

        stop = stop ? stop : end;
        k->nbytes[k->nparam++] = param_bytes(p + 6, stop);
        p = stop;
    }
}

static null_code *
read_entry(const char *p)
{
    null_code *k = calloc(1, sizeof *k);
    const char *end;
    size_t n;

    if (!k)
        return NULL;
    p = skip_space(p);
    n = strcspn(p, " \t\r\n(");
    if (n >= sizeof k->name)
        n = sizeof k->name - 1;
    memcpy(k->name, p, n);
    p = skip_space(p + n);
    end = *p == '(' ? strchr(p, ')') : NULL;
    if (end)
        read_params(k, p, end);
    return k;
}

static bool
is_ptx(const char *text)
{
    return strstr(text, ".version") && strstr(text, ".target");
}

/* ---- modules ---- */

static void
free_codes(null_code *k)
{
    for (null_code *next; k; k = next) {
        next = k->next;
        free(k);
    }
}

/* Writes the reason into the caller's log buffer, as the driver does. */
static void
write_log(unsigned nopt, const int *opt, void **value, const char *text)
{
    char *log = NULL;
    size_t n = 0;

    for (unsigned i = 0; i < nopt; i++) {
        if (opt[i] == CU_JIT_ERROR_LOG)
            log = value[i];
        if (opt[i] == CU_JIT_ERROR_LOG_BYTES)
            n = (size_t)(uintptr_t)value[i];
    }
    if (log && n)
        snprintf(log, n, "%s", text);
}

/* Reads the entries of PTX; entries of CPU code are looked up when asked for. */
static void
read_entries(null_module *m, const char *ptx)
{
    static const char entry[] = ".entry";

    for (const char *p = ptx; (p = strstr(p, entry)); p += sizeof entry - 1) {
        null_code *k =
            isspace((unsigned char)p[sizeof entry - 1]) ? read_entry(p + sizeof entry - 1) : NULL;

        if (k) {
            k->next = m->codes;
            m->codes = k;
        }
    }
}

int
td_null_cuModuleLoadDataEx(cu_module *module, const void *image, unsigned nopt, const int *opt,
                           void **value)
{
    int r = td_null_due_ctx(NULL_cuModuleLoadDataEx);
    bool elf = td_elf_is(image);
    td_culib *lib = NULL;
    null_module *m;
    null_object *o;

    if (r)
        return r;
    if (elf ? td_culib_open(image, &lib) : !is_ptx(image)) {
        write_log(nopt, opt, value,
                  elf ? td_error() : "the host-played driver takes PTX and a CPU's code only");
        return CU_INVALID_IMAGE;
    }
    m = calloc(1, sizeof *m);
    o = m ? td_null_object_new(NULL_MODULE) : NULL;
    if (!o) {
        td_culib_close(lib);
        free(m);
        return CU_OUT_OF_MEMORY;
    }
    m->lib = lib;
    if (!elf)
        read_entries(m, image);
    o->data = m;
    *module = (cu_module)o;
    return 0;
}

int
td_null_cuModuleUnload(cu_module module)
{
    int r = td_null_due_ctx(NULL_cuModuleUnload);
    null_object *o = (null_object *)module;
    null_module *m;

    if (r)
        return r;
    if (!td_null_object_is(o, NULL_MODULE))
        return CU_INVALID_HANDLE;
    m = o->data;
    free_codes(m->codes);
    td_culib_close(m->lib);
    (void)td_null_object_free(o, NULL_MODULE);
    return 0;
}

/* Looks a CPU's entry up by name.  NULL: there is none, or no memory. */
static null_code *
new_code(null_module *m, const char *name)
{
    const td_cu_kernel *cu = m->lib ? td_culib_kernel(m->lib, name) : NULL;
    null_code *k = cu && cu->nparam <= NULL_PARAMS ? calloc(1, sizeof *k) : NULL;

    if (!k)
        return NULL;
    snprintf(k->name, sizeof k->name, "%s", name);
    k->nparam = (int)cu->nparam;
    k->lib = m->lib;
    k->cu = cu;
    k->next = m->codes;
    m->codes = k;
    return k;
}

int
td_null_cuModuleGetFunction(cu_func *func, cu_module module, const char *name)
{
    int r = td_null_due_ctx(NULL_cuModuleGetFunction);
    null_object *o = (null_object *)module;
    null_module *m;
    null_code *k;

    if (r)
        return r;
    if (!td_null_object_is(o, NULL_MODULE))
        return CU_INVALID_HANDLE;
    m = o->data;
    for (k = m->codes; k && strcmp(k->cu ? k->cu->name : k->name, name) != 0;)
        k = k->next;
    k = k ? k : new_code(m, name);
    *func = (cu_func)k;
    return k ? 0 : CU_NOT_FOUND;
}

int
td_null_cuModuleGetGlobal(cu_ptr *ptr, size_t *nbytes, cu_module module, const char *name)
{
    int r = td_null_due_ctx(NULL_cuModuleGetGlobal);
    null_object *o = (null_object *)module;
    const null_module *m;
    uintptr_t at = 0;

    if (r)
        return r;
    if (!td_null_object_is(o, NULL_MODULE))
        return CU_INVALID_HANDLE;
    m = o->data;
    if (!m->lib || !td_culib_global(m->lib, name, &at, nbytes))
        return CU_NOT_FOUND;
    *ptr = at;
    return 0;
}

int
td_null_cuFuncSetAttribute(cu_func func, int attribute, int value)
{
    int r = td_null_due_ctx(NULL_cuFuncSetAttribute);

    (void)func;
    if (r)
        return r;
    return attribute != CU_FUNC_MAX_DYNAMIC_SHARED || value > 160 << 10 ? CU_INVALID_VALUE : 0;
}

/* The same for all functions of PTX: what 32 registers per thread allow. */
int
td_null_cuFuncGetAttribute(int *value, int attribute, cu_func func)
{
    static const int values[] = {1024, 0, 0, 0,
                                 32}; /* threads; bytes: shared, const, local; registers */
    int r = td_null_due_ctx(NULL_cuFuncGetAttribute);
    const null_code *k = (const null_code *)func;

    if (r)
        return r;
    if (k->cu)
        return td_culib_attribute(k->lib, k->cu, attribute, value) ? 0 : CU_INVALID_VALUE;
    *value = attribute >= 0 && attribute < 5 ? values[attribute] : 0;
    return attribute < 0 ? CU_INVALID_VALUE : 0;
}

int
td_null_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *nblock, cu_func func, int threads,
                                                    size_t shared)
{
    int r = td_null_due_ctx(NULL_cuOccupancyMaxActiveBlocksPerMultiprocessor);

    (void)func;
    if (r)
        return r;
    if (threads < 1)
        return CU_INVALID_VALUE;
    *nblock = threads > 1024 || shared > 160 << 10 ? 0 : 2048 / threads < 32 ? 2048 / threads : 32;
    return 0;
}

int
td_null_cuFuncGetParamInfo(cu_func func, size_t i, size_t *offset, size_t *nbytes)
{
    int r = td_null_due_ctx(NULL_cuFuncGetParamInfo);
    const null_code *k = (const null_code *)func;

    if (r)
        return r;
    if (i >= (size_t)k->nparam)
        return CU_INVALID_VALUE;
    *offset = k->cu ? td_culib_offset(k->cu, (int)i) : 8 * i;
    *nbytes = k->cu ? k->cu->param[i].size : k->nbytes[i];
    return 0;
}

/* ---- launches ---- */

static td_status
run_cu(const null_work *w)
{
    void *param[NULL_PARAMS];

    for (int i = 0; i < w->narg; i++)
        param[i] = (char *)(uintptr_t)w->arg + td_culib_offset(w->code->cu, i);
    return td_culib_run(w->code->lib, w->code->cu, &w->dims, param, td_null_buffer);
}

int
td_null_run(const null_work *w)
{
    hook_error[0] = 0;
    if ((w->code ? run_cu(w) : td_null_hook()(w->name, &w->dims, w->arg, w->narg)) == TD_OK)
        return 0;
    snprintf(hook_error, sizeof hook_error, "%s", td_error());
    return CU_LAUNCH_FAILED;
}

/* Packs the arguments of a CPU's kernel; false: they are too long. */
static bool
nullcode_gather(const null_code *k, void **param, null_work *w)
{
    for (int i = 0; i < k->nparam; i++) {
        size_t at = td_culib_offset(k->cu, i);

        if (at + k->cu->param[i].size > sizeof w->arg)
            return false;
        memcpy((char *)w->arg + at, param[i], k->cu->param[i].size);
    }
    w->code = k;
    return true;
}

static int
nullcode_launch(const null_code *k, td_dims dims, cu_stream stream, void **param)
{
    null_work w = {.kind = NULL_LAUNCH, .dims = dims, .narg = k->nparam};

    if (td_null_stream_ok(stream))
        return CU_INVALID_HANDLE;
    if ((uint64_t)dims.block[0] * dims.block[1] * dims.block[2] > 1024)
        return CU_INVALID_VALUE;
    if (k->cu && (!nullcode_gather(k, param, &w) || td_culib_check(k->lib, k->cu, &dims)))
        return CU_INVALID_VALUE;
    if (!k->cu && !td_null_hook())
        return CU_NOT_SUPPORTED; /* there is no hook that runs kernels */
    for (int i = 0; !k->cu && i < k->nparam; i++)
        memcpy(&w.arg[i], param[i], k->nbytes[i]);
    memcpy(w.name, k->name, sizeof w.name);
    return td_null_submit(stream, w);
}

int
td_null_cuLaunchKernel(cu_func func, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, cu_stream stream, void **param,
                       void **extra)
{
    int r = td_null_due_ctx(NULL_cuLaunchKernel);
    td_dims d = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared};

    (void)extra;
    return r ? r : nullcode_launch((const null_code *)func, d, stream, param);
}

int
td_null_cuLaunchCooperativeKernel(cu_func func, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                  unsigned by, unsigned bz, unsigned shared, cu_stream stream,
                                  void **param)
{
    int r = td_null_due_ctx(NULL_cuLaunchCooperativeKernel);
    td_dims d = {
        .grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared, .cooperative = true};

    return r ? r : nullcode_launch((const null_code *)func, d, stream, param);
}

/* ---- PTX to a "cubin", which is the PTX ---- */

int
td_null_cuLinkCreate(unsigned nopt, const int *opt, void **value, cu_link *link)
{
    int r = td_null_due_ctx(NULL_cuLinkCreate);
    null_object *o = r ? NULL : td_null_object_new(NULL_LINK);

    (void)nopt;
    (void)opt;
    (void)value;
    *link = (cu_link)o;
    return r ? r : o ? 0 : CU_OUT_OF_MEMORY;
}

int
td_null_cuLinkAddData(cu_link link, int type, void *data, size_t nbytes, const char *name,
                      unsigned nopt, const int *opt, void **value)
{
    int r = td_null_due_ctx(NULL_cuLinkAddData);
    null_object *o = (null_object *)link;

    (void)name;
    (void)nopt;
    (void)opt;
    (void)value;
    if (r)
        return r;
    if (!td_null_object_is(o, NULL_LINK) || type != CU_INPUT_PTX)
        return CU_INVALID_HANDLE;
    if (!is_ptx(data))
        return CU_INVALID_PTX;
    o->data = malloc(nbytes);
    if (!o->data)
        return CU_OUT_OF_MEMORY;
    memcpy(o->data, data, nbytes);
    o->nbytes = nbytes;
    return 0;
}

int
td_null_cuLinkComplete(cu_link link, void **cubin, size_t *nbytes)
{
    int r = td_null_due_ctx(NULL_cuLinkComplete);
    const null_object *o = (const null_object *)link;

    if (r)
        return r;
    if (!td_null_object_is(o, NULL_LINK) || !o->data)
        return CU_INVALID_HANDLE;
    *cubin = o->data;
    *nbytes = o->nbytes;
    return 0;
}

int
td_null_cuLinkDestroy(cu_link link)
{
    int r = td_null_due_ctx(NULL_cuLinkDestroy);

    return r ? r : td_null_object_free((void *)link, NULL_LINK) ? 0 : CU_INVALID_HANDLE;
}
