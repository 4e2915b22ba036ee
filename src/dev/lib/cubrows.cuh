/* cubrows.cuh - the sort of many short rows that cubrows.cu makes. */
#ifndef TD_DEV_CUBROWS_CUH
#define TD_DEV_CUBROWS_CUH
#include "cubkeys.cuh"

enum { TD_ROW_MAX = 4096 }; /* keys of a row */

/* Keys of `size` bytes, at most those of U; c codes them in U's upper bits. */
template <typename U>
struct td_row_job {
    td_coder<U> c;
    const void *in;
    void *out;      /* NULL: not wanted */
    int64_t *index; /* NULL: not wanted; else codes are by value */
    uint32_t rows;
    int n, size;
};

/* Launches.  rows and n are at least 1. */
template <typename U>
cudaError_t td_sort_rows(const td_row_job<U> &j, cudaStream_t s);

#endif
