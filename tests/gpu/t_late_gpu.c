/* t_late_gpu.c - a kernel that writes where it must not: the failure that comes later names it and its line.
 *
 * The device is lost to this process after it.  Exits with 77 where there is no GPU.
 */
#include "dev/core/dev.h"
#include "dev/core/site.h"

#include "check.h"

#include <string.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry good(.param .u64 at)\n{\n"
                          "\t.reg .b64 %rd;\n\tld.param.u64 %rd, [at];\n"
                          "\tst.global.u8 [%rd], 1;\n\tret;\n}\n"
                          ".visible .entry wild(.param .u64 at)\n{\n"
                          "\t.reg .b64 %rd;\n\tld.param.u64 %rd, [at];\n"
                          "\tst.global.u8 [%rd], 1;\n\tret;\n}\n";

static td_dev *gpu;
static int line;

static uint32_t
ask(void)
{
    char text[32];

    snprintf(text, sizeof text, "model.py:%d", line);
    return td_name_id(text);
}

static td_status
launch(td_func *f, int at, uint64_t where)
{
    td_dims dims = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    td_status st;

    line = at;
    td_site_hold();
    st = td_launch(f, NULL, &dims, &where, 1);
    td_site_release();
    return st;
}

int
main(void)
{
    td_module *mod;
    td_func *good, *wild;
    td_buf *b, *c = NULL;
    char byte;

    if (td_dev_count(TD_DEV_CUDA) == 0)
        return 77;
    CHECK_OK(td_dev_get("cuda:0", &gpu));
    td_site_on_ask(ask);
    CHECK_OK(td_module_load(gpu, ptx, &mod));
    CHECK_OK(td_module_func(mod, "good", &good));
    CHECK_OK(td_module_func(mod, "wild", &wild));
    CHECK_OK(td_buf_new(gpu, NULL, 1 << 20, &b));
    CHECK_OK(launch(good, 1, b->ptr));
    CHECK_OK(td_dev_sync(gpu));
    CHECK_OK(launch(wild, 2, 64)); /* as far as the host knows */
    CHECK_FAILS(td_copy_out(td_dev_stream(gpu), &byte, b->ptr, 1), TD_ERR_DEVICE,
                "of the kernel wild launched at model.py:2");
    CHECK(strstr(td_error(), "first error: CUDA_ERROR_ILLEGAL_ADDRESS"));
    CHECK_FAILS(launch(good, 3, b->ptr), TD_ERR_DEVICE,
                "of the kernel wild launched at model.py:2"); /* still the first one */
    CHECK_FAILS(td_buf_new(gpu, NULL, 1 << 30, &c), TD_ERR_DEVICE, "wild launched at model.py:2");
    CHECK_FAILS(td_dev_sync(gpu), TD_ERR_DEVICE, "wild launched at model.py:2");
    return check_failures != 0;
}
