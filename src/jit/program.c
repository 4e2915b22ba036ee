/* program.c - compiles and loads CUDA C++ text, and finds its kernels.
 *
 * A program's first module holds all its kernels and the template instances named from the start.
 * An instance that is named later gets a module of its own.
 */
#include "jit/programmake.h"

#include "dev/foreign/elf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

static void
free_part(td_part *q)
{
    td_module_free(q->module);
    td_image_free(&q->image);
    free(q);
}

void
td_program_free(td_program *p)
{
    if (!p)
        return;
    for (td_part *q; (q = p->parts);) {
        p->parts = q->next;
        free_part(q);
    }
    td_arena_free(&p->mem);
    pthread_mutex_destroy(&p->mu);
    free(p);
}

static td_status
new_program(td_dev *d, td_program **out)
{
    td_program *p = calloc(1, sizeof *p);

    if (!p)
        return td_fail(TD_ERR_NOMEM, "no host memory for a program");
    p->dev = d;
    pthread_mutex_init(&p->mu, NULL);
    *out = p;
    return TD_OK;
}

td_status
td_program_new(const td_program_spec *s, td_program **out)
{
    td_program *p = NULL;
    td_status st;

    TD_TRY(new_program(s->dev, &p));
    st = td_program_read(p, s);
    if (!st)
        st = td_program_part(p, p->name, p->nname, &p->parts);
    if (st)
        td_program_free(p);
    else
        *out = p;
    return st;
}

td_status
td_program_load(td_dev *d, const void *image, size_t nbytes, td_program **out)
{
    td_program *p = NULL;
    td_part *q;
    td_status st;

    if (nbytes > 3 && td_elf_is(image) && !td_elf_extent(image, nbytes))
        return td_fail(
            TD_ERR_VALUE,
            "the code's %zu bytes end before its own tables say: it is cut off or damaged", nbytes);
    TD_TRY(new_program(d, &p));
    q = p->parts = calloc(1, sizeof *q);
    if (q)
        q->image.data = malloc(nbytes + 1);
    if (!q || !q->image.data) {
        td_program_free(p);
        return td_fail(TD_ERR_NOMEM, "no host memory for a module of %zu bytes", nbytes);
    }
    memcpy(q->image.data, image, nbytes);
    ((char *)q->image.data)[nbytes] = 0;
    q->image.nbytes = nbytes;
    st = td_module_load(d, q->image.data, &q->module);
    if (st)
        td_program_free(p);
    else
        *out = p;
    return st;
}

const td_cxx *
td_program_text(const td_program *p)
{
    return p->cxx;
}

const void *
td_program_image(const td_program *p, size_t *nbytes)
{
    *nbytes = p->parts->image.nbytes;
    return p->parts->image.data;
}

const char *
td_program_log(const td_program *p)
{
    return p->parts->image.log ? p->parts->image.log : "";
}

td_dev *
td_program_dev(const td_program *p)
{
    return p->dev;
}

/* ---- kernels by name ---- */

static bool
in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Compares names; blanks count only between words: "f<float, 4>" is "f<float,4>". */
static bool
same_name(const char *a, const char *b)
{
    char last = 0;

    for (;; a++, b++) {
        bool gap_a = isspace((unsigned char)*a), gap_b = isspace((unsigned char)*b);

        while (isspace((unsigned char)*a))
            a++;
        while (isspace((unsigned char)*b))
            b++;
        if (*a != *b || (gap_a != gap_b && in_word(last) && in_word(*a)))
            return false;
        if (!*a)
            return true;
        last = *a;
    }
}

static td_status
no_kernel(const td_program *p, const char *name)
{
    td_text have = {0};
    td_status st;

    for (uint32_t i = 0; p->cxx && i < p->cxx->nkernel; i++)
        td_text_addf(&have, "%s%s%s", i ? ", " : "", p->cxx->kernel[i].name,
                     p->cxx->kernel[i].is_template ? "<…>" : "");
    if (!p->cxx)
        st = td_fail(TD_ERR_VALUE, "no kernel \"%s\" in the module: %s", name, td_error());
    else
        st = td_fail(TD_ERR_VALUE, "no kernel \"%s\" in %s; it has %s", name, p->cxx->file,
                     have.n ? have.s : "none");
    td_text_free(&have);
    return st;
}

/* The declaration of the kernel `name`, which may carry template arguments.  NULL: none. */
static td_cxx_kernel *
declared(const td_program *p, const char *name)
{
    size_t n = strcspn(name, "<");

    while (n && isspace((unsigned char)name[n - 1]))
        n--;
    for (uint32_t i = 0; p->cxx && i < p->cxx->nkernel; i++)
        if (strlen(p->cxx->kernel[i].name) == n && memcmp(p->cxx->kernel[i].name, name, n) == 0)
            return &p->cxx->kernel[i];
    return NULL;
}

/* Needs the program's lock.  The module that holds the kernel, and its symbol there.  NULL:
 * none. */
static td_part *
find_part(const td_program *p, const char *name, const char **symbol)
{
    for (td_part *q = p->parts; q; q = q->next)
        for (int i = 0; i < q->nname; i++)
            if (same_name(q->name[i], name) || strcmp(q->image.symbol[i], name) == 0) {
                *symbol = q->image.symbol[i];
                return q;
            }
    return NULL;
}

static td_status
no_names(void)
{
    return td_fail(TD_ERR_NOMEM, "no memory for the name of a kernel");
}

/* Compiles the first module again with one more instance.  Possible only while nobody has been
 * handed anything of it. */
static td_status
make_again(td_program *p, const char *name)
{
    const char **names = td_alloc_big(&p->mem, ((size_t)p->nname + 1) * sizeof *names);
    td_part *made, *old = p->parts;

    if (!names)
        return no_names();
    if (p->nname)
        memcpy((void *)names, (const void *)p->name, (size_t)p->nname * sizeof *names);
    names[p->nname] = name;
    TD_TRY(td_program_part(p, names, p->nname + 1, &made));
    made->next = old->next;
    p->parts = made;
    p->name = names;
    p->nname++;
    free_part(old);
    return TD_OK;
}

/* Compiles an instance that is named for the first time.  It gets a module of its own unless
 * the text has variables. */
static td_status
add_instance(td_program *p, const char *name, td_part **out)
{
    char *copy = td_alloc_big(&p->mem, strlen(name) + 1);
    const char **names = td_alloc_big(&p->mem, sizeof *names);
    td_part **end = &p->parts;

    if (!copy || !names)
        return no_names();
    names[0] = strcpy(copy, name);
    if (p->cxx->nglobal && !p->seen) {
        TD_TRY(make_again(p, copy));
        *out = p->parts;
        return TD_OK;
    }
    if (p->cxx->nglobal)
        return td_fail(
            TD_ERR_VALUE,
            "%s was not named when %s was compiled, and the text has variables (%s) that "
            "a module of its own would have again: name it from the start, or ask for "
            "it before anything else",
            name, p->cxx->file, p->cxx->global[0].name);
    while (*end)
        end = &(*end)->next;
    TD_TRY(td_program_part(p, names, 1, end));
    *out = *end;
    return TD_OK;
}

static td_status
find_func(td_program *p, const char *name, td_func **out)
{
    const td_cxx_kernel *k = declared(p, name);
    const char *symbol = name;
    td_part *q = find_part(p, name, &symbol);

    if (!q && k && k->is_template && strchr(name, '<'))
        TD_TRY(add_instance(p, name, &q));
    if (q && symbol == name)
        symbol = q->image.symbol[q->nname - 1]; /* the instance that was added last */
    if (q && q->module)
        return td_program_signed(p, q, symbol, k ? k : declared(p, q->name[0]), name, out);
    if (!p->parts->module)
        return td_fail(TD_ERR_VALUE, "%s was compiled for no device: it has no kernels to run",
                       p->cxx->file);
    /* the name is a mangled one */
    if (td_program_signed(p, p->parts, name, NULL, name, out) == TD_OK)
        return TD_OK;
    return no_kernel(p, name);
}

td_status
td_program_func(td_program *p, const char *name, td_func **out)
{
    td_status st;

    pthread_mutex_lock(&p->mu);
    st = find_func(p, name, out);
    p->seen = p->seen || !st;
    pthread_mutex_unlock(&p->mu);
    return st;
}

static td_status
find_global(td_program *p, const char *name, uintptr_t *ptr, size_t *nbytes)
{
    td_status st = td_module_global(p->parts->module, name, ptr, nbytes);
    char *mangled = st && strstr(name, "::") ? td_program_mangled(name) : NULL;

    if (mangled)
        st = td_module_global(p->parts->module, mangled, ptr, nbytes);
    free(mangled);
    return st;
}

td_status
td_program_global(td_program *p, const char *name, uintptr_t *ptr, size_t *nbytes)
{
    td_status st;

    if (!p->parts->module)
        return td_fail(TD_ERR_VALUE, "%s was compiled for no device: it has no variables",
                       p->cxx->file);
    pthread_mutex_lock(&p->mu);
    st = find_global(p, name, ptr, nbytes);
    p->seen = p->seen || !st;
    pthread_mutex_unlock(&p->mu);
    return st ? td_fail(TD_ERR_VALUE, "%s", td_error()) : TD_OK;
}

const td_cxx_kernel *
td_program_kernel(const td_program *p, const td_func *f)
{
    const td_signed *s;

    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&p->mu);
    for (s = p->known; s && s->func != f;)
        s = s->next;
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&p->mu);
    return s && s->sig.nparam != UINT32_MAX ? &s->sig : NULL;
}
