/* cxx.h - CUDA C++ text: finds the kernels that it declares, and rewrites it for a CPU's C++ compiler or for NVRTC.
 *
 * It has a tokenizer and knows what tokens tell; it is no C++ compiler.  What it does not understand it leaves
 * unchanged. Lines keep their numbers (#line), so a compiler's errors show the user's.
 */
#ifndef TD_CXX_CXX_H
#define TD_CXX_CXX_H
#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* td_cxx_param - a parameter as written. */
typedef struct td_cxx_param {
    const char *type;  /* normalised: "const float *", "unsigned int", "T" */
    const char *name;  /* "" without one */
    char        kind;  /* as td_cu_param.kind (cuhost/abi.h); '?': a class, a typedef or a template's parameter */
    uint32_t    size;  /* bytes; 0: not known */
    bool        readonly; /* a pointer to const */
    char        item;  /* as td_cu_param.item, of a pointer; '?' not known */
    uint32_t    item_size;
} td_cxx_param;

typedef struct td_cxx_kernel {
    const char   *name; /* with namespaces: "ns::add" */
    uint32_t      line;
    bool          is_template; /* has no code until it is named with arguments */
    bool          external_c;  /* stands in extern "C" */
    uint32_t      ntname;
    const char  **tname;       /* of a template: its parameters' names; "" without one */
    uint32_t      nparam;
    td_cxx_param *param;
} td_cxx_kernel;

typedef struct td_cxx_global { /* __device__, __constant__ or __managed__ variable at namespace level */
    const char *name;
    uint32_t    line;
} td_cxx_global;

typedef struct td_cxx_texref { /* texture<float, 2, cudaReadModeElementType> name; */
    const char *name;
    const char *type;       /* "float", "uchar4" */
    int         dims;
    bool        as_float;   /* cudaReadModeNormalizedFloat */
    uint32_t    line;
} td_cxx_texref;

/* td_cxx - what a text declares.  Lives in the arena. */
typedef struct td_cxx {
    const char    *text, *file;
    uint32_t       nkernel, nglobal, ntexref;
    td_cxx_kernel *kernel;
    td_cxx_global *global;
    td_cxx_texref *texref;
} td_cxx;

/* TD_ERR_JIT: the text ends inside a string, comment or bracket; says the line.  Bodies of #if 0 are skipped. */
td_status td_cxx_parse(td_arena *a, const char *text, const char *file, td_cxx **out);

/* The text for NVRTC or nvcc: with texture references turned into objects in constant memory ("NAME" becomes a
 * __constant__ cudaTextureObject_t, and tex2D(NAME, …) tex2D<T>(NAME, …)); else as it is. */
td_status td_cxx_for_gpu(td_arena *a, const td_cxx *c, const char **out);

/* The text for a C++17 compiler with src/cuhost's headers on its path.  names: the module's kernels, all that
 * are not templates, and the requested instances, "f<float, 4>".  checked: pointer parameters are checked.
 * TD_ERR_JIT: it contains what a CPU cannot run (inline PTX, a kernel launched from a kernel); says what and
 * where. */
td_status td_cxx_for_cpu(td_arena *a, const td_cxx *c, const char *const *names, uint32_t nname, bool checked, const char **out);

#endif
