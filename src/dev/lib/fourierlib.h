/* fourierlib.h - cuFFT's functions as a table: the library's, or those that the host plays. */
#ifndef TD_DEV_FOURIERLIB_H
#define TD_DEV_FOURIERLIB_H
#include <stddef.h>

/* FN(slot, symbol, parameters): all return a cufftResult, 0 for success; cufft.h gives the parameters. */
#define TD_FOURIER_FUNCTIONS(FN)                                                                   \
    FN(create, cufftCreate, (int *plan))                                                           \
    FN(destroy, cufftDestroy, (int plan))                                                          \
    FN(automatic, cufftSetAutoAllocation, (int plan, int on))                                      \
    FN(make, cufftXtMakePlanMany,                                                                  \
       (int plan, int rank, const long long *n, const long long *in_embed, long long in_stride,    \
        long long in_dist, int in_type, const long long *out_embed, long long out_stride,          \
        long long out_dist, int out_type, long long batch, size_t *work, int exec_type))           \
    FN(set_stream, cufftSetStream, (int plan, void *stream))                                       \
    FN(set_work, cufftSetWorkArea, (int plan, void *work))                                         \
    FN(exec, cufftXtExec, (int plan, void *in, void *out, int direction))                          \
    FN(version, cufftGetVersion, (int *version))

typedef struct td_fourierlib {
#define FN(slot, symbol, params) int(*slot) params;
    TD_FOURIER_FUNCTIONS(FN)
#undef FN
} td_fourierlib;

/* Elements are cudaDataType's numbers, from library_types.h: CUDA_R_32F and its like; directions cufft.h's. */
enum { CUFFT_R32 = 0, CUFFT_R64 = 1, CUFFT_C32 = 4, CUFFT_C64 = 5, CUFFT_FORWARD = -1, CUFFT_INVERSE = 1 };

#endif
