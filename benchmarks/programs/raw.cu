// The programs of grid.py in CUDA C++, for every library that takes such a text.
#define TILE 16
#define THREADS 256

extern "C" __global__ void
chain(const float *a, const float *b, const float *c, const float *d, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = sqrtf(a[i] * a[i] + b[i] * b[i]) * expf(-c[i]) + d[i];
}

extern "C" __global__ void
stencil(const float *a, float *out, int h, int w)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;

    if (i >= h || j >= w)
        return;
    if (i > 0 && i < h - 1 && j > 0 && j < w - 1)
        out[i * w + j] = 0.25f * (a[(i - 1) * w + j] + a[(i + 1) * w + j] + a[i * w + j - 1] + a[i * w + j + 1]);
    else
        out[i * w + j] = a[i * w + j];
}

extern "C" __global__ void
mandelbrot(int *out, int h, int w, int limit)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;

    if (i >= h || j >= w)
        return;
    float cr = -2.2f + 3.0f * j / w, ci = -1.5f + 3.0f * i / h, zr = 0, zi = 0;
    int count = 0;

    while (count < limit && zr * zr + zi * zi < 4) {
        float next = zr * zr - zi * zi + cr;

        zi = 2 * zr * zi + ci;
        zr = next;
        count++;
    }
    out[i * w + j] = count;
}

extern "C" __global__ void
matmul(const float *a, const float *b, float *c, int rows, int inner, int columns)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
    float total = 0;

    for (int start = 0; start < inner; start += TILE) {
        tile_a[ty][tx] = i < rows && start + tx < inner ? a[i * inner + start + tx] : 0;
        tile_b[ty][tx] = j < columns && start + ty < inner ? b[(start + ty) * columns + j] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            total += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    if (i < rows && j < columns)
        c[i * columns + j] = total;
}

// The sums of the blocks: each thread's, then by halving in shared memory.
extern "C" __global__ void
sums(const float *a, float *part, int n)
{
    __shared__ float own[THREADS];
    int t = threadIdx.x;
    float mine = 0;

    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)
        mine += a[i];
    own[t] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            own[t] += own[t + half];
        __syncthreads();
    }
    if (t == 0)
        part[blockIdx.x] = own[0];
}

// The same, of which the last step is a warp's own.
extern "C" __global__ void
shuffled(const float *a, float *part, int n)
{
    __shared__ float own[THREADS / 32];
    int t = threadIdx.x;
    float mine = 0;

    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)
        mine += a[i];
    for (int k = 16; k > 0; k /= 2)
        mine += __shfl_down_sync(0xffffffff, mine, k);
    if (t % 32 == 0)
        own[t / 32] = mine;
    __syncthreads();
    if (t < 32) {
        mine = t < THREADS / 32 ? own[t] : 0;
        for (int k = 16; k > 0; k /= 2)
            mine += __shfl_down_sync(0xffffffff, mine, k);
        if (t == 0)
            part[blockIdx.x] = mine;
    }
}
