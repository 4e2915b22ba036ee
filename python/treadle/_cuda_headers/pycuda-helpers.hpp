// pycuda-helpers.hpp - textures of doubles and complex numbers, which are stored as integers' words.
#ifndef TD_PYCUDA_HELPERS_HPP
#define TD_PYCUDA_HELPERS_HPP
#include "pycuda-complex.hpp"

typedef float fp_tex_float;
typedef int2  fp_tex_double;
typedef uint2 fp_tex_cfloat;
typedef int4  fp_tex_cdouble;

__device__ inline float
td_texel(float x)
{
    return x;
}
__device__ inline double
td_texel(int2 x)
{
    return __hiloint2double(x.y, x.x);
}
__device__ inline pycuda::complex<float>
td_texel(uint2 x)
{
    return pycuda::complex<float>(__int_as_float((int)x.x), __int_as_float((int)x.y));
}
__device__ inline pycuda::complex<double>
td_texel(int4 x)
{
    return pycuda::complex<double>(__hiloint2double(x.y, x.x), __hiloint2double(x.w, x.z));
}

// The texture reference's name is an argument of tex1Dfetch itself, where names of references are known.
#define fp_tex1Dfetch(tex, at) td_texel(tex1Dfetch(tex, at))

#define PYCUDA_MAX(a, b) ((a) > (b) ? (a) : (b))
#define PYCUDA_MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
