/* cudaheaders.c - finds CUDA's headers, and has stand-ins for the host's. */
#include "dev/compile/nvrtc.h"
#include "dev/foreign/library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- CUDA's ---- */

static bool
there(const char *dir, const char *name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path &&
           access(path, R_OK) == 0;
}

/* Headers lie beside their folder of libraries: nvidia/cu13/lib, nvidia/cuda_runtime/lib,
 * cuda/lib64, cuda/targets/sbsa-linux/lib. */
static bool
beside(void *ctx, const char *dir)
{
    static const char *const heads[] = {"cuda_fp16.h", "curand_kernel.h", "cuda/std/version"};
    td_args *a = ctx;
    char path[PATH_MAX], real[PATH_MAX], more[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/../include", dir) >= (int)sizeof path ||
        !realpath(path, real))
        return false;
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->v[i] + 2, real) == 0)
            return false;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (there(real, heads[i])) {
            td_args_add(a, "-I%s", real);
            break;
        }
    if (snprintf(more, sizeof more, "%s/cccl", real) < (int)sizeof more &&
        there(more, "cuda/std/version"))
        td_args_add(a, "-I%s", more);
    return false;
}

void
td_cuda_include(td_args *a, const char *library)
{
    const char *slash = strrchr(library, '/');
    td_args found = {0}; /* collected apart, so that no folder is added twice */
    char dir[PATH_MAX];

    if (slash &&
        snprintf(dir, sizeof dir, "%.*s", (int)(slash - library), library) < (int)sizeof dir)
        (void)beside(&found, dir);
    (void)td_lib_each_folder(beside, &found);
    for (int i = 0; i < found.n; i++)
        td_args_add(a, "%s", found.v[i]);
    a->failed = a->failed || found.failed;
    td_args_free(&found);
}

/* ---- the host's ---- */

#define INTS                                                                                       \
    "#pragma once\n"                                                                               \
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t;\n"                    \
    "typedef long long int64_t; typedef unsigned char uint8_t; typedef unsigned short uint16_t;\n" \
    "typedef unsigned int uint32_t; typedef unsigned long long uint64_t;\n"                        \
    "typedef long long intptr_t; typedef unsigned long long uintptr_t;\n"
#define LIMITS                                                                                     \
    "#ifndef SHRT_MIN\n"                                                                           \
    "#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n" \
    "#define SHRT_MIN (-32768)\n#define SHRT_MAX 32767\n#define USHRT_MAX 65535\n"                 \
    "#define INT_MIN (-2147483647 - 1)\n#define INT_MAX 2147483647\n#define UINT_MAX "             \
    "4294967295u\n"                                                                                \
    "#define LONG_MIN (-9223372036854775807l - 1)\n#define LONG_MAX 9223372036854775807l\n"        \
    "#define ULONG_MAX 18446744073709551615ul\n"                                                   \
    "#define LLONG_MIN (-9223372036854775807ll - 1)\n#define LLONG_MAX 9223372036854775807ll\n"    \
    "#define ULLONG_MAX 18446744073709551615ull\n#endif\n"
#define FLOATS                                                                                     \
    "#ifndef FLT_MIN\n"                                                                            \
    "#define FLT_MIN 1.175494351e-38f\n#define FLT_MAX 3.402823466e+38f\n"                         \
    "#define FLT_EPSILON 1.192092896e-07f\n#define FLT_DIG 6\n#define FLT_MANT_DIG 24\n"           \
    "#define DBL_MIN 2.2250738585072014e-308\n#define DBL_MAX 1.7976931348623158e+308\n"           \
    "#define DBL_EPSILON 2.2204460492503131e-016\n#define DBL_DIG 15\n#define DBL_MANT_DIG "       \
    "53\n#endif\n"
#define MATHS                                                                                      \
    "#pragma once\n"                                                                               \
    "#ifndef M_PI\n#define M_PI 3.14159265358979323846\n#define M_PI_2 1.57079632679489661923\n"   \
    "#define M_PI_4 0.78539816339744830962\n#define M_E 2.7182818284590452354\n"                   \
    "#define M_SQRT2 1.41421356237309504880\n#define M_SQRT1_2 0.70710678118654752440\n"           \
    "#define M_LN2 0.69314718055994530942\n#define M_LN10 2.30258509299404568402\n#endif\n"        \
    "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"                      \
    "#ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n"

#define NOTHING "" /* NVRTC knows what a GPU has of this header by itself */

#define HEADERS(H)                                                                                 \
    H("cuda.h", NOTHING)                                                                           \
    H("stdio.h", NOTHING)                                                                          \
    H("stdlib.h", NOTHING)                                                                         \
    H("string.h", NOTHING)                                                                         \
    H("assert.h", NOTHING)                                                                         \
    H("stddef.h", NOTHING)                                                                         \
    H("cstdio", NOTHING)                                                                           \
    H("cstdlib", NOTHING)                                                                          \
    H("cstring", NOTHING)                                                                          \
    H("cassert", NOTHING)                                                                          \
    H("cstddef", NOTHING)                                                                          \
    H("math.h", MATHS)                                                                             \
    H("cmath", MATHS)                                                                              \
    H("stdint.h", INTS)                                                                            \
    H("cstdint", INTS)                                                                             \
    H("inttypes.h", INTS)                                                                          \
    H("limits.h", LIMITS)                                                                          \
    H("climits", LIMITS)                                                                           \
    H("float.h", FLOATS)                                                                           \
    H("cfloat", FLOATS)

#define NAME(name, text) name,
#define TEXT(name, text) text,
const char *const td_host_header[] = {HEADERS(TEXT)}, *const td_host_header_as[] = {HEADERS(NAME)};
const int td_host_headers = sizeof td_host_header / sizeof *td_host_header;
