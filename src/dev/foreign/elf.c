/* elf.c - ELF files in memory, read with doubt. */
#include "dev/foreign/elf.h"

#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
enum { HERE = EM_X86_64 };
#else
enum { HERE = EM_AARCH64 };
#endif

/* Do `size` bytes from `at` on lie in the first `room`? */
static bool
inside(size_t at, size_t size, size_t room)
{
    return at <= room && size <= room - at;
}

/* Copies the head.  False: it is not whole, or not one of 64 bits. */
static bool
read_head(const void *image, size_t room, Elf64_Ehdr *h)
{
    if (room < sizeof *h || !td_elf_is(image) ||
        ((const unsigned char *)image)[EI_CLASS] != ELFCLASS64)
        return false;
    memcpy(h, image, sizeof *h);
    return true;
}

bool
td_elf_is(const void *image)
{
    return strncmp(image, ELFMAG, SELFMAG) == 0;
}

bool
td_elf_is_ours(const void *image)
{
    Elf64_Ehdr h;

    return read_head(image, SIZE_MAX, &h) && h.e_type == ET_DYN && h.e_machine == HERE;
}

size_t
td_elf_extent(const void *image, size_t room)
{
    const char *base = image;
    Elf64_Ehdr h;
    size_t n;

    if (!read_head(image, room, &h) ||
        !inside(h.e_shoff, (size_t)h.e_shnum * h.e_shentsize, room) ||
        !inside(h.e_phoff, (size_t)h.e_phnum * h.e_phentsize, room) ||
        (h.e_phnum && h.e_phentsize < sizeof(Elf64_Phdr)))
        return 0;
    n = h.e_shoff + (size_t)h.e_shnum * h.e_shentsize;
    n = n < sizeof h ? sizeof h : n;
    for (size_t i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;

        memcpy(&p, base + h.e_phoff + i * h.e_phentsize, sizeof p);
        if (!inside(p.p_offset, p.p_filesz, room))
            return 0;
        n = p.p_offset + p.p_filesz > n ? p.p_offset + p.p_filesz : n;
    }
    return n;
}

static bool
section(const char *image, size_t nbytes, const Elf64_Ehdr *h, size_t i, Elf64_Shdr *out)
{
    if (i >= h->e_shnum || !inside(h->e_shoff, (size_t)h->e_shnum * sizeof *out, nbytes))
        return false;
    memcpy(out, image + h->e_shoff + i * sizeof *out, sizeof *out);
    return inside(out->sh_offset, out->sh_type == SHT_NOBITS ? 0 : out->sh_size, nbytes);
}

/* The string at `at` of a table; NULL: it does not end there. */
static const char *
string(const char *image, const Elf64_Shdr *table, size_t at)
{
    const char *s = image + table->sh_offset + at;

    return table->sh_type != SHT_NOBITS && at < table->sh_size && memchr(s, 0, table->sh_size - at)
               ? s
               : NULL;
}

const char *
td_elf_function(const void *image, size_t nbytes, int n)
{
    const char *base = image;
    Elf64_Shdr symbols, names;
    Elf64_Ehdr h;
    Elf64_Sym s;

    if (!read_head(image, nbytes, &h))
        return NULL;
    for (size_t i = 0; i < h.e_shnum; i++) {
        if (!section(base, nbytes, &h, i, &symbols) || symbols.sh_type != SHT_SYMTAB ||
            !section(base, nbytes, &h, symbols.sh_link, &names))
            continue;
        for (size_t k = 0; k < symbols.sh_size / sizeof s; k++) {
            memcpy(&s, base + symbols.sh_offset + k * sizeof s, sizeof s);
            if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx && n-- == 0)
                return string(base, &names, s.st_name);
        }
    }
    return NULL;
}
