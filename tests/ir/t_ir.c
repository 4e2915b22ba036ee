/* t_ir.c - kernels written as text: parsed, printed, parsed again, run by the interpreter and, where that finds no
 * wrong memory, compiled with threads that take turns.
 *
 * t_ir [DIRECTORY] reads every *.ir there.  A file holds kernels, each ending with a line `}`; the
 * comments in a kernel, and right above it (no empty line between), may hold directives:
 *
 *     ; grid 2 block 64 2       missing extents are 1
 *     ; shared 256              bytes of dynamic shared memory
 *     ; in %0 = 1 2.5 nan 0..9 7*64     parameter 0: values, a range, a value many times
 *     ; out %1 = 4 5 6          what parameter 1 must hold afterwards
 *     ; tol 1e-6                relative, for all outputs; without it bits must agree
 *     ; check                   races, what nobody has written and overflowing indices are looked for
 *     ; fails "divergent"       parsing or running fails, and the message holds the text
 *
 * Besides: every elementwise operation with every dtype it admits, made by the builder, survives
 * the round trip.
 */
#include "ir/core/complex.h"
#include "ir/interp/interp.h"
#include "kfiber.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAXPARAM = 16, MAXVALUE = 4096 };

typedef struct values {
    size_t n;
    char text[MAXVALUE][24];
} values;

typedef struct kase {
    char at[256]; /* file:line */
    uint32_t grid[3], block[3];
    values *in[MAXPARAM], *out[MAXPARAM];
    char *mem[MAXPARAM];
    size_t nbytes[MAXPARAM];
    double tol;
    size_t shared;
    char fails[128];
    bool must_fail, check;
} kase;

static int failures, ran, in_turns;
static const kase *current; /* whose memory `extent` knows */

#define FAIL(where, ...)                                                                           \
    do {                                                                                           \
        printf("%s: ", where);                                                                     \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        failures++;                                                                                \
    } while (0)

static size_t
extent(uintptr_t p)
{
    for (int k = 0; k < MAXPARAM; k++) {
        uintptr_t lo = (uintptr_t)current->mem[k];

        if (lo && p >= lo && p < lo + current->nbytes[k])
            return lo + current->nbytes[k] - p;
    }
    return 0;
}

/* Text, parsed and printed again, is the same text, and the same kernel. */
static void
round_trip(const char *where, const td_fn *f)
{
    td_arena mem = {0};
    td_text one = {0}, two = {0};
    td_fn g;

    td_fn_print(f, &one);
    if (one.failed || td_fn_parse(one.s, &mem, &g)) {
        FAIL(where, "does not parse back: %s\n%s", td_error(), one.s ? one.s : "");
    } else {
        td_hash a = td_fn_hash(f), b = td_fn_hash(&g);

        td_fn_print(&g, &two);
        if (two.failed || strcmp(one.s, two.s) != 0)
            FAIL(where, "prints differently:\n%s\n%s", one.s, two.s);
        if (a.a != b.a || a.b != b.b || f->nparam != g.nparam || strcmp(f->name, g.name) != 0 ||
            memcmp(f->ins, g.ins, f->n * sizeof *f->ins) != 0)
            FAIL(where, "is another kernel when parsed back:\n%s", one.s);
    }
    td_text_free(&one);
    td_text_free(&two);
    td_arena_free(&mem);
}

/* --- directives --- */

static void
add_value(values *v, const char *word, size_t n)
{
    if (v->n < MAXVALUE && n < sizeof v->text[0]) {
        memcpy(v->text[v->n], word, n);
        v->text[v->n++][n] = 0;
    }
}

static void
add_word(values *v, const char *word)
{
    const char *range = strstr(word, ".."), *times = strchr(word, '*');
    char s[24];

    if (range)
        for (long k = atol(word); k <= atol(range + 2); k++)
            add_value(v, s, (size_t)snprintf(s, sizeof s, "%ld", k));
    else if (times)
        for (long k = 0; k < atol(times + 1); k++)
            add_value(v, word, (size_t)(times - word));
    else
        add_value(v, word, strlen(word));
}

static values *
read_values(const char *line)
{
    values *v = calloc(1, sizeof *v);
    char *copy = strdup(strchr(line, '=') ? strchr(line, '=') + 1 : ""), *save;

    for (char *w = strtok_r(copy, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save))
        add_word(v, w);
    free(copy);
    return v;
}

static void
directive(kase *k, const char *line)
{
    uint32_t *g = k->grid, *b = k->block;
    const char *block = strstr(line, "block");
    unsigned p;

    if (strncmp(line, "; grid", 6) == 0)
        sscanf(line + 6, "%" SCNu32 " %" SCNu32 " %" SCNu32, &g[0], &g[1], &g[2]);
    if (strncmp(line, "; grid", 6) == 0 && block)
        sscanf(block + 5, "%" SCNu32 " %" SCNu32 " %" SCNu32, &b[0], &b[1], &b[2]);
    if (sscanf(line, "; in %%%u", &p) == 1 && p < MAXPARAM)
        k->in[p] = read_values(line);
    if (sscanf(line, "; out %%%u", &p) == 1 && p < MAXPARAM)
        k->out[p] = read_values(line);
    sscanf(line, "; tol %lf", &k->tol);
    sscanf(line, "; shared %zu", &k->shared);
    k->check = k->check || strcmp(line, "; check") == 0;
    if (sscanf(line, "; fails \"%127[^\"]\"", k->fails) == 1)
        k->must_fail = true;
}

/* --- running --- */

static uint64_t
bits_of(const char *text, td_dtype dt)
{
    bool is_int = td_dtype_is_int(dt) || dt == TD_BOOL;
    td_scalar s = {.dt = is_int ? text[0] == '-' ? TD_I64 : TD_U64 : TD_F64};
    uint64_t out[2];

    if (s.dt == TD_F64)
        s.f[0] = strtod(text, NULL);
    else if (s.dt == TD_I64)
        s.i = strtoll(text, NULL, 0);
    else
        s.u = strtoull(text, NULL, 0);
    td_scalar_bits(s, dt, out);
    return out[0];
}

static double
number_at(td_dtype dt, const void *p)
{
    td_scalar s = td_scalar_load(dt, p);

    return td_dtype_is_float(dt) ? s.f[0] : td_dtype_kind(dt) == 'u' ? (double)s.u : (double)s.i;
}

static bool
agree(td_dtype dt, const char *have, const void *want, double tol)
{
    double h = number_at(dt, have), w = number_at(dt, want);

    if (memcmp(have, want, td_dtype_size(dt)) == 0 || (h != h && w != w))
        return true;
    return tol > 0 && fabs(h - w) <= tol * fabs(w);
}

static void
compare(const kase *k, unsigned p, td_dtype dt)
{
    size_t size = td_dtype_size(dt);

    for (size_t j = 0; k->out[p] && j < k->out[p]->n; j++) {
        uint64_t want = bits_of(k->out[p]->text[j], dt);
        const char *have = k->mem[p] + j * size;

        if (!agree(dt, have, &want, k->tol)) {
            FAIL(k->at, "%%%u[%zu] is %.17g, not %s", p, j, number_at(dt, have),
                 k->out[p]->text[j]);
            return;
        }
    }
}

/* Arrays as long as the longer of their `in` and `out`, in blocks of exactly that size. */
static void
fill(kase *k, const td_inst *s, uint64_t *arg)
{
    unsigned p = (unsigned)s->imm;
    size_t size = td_dtype_size((td_dtype)s->dt), n = k->in[p] ? k->in[p]->n : 0;

    if (!(s->flags & TD_INST_PTR)) {
        *arg = n ? bits_of(k->in[p]->text[0], (td_dtype)s->dt) : 0;
        return;
    }
    if (k->out[p] && k->out[p]->n > n)
        n = k->out[p]->n;
    k->nbytes[p] = n * size;
    free(k->mem[p]);
    k->mem[p] = calloc(1, n * size + !n);
    *arg = (uintptr_t)k->mem[p];
    for (size_t j = 0; k->in[p] && j < k->in[p]->n; j++) {
        uint64_t bits = bits_of(k->in[p]->text[j], (td_dtype)s->dt);

        memcpy(k->mem[p] + j * size, &bits, size);
    }
}

static void
drop(kase *k)
{
    for (int p = 0; p < MAXPARAM; p++) {
        free(k->in[p]);
        free(k->out[p]);
        free(k->mem[p]);
    }
    *k = (kase){.grid = {1, 1, 1}, .block = {1, 1, 1}};
}

static void
finish(kase *k, td_status st)
{
    ran++;
    if (st && !k->must_fail)
        FAIL(k->at, "%s", td_error());
    if (!st && k->must_fail)
        FAIL(k->at, "does not fail with \"%s\"", k->fails);
    if (st && k->must_fail && !strstr(td_error(), k->fails))
        FAIL(k->at, "fails with \"%s\", not \"%s\"", td_error(), k->fails);
}

static void
fill_all(kase *k, const td_fn *f, uint64_t *args)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->ins[i].op == OP_param && f->ins[i].imm < MAXPARAM)
            fill(k, &f->ins[i], &args[f->ins[i].imm]);
}

static void
compare_all(const kase *k, const td_fn *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->ins[i].flags && f->ins[i].op == OP_param)
            compare(k, (unsigned)f->ins[i].imm, (td_dtype)f->ins[i].dt);
}

/* What is compiled has no bounds to its memory and does not poison it, runs no function's regions, and has CUDA's
 * warps. */
static bool
takes_turns(const kase *k, const td_fn *f)
{
    bool can = !k->check && strcmp(f->name, "poison") != 0 && f->warp == TD_WARP &&
               (!k->must_fail || strstr(k->fails, "divergent"));

    for (uint32_t i = 0; i < f->n; i++)
        can = can && f->ins[i].op != OP_parallel && f->ins[i].op != OP_take &&
              f->ins[i].op != OP_func;
    return can;
}

static void
run_turns(kase *k, td_fn *f, uint64_t *args)
{
    td_status st;

    if (!takes_turns(k, f))
        return;
    in_turns++;
    fill_all(k, f, args);
    st = td_fn_finish(f);
    if (!st)
        st = turns_run(f, k->grid, k->block, args, k->shared);
    strncat(k->at, " in turns", sizeof k->at - strlen(k->at) - 1);
    if (!st)
        compare_all(k, f);
    finish(k, st);
}

static void
run_case(kase *k, const char *text)
{
    uint64_t args[MAXPARAM] = {0};
    static const td_check plain;
    td_arena mem = {0};
    td_fn f;
    td_status st = td_fn_parse(text, &mem, &f);

    if (!st) {
        round_trip(k->at, &f);
        fill_all(k, &f, args);
        current = k;
        st = td_interp_checked(&f, k->grid, k->block, args, k->shared, extent,
                               k->check ? &plain : NULL);
        if (!st)
            compare_all(k, &f);
    }
    finish(k, st);
    if (!f.st && (!st || k->must_fail))
        run_turns(k, &f, args);
    td_arena_free(&mem);
}

static void
run_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    bool begun = false; /* the kernel, not only comments */
    td_text text = {0};
    kase k = {0};

    if (!file) {
        FAIL(path, "cannot be read");
        return;
    }
    drop(&k);
    for (int number = 1; getline(&line, &cap, file) >= 0; number++) {
        if (text.n == 0)
            snprintf(k.at, sizeof k.at, "%.200s:%d", path, number);
        td_text_add(&text, line, strlen(line));
        line[strcspn(line, "\n")] = 0;
        directive(&k, line + strspn(line, " "));
        begun = begun || (line[0] && line[0] != ';');
        if (strcmp(line, "}") == 0)
            run_case(&k, text.s);
        if (strcmp(line, "}") == 0 || (!begun && !line[0])) {
            drop(&k);
            text.n = 0;
            begun = false;
        }
    }
    if (text.n)
        FAIL(path, "ends within a kernel");
    drop(&k);
    td_text_free(&text);
    free(line);
    fclose(file);
}

static void
run_directory(const char *dir)
{
    struct dirent **names;
    int n = scandir(dir, &names, NULL, alphasort);
    char path[1024];

    if (n < 0)
        FAIL(dir, "cannot be read");
    for (int i = 0; i < n; i++) {
        const char *dot = strrchr(names[i]->d_name, '.');

        snprintf(path, sizeof path, "%s/%s", dir, names[i]->d_name);
        if (dot && strcmp(dot, ".ir") == 0)
            run_file(path);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

/* --- kernels of the builder --- */

static void
round_trip_op(td_op op, td_dtype dt, int lanes)
{
    td_arena mem = {0};
    td_fn f = td_fn_new(&mem, "made");
    td_val x[TD_MAXARG], base, zero, y;
    char where[64];

    snprintf(where, sizeof where, "%s %s x%d", td_optab[op].name, td_dtype_name(dt), lanes);
    zero = td_const_int(&f, TD_I64, 0);
    for (int a = 0; a < td_optab[op].arity; a++) {
        base = td_param_ptr(&f, op == OP_select && a == 0 ? TD_BOOL : dt);
        f.line = (uint32_t)a;
        x[a] = td_load(&f, base, zero, TD_NONE, lanes, a == 1 ? (int)td_dtype_size(dt) : 0);
    }
    y = td_emit_raw(&f, op, x);
    base = td_param_ptr(&f, f.st ? dt : (td_dtype)td_at(&f, y)->dt);
    td_store(&f, base, zero, y, TD_NONE, 0);
    if (td_fn_finish(&f))
        FAIL(where, "%s", td_error());
    else
        round_trip(where, &f);
    ran++;
    td_arena_free(&mem);
}

/* Every structural instruction, every dtype of a constant, values that print with difficulty. */
static void
round_trip_core(void)
{
    static const double hard[] = {0.1,      -0.0,      1e300, 5e-324, 1.0 / 3,
                                  INFINITY, -INFINITY, NAN,   -NAN,   16777217};
    td_arena mem = {0};
    td_fn f = td_fn_new(&mem, "core");
    td_val k, v, p, s, c, none = TD_NONE;

    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++)
        for (size_t j = 0; j < sizeof hard / sizeof *hard; j++) {
            if (td_dtype_is_float((td_dtype)dt))
                td_const(&f, (td_dtype)dt, hard[j]);
            else
                td_const_int(&f, (td_dtype)dt, j & 1 ? INT64_MIN + (int64_t)j : (int64_t)j - 5);
        }
    p = td_param_ptr(&f, TD_F16);
    k = td_param(&f, TD_I32);
    c = td_const_int(&f, TD_BOOL, 1);
    v = td_load(&f, p, k, td_splat(&f, c, 8), 8, 16);
    f.line = 77;
    v = td_rotate(&f, td_bitcast(&f, v, TD_U16), -3);
    s = td_slot(&f, TD_U16, 8);
    td_set(&f, s, v);
    td_store(&f, p, td_iota(&f, TD_I64, 8), td_cast(&f, td_get(&f, s), TD_F16), td_splat(&f, c, 8),
             2);
    td_store(&f, td_shared(&f, TD_BOOL, 64), td_index(&f, OP_tid, 1), c, none, 0);
    td_if(&f, c);
    td_for(&f, k, td_index(&f, OP_bdim, 2), td_const_int(&f, TD_I32, 3));
    td_loop(&f);
    td_break_if(&f, c);
    f.line = 78;
    td_end(&f);
    td_end(&f);
    td_else(&f);
    td_end(&f);
    td_shuffle_xor(&f, td_extract(&f, v, 5), 16);
    td_zip(&f, td_unzip(&f, v, 1), td_unzip(&f, v, 0));
    td_barrier(&f);
    if (td_fn_finish(&f))
        FAIL("core", "%s", td_error());
    else
        round_trip("core", &f);
    ran++;
    td_arena_free(&mem);
}

int
main(int argc, char **argv)
{
    run_directory(argc > 1 ? argv[1] : "tests/ir");
    for (int op = 0; op < TD_OPS; op++)
        for (int dt = 0; dt < TD_DTYPE_COUNT; dt++)
            if (td_op_admits((td_op)op, (td_dtype)dt)) {
                round_trip_op((td_op)op, (td_dtype)dt, 1);
                round_trip_op((td_op)op, (td_dtype)dt, 4);
            }
    round_trip_core();
    for (int op = 0; op < TD_OPS; op++, ran++)
        if (td_num_admits((td_op)op) != (strchr(td_optab[op].kinds, 'c') != NULL))
            FAIL(td_optab[op].name, "kinds \"%s\", but %s spelling on pairs", td_optab[op].kinds,
                 td_num_admits((td_op)op) ? "a" : "no");
    printf("%d kernels, %d in turns, %d failures\n", ran, in_turns, failures);
    return failures != 0 || in_turns < 45;
}
