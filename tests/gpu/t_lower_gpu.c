/* t_lower_gpu.c - PTX against the interpreter on a real GPU: every row, dtype and lane count,
 * all casts, control flow, memory, shared memory and shuffles.  Exits with 77 where there is no
 * GPU.
 */
#include "dev/core/dev.h"
#include "ir/lower_cases.h"
#include "ir/lower_kernel.h"

static td_dev *gpu;

/* Device copies of what the arguments point to: inputs as they are, outputs as the host filled
 * them. */
static td_status
send(const test_case *c, const uint64_t *args, td_buf **buf, uint64_t *on_gpu)
{
    size_t nbytes[MAX_ARGS];

    memcpy(nbytes, c->nbytes, sizeof nbytes);
    memcpy(on_gpu, args, (size_t)c->narg * sizeof *args);
    for (int k = 0; k < c->nout; k++)
        nbytes[c->out[k].arg] = (size_t)c->out[k].n * td_dtype_size(c->out[k].dt);
    for (int a = 0; a < c->narg; a++)
        if (nbytes[a]) {
            TD_TRY(td_buf_new(gpu, NULL, nbytes[a], &buf[a]));
            TD_TRY(
                td_copy_in(td_dev_stream(gpu), buf[a]->ptr, (void *)(uintptr_t)args[a], nbytes[a]));
            on_gpu[a] = buf[a]->ptr;
        }
    return TD_OK;
}

static td_status
launch(const test_case *c, td_module *m, const uint64_t *args, td_buf **buf)
{
    td_dims dims = {
        .grid = {c->grid, 1, 1}, .block = {c->block, 1, 1}, .shared = (uint32_t)c->shared};
    uint64_t on_gpu[MAX_ARGS];
    td_func *f;

    TD_TRY(td_module_func(m, c->name, &f));
    TD_TRY(send(c, args, buf, on_gpu));
    TD_TRY(td_launch(f, td_dev_stream(gpu), &dims, on_gpu, c->narg));
    for (int k = 0; k < c->nout; k++)
        TD_TRY(td_copy_out(td_dev_stream(gpu), (void *)(uintptr_t)args[c->out[k].arg],
                           buf[c->out[k].arg]->ptr,
                           (size_t)c->out[k].n * td_dtype_size(c->out[k].dt)));
    return TD_OK;
}

static td_status
run_gpu(const test_case *c, const td_lower *lw, const uint64_t *args)
{
    td_buf *buf[MAX_ARGS] = {NULL};
    td_module *m = NULL;
    char *ptx = NULL;
    td_status st = lw->ptx(&c->f, td_dev_info(gpu)->arch, &ptx);

    if (!st)
        st = td_module_load(gpu, ptx, &m);
    if (!st)
        st = launch(c, m, args, buf);
    for (int a = 0; a < MAX_ARGS; a++)
        td_buf_unref(buf[a]);
    td_module_free(m);
    free(ptx);
    return st;
}

static void
flows(const td_lower *lw, const flow_case *table, int n)
{
    test_case c;

    for (int k = 0; k < n; k++) {
        if (table[k].on == CPU_ONLY)
            continue;
        test_begin(&c, table[k].name);
        table[k].make(&c, true);
        test_against_interp(&c, lw, "gpu", run_gpu);
        test_end(&c);
    }
}

int
main(void)
{
    const td_lower *lw = td_lower_open();
    test_case c;

    if (td_dev_get("cuda", &gpu)) {
        printf("t_lower_gpu: skipped: %s\n", td_error());
        return 77;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++) {
        for (int k = 0; k < 2 && td_dtype_is_complex((td_dtype)dt); k++) {
            test_begin(&c, "rows");
            test_complex_rows(&c, (td_dtype)dt, k ? 16 / (int)td_dtype_size((td_dtype)dt) : 1,
                              true);
            test_against_interp(&c, lw, "gpu", run_gpu);
            test_end(&c);
        }
        for (int k = 0; k < 2 && !td_dtype_is_complex((td_dtype)dt); k++) {
            int lanes = k ? 16 / (int)td_dtype_size((td_dtype)dt) : 1;

            if (!td_dtype_is_half((td_dtype)dt)) {
                test_begin(&c, "rows");
                test_rows(&c, (td_dtype)dt, lanes, true);
                test_against_interp(&c, lw, "gpu", run_gpu);
                test_end(&c);
            }
            test_begin(&c, "casts");
            test_casts(&c, (td_dtype)dt, lanes, true);
            test_against_interp(&c, lw, "gpu", run_gpu);
            test_end(&c);
        }
    }
    flows(lw, flow_table, N_FLOWS);
    flows(lw, kernel_table, N_KERNELS);
    printf("t_lower_gpu: %s: %d failures\n", td_dev_info(gpu)->model, check_failures);
    return check_failures != 0;
}
