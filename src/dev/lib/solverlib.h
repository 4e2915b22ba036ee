/* solverlib.h - the functions of cuSOLVER and cuBLAS as a table: the libraries', or those that the host plays. */
#ifndef TD_DEV_SOLVERLIB_H
#define TD_DEV_SOLVERLIB_H
#include <stddef.h>
#include <stdint.h>

typedef struct td_solverlib {
#define FN(slot, library, need, symbol, params) int(*slot) params;
#define FN4(slot, library, need, params, s, d, c, z) int(*slot[4]) params;
#include "dev/lib/solverlib.def"
} td_solverlib;

/* cudaDataType, from library_types.h: what the libraries call elements. */
enum { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_C_32F = 4, CUDA_C_64F = 5 };

#endif
