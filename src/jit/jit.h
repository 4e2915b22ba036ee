/* jit.h - from a cache key to a kernel that can be launched: the only place where IR, code and
 * device meet.
 *
 * Looked up in memory, then on disk, then built: build() writes IR, the device's engine makes code
 * of it, and the code is stored.  Disk entries are written atomically, checked when read, and used
 * only when owned by the user and writable by nobody else; without a usable directory the cache
 * lives in memory and one warning is left for Python to give (td_jit_warning).
 */
#ifndef TD_JIT_JIT_H
#define TD_JIT_JIT_H
#include "dev/core/dev.h"
#include "ir/core/ir.h"

typedef struct td_kernel td_kernel;

/* Emits the kernel's instructions into f; jit calls td_fn_finish. */
typedef td_status td_build(void *ctx, td_fn *f);

/* `key` holds all that build() reads from ctx; jit adds build id, engine and architecture to it.
 * The kernel is borrowed and lives as long as the process.  A kernel of threads (td_fn.simt) runs on the CPU in
 * lanes, or where that cannot be its threads take turns.  TD_SKIP: it has functions inside, and the interpreter runs
 * it. */
td_status td_jit_get(td_dev *d, td_hash key, td_build *build, void *ctx, td_kernel **out);
td_status td_jit_launch(td_kernel *k, td_stream *s, const td_dims *dims, const uint64_t *args, int narg);
const char *td_jit_name(const td_kernel *k); /* borrowed */
td_func    *td_jit_func(const td_kernel *k); /* borrowed; NULL: it is interpreted */
/* What it computes, in the user's words: for profiles and failures.  NULL: nobody has said so yet. */
const char *td_jit_label(const td_kernel *k);
void        td_jit_set_label(td_kernel *k, const char *text); /* text: for the process's life */

/* Kernels of threads on the CPU run by the interpreter: TREADLE_KERNELS=interpret, and those with functions inside.  Made as by td_jit_get, launched by td_jit_launch. */
bool      td_jit_interprets(void);
td_status td_jit_interpreted(td_dev *d, td_hash key, td_build *build, void *ctx, td_kernel **out);

/* Lanes of the CPU's vector registers for elements of `size` bytes, and a GPU's for 16-byte accesses. */
int td_jit_lanes(td_dev *d, int size);

typedef struct td_jitstat {
    uint64_t compiled; /* kernels that LLVM has made in this process */
    uint64_t loaded;   /* kernels taken from disk */
    uint64_t launches;
    int64_t  compile_ns;
} td_jitstat;

td_jitstat  td_jit_stats(void);
const char *td_jit_warning(void); /* taken once: NULL afterwards; borrowed */

/* IR of a kernel on any engine, without caching: for tests and TREADLE_DUMP.
 * stage: "ir", "llvm", "ptx", "asm"; *out is owned (free). */
td_status td_jit_text(const td_fn *f, const char *stage, const char *arch, char **out);

/* A relocatable object for this machine's kind of CPU, with the symbol f->name; *out is owned (free).  TD_ERR_VALUE: a
 * kernel of threads that have to take turns. */
td_status td_jit_object(const td_fn *f, void **out, size_t *nbytes);

/* Starts on a thread what the first kernel will need: libtreadle_jit.so, for a GPU the driver's PTX compiler.  Once
 * a process for each kind of device. */
void td_jit_warm(td_dev *d);

#endif
