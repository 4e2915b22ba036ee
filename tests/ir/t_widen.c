/* t_widen.c - programs of a thread, widened and compiled, and compiled as they stand with threads that take turns,
 * against the interpreter: written ones and ones drawn by chance.  An argument names the one to run; "x 7 9" draws from seeds 7 and 8.  WIDE_DUMP=1 prints
 * kernels before and after.
 */
#include "base/scratch.h"
#include "ir/wide/widen.h"
#include "ir/wide_random.h"
#include "ir/wide_table.h"
#include "kfiber.h"

typedef void entry_fn(const uint64_t *args, int64_t bx, int64_t byz);

static double pass_us, code_us;

static td_status
compile(const test_case *c, const td_lower *lw, td_arena *mem, entry_fn **out, void **code)
{
    td_fn f = td_fn_new(mem, c->name);
    void *object = NULL, *entry = NULL;
    const char *why = "";
    double t = now_us();
    size_t nbytes;
    td_status st = strncmp(c->name, "each", 4) == 0
                       ? td_fn_widen_loops(&c->f, lw->vector_bytes, &f)
                       : td_fn_widen(&c->f, lw->vector_bytes, &f, &why);

    if (st == TD_SKIP && strncmp(c->name, "drawn", 5) == 0 && strstr(why, "waits for"))
        return TD_SKIP; /* chance has drawn a loop that asks memory: turns alone run it */
    if (st == TD_SKIP)
        return td_fail(TD_ERR_VALUE, "not widened: %s", why);
    pass_us += now_us() - t;
    if (getenv("WIDE_DUMP")) {
        td_text text = {0};

        td_fn_print(&c->f, &text);
        td_fn_print(&f, &text);
        puts(text.s);
        td_text_free(&text);
    }
    if (st)
        return st;
    t = now_us();
    TD_TRY(lw->object(&f, &object, &nbytes));
    st = lw->link(object, nbytes, c->name, &entry, code);
    free(object);
    code_us += now_us() - t;
    *out = (entry_fn *)(uintptr_t)entry;
    return st;
}

static void
launch(const test_case *c, entry_fn *entry, const uint64_t *args, const uint32_t grid[3],
       const uint32_t block[3])
{
    uint64_t words[MAX_ARGS + TD_WIDE_WORDS];

    memcpy(words, args, (size_t)c->narg * sizeof *words);
    for (int k = 0; k < 3; k++) {
        words[c->narg + k] = block[k];
        words[c->narg + 3 + k] = grid[k];
    }
    if (strncmp(c->name, "each", 4) == 0) {
        entry(args, 0, 1);
        return;
    }
    for (uint32_t z = 0; z < grid[2]; z++)
        for (uint32_t y = 0; y < grid[1]; y++)
            for (uint32_t x = 0; x < grid[0]; x++)
                entry(words, x, (int64_t)(z << 16 | y));
}

static void
clear(const test_case *c, const uint64_t *args)
{
    for (int k = 0; k < c->nout; k++)
        memset((void *)(uintptr_t)args[c->out[k].arg], 0x5a, /* as test_buffer */
               (size_t)c->out[k].n * td_dtype_size(c->out[k].dt));
}

/* Equal results of interpreter and machine code. */
static void
compare(test_case *c, const td_lower *lw, const uint32_t grid[3], const uint32_t block[3],
        uint32_t shared)
{
    uint64_t want[MAX_ARGS], have[MAX_ARGS];
    int before = check_failures;
    td_arena mem = {0};
    entry_fn *entry = NULL;
    void *code = NULL;
    td_status st = TD_OK;
    bool ok;

    test_outputs(c, want);
    test_outputs(c, have);
    ok = CHECK_OK(td_fn_finish(&c->f)) &&
         CHECK_OK(td_interp(&c->f, grid, block, want, shared, NULL)) &&
         ((st = compile(c, lw, &mem, &entry, &code)) == TD_SKIP || CHECK_OK(st));
    if (ok && CHECK(td_scratch_grow(shared))) {
        if (!st) {
            launch(c, entry, have, grid, block);
            test_compare_outputs(c, "widened", want, have);
        }
        clear(c, have);
        if (strncmp(c->name, "each", 4) != 0 &&
            CHECK_OK(turns_run(&c->f, grid, block, have, shared)))
            test_compare_outputs(c, "in turns", want, have);
    }
    if (check_failures != before)
        printf("    in %s, grid %u %u %u, block %u %u %u\n", c->name, grid[0], grid[1], grid[2],
               block[0], block[1], block[2]);
    test_outputs_free(c, want);
    test_outputs_free(c, have);
    if (code)
        lw->unlink(code);
    td_arena_free(&mem);
}

static void
written(const td_lower *lw, const char *only)
{
    test_case c;

    for (int k = 0; k < N_WIDE; k++) {
        if (only && strcmp(only, wide_table[k].name) != 0)
            continue;
        test_begin(&c, wide_table[k].name);
        wide_table[k].make(&c);
        compare(&c, lw, wide_table[k].grid, wide_table[k].block, wide_table[k].shared);
        test_end(&c);
    }
}

static void
drawn(const td_lower *lw, uint64_t from, uint64_t to)
{
    static const uint32_t blocks[][3] = {{64, 1, 1}, {37, 1, 1}, {16, 4, 1}, {5, 3, 2},
                                         {1, 9, 1},  {1, 1, 1},  {1, 1, 1}};
    test_case c;

    for (uint64_t seed = from; seed < to; seed++) {
        const uint32_t *block = blocks[seed % 7], threads = block[0] * block[1] * block[2];
        char name[32];

        snprintf(name, sizeof name, "drawn_%llu", (unsigned long long)seed);
        test_begin(&c, name);
        wide_draw(&c, seed, threads);
        compare(&c, lw, (uint32_t[]){1 + (threads > 1), 1, 1}, block, 0);
        test_end(&c);
    }
}

/* What the pass declines, and why. */
static void
declined(void)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"kernel k simt {\n %t = tid x : int32\n %2 = const 2 : int32\n %c = less %t, %2 : bool\n"
         " if %c {\n barrier\n }\n}",
         "a barrier stands where not all threads may come"},
        {"kernel k simt {\n %p = param 0 : ptr uint32\n grid_barrier %p\n}",
         "threads of all blocks"},
        {"kernel k simt {\n %p = param 0 : ptr uint32\n %t = tid x : int32\n %m = load %p[%t] : "
         "uint32\n"
         " %c = const 1 : bool\n %v = ballot %c, %m : uint32\n store %p[%t], %v : uint32\n}",
         "the members of an exchange"},
        {"kernel k simt {\n %p = param 0 : ptr int32\n %0 = const 0 : int32\n %1 = const 1 : "
         "int32\n"
         " loop {\n %o = atomic_cas %p[%0], %0, %1 : int32\n %c = equal %o, %0 : bool\n break_if "
         "%c\n }\n}",
         "waits for what another thread writes"},
        {"kernel k simt {\n %a = local 4 : ptr int32\n %p = address %a : uint64\n}",
         "address is taken"},
    };
    td_arena mem = {0};
    td_fn f, out;

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *why = "";

        out = td_fn_new(&mem, "k");
        if (CHECK_OK(td_fn_parse(rows[k].text, &mem, &f)) && CHECK_OK(td_fn_finish(&f)))
            CHECK(td_fn_widen(&f, 64, &out, &why) == TD_SKIP && strstr(why, rows[k].why));
    }
    out = td_fn_new(&mem, "k");
    if (CHECK_OK(td_fn_parse("kernel k {\n}", &mem, &f)) && CHECK_OK(td_fn_finish(&f)))
        CHECK(td_fn_widen_loops(&f, 64, &out) == TD_SKIP);
    td_arena_free(&mem);
}

int
main(int argc, char **argv)
{
    const td_lower *lw = td_lower_open();
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2)
        drawn(lw, seed, argc > 3 ? strtoull(argv[3], NULL, 10) : seed + 1);
    else
        written(lw, argc > 1 ? argv[1] : NULL);
    if (argc == 1)
        declined();
    if (argc == 1)
        drawn(lw, 0, getenv("TREADLE_CPU") ? 20 : 150);
    printf("%d-byte vectors: pass %.1f ms, code %.0f ms\n", lw->vector_bytes, pass_us / 1e3,
           code_us / 1e3);
    if (argc == 1 && !getenv("TREADLE_CPU")) {
        test_older("t_widen");
    }
    return check_failures != 0;
}
