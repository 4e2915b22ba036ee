/* cub.h - what libtreadle_cub.so gives: sorting by CUB, compiled ahead of time.
 *
 * The C interface of the only CUDA C++ here (*.cu).  The library keeps no state of its own, allocates
 * nothing and never waits: it launches on the stream that it is given, in the calling thread's current
 * context.  Any thread may call.
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
    const void *in;       /* is left as it is */
    void       *out;      /* the sorted keys, apart from in; NULL: not wanted */
    int64_t    *index;    /* the places in their rows where they were, equal ones in order; NULL: not wanted */
} td_cub_job;

/* With an index, -0 and NaN come out in `out` as 0 and the one quiet NaN; without, bits are kept. */
typedef struct td_cub {
    /* temp NULL: only *nbytes, what temp has to hold.  0, or a cudaError_t. */
    int (*sort)(const td_cub_job *job, void *temp, size_t *nbytes, void *stream);
    const char *(*text)(int code); /* borrowed */
} td_cub;

typedef const td_cub *td_cub_open_fn(void);

/* sort.c, for tests: every device's library from now on; NULL: the one that is found. */
void td_sort_use(const td_cub *table);

#endif
