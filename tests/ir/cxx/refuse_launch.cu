__global__ void child(float *x) { x[threadIdx.x] = 1; }
__global__ void parent(float *x)
{
    if (threadIdx.x == 0)
        child<<<1, 32>>>(x);
}
