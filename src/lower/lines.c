/* lines.c - line information for GPU profilers: `.loc` in PTX, as nvcc -lineinfo writes it.
 *
 * LLVM's C interface makes line tables only as part of debugging information, and the driver does
 * not optimise PTX that has it.  So low_strip_debug removes the debug sections and the word
 * `debug` from the text; `.file` and `.loc` stay.
 */
#include "lower/emit.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

typedef struct low_lines {
    LLVMDIBuilderRef b;
    LLVMMetadataRef *scope; /* one per origin; [0]: the kernel's own */
    LLVMValueRef fn;
} low_lines;

static LLVMMetadataRef
file_of(const low_lines *l, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    return LLVMDIBuilderCreateFile(l->b, name, strlen(name), path,
                                   slash ? (size_t)(slash - path) : 0);
}

void
low_lines_begin(lowering *L)
{
    const td_fn *f = L->f;
    low_lines *l = f->lines && f->norigin && L->target == TD_TARGET_GPU
                       ? td_alloc_big(f->mem, sizeof *l)
                       : NULL;
    LLVMMetadataRef file, type;

    if (!l || !(l->scope = td_alloc_big(f->mem, (f->norigin + 1) * sizeof(LLVMMetadataRef))))
        return;
    L->lines = l;
    l->fn = L->fn;
    l->b = LLVMCreateDIBuilder(L->mod);
    LLVMAddModuleFlag(L->mod, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
                      LLVMValueAsMetadata(low_cint(L, 32, 1, LLVMDebugMetadataVersion())));
    file = file_of(l, f->origin[0].file);
    (void)LLVMDIBuilderCreateCompileUnit(l->b, LLVMDWARFSourceLanguageC, file, "treadle", 7, 1, "",
                                         0, 0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "",
                                         0, "", 0);
    type = LLVMDIBuilderCreateSubroutineType(l->b, file, NULL, 0, LLVMDIFlagZero);
    l->scope[0] =
        LLVMDIBuilderCreateFunction(l->b, file, f->name, strlen(f->name), f->name, strlen(f->name),
                                    file, 1, type, 0, 1, 1, LLVMDIFlagZero, 1);
    LLVMSetSubprogram(L->fn, l->scope[0]);
    for (uint32_t i = 1; i <= f->norigin; i++)
        l->scope[i] = LLVMDIBuilderCreateLexicalBlockFile(l->b, l->scope[0],
                                                          file_of(l, f->origin[i - 1].file), 0);
}

void
low_lines_at(lowering *L, const td_inst *s)
{
    low_lines *l = L->lines;
    bool own = l && L->fn == l->fn && s->line; /* functions inside the kernel get no lines */

    if (l)
        LLVMSetCurrentDebugLocation2(
            L->b, own ? LLVMDIBuilderCreateDebugLocation(L->cx, s->line, 0, l->scope[s->from], NULL)
                      : NULL);
}

void
low_lines_end(lowering *L)
{
    if (!L->lines)
        return;
    LLVMSetCurrentDebugLocation2(L->b, NULL);
    LLVMDIBuilderFinalize(L->lines->b);
    LLVMDisposeDIBuilder(L->lines->b);
}

/* The end of the line that begins at p. */
static char *
line_end(char *p)
{
    char *q = strchr(p, '\n');

    return q ? q + 1 : p + strlen(p);
}

static bool
begins(const char *p, const char *word)
{
    while (*p == '\t' || *p == ' ')
        p++;
    return strncmp(p, word, strlen(word)) == 0;
}

size_t
low_strip_debug(char *ptx)
{
    static const char mark[] = ", debug";
    char *out = ptx;
    bool inside = false;

    for (char *p = ptx, *end; *p; p = end) {
        size_t n;
        char *debug;

        end = line_end(p);
        n = (size_t)(end - p);
        inside = inside || begins(p, ".section");
        if (inside) {
            inside = !memchr(p, '}', n);
            continue;
        }
        debug = begins(p, ".target") ? strstr(p, mark) : NULL;
        if (debug && debug < end) {
            size_t head = (size_t)(debug - p), tail = n - head - (sizeof mark - 1);

            memmove(out, p, head);
            memmove(out + head, debug + sizeof mark - 1, tail);
            out += head + tail;
            continue;
        }
        memmove(out, p, n);
        out += n;
    }
    *out = 0;
    return (size_t)(out - ptx);
}
