/* t_source.c - compilers of CUDA C++ text: running programs, options, images, what a text includes; shared objects as modules. */
#include "check.h"
#include "dev/compile/compiler.h"
#include "dev/foreign/elf.h"
#include "jit/include.h"
#include "jit/programkey.h"
#include "null/null.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- running programs ---- */

static void
test_spawn(void)
{
    td_text said = {0};
    char path[256];
    int code = -1;

    CHECK(!td_spawn_find("no such program", path, sizeof path));
    CHECK(!td_spawn_find("/etc/passwd", path, sizeof path));
    CHECK(td_spawn_find("sh", path, sizeof path) && strchr(path, '/'));
    CHECK_OK(td_spawn_run((const char *[]){path, "-c", "echo out; echo err >&2; exit 3", NULL},
                          &said, &code));
    CHECK(code == 3 && said.s && strcmp(said.s, "out\nerr\n") == 0);
    CHECK_OK(td_spawn_run((const char *[]){path, "-c", "kill -9 $$", NULL}, &said, &code));
    CHECK(code == 128 + 9);
    CHECK_OK(td_spawn_run((const char *[]){path, "-c", "read x || exit 7", NULL}, &said, &code));
    CHECK(code == 7); /* its input is empty */
    if (!getenv(
            "MESON_EXE_WRAPPER")) /* an emulator starts a process before it looks for the program */
        CHECK_FAILS(td_spawn_run((const char *[]){"/no/such/program", NULL}, &said, &code),
                    TD_ERR_IO, "/no/such/program");
    td_text_free(&said);
}

static void
test_temp(void)
{
    char path[512], dir[256];
    td_temp t;
    void *back = NULL;
    size_t n = 0;

    CHECK_OK(td_temp_begin(&t, NULL));
    snprintf(dir, sizeof dir, "%s", t.dir);
    CHECK_OK(td_temp_write(&t, "a", "text", 4));
    CHECK_OK(td_temp_read(&t, "a", &back, &n));
    CHECK(n == 4 && memcmp(back, "text", 5) == 0);
    free(back);
    CHECK_FAILS(td_temp_read(&t, "b", &back, &n), TD_ERR_IO,
                td_temp_path(&t, "b", path, sizeof path));
    td_temp_end(&t);
    CHECK(access(dir, F_OK) != 0);
    CHECK_FAILS(td_temp_begin(&t, "/proc/none"), TD_ERR_IO, "/proc/none");
}

/* ---- options ---- */

static const struct {
    const char *from[3]; /* nvcc's */
    const char *to[3];   /* by td_dialect, all words with a blank between; NULL: nothing */
} options[] = {
    {{"-DN=4"}, {"-DN=4", "-DN=4", "-DN=4"}},
    {{"-D", "N"}, {"-DN", "-DN", "-D N"}},
    {{"--define-macro=N"}, {"-DN", "-DN", "--define-macro=N"}},
    {{"-I", "/x"}, {"-I/x", "-I/x", "-I /x"}},
    {{"--include-path=/x"}, {"-I/x", "-I/x", "--include-path=/x"}},
    {{"-isystem", "/x"}, {"-I/x", "-isystem/x", "-isystem /x"}},
    {{"-std=c++17"}, {"--std=c++17", NULL, "-std=c++17"}},
    {{"--use_fast_math"},
     {"--use_fast_math", "-freciprocal-math -D__USE_FAST_MATH__", "--use_fast_math"}},
    {{"-fmad=false"}, {"--fmad=false", "-ffp-contract=off", "-fmad=false"}},
    {{"-arch=sm_80"}, {NULL, NULL, NULL}},
    {{"-gencode", "arch=compute_80,code=sm_80"}, {NULL, NULL, NULL}},
    {{"-O3"}, {NULL, "-O3", "-O3"}},
    {{"-Xptxas", "-v"}, {"--ptxas-options=-v", NULL, "-Xptxas -v"}},
    {{"-Xcompiler", "-Wall"}, {NULL, "-Wall", "-Xcompiler -Wall"}},
    {{"-maxrregcount=32"}, {"--maxrregcount=32", NULL, "-maxrregcount=32"}},
    {{"--what-is-this"}, {"--what-is-this", "--what-is-this", "--what-is-this"}},
};

static void
test_options(void)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        int n = options[i].from[1] ? 2 : 1;
        td_source_job job = {.option = options[i].from, .noption = n};

        for (int d = 0; d < 3; d++) {
            td_text got = {0};
            td_args a = {0};

            td_args_options(&a, &job, (td_dialect)d);
            for (int k = 0; k < a.n; k++)
                td_text_addf(&got, "%s%s", k ? " " : "", a.v[k]);
            check_that(strcmp(got.s ? got.s : "", options[i].to[d] ? options[i].to[d] : "") == 0,
                       __FILE__, __LINE__, options[i].from[0], got.s ? got.s : "nothing");
            td_text_free(&got);
            td_args_free(&a);
        }
    }
}

/* ---- what a text includes ---- */

static void
put_file(const char *dir, const char *name, const char *text)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0);
    if (f)
        fclose(f);
}

static td_hash
hash_of(const char *text, const char *dir, td_status want)
{
    const char *option[] = {"-I", dir};
    td_hash h = TD_HASH_INIT;

    CHECK(td_include_hash(text, option, 2, &h) == want);
    return h;
}

static bool
same(td_hash a, td_hash b)
{
    return a.a == b.a && a.b == b.b;
}

static void
test_includes(void)
{
    static const char text[] = "#include <a.h>\n#include <stdio.h>\nint x;\n";
    td_temp t;
    td_hash first, again;

    CHECK_OK(td_temp_begin(&t, NULL));
    put_file(t.dir, "a.h", " # include \"b.h\"\n");
    put_file(t.dir, "b.h", "int b;\n#include \"a.h\"\n");
    first = hash_of(text, t.dir, TD_OK);
    CHECK(!same(first, TD_HASH_INIT) && same(first, hash_of(text, t.dir, TD_OK)));
    CHECK(
        same(TD_HASH_INIT, hash_of("#include <stdio.h>\n#include \"not/there.h\"", t.dir, TD_OK)));
    put_file(t.dir, "b.h", "int c;\n");
    again = hash_of(text, t.dir, TD_OK);
    CHECK(!same(first, again));
    (void)hash_of("#define H <a.h>\n#include H\n", t.dir, TD_SKIP);
    (void)hash_of("#if __has_include(<c.h>)\n#endif\n", t.dir, TD_SKIP);
    put_file(t.dir, "b.h", "#include OTHER\n");
    (void)hash_of(text, t.dir, TD_SKIP);
    CHECK(td_include_hash("", (const char *[]){"-include", "x.h"}, 2, &first) == TD_SKIP);
    td_temp_end(&t);
}

/* ---- what stays on disk ---- */

static void
test_kept(void)
{
    const char *names[] = {"add", "f<float, 4>"};
    td_source_job job = {.text = "", .file = "t.cu", .name = names, .nname = 2, .arch = "host"};
    char *symbols[] = {"add", "_Z1fIfLi4EEvv"};
    td_image in = {.data = "\1\2\3",
                   .nbytes = 3,
                   .symbol = symbols,
                   .nsymbol = 2,
                   .log = "a warning"},
             out;
    td_hash key = td_hash_u64(TD_HASH_INIT, (uint64_t)getpid());

    td_program_keep(key, &in);
    CHECK_OK(td_program_find(key, &job, &out));
    CHECK(out.nbytes == 3 && memcmp(out.data, "\1\2\3", 4) == 0 && out.nsymbol == 2 &&
          strcmp(out.symbol[1], symbols[1]) == 0 && strcmp(out.log, "a warning") == 0);
    td_image_free(&out);
    job.nname = 1; /* not what was kept: it goes */
    CHECK(td_program_find(key, &job, &out) == TD_SKIP);
    job.nname = 2;
    CHECK(td_program_find(key, &job, &out) == TD_SKIP);
}

/* ---- shared objects ---- */

static const char host_text[] =
    "#include \"treadle_cuda.h\"\n"
    "#line 1 \"t.cu\"\n"
    "__device__ int total = 3;\n"
    "__global__ void put(TD_CU_PARAMS, int *o, char c, double d) { *o = total + c * int(d) + N; }\n"
    "TD_CU_TABLE_BEGIN\n"
    "TD_CU_KERNEL(TD_CU_PLAIN, \"put\", (put), 64)\n"
    "TD_CU_GLOBALS\n"
    "TD_CU_GLOBAL(\"total\", total)\n"
    "TD_CU_TABLE_END\n";

static void
run_module(td_dev *d, const void *image, bool device_memory)
{
    static const uint32_t offsets[] = {0, 8, 16};
    td_dims dims = {.grid = {2, 1, 1}, .block = {3, 1, 1}, .offset = offsets, .packed = 24};
    unsigned char args[24] = {0};
    td_module *m = NULL;
    td_cu_param p;
    uintptr_t at;
    td_buf *b = NULL;
    td_func *f;
    size_t n;
    int *host, back = 0, v;

    CHECK_OK(td_module_load(d, image, &m));
    CHECK_OK(td_module_func(m, "put", &f));
    CHECK_FAILS(td_module_func(m, "get", &f), device_memory ? TD_ERR_DEVICE : TD_ERR_VALUE, "get");
    CHECK_OK(td_module_global(m, "total", &at, &n));
    CHECK(n == 4);
    CHECK(td_module_global(m, "nope", &at, &n) != TD_OK && strstr(td_error(), "nope"));
    CHECK_OK(td_func_param(f, 1, &p, &n));
    CHECK(p.size == 1 && n == 8);
    CHECK_OK(td_func_param(f, 2, &p, &n));
    CHECK(p.size == 8 && n == 16);
    CHECK_FAILS(td_func_param(f, 3, &p, &n), TD_ERR_INDEX, "3 parameters");
    CHECK_OK(td_func_attribute(f, 0, &v));
    CHECK(v == 64);
    CHECK_OK(td_buf_new(d, NULL, 64, &b));
    host = (int *)b->ptr; /* the null device's memory is the host's too */
    memcpy(args, &host, sizeof host);
    args[8] = 5;
    memcpy(args + 16, &(double){7}, 8);
    CHECK_OK(td_launch(f, NULL, &dims, (const uint64_t *)(const void *)args, 3));
    CHECK_OK(td_copy_out(td_dev_stream(d), &back, b->ptr, sizeof back));
    CHECK(back == 3 + 35 + 100);
    CHECK(td_launch(f, NULL, &dims, (const uint64_t *)(const void *)args, 2) == TD_ERR_VALUE);
    td_buf_unref(b);
    td_module_free(m);
}

/* All that a program does on a device, each call of the driver's in turn failing. */
static td_status
use_all(td_dev *d, const void *image)
{
    static const uint32_t offsets[] = {0, 8, 16};
    td_dims dims = {.grid = {2, 1, 1}, .block = {3, 1, 1}, .offset = offsets, .packed = 24};
    uint64_t args[3] = {0};
    td_module *m = NULL;
    td_func *f = NULL;
    td_buf *b = NULL;
    uintptr_t at;
    size_t n;
    int v;
    td_status st = td_module_load(d, image, &m);

    st = st ? st : td_module_func(m, "put", &f);
    st = st ? st : td_module_global(m, "total", &at, &n);
    st = st ? st : td_func_attribute(f, 0, &v);
    st = st ? st : td_buf_new(d, NULL, 64, &b);
    args[0] = b ? b->ptr : 0;
    st = st ? st : td_launch(f, NULL, &dims, args, 3);
    dims.cooperative = true;
    st = st ? st : td_launch(f, NULL, &dims, args, 3);
    td_buf_unref(b);
    td_module_free(m);
    return st;
}

static void
test_faults(td_dev *null, const void *image)
{
    static const char *const calls[] = {"cuModuleLoadDataEx", "cuModuleGetFunction",
                                        "cuModuleGetGlobal",  "cuFuncGetAttribute",
                                        "cuLaunchKernel",     "cuLaunchCooperativeKernel"};
    td_null_counts before = td_null_live(), after;

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        td_null_fail(calls[i], 1, 2);
        check_that(use_all(null, image) != TD_OK, __FILE__, __LINE__, calls[i],
                   "its failure is told");
        td_null_fail(calls[i], 0, 0);
        CHECK_OK(use_all(null, image));
    }
    after = td_null_live();
    CHECK(after.modules == before.modules && after.contexts == before.contexts);
}

static void
test_host(void)
{
    const char *names[] = {"put"}, *option[] = {"-DN=100"};
    td_source_job job = {.text = host_text,
                         .file = "t.cu",
                         .name = names,
                         .nname = 1,
                         .arch = "host",
                         .option = option,
                         .noption = 1};
    char version[4096];
    td_dev *cpu, *null;
    td_image image;

    CHECK_OK(td_dev_get("cpu", &cpu));
    CHECK_OK(td_dev_get("null", &null));
    if (td_source_compiler("host", version, sizeof version)) {
        printf("skipped: %s\n", td_error());
        return;
    }
    CHECK_OK(td_source_compile(&job, &image));
    CHECK(td_elf_is_ours(image.data) && td_elf_extent(image.data, image.nbytes) > 0 &&
          td_elf_extent(image.data, image.nbytes) <= image.nbytes);
    run_module(cpu, image.data, false);
    run_module(null, image.data, true);
    test_faults(null, image.data);
    for (int i = 0; i < 200; i++) { /* the same bytes again are another module */
        td_module *m[2];
        uintptr_t at[2];
        size_t n;

        for (int k = 0; k < 2; k++) {
            CHECK_OK(td_module_load(cpu, image.data, &m[k]));
            CHECK_OK(td_module_global(m[k], "total", &at[k], &n));
        }
        CHECK(at[0] != at[1]);
        td_module_free(m[0]);
        td_module_free(m[1]);
    }
    td_image_free(&image);
    job.text = "#include \"treadle_cuda.h\"\n#line 1 \"t.cu\"\n\nint x = nothing;\n";
    CHECK_FAILS(td_source_compile(&job, &image), TD_ERR_JIT, "t.cu:2");
    job.text = "#include \"treadle_cuda.h\"\nint x;\n"; /* no table */
    CHECK_OK(td_source_compile(&job, &image));
    CHECK(td_module_load(cpu, image.data, &(td_module *){NULL}) == TD_ERR_DEVICE &&
          strstr(td_error(), "td_cu_module"));
    td_image_free(&image);
    CHECK_FAILS(td_module_load(cpu, "no code of any kind at all", &(td_module *){NULL}),
                TD_ERR_DEVICE, "no shared object");
}

/* ---- GPUs' compilers ---- */

static const char gpu_text[] =
    "extern \"C\" __global__ void plain(int *o) { *o = 1; }\n"
    "namespace ns {\n"
    "template <class T, int N> __global__ void f(T *o, T v) { *o = v * N; }\n"
    "__global__ void g(unsigned *o) { *o = X; }\n"
    "}\n";

static void
compile_with(const td_compiler *c, const char *arch, const char *begins)
{
    const char *names[] = {"plain", "ns::f<float, 4>", "ns::f<int, -1>", "ns::g"},
               *option[] = {"-D", "X=3"};
    const char *symbols[] = {"plain", "_ZN2ns1fIfLi4EEEvPT_S1_", "_ZN2ns1fIiLin1EEEvPT_S1_",
                             "_ZN2ns1gEPj"};
    td_source_job job = {.text = gpu_text,
                         .file = "g.cu",
                         .name = names,
                         .nname = 4,
                         .arch = arch,
                         .option = option,
                         .noption = 2};
    char version[4096];
    td_image image = {0};

    if (c->version(version, sizeof version)) {
        CHECK(strstr(td_error(), "nvcc") || strstr(td_error(), "nvidia-cuda-nvrtc"));
        printf("skipped: %s\n", td_error());
        return;
    }
    CHECK_OK(c->compile(&job, &image));
    CHECK(image.nbytes && memcmp(image.data, begins, strlen(begins)) == 0 && image.nsymbol == 4);
    for (int i = 0; i < image.nsymbol; i++)
        check_that(strcmp(image.symbol[i], symbols[i]) == 0, __FILE__, __LINE__, names[i],
                   image.symbol[i]);
    td_image_free(&image);
    job.text = "\n__global__ void plain() { nothing(); }\n";
    job.nname = 1;
    CHECK_FAILS(c->compile(&job, &image), TD_ERR_JIT, "g.cu(2)");
    td_image_free(&image);
}

int
main(void)
{
    setenv("TREADLE_INCLUDE", "src/cuhost", 1);
    test_spawn();
    test_temp();
    test_options();
    test_includes();
    test_kept();
    test_host();
    compile_with(&td_compiler_nvrtc, "sm_90", "\177ELF");
    compile_with(&td_compiler_nvrtc, "compute_80", "//");
    compile_with(&td_compiler_nvcc, "sm_90", "\177ELF");
    compile_with(&td_compiler_nvcc, "compute_80", "//");
    return check_failures != 0;
}
