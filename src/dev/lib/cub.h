/* cub.h - the interface of libtreadle_cub.so: sorting by CUB, compiled ahead of time.
 *
 * This is the C interface of the only CUDA C++ here (*.cu).  The library keeps no state, allocates nothing and
 * never waits: it launches on the given stream, in the calling thread's current context.  Any thread may call.
 */
#ifndef TD_DEV_CUB_H
#define TD_DEV_CUB_H
#include <stddef.h>
#include <stdint.h>

/* Rows of keys that lie side by side; each row is sorted by itself, ascending, NaN last. */
typedef struct td_cub_job {
    char        kind;     /* 'b', 'u', 'i' or 'f', as NumPy's */
    int         size;     /* bytes of a key: 1, 2, 4 or 8 */
    int         fraction; /* kind 'f': bits of the fraction */
    int64_t     rows, n;  /* rows * n below 2^32 */
    const void *in;       /* not changed */
    void       *out;      /* the sorted keys, not overlapping `in`; NULL: not wanted */
    int64_t    *index;    /* where each key was in its row, equal ones in order; NULL: not wanted */
} td_cub_job;

/* With an index, `out` gets -0 as 0 and every NaN as one quiet NaN; without one, bits are kept. */
typedef struct td_cub {
    /* With temp NULL only sets *nbytes, the size that temp must have.  Returns 0 or a cudaError_t. */
    int (*sort)(const td_cub_job *job, void *temp, size_t *nbytes, void *stream);
    const char *(*text)(int code); /* borrowed */
} td_cub;

typedef const td_cub *td_cub_open_fn(void);

/* sort.c, for tests: sets the library of every device; NULL: the real one again. */
void td_sort_use(const td_cub *table);

#endif
