/* nvrtc.h - NVRTC's functions, and the folders of CUDA's headers. */
#ifndef TD_DEV_NVRTC_H
#define TD_DEV_NVRTC_H
#include "dev/compile/compiler.h"

typedef struct nvrtc_program_ *nvrtc_program;

/* NVRTC - names without the prefix "nvrtc", parameters.  All return a nvrtcResult, 0 for success. */
#define TD_NVRTC(F)                                                                                \
    F(CreateProgram, (nvrtc_program *, const char *text, const char *name, int n, const char *const *header, const char *const *as)) \
    F(DestroyProgram, (nvrtc_program *))                                                           \
    F(CompileProgram, (nvrtc_program, int n, const char *const *option))                           \
    F(AddNameExpression, (nvrtc_program, const char *name))                                        \
    F(GetLoweredName, (nvrtc_program, const char *name, const char **symbol))                      \
    F(GetProgramLogSize, (nvrtc_program, size_t *))                                                \
    F(GetProgramLog, (nvrtc_program, char *))                                                      \
    F(GetPTXSize, (nvrtc_program, size_t *))                                                       \
    F(GetPTX, (nvrtc_program, char *))                                                             \
    F(GetCUBINSize, (nvrtc_program, size_t *))                                                     \
    F(GetCUBIN, (nvrtc_program, char *))                                                           \
    F(GetNumSupportedArchs, (int *))                                                               \
    F(GetSupportedArchs, (int *))

typedef struct td_nvrtc {
#define TD_NVRTC_FIELD(name, params) int(*name) params;
    TD_NVRTC(TD_NVRTC_FIELD)
#undef TD_NVRTC_FIELD
    const char *(*GetErrorString)(int);
} td_nvrtc;

/* ---- cudaheaders.c ---- */
/* Adds "-I…" for each folder that has CUDA headers: beside the library, in wheels, in toolkits. */
void td_cuda_include(td_args *a, const char *library);
/* Names and texts of stand-ins for host headers, which CUDA C++ texts include out of habit and NVRTC lacks: they
 * contain what a GPU can use. */
extern const char *const td_host_header[], *const td_host_header_as[];
extern const int td_host_headers;

#endif
