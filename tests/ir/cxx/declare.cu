#include <cuda_runtime.h>
#define TILE 16
#define REAL float
typedef unsigned int uint_t;
namespace ns { namespace b {
template <typename T, int N>
__global__ void __launch_bounds__(256, 2) f(T *__restrict__ a, const T *const *b, int n = 3) { a[threadIdx.x] = n; }
}}
extern "C" {
__global__ void add(const REAL *x, uint_t n, unsigned long long int k, long unsigned m, float4 v, char const *s, void *p, half *h, float q[], struct foo z, unsigned)
{
    __shared__ float t[TILE][TILE + 1], *u;
    extern __shared__ __align__(16) unsigned char dyn[];
    t[0][0] = 1; __syncthreads();
}
}
__constant__ float coef[9], other = 3.f;
__device__ int counter;
extern __shared__ float sdata[];
static __device__ __forceinline__ int idx(int a) { return blockIdx.x * blockDim.x + threadIdx.x + a; }
__device__ int idx0() { return idx(3) + idx(idx(4)); }
texture<uchar4, 2, cudaReadModeNormalizedFloat> img;
#if 0
__global__ void dead() { '
#endif
__global__ void g(float *x) { auto l = [x](int i) { return x[threadIdx.x + i]; }; sdata[idx0()] = l(3) + tex2D(img, 1, 2).x; }
struct op { int v; __device__ int operator()(int a) const { return a + v; } op() : v{3} {} };
template __global__ void ns::b::f<int, 3>(int *, const int *const *, int);
