/* programmake.h - a program's parts; internal to jit/. */
#ifndef TD_JIT_PROGRAMMAKE_H
#define TD_JIT_PROGRAMMAKE_H
#include "base/text.h"
#include "jit/program.h"

#include <pthread.h>

/* td_part - one compilation of the program, which owns it. */
typedef struct td_part {
    struct td_part    *next;
    td_image           image;
    td_module         *module; /* NULL: compiled for no device */
    const char *const *name;   /* of image.symbol */
    int                nname;
} td_part;

/* td_signed - what is known of a kernel's parameters.  In the program's arena. */
typedef struct td_signed {
    struct td_signed *next;
    const td_func    *func;
    td_cxx_kernel     sig; /* nparam UINT32_MAX: nothing is known */
} td_signed;

struct td_program {
    td_dev            *dev; /* NULL: none */
    pthread_mutex_t    mu;  /* guards the fields below, except those that td_program_read sets once */
    td_part           *parts;
    td_signed         *known;
    bool               seen; /* a kernel or variable of the first module has been handed out */
    td_arena           mem;
    td_cxx            *cxx;  /* NULL: loaded */
    td_program_spec    spec; /* a copy, with strings of its own */
    const char *const *name; /* all kernels that are not templates, then the instances of spec */
    int                nname;
};

/* Copies the spec, parses the text, lists the names. */
td_status td_program_read(td_program *p, const td_program_spec *s);
/* Compiles the names, or finds them on disk, and loads the module.  *out belongs to the program. */
td_status td_program_part(td_program *p, const char *const *name, int nname, td_part **out);
/* The function of a symbol of part q, with its signature filled in.  k: its declaration, NULL: not known.  name:
 * as the caller wrote it, with template arguments. */
td_status td_program_signed(td_program *p, td_part *q, const char *symbol, const td_cxx_kernel *k,
                            const char *name, td_func **out);
/* The variable "ns::c" as compilers mangle it: owned; NULL: no memory. */
char *td_program_mangled(const char *name);

#endif
