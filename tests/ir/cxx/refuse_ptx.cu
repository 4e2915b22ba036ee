__device__ unsigned lane()
{
    unsigned r;
    asm volatile("" ::: "memory");
    asm("mov.u32 %0, %laneid;" : "=r"(r));
    return r;
}
__global__ void f(unsigned *x) { x[threadIdx.x] = lane(); }
