/* nullcode.c - modules, linking and launches of the host-played driver.
 *
 * A module is its PTX, of which only entry names and parameter sizes are read.  A launch gathers the
 * parameters into 8-byte words and calls the hook (td_null_on_launch), which knows what the kernel
 * of that name does.
 */
#include "dev/nulldrv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* null_code - an entry.  In its module's list; dies with it. */
typedef struct null_code {
    struct null_code *next;
    char name[256];
    int nparam;
    uint8_t nbytes[NULL_PARAMS]; /* of each parameter */
} null_code;

static _Atomic(td_null_launch *) hook;
static _Thread_local char hook_error[1024];

void
td_null_on_launch(td_null_launch *h)
{
    atomic_store(&hook, h);
}

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

/* ".u64", ".f32", ".b8", ".pred": bytes of the type; 0 when it is none. */
static uint8_t
type_bytes(const char *p)
{
    int bits = 0;

    if (strchr("usbf", p[0]) && isdigit((unsigned char)p[1]))
        bits = atoi(p + 1);
    return (uint8_t)(bits / 8);
}

/* One parameter's words up to the comma: ".param .align 8 .b8 name[24]", ".param .u64 .ptr .global a". */
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

/* Says why in the caller's log buffer, as the driver does. */
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

int
td_null_cuModuleLoadDataEx(cu_module *module, const void *image, unsigned nopt, const int *opt,
                           void **value)
{
    static const char entry[] = ".entry";
    int r = td_null_due_ctx(NULL_cuModuleLoadDataEx);
    null_object *o;

    if (r)
        return r;
    if (!is_ptx(image)) {
        write_log(nopt, opt, value, "the host-played driver takes PTX only");
        return CU_INVALID_IMAGE;
    }
    o = td_null_object_new(NULL_MODULE);
    if (!o)
        return CU_OUT_OF_MEMORY;
    for (const char *p = image; (p = strstr(p, entry)); p += sizeof entry - 1) {
        null_code *k =
            isspace((unsigned char)p[sizeof entry - 1]) ? read_entry(p + sizeof entry - 1) : NULL;

        if (k) {
            k->next = o->data;
            o->data = k;
        }
    }
    *module = (cu_module)o;
    return 0;
}

int
td_null_cuModuleUnload(cu_module module)
{
    int r = td_null_due_ctx(NULL_cuModuleUnload);
    null_object *o = (null_object *)module;

    if (r)
        return r;
    if (!td_null_object_is(o, NULL_MODULE))
        return CU_INVALID_HANDLE;
    free_codes(o->data);
    o->data = NULL;
    (void)td_null_object_free(o, NULL_MODULE);
    return 0;
}

int
td_null_cuModuleGetFunction(cu_func *func, cu_module module, const char *name)
{
    int r = td_null_due_ctx(NULL_cuModuleGetFunction);
    null_object *o = (null_object *)module;

    if (r)
        return r;
    if (!td_null_object_is(o, NULL_MODULE))
        return CU_INVALID_HANDLE;
    for (null_code *k = o->data; k; k = k->next)
        if (strcmp(k->name, name) == 0) {
            *func = (cu_func)k;
            return 0;
        }
    return CU_NOT_FOUND;
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

/* Of every function the same: what 32 registers a thread allow. */
int
td_null_cuFuncGetAttribute(int *value, int attribute, cu_func func)
{
    static const int values[] = {1024, 0, 0, 0,
                                 32}; /* threads; bytes: shared, const, local; registers */
    int r = td_null_due_ctx(NULL_cuFuncGetAttribute);

    (void)func;
    if (r)
        return r;
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
    *offset = 8 * i;
    *nbytes = k->nbytes[i];
    return 0;
}

/* ---- launches ---- */

int
td_null_run(const null_work *w)
{
    hook_error[0] = 0;
    if (atomic_load(&hook)(w->name, &w->dims, w->arg, w->narg) == TD_OK)
        return 0;
    snprintf(hook_error, sizeof hook_error, "%s", td_error());
    return CU_LAUNCH_FAILED;
}

int
td_null_cuLaunchKernel(cu_func func, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, cu_stream stream, void **param,
                       void **extra)
{
    int r = td_null_due_ctx(NULL_cuLaunchKernel);
    const null_code *k = (const null_code *)func;
    null_work w = {.kind = NULL_LAUNCH,
                   .dims = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared}};

    (void)extra;
    if (r)
        return r;
    if (td_null_stream_ok(stream))
        return CU_INVALID_HANDLE;
    if ((uint64_t)bx * by * bz > 1024)
        return CU_INVALID_VALUE;
    if (!atomic_load(&hook))
        return CU_NOT_SUPPORTED; /* nobody can run kernels */
    for (int i = 0; i < k->nparam; i++)
        memcpy(&w.arg[i], param[i], k->nbytes[i]);
    memcpy(w.name, k->name, sizeof w.name);
    w.narg = k->nparam;
    return td_null_submit(stream, w);
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

int
td_null_cuLaunchCooperativeKernel(cu_func func, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                  unsigned by, unsigned bz, unsigned shared, cu_stream stream,
                                  void **param)
{
    int r = td_null_due_ctx(NULL_cuLaunchCooperativeKernel);

    return r ? r
             : td_null_cuLaunchKernel(func, gx, gy, gz, bx, by, bz, shared, stream, param, NULL);
}
