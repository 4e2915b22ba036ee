/* include.c - follows #include lines through the user's folders. */
#include "jit/include.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DIRS_MAX = 64, FILES_MAX = 1024 };

/* scan - the files that one text includes.  On the caller's stack. */
typedef struct scan {
    const char *dir[DIRS_MAX];
    int ndir, nfile;
    char **file; /* full paths of files that were read or will be; owned */
    td_hash *key;
} scan;

static td_status
add_dirs(scan *s, const char *const *option, int n)
{
    static const char *const names[] = {"-I", "--include-path", "-isystem", "--system-include"};
    static const char *const unknown[] = {"-include", "--pre-include", "--options-file", "-optf"};

    for (int i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++)
            if (strncmp(option[i], unknown[k], strlen(unknown[k])) == 0 &&
                strncmp(option[i], names[1], strlen(names[1])) != 0)
                return TD_SKIP;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            size_t len = strlen(names[k]);
            const char *rest = option[i] + len;

            if (strncmp(option[i], names[k], len) != 0)
                continue;
            if (!*rest && i + 1 == n)
                break;
            if (s->ndir == DIRS_MAX)
                return TD_SKIP;
            s->dir[s->ndir++] = !*rest ? option[++i] : *rest == '=' ? rest + 1 : rest;
            break;
        }
    }
    return TD_OK;
}

/* Adds the file to the list if it exists and is not there yet. */
static td_status
add_file(scan *s, const char *path, bool *there)
{
    struct stat st;
    char **more;

    *there = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    if (!*there)
        return TD_OK;
    for (int i = 0; i < s->nfile; i++)
        if (strcmp(s->file[i], path) == 0)
            return TD_OK;
    more = s->nfile < FILES_MAX ? realloc(s->file, (size_t)(s->nfile + 1) * sizeof *more) : NULL;
    if (!more)
        return TD_SKIP;
    s->file = more;
    s->file[s->nfile] = strdup(path);
    return s->file[s->nfile] ? (s->nfile++, TD_OK) : TD_SKIP;
}

/* Finds the file that the compiler would take: beside the including file if the name is
 * quoted, then along the folders. */
static td_status
find_file(scan *s, const char *from, const char *name, size_t n, bool quoted)
{
    const char *slash = quoted && from ? strrchr(from, '/') : NULL;
    char path[PATH_MAX];
    bool there = false;

    if (n > NAME_MAX)
        return TD_SKIP;
    if (*name == '/') {
        snprintf(path, sizeof path, "%.*s", (int)n, name);
        return add_file(s, path, &there);
    }
    if (slash) {
        snprintf(path, sizeof path, "%.*s/%.*s", (int)(slash - from), from, (int)n, name);
        TD_TRY(add_file(s, path, &there));
    }
    for (int i = 0; i < s->ndir && !there; i++) {
        snprintf(path, sizeof path, "%s/%.*s", s->dir[i], (int)n, name);
        TD_TRY(add_file(s, path, &there));
    }
    return TD_OK;
}

static const char *
skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* Follows the #include lines of one text, which is file `from` (NULL: the program's own). */
static td_status
read_includes(scan *s, const char *text, const char *from)
{
    if (strstr(text, "__has_include"))
        return TD_SKIP;
    for (const char *p = text; (p = strchr(p, '#'));) {
        const char *end;

        p = skip_blanks(p + 1);
        if (strncmp(p, "include", 7) != 0)
            continue;
        p += 7;
        if (strncmp(p, "_next", 5) == 0)
            p += 5;
        p = skip_blanks(p);
        if (*p != '"' && *p != '<') {
            if (*p == '_' || (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') || *p == '\\' ||
                *p == '/')
                return TD_SKIP; /* the name comes from a macro */
            continue;
        }
        end = strpbrk(p + 1, *p == '"' ? "\"\n" : ">\n");
        if (end && *end != '\n')
            TD_TRY(find_file(s, from, p + 1, (size_t)(end - p - 1), *p == '"'));
    }
    return TD_OK;
}

static td_status
read_file(scan *s, const char *path)
{
    FILE *f = fopen(path, "re");
    struct stat st;
    char *text;
    size_t n;
    td_status r;

    if (!f)
        return TD_SKIP;
    n = fstat(fileno(f), &st) == 0 ? (size_t)st.st_size : 0;
    text = malloc(n + 1);
    if (!text || fread(text, 1, n, f) != n) {
        free(text);
        fclose(f);
        return TD_SKIP;
    }
    fclose(f);
    text[n] = 0;
    *s->key = td_hash_add(*s->key, path, strlen(path) + 1);
    *s->key = td_hash_add(*s->key, text, n);
    r = read_includes(s, text, path);
    free(text);
    return r;
}

td_status
td_include_hash(const char *text, const char *const *option, int noption, td_hash *key)
{
    scan s = {.key = key};
    td_status st = add_dirs(&s, option, noption);

    if (!st)
        st = read_includes(&s, text, NULL);
    for (int i = 0; !st && i < s.nfile; i++)
        st = read_file(&s, s.file[i]);
    for (int i = 0; i < s.nfile; i++)
        free(s.file[i]);
    free(s.file);
    return st;
}
