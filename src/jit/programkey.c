/* programkey.c - compiled CUDA C++ in the disk cache.
 *
 * An entry holds a head with sizes, then the symbols and the compiler's log, each with its NUL,
 * then the image.
 */
#include "jit/programkey.h"

#include "base/opts.h"
#include "jit/cache.h"
#include "jit/include.h"

#include "build_id.h"

#include <stdlib.h>
#include <string.h>

static const char suffix[] = "cu";

typedef struct head {
    uint64_t nimage;
    uint32_t nsymbol, ntext; /* ntext: bytes of symbols and log, each with its NUL */
} head;

static td_hash
add_text(td_hash h, const char *s)
{
    return td_hash_add(h, s, strlen(s) + 1);
}

td_status
td_program_key(const td_source_job *job, td_hash *out)
{
    char compiler[4096];
    td_hash h = td_hash_add(TD_HASH_INIT, TD_BUILD_ID, sizeof TD_BUILD_ID);

    TD_TRY(td_source_compiler(job->arch, compiler, sizeof compiler));
    h = add_text(add_text(h, compiler), job->arch);
    h = add_text(add_text(h, job->text), job->file);
    h = td_hash_u64(h, (uint64_t)job->debug << 1 | job->checked);
    /* this option decides whether kernels are cut into regions */
    h = td_hash_u64(h, (uint64_t)td_options()->kernels);
    for (int i = 0; i < job->noption; i++)
        h = add_text(h, job->option[i]);
    h = td_hash_u64(h, (uint64_t)job->noption);
    for (int i = 0; i < job->nname; i++)
        h = add_text(h, job->name[i]);
    TD_TRY(td_include_hash(job->text, job->option, job->noption, &h));
    *out = h;
    return TD_OK;
}

/* Splits an entry into strings and image.  False: the head does not fit the data, or there is
 * no memory. */
static bool
unpack_image(const char *code, size_t nbytes, const td_source_job *job, td_image *out)
{
    const char *p = code + sizeof(head), *end;
    head h;

    if (nbytes < sizeof h)
        return false;
    memcpy(&h, code, sizeof h);
    if (h.nsymbol != (uint32_t)job->nname || h.ntext < h.nsymbol + 1 ||
        nbytes - sizeof h < h.ntext || nbytes - sizeof h - h.ntext != h.nimage || p[h.ntext - 1])
        return false;
    end = p + h.ntext;
    out->symbol = calloc((size_t)h.nsymbol + 1, sizeof *out->symbol);
    for (uint32_t i = 0; out->symbol && i < h.nsymbol && p < end; i++, p += strlen(p) + 1) {
        out->symbol[i] = strdup(p);
        if (!out->symbol[i])
            return false;
        out->nsymbol++;
    }
    out->data = malloc(h.nimage + 1);
    if (out->nsymbol != job->nname || p >= end || !out->data)
        return false;
    if (*p && !(out->log = strdup(p)))
        return false;
    memcpy(out->data, end, h.nimage);
    ((char *)out->data)[h.nimage] = 0;
    out->nbytes = h.nimage;
    return true;
}

td_status
td_program_find(td_hash key, const td_source_job *job, td_image *out)
{
    size_t nbytes = 0;
    void *code = NULL;
    bool ok;

    TD_TRY(td_cache_get(key, suffix, &code, &nbytes));
    *out = (td_image){0};
    ok = unpack_image(code, nbytes, job, out);
    free(code);
    if (ok)
        return TD_OK;
    td_image_free(out);
    td_cache_drop(key, suffix);
    return TD_SKIP;
}

void
td_program_keep(td_hash key, const td_image *i)
{
    head h = {.nimage = i->nbytes, .nsymbol = (uint32_t)i->nsymbol};
    const char *log = i->log ? i->log : "";
    char *code, *p;

    for (int k = 0; k < i->nsymbol; k++)
        h.ntext += (uint32_t)strlen(i->symbol[k]) + 1;
    h.ntext += (uint32_t)strlen(log) + 1;
    code = malloc(sizeof h + h.ntext + h.nimage);
    if (!code)
        return; /* without it the program is compiled again next time */
    memcpy(code, &h, sizeof h);
    p = code + sizeof h;
    for (int k = 0; k < i->nsymbol; k++)
        p = stpcpy(p, i->symbol[k]) + 1;
    p = stpcpy(p, log) + 1;
    memcpy(p, i->data, i->nbytes);
    td_cache_put(key, suffix, code, (size_t)(p - code) + i->nbytes);
    free(code);
}
