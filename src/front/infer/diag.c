/* diag.c - errors in the user's words: what, where, the line, and who called. */
#include "front/infer/walk.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The text of file line `no`, without its end; "" when it is not known. */
static const char *
line_of(const td_source *s, uint32_t no, int *len)
{
    const char *p = s->text;

    *len = 0;
    if (!p || no < s->line)
        return "";
    for (uint32_t i = s->line; i < no; i++) {
        p = strchr(p, '\n');
        if (!p)
            return "";
        p++;
    }
    *len = (int)strcspn(p, "\n");
    return p;
}

/* Columns of `line` that its first nchar characters take: they are shown as they stand, so tabs and wide ones match. */
static void
add_caret(td_text *t, const char *line, int len, uint32_t col, uint32_t end)
{
    uint32_t at = 0;

    td_text_addf(t, "    ");
    for (int i = 0; i < len && at < end; i++) {
        if (((unsigned char)line[i] & 0xc0) == 0x80)
            continue; /* inside a character */
        td_text_addf(t, "%s", at >= col ? "^" : line[i] == '\t' ? "\t" : " ");
        at++;
    }
    td_text_addf(t, "\n");
}

/* Is this text one that treadle wrote round the user's function? */
static bool
is_own(const td_source *s)
{
    return strncmp(s->file, "<treadle ", 9) == 0;
}

static void
add_place(td_text *t, const td_source *s, uint32_t node, const char *how)
{
    const uint32_t *n = &s->tree[node];
    int len;
    const char *line = line_of(s, n[1], &len);

    if (is_own(s))
        return;
    td_text_addf(t, "  %s \"%s\", line %u, in %s\n", how, s->file, n[1], s->name);
    if (!len)
        return;
    while (len && (*line == ' ' || *line == '\t') && n[2]) {
        /* the indent says nothing */
        int indent = (int)strspn(line, " \t");
        uint32_t col = n[2] >= (uint32_t)indent ? n[2] - (uint32_t)indent : 0;
        uint32_t end = n[3] > n[2] ? col + n[3] - n[2] : col + 1;

        line += indent;
        len -= indent;
        td_text_addf(t, "    %.*s\n", len, line);
        add_caret(t, line, len, col, end);
        return;
    }
    td_text_addf(t, "    %.*s\n", len, line);
    add_caret(t, line, len, n[2], n[3] > n[2] ? n[3] : n[2] + 1);
}

td_status
bad(walk *w, uint32_t node, td_status st, const char *what, ...)
{
    char said[1024];
    td_text t = {0};
    va_list ap;

    va_start(ap, what);
    vsnprintf(said, sizeof said, what, ap);
    va_end(ap);
    td_text_addf(&t, "%s\n", said);
    add_place(&t, w->fr->s, node ? node : w->node, "File");
    for (const frame *fr = w->fr; fr->call; fr = fr->up)
        add_place(&t, fr->up->s, fr->call, "called from");
    if (t.n && t.s[t.n - 1] == '\n')
        t.s[t.n - 1] = 0;
    st = td_fail(st, "%s", t.s ? t.s : said);
    td_text_free(&t);
    return st;
}

static const struct {
    td_syn kind;
    const char *what, *instead;
} refused[] = {
    {TD_SYN_ListComp, "a list comprehension", "fill an array in a loop"},
    {TD_SYN_GeneratorExp, "a generator expression", "write the loop out"},
    {TD_SYN_SetComp, "a set", "use a tuple or an array"},
    {TD_SYN_DictComp, "a dict", "use a tuple, an array or a record"},
    {TD_SYN_Dict, "a dict", "use a tuple, an array or a record"},
    {TD_SYN_Set, "a set", "use a tuple or an array"},
    {TD_SYN_Yield, "the value of a yield",
     "nothing is sent to a generator here: write the yield as a statement"},
    {TD_SYN_YieldFrom, "yield from", "write `for x in …: yield x`"},
    {TD_SYN_Await, "await", "compile a function that does not wait"},
    {TD_SYN_Try, "try", "test before: an exception ends the call"},
    {TD_SYN_With, "with",
     "enter the context, or do what objmode would do, before or after the call"},
    {TD_SYN_Import, "import", "its module was not found: import at the top of the file"},
    {TD_SYN_ImportFrom, "import", "its module was not found: import at the top of the file"},
    {TD_SYN_Global, "global", "return the value, or write it into an array: globals are constants"},
    {TD_SYN_Nonlocal, "nonlocal",
     "return the value, or write it into an array: closures are constants"},
    {TD_SYN_Delete, "del", "leave it out: what is not used costs nothing"},
    {TD_SYN_FunctionDef, "a function inside of another", "define it before"},
    {TD_SYN_AsyncFunctionDef, "an async function", "define it before, without async"},
    {TD_SYN_ClassDef, "a class", "use a tuple or a record"},
    {TD_SYN_Match, "match", "write if and elif"},
};

td_status
refuse(walk *w, uint32_t node)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].kind == kind_of(w, node))
            return bad(w, node, TD_ERR_TYPE, "%s cannot be compiled; %s", refused[i].what,
                       refused[i].instead);
    return bad(w, node, TD_ERR_TYPE, "%s cannot be compiled", td_syntab[kind_of(w, node)].name);
}

td_status
built(walk *w, uint32_t node)
{
    char why[512];

    if (w->mem->failed)
        return td_fail(TD_ERR_NOMEM, "compiling %s: host memory is out", w->fr->s->name);
    if (!w->f->st)
        return TD_OK;
    snprintf(why, sizeof why, "%s", td_error());
    return bad(w, node, w->f->st, "%s", why);
}
