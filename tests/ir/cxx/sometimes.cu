// Branches that do not pair off, PTX where the text asks for a GPU, strings and comments that look like code.
#ifdef WIDE
__global__ void f(double *x) {
#else
__global__ void f(float *x) {
#endif
    const char *s = "} \" // __syncthreads()"; char c = '{', d = '\'';
    const char *r = R"-(}" )" __syncthreads() )-";
    int big = 1'000'000; /* } */ // {
#if __CUDA_ARCH__ >= 700
    asm("nanosleep.u32 1;");
#endif
    x[threadIdx.x] = s[0] + c + d + r[0] + big \
        + 1;
}
#if 0
__global__ void dead() { __syncthreads(); }
#elif 1
__global__ void \
spliced(int n) {}
#endif
