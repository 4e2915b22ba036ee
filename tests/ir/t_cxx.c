/* t_cxx.c - CUDA C++ texts: what they declare, what becomes of them, and that no text whatever does harm.
 *
 * tests/ir/cxx holds texts NAME.cu; beside some stands what is expected of them: NAME.decl, the declarations; NAME.gpu
 * and NAME.cpu, lines that the rewritten text has; NAME.error, a word of why a CPU cannot have it.
 */
#include "check.h"
#include "cxx/cxx.h"

#include "base/text.h"

#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/ir/cxx/"

static char *
slurp(const char *name, const char *suffix)
{
    char path[512];
    td_text t = {0};
    FILE *f;
    int c;

    snprintf(path, sizeof path, FOLDER "%s%s", name, suffix);
    f = fopen(path, "rb");
    if (!f)
        return NULL;
    while ((c = fgetc(f)) != EOF)
        td_text_add(&t, &(char){(char)c}, 1);
    fclose(f);
    return td_text_take(&t);
}

/* ---- declarations ---- */

static void
declared(const td_cxx *c, td_text *out)
{
    for (uint32_t i = 0; i < c->nkernel; i++) {
        const td_cxx_kernel *k = &c->kernel[i];

        td_text_addf(out, "%u: %s%s%s\n", k->line, k->is_template ? "template " : "",
                     k->external_c ? "C " : "", k->name);
        for (uint32_t p = 0; p < k->nparam; p++) {
            const td_cxx_param *q = &k->param[p];

            td_text_addf(out, "    %s; %s; %c%u", q->type, q->name, q->kind, q->size);
            if (q->kind == 'p')
                td_text_addf(out, " to %s%c%u", q->readonly ? "const " : "", q->item, q->item_size);
            td_text_addf(out, "\n");
        }
    }
    for (uint32_t i = 0; i < c->nglobal; i++)
        td_text_addf(out, "%u: variable %s\n", c->global[i].line, c->global[i].name);
    for (uint32_t i = 0; i < c->ntexref; i++)
        td_text_addf(out, "%u: texture %s %s %d%s\n", c->texref[i].line, c->texref[i].name,
                     c->texref[i].type, c->texref[i].dims,
                     c->texref[i].as_float ? " normalized" : "");
}

/* Each line of `want` that is not empty stands in `text`. */
static void
check_lines(const char *name, const char *want, const char *text)
{
    while (*want) {
        size_t n = strcspn(want, "\n");
        char *line = strndup(want, n);

        if (line && *line)
            check_that(strstr(text, line) != NULL, name, 0, line, "is not in the text");
        free(line);
        want += n + (want[n] == '\n');
    }
}

static uint32_t
lines(const char *text)
{
    uint32_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void
check_case(const char *name)
{
    char *text = slurp(name, ".cu"), *decl = slurp(name, ".decl"), *cpu = slurp(name, ".cpu"),
         *gpu = slurp(name, ".gpu"), *error = slurp(name, ".error");
    const char *out;
    td_arena a = {0};
    td_text have = {0};
    td_cxx *c;

    if (!CHECK(text) || !CHECK_OK(td_cxx_parse(&a, text, name, &c)))
        goto out;
    if (decl) {
        declared(c, &have);
        if (!check_that(have.s && strcmp(have.s, decl) == 0, name, 0, "declarations", ""))
            printf("%s", have.s ? have.s : "");
    }
    if (CHECK_OK(td_cxx_for_gpu(&a, c, &out))) {
        CHECK(lines(out) == lines(text));
        check_lines(name, gpu ? gpu : "", out);
    }
    if (error) {
        CHECK_FAILS(td_cxx_for_cpu(&a, c, NULL, 0, false, &out), TD_ERR_JIT, strtok(error, "\n"));
        goto out;
    }
    if (CHECK_OK(td_cxx_for_cpu(&a, c, NULL, 0, false, &out))) {
        const char *first = strstr(out, "#line 1"), *last = strstr(out, "TD_CU_TABLE_BEGIN");

        check_lines(name, cpu ? cpu : "", out);
        if (CHECK(first && last)) { /* the #line itself, and one before the table */
            char *middle = strndup(first, (size_t)(last - first));

            CHECK(middle && lines(middle) == lines(text) + 2);
            free(middle);
        }
    }
    CHECK_OK(td_cxx_for_cpu(&a, c, NULL, 0, true, &out));
out:
    td_text_free(&have);
    td_arena_free(&a);
    free(text);
    free(decl);
    free(cpu);
    free(gpu);
    free(error);
}

/* ---- any text ---- */

static uint64_t
draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void
try_text(const char *text)
{
    td_arena a = {0};
    const char *out;
    td_cxx *c;

    if (!td_cxx_parse(&a, text, "any.cu", &c)) {
        (void)td_cxx_for_gpu(&a, c, &out);
        (void)td_cxx_for_cpu(&a, c, NULL, 0, false, &out);
        (void)td_cxx_for_cpu(&a, c, &(const char *){"f<float>"}, 1, true, &out);
    }
    td_arena_free(&a);
}

/* Cut off anywhere, and with pieces dropped, doubled and exchanged. */
static void
mutate(const char *text, int rounds, uint64_t seed)
{
    static const char *const pieces[] = {"(",
                                         ")",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         "<",
                                         ">",
                                         ">>",
                                         ">>>",
                                         "<<<",
                                         ";",
                                         ",",
                                         "\"",
                                         "'",
                                         "R\"x(",
                                         "/*",
                                         "\\\n",
                                         "#if 0\n",
                                         "\n#else\n",
                                         "\n#endif\n",
                                         "template",
                                         "__global__",
                                         "__shared__",
                                         "extern",
                                         "operator",
                                         "struct",
                                         "=",
                                         "*",
                                         "&",
                                         "::",
                                         "for",
                                         "if",
                                         "do",
                                         "while",
                                         "else",
                                         "\n#define A(x) x\n",
                                         "__syncthreads();",
                                         "return;",
                                         "int x = 3;",
                                         "const",
                                         "texture<float>",
                                         "case",
                                         ":",
                                         "~",
                                         "0x"};
    size_t n = strlen(text);
    char *copy = malloc(n + 128);

    for (int r = 0; copy && r < rounds; r++) {
        size_t len = n, edits = 1 + draw(&seed) % 3;

        memcpy(copy, text, n + 1);
        if (r % 3 == 0)
            copy[len = draw(&seed) % (n + 1)] = 0;
        while (edits--) {
            const char *p = pieces[draw(&seed) % (sizeof pieces / sizeof *pieces)];
            size_t at = draw(&seed) % (len + 1), gone = draw(&seed) % 3 ? 0 : draw(&seed) % 12,
                   m = strlen(p);

            gone = at + gone > len ? len - at : gone;
            memmove(copy + at + m, copy + at + gone, len - at - gone + 1);
            memcpy(copy + at, p, m);
            len += m - gone;
            if (len > n + 64)
                break;
        }
        try_text(copy);
    }
    free(copy);
}

int
main(void)
{
    static const char *const words[][2] = {
        {"int a; /* no end", "the comment"},
        {"char *s = \"abc\n\";", "the string"},
        {"char c = 'a;\n", "the character"},
        {"auto s = R\"x(abc)y\";", "the raw string"},
        {"\n\nvoid f() {", ":3: the bracket { that stands here is not closed"},
        {"\nvoid f() { ( ] }", ":2: ] closes no bracket"},
    };
    DIR *d = opendir(FOLDER);
    td_arena a = {0};
    td_cxx *c;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        CHECK_FAILS(td_cxx_parse(&a, words[i][0], "t.cu", &c), TD_ERR_JIT, words[i][1]);
    td_arena_free(&a);
    CHECK(d);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        char *name, *text;

        if (n < 4 || strcmp(e->d_name + n - 3, ".cu") != 0)
            continue;
        name = strndup(e->d_name, n - 3);
        check_case(name);
        text = slurp(name, ".cu");
        mutate(text, 300, n);
        free(text);
        free(name);
    }
    if (d)
        closedir(d);
    return check_failures != 0;
}
