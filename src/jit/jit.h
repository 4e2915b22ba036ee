/* jit.h - from a cache key to a kernel that can be launched: the only place where IR, code and device meet.
 *
 * A kernel is looked up in memory, then on disk.  Else build() writes its IR, the device's engine compiles it, and
 * the code is cached.  Disk entries are written atomically, checked when read, and used only if the user owns them
 * and nobody else may write them.  Without a usable directory the cache lives in memory, and td_jit_warning has one
 * warning for Python to give.
 */
#ifndef TD_JIT_JIT_H
#define TD_JIT_JIT_H
#include "dev/core/dev.h"
#include "ir/core/ir.h"

typedef struct td_kernel td_kernel;

/* Emits the kernel's instructions into f; jit calls td_fn_finish. */
typedef td_status td_build(void *ctx, td_fn *f);

/* `key` must cover everything that build() reads from ctx; jit adds build id, engine and architecture.  The
 * caller holds *out until td_jit_release.  Kernels that nobody holds stay in memory while there are at most
 * TREADLE_KERNELS_KEPT of them; then those that were asked for longest ago are unloaded.  On the CPU the threads of a kernel (td_fn.simt) become
 * vector lanes, or fibers where that cannot be.  TD_SKIP: the kernel has functions inside; use
 * td_jit_interpreted. */
td_status td_jit_get(td_dev *d, td_hash key, td_build *build, void *ctx, td_kernel **out);
void      td_jit_release(td_kernel *k); /* ok on NULL */
/* The caller holds k, or a tape records, which keeps k for the process's life. */
td_status td_jit_launch(td_kernel *k, td_stream *s, const td_dims *dims, const uint64_t *args, int narg);
const char *td_jit_name(const td_kernel *k); /* borrowed */
td_func    *td_jit_func(const td_kernel *k); /* borrowed; NULL: it is interpreted */
/* What the kernel computes, in the user's words, for profiles and failures.  NULL: no label was set. */
const char *td_jit_label(const td_kernel *k);
void        td_jit_set_label(td_kernel *k, const char *text); /* text must live as long as the process */

/* Kernels that the interpreter runs on the CPU: all under TREADLE_KERNELS=interpret, else those with functions
 * inside. td_jit_interpreted makes one as td_jit_get does; td_jit_launch launches it. */
bool      td_jit_interprets(void);
td_status td_jit_interpreted(td_dev *d, td_hash key, td_build *build, void *ctx, td_kernel **out);

/* Elements of `size` bytes that one thread handles at a time: a CPU's vector register, or 16 bytes on a GPU. */
int td_jit_lanes(td_dev *d, int size);

typedef struct td_jitstat {
    uint64_t compiled; /* kernels compiled in this process */
    uint64_t loaded;   /* kernels loaded from disk */
    uint64_t launches;
    uint64_t unloaded; /* kernels removed from memory to stay within the bound */
    int64_t  compile_ns;
} td_jitstat;

td_jitstat  td_jit_stats(void);
const char *td_jit_warning(void); /* told once, then NULL; borrowed */

/* The text of one stage of a kernel, uncached, for tests and TREADLE_DUMP.  stage: "ir", "llvm", "ptx", "asm";
 * *out is owned (free). */
td_status td_jit_text(const td_fn *f, const char *stage, const char *arch, char **out);

/* A relocatable object for this machine's kind of CPU, with the symbol f->name; *out is owned (free).
 * TD_ERR_VALUE: the kernel's threads need fibers or the interpreter, which an object alone does not have. */
td_status td_jit_object(const td_fn *f, void **out, size_t *nbytes);

/* Starts loading on another thread what the first kernel will need: libtreadle_jit.so, and for a GPU the
 * driver's PTX compiler.  Does so once per process for each kind of device. */
void td_jit_warm(td_dev *d);

#endif
