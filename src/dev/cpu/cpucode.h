/* cpucode.h - CUDA C++ that was compiled for this CPU (cuhost/abi.h): loading it, running its kernels over the pool.
 *
 * The modules of the CPU device (cpumodule.c) and, in its played driver, of the null device (nullcode.c).
 */
#ifndef TD_DEV_CPUCODE_H
#define TD_DEV_CPUCODE_H
#include "cuhost/abi.h"
#include "dev/core/dev.h"

typedef struct td_culib td_culib;

bool   td_culib_is(const void *image); /* an ELF file; reads its first 16 bytes */
size_t td_culib_bytes(const void *image); /* of all of the file, by its own tables; 0: it is none for this machine */

/* image has been read on return.  TD_ERR_DEVICE: it cannot be loaded, says why. */
td_status td_culib_open(const void *image, td_culib **out); /* owned */
void      td_culib_close(td_culib *l);                       /* ok on NULL; none of its kernels runs */

const td_cu_kernel *td_culib_kernel(const td_culib *l, const char *name); /* borrowed from l; NULL: it has none such */
bool   td_culib_global(const td_culib *l, const char *name, uintptr_t *at, size_t *nbytes);

/* Where argument i stands when they lie side by side, each aligned as C does. */
size_t td_culib_offset(const td_cu_kernel *k, int i);

/* What the driver tells of a GPU's kernel by CU_FUNC_ATTRIBUTE number, as far as a CPU's has it. */
bool td_culib_attribute(const td_culib *l, const td_cu_kernel *k, int number, int *out);

enum { TD_CU_THREADS = 1024, TD_CU_DEPTH = 64, TD_CU_SHARED = 227 << 10 }; /* a block: threads, z, bytes; as on Hopper */

/* Where an address lies in a variable of a loaded module: bytes from it on, and before it; 0: in none. */
size_t td_culib_find(uintptr_t ptr, size_t *before);

/* The same of a device's live allocations: what checked pointers ask. */
typedef size_t td_cu_extent(uintptr_t ptr, size_t *before);

/* TD_ERR_VALUE: a launch's extents or its shared memory are beyond the limits; does not name the kernel. */
td_status td_culib_check(const td_culib *l, const td_cu_kernel *k, const td_dims *d);
/* Runs a launch; param[i] is the address of argument i.  The grid's extents are not 0.  TD_ERR_VALUE: as of
 * td_culib_check; TD_ERR_DEVICE: the kernel says that it failed; neither names the kernel. */
td_status td_culib_run(const td_culib *l, const td_cu_kernel *k, const td_dims *d, void *const *param,
                       td_cu_extent *extent);

/* What kernels have printed since the last call, in order within a thread; owned (free); NULL: nothing.  The last
 * megabyte is kept. */
char *td_culib_printed(size_t *nbytes);
bool  td_culib_has_printed(void); /* is there anything? */

void td_culib_lock(bool lock); /* round fork() */

#endif
