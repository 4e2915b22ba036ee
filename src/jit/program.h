/* program.h - CUDA C++ text to a loaded module: parsed, rewritten, compiled, cached.
 *
 * The disk key covers text, names, options, architecture, the compiler and its version, cuhost's headers, and the
 * build id.
 */
#ifndef TD_JIT_PROGRAM_H
#define TD_JIT_PROGRAM_H
#include "cxx/cxx.h"
#include "dev/compile/source.h"

typedef struct td_program td_program; /* counted: td_program_ref, _unref; the last one unloads the module */

typedef struct td_program_spec {
    td_dev            *dev;   /* NULL: only compiled, for `arch`; see td_program_image */
    const char        *text, *file, *arch; /* arch NULL: the device's */
    const char *const *option;
    int                noption;
    const char *const *name;  /* template instances to compile from the start */
    int                nname;
    const char        *keep, *cache_dir; /* NULL: none; the usual one */
    bool               debug, checked, cache;
} td_program_spec;

td_status td_program_new(const td_program_spec *s, td_program **out); /* owned.  TD_ERR_JIT, TD_ERR_LIBRARY */
/* Loads a module that was made elsewhere: cubin, PTX, fatbin.  TD_ERR_VALUE: an ELF file that is cut off. */
td_status td_program_load(td_dev *d, const void *image, size_t nbytes, td_program **out);
void        td_program_free(td_program *p); /* ok on NULL */

/* borrowed; NULL: the program was loaded, not compiled */
const td_cxx *td_program_text(const td_program *p);
const void   *td_program_image(const td_program *p, size_t *nbytes);      /* borrowed */
/* borrowed; "" if the compiler said nothing */
const char   *td_program_log(const td_program *p);
td_dev       *td_program_dev(const td_program *p);
/* Finds a kernel: "add", "ns::add", a mangled symbol, or an instance "f<float, 4>".  An instance that was not
 * compiled yet is compiled now, into a module of its own.  TD_ERR_VALUE: the text has variables, which that
 * module would duplicate (name the instance from the start); or there is no such kernel, and the text lists
 * those there are. */
td_status td_program_func(td_program *p, const char *name, td_func **out); /* borrowed: lives as long as p */
/* The signature of a kernel of p, as far as the text, the compiler and the driver tell.  NULL: nothing is known. */
const td_cxx_kernel *td_program_kernel(const td_program *p, const td_func *f);
td_status td_program_global(td_program *p, const char *name, uintptr_t *ptr, size_t *nbytes);

#endif
