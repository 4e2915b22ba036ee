/* t_late.c - kernels whose failure is told late: which launches are named, and that it is not forgotten. */
#include "dev/core/recent.h"
#include "dev/core/tape.h"
#include "null/null.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { REFUSED = 1, ILLEGAL = 700, FAILED = 719 };

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k0()\n{\n\tret;\n}\n.visible .entry k1()\n{\n\tret;\n}\n"
    ".visible .entry k2()\n{\n\tret;\n}\n.visible .entry k3()\n{\n\tret;\n}\n"
    ".visible .entry k4()\n{\n\tret;\n}\n.visible .entry bad()\n{\n\tret;\n}\n";

static td_dev *null;
static td_module *mod;
static td_func *kernel[5], *bad;
static int line;

static td_status
play(const char *name, const td_dims *dims, const uint64_t *args, int narg)
{
    (void)dims, (void)args, (void)narg;
    return strcmp(name, "bad") ? TD_OK : td_fail(TD_ERR_INDEX, "bad: beyond its buffer");
}

static uint32_t
ask(void)
{
    char text[32];

    snprintf(text, sizeof text, "model.py:%d", line);
    return td_name_id(text);
}

/* The program's line `at` launches f on s. */
static td_status
launch(td_func *f, td_stream *s, int at, const char *what)
{
    td_dims dims = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .what = what};
    td_status st;

    line = at;
    td_site_hold();
    st = td_launch(f, s, &dims, NULL, 0);
    td_site_release();
    return st;
}

/* The next waiting for the device fails, and says just this of the launches. */
static void
check_told(const char *of)
{
    char words[512];
    td_buf *b = NULL;

    td_null_fail("cuCtxSynchronize", 1, ILLEGAL);
    snprintf(
        words, sizeof words,
        "; first error: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered), "
        "told by cuCtxSynchronize, of %s",
        of);
    CHECK_FAILS(td_dev_sync(null), TD_ERR_DEVICE, words);
    CHECK(strlen(strstr(td_error(), "; first")) == strlen(words)); /* and no more */
    CHECK(strncmp(td_error(), "null: cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS", 50) == 0);
    td_null_fail("cuMemAlloc", 1, REFUSED); /* whatever is asked for next, says it again */
    CHECK_FAILS(td_buf_new(null, NULL, 100 << 20, &b), TD_ERR_DEVICE, words);
    CHECK(strncmp(td_error(), "null: cuMemAlloc: CUDA_ERROR_INVALID_VALUE", 42) == 0);
    td_null_fail("cuStreamSynchronize", 1, FAILED);
    CHECK_FAILS(td_stream_sync(td_dev_stream(null)), TD_ERR_DEVICE, words);
    CHECK_OK(td_dev_sync(null)); /* the device lives after all */
    td_null_fail("cuMemAlloc", 1, REFUSED);
    CHECK(td_buf_new(null, NULL, 100 << 20, &b) == TD_ERR_DEVICE && !strstr(td_error(), "first"));
}

static void
test_names(void)
{
    check_told("no kernel launched here");
    CHECK_OK(launch(kernel[0], NULL, 3, NULL));
    check_told("the kernel k0 launched at model.py:3");
    CHECK_OK(launch(kernel[0], NULL, 3, "multiply add"));
    check_told("the kernel multiply add (k0) launched at model.py:3");
    CHECK_OK(launch(kernel[0], NULL, 3, NULL));
    CHECK_OK(launch(kernel[1], NULL, 4, NULL));
    CHECK_OK(launch(kernel[0], NULL, 3, NULL));
    CHECK_OK(launch(kernel[0], NULL, 5, NULL));
    check_told("one of the kernels k0 launched at model.py:3, k1 launched at model.py:4, "
               "k0 launched at model.py:5");
    for (int i = 0; i < 5; i++)
        CHECK_OK(launch(kernel[i], NULL, i, NULL));
    check_told("one of the kernels k0 launched at model.py:0, k1 launched at model.py:1, "
               "k2 launched at model.py:2, k3 launched at model.py:3 and others");
    for (int i = 0; i < 1000; i++)
        CHECK_OK(launch(kernel[i % 2], NULL, i % 2, NULL));
    check_told(
        "one of the kernels k0 launched at model.py:0, k1 launched at model.py:1 and others");
    td_site_on_ask(NULL);
    CHECK_OK(launch(kernel[2], NULL, 3, NULL)); /* a C program */
    check_told("the kernel k2");
    td_site_on_ask(ask);
}

/* What is known to have ended is not named. */
static void
test_ended(void)
{
    td_stream *s, *t;
    td_event *e;
    bool done = false;

    CHECK_OK(td_stream_new(null, &s));
    CHECK_OK(td_stream_new(null, &t));
    CHECK_OK(td_event_new(null, false, &e));
    CHECK_OK(launch(kernel[0], NULL, 1, NULL));
    CHECK_OK(td_stream_sync(td_dev_stream(null)));
    CHECK_OK(launch(kernel[1], NULL, 2, NULL));
    check_told("the kernel k1 launched at model.py:2");

    CHECK_OK(launch(kernel[0], s, 1, NULL));
    CHECK_OK(td_event_record(e, s));
    CHECK_OK(launch(kernel[1], s, 2, NULL));
    CHECK_OK(launch(kernel[2], t, 3, NULL));
    CHECK_OK(td_event_done(e, &done));
    CHECK(done);
    check_told("one of the kernels k1 launched at model.py:2, k2 launched at model.py:3");

    CHECK_OK(launch(kernel[0], s, 1, NULL));
    CHECK_OK(launch(kernel[1], NULL, 2, NULL)); /* waits for the one before */
    CHECK_OK(launch(kernel[2], t, 3, NULL));    /* and is waited for by this one */
    CHECK_OK(launch(kernel[3], s, 4, NULL));
    CHECK_OK(td_event_record(e, t));
    CHECK_OK(td_event_sync(e));
    check_told("the kernel k3 launched at model.py:4");

    CHECK_OK(launch(kernel[0], s, 1, NULL));
    td_stream_free(s);
    CHECK_OK(launch(kernel[1], t, 2, NULL));
    CHECK_OK(td_stream_sync(t));
    CHECK_OK(launch(kernel[2], t, 3, NULL));
    check_told("the kernel k2 launched at model.py:3");
    td_null_fail("cuLaunchKernel", 1, REFUSED);
    CHECK(launch(kernel[0], NULL, 1, NULL) == TD_ERR_DEVICE);
    check_told("no kernel launched here");
    td_stream_free(t);
    td_event_free(e);
}

/* Another library's stream may be ordered with nobody. */
static void
test_apart(void)
{
    td_recent *r = td_recent_new();
    char own, other, text[TD_RECENT_TEXT];

    (void)td_recent_add(r, &(td_launched){.stream = &own, .legacy = true, .name = "a"});
    (void)td_recent_add(r, &(td_launched){.stream = &other, .apart = true, .name = "b"});
    (void)td_recent_add(r, &(td_launched){.stream = &own, .legacy = true, .name = "c"});
    td_recent_done(r, &own, 3);
    td_recent_fail(r, "LOST", "wait");
    CHECK(strcmp(td_recent_told(r, text), "; first error: LOST, told by wait, of the kernel b") ==
          0);
    (void)td_recent_add(r, &(td_launched){.stream = &own, .legacy = true, .name = "d"});
    td_recent_done(r, &other, 4);
    td_recent_fail(r, "LOST", "wait");
    CHECK(strcmp(td_recent_told(r, text), "; first error: LOST, told by wait, of the kernel d") ==
          0);
    td_recent_done(r, NULL, 4);
    CHECK(strcmp(td_recent_told(r, text), "") == 0);
    free(r);
}

/* A launch that was recorded was not made; its replay was. */
static void
test_graph(void)
{
    td_tape *t;

    CHECK_OK(td_tape_new(null, &t));
    for (int i = 0; i < 8; i++)
        CHECK_OK(launch(kernel[i % 5], NULL, i, NULL));
    td_tape_stop(t);
    CHECK_OK(td_tape_finish(t));
    CHECK(td_tape_info(t).runs == 1);
    check_told("no kernel launched here");
    line = 7;
    td_site_hold();
    CHECK_OK(td_tape_play(t, td_dev_stream(null), &(td_tapeplay){0}));
    td_site_release();
    check_told("the kernel graph (several kernels) launched at model.py:7");
    td_tape_free(t);
}

/* A kernel that does fail late, among others. */
static void
test_delayed(void)
{
    td_null_delay(5);
    CHECK_OK(launch(kernel[0], NULL, 1, NULL));
    CHECK_OK(td_dev_sync(null));
    CHECK_OK(launch(bad, NULL, 2, NULL));
    CHECK_FAILS(td_stream_sync(td_dev_stream(null)), TD_ERR_DEVICE,
                "told by cuStreamSynchronize, of the kernel bad launched at model.py:2");
    CHECK_OK(td_dev_sync(null));
    td_null_delay(0);
}

int
main(void)
{
    char name[] = "k0";

    CHECK_OK(td_dev_get("null", &null));
    td_null_on_launch(play);
    td_site_on_ask(ask);
    CHECK_OK(td_module_load(null, ptx, &mod));
    for (int i = 0; i < 5; i++, name[1]++)
        CHECK_OK(td_module_func(mod, name, &kernel[i]));
    CHECK_OK(td_module_func(mod, "bad", &bad));
    test_names();
    test_ended();
    test_apart();
    test_graph();
    test_delayed();
    CHECK_OK(launch(kernel[4], NULL, 9, NULL));
    td_module_free(mod); /* names outlive modules */
    CHECK_OK(td_dev_sync(null));
    return check_failures != 0;
}
