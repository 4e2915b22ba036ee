/* cpucode.h - CUDA C++ compiled for this CPU (cuhost/abi.h): loads it and runs its kernels on the thread pool.
 *
 * Used by the CPU device's modules (cpumodule.c), and by the null device's played driver (nullcode.c).
 */
#ifndef TD_DEV_CPUCODE_H
#define TD_DEV_CPUCODE_H
#include "cuhost/abi.h"
#include "dev/core/dev.h"

typedef struct td_culib td_culib;

/* Reads the image before it returns.  TD_ERR_DEVICE: it cannot be loaded; the text says why. */
td_status td_culib_open(const void *image, td_culib **out); /* owned */
void      td_culib_close(td_culib *l);                       /* ok on NULL; none of its kernels may be running */

const td_cu_kernel *td_culib_kernel(const td_culib *l, const char *name); /* borrowed from l; NULL: there is none */
bool   td_culib_global(const td_culib *l, const char *name, uintptr_t *at, size_t *nbytes);

/* The offset of argument i when arguments are packed, each aligned as in C. */
size_t td_culib_offset(const td_cu_kernel *k, int i);

/* A driver's attribute of a GPU kernel, by CU_FUNC_ATTRIBUTE number, as far as a CPU's kernel has it. */
bool td_culib_attribute(const td_culib *l, const td_cu_kernel *k, int number, int *out);

/* limits of a block: threads, extent z, bytes of shared memory; as on Hopper */
enum { TD_CU_THREADS = 1024, TD_CU_DEPTH = 64, TD_CU_SHARED = 227 << 10 };

/* Bytes from the address to the end of the module variable it lies in, and bytes before it; 0: none. */
size_t td_culib_find(uintptr_t ptr, size_t *before);

/* The same for a device's live allocations; checked pointers ask it. */
typedef size_t td_cu_extent(uintptr_t ptr, size_t *before);

/* TD_ERR_VALUE: a launch's extents or shared memory exceed the limits; the text does not name the kernel. */
td_status td_culib_check(const td_culib *l, const td_cu_kernel *k, const td_dims *d);
/* Runs a launch; param[i] is the address of argument i.  No extent of the grid is 0.  TD_ERR_VALUE: as
 * td_culib_check; TD_ERR_DEVICE: the kernel reports a failure.  Neither text names the kernel. */
td_status td_culib_run(const td_culib *l, const td_cu_kernel *k, const td_dims *d, void *const *param,
                       td_cu_extent *extent);

/* What kernels have printed since the last call, in order for each thread; owned (free); NULL: nothing.  Only
 * the last megabyte is kept. */
char *td_culib_printed(size_t *nbytes);
bool  td_culib_has_printed(void); /* has a kernel printed anything? */

void td_culib_lock(bool lock); /* around fork() */

#endif
