#define TILE 16
extern "C" {
__global__ void matmul(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float acc = 0.0f;
    int tiles = (n + TILE - 1) / TILE;
    for (int t = 0; t < tiles; ++t) {
        As[ty][tx] = (row < n && t * TILE + tx < n) ? A[row * n + t * TILE + tx] : 0.0f;
        Bs[ty][tx] = (col < n && t * TILE + ty < n) ? B[(t * TILE + ty) * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < n && col < n)
        C[row * n + col] = acc;
}

__global__ void reduce(const float *x, float *out, int n)
{
    extern __shared__ float s[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    float mine = (i < n) ? x[i] : 0;
    if (i + blockDim.x < n) mine += x[i + blockDim.x];
    s[tid] = mine;
    __syncthreads();
    for (unsigned int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (tid < k) { s[tid] = mine = mine + s[tid + k]; }
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = mine;
}

__global__ void scan(const float *g_idata, float *g_odata, int n)
{
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    int offset = 1;
    temp[2 * thid] = g_idata[2 * thid];
    temp[2 * thid + 1] = g_idata[2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) { temp[n - 1] = 0; }
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[2 * thid] = temp[2 * thid];
    g_odata[2 * thid + 1] = temp[2 * thid + 1];
}

__global__ void hillis(const float *in, float *out, int n)
{
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    int pout = 0, pin = 1;
    temp[pout * n + thid] = (thid > 0) ? in[thid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else
            temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    out[thid] = temp[pout * n + thid];
}

__global__ void stencil(const float *in, float *out, int n)
{
    __shared__ float s[256 + 2 * 3];
    int g = threadIdx.x + blockIdx.x * blockDim.x, l = threadIdx.x + 3;
    if (g >= n) return;
    s[l] = in[g];
    if (threadIdx.x < 3) {
        s[l - 3] = g >= 3 ? in[g - 3] : 0.f;
        s[l + blockDim.x] = g + blockDim.x < n ? in[g + blockDim.x] : 0.f;
    }
    __syncthreads();
    float r = 0;
    for (int o = -3; o <= 3; o++)
        if (g + o < n) r += s[l + o];
    __syncthreads();
    out[g] = r;
}

__global__ void transpose(float *odata, const float *idata, int width, int height)
{
    __shared__ float tile[32][32 + 1];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < height && y + j < width) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void warpsum(const float *x, float *out, int n)
{
    __shared__ float part[32];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
        if (threadIdx.x == 0) out[blockIdx.x] = v;
    }
}

__global__ void life(const unsigned char *in, unsigned char *out, int w, int h)
{
    __shared__ unsigned char t[18][18];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    const int id = threadIdx.y * 16 + threadIdx.x;
    for (int k = id; k < 18 * 18; k += 256) {
        int ty = k / 18, tx = k % 18;
        int gx = ((int)blockIdx.x * 16 + tx - 1 + w) % w, gy = ((int)blockIdx.y * 16 + ty - 1 + h) % h;
        t[ty][tx] = in[gy * w + gx];
    }
    __syncthreads();
    if (x < w && y < h) {
        int n = 0;
        for (int dy = 0; dy < 3; dy++)
            for (int dx = 0; dx < 3; dx++)
                if (dx != 1 || dy != 1) n += t[threadIdx.y + dy][threadIdx.x + dx];
        out[y * w + x] = n == 3 || (n == 2 && t[threadIdx.y + 1][threadIdx.x + 1]);
    }
}

__global__ void divergent(float *x, int n)
{
    __shared__ float s[64];
    float a[3] = {1, 2, 3}, b = x[threadIdx.x];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        s[threadIdx.x] = b;
        __syncthreads();
        b += s[(threadIdx.x + 1) % blockDim.x] + a[i % 3];
        a[1] += b;
        __syncthreads();
    }
    if (threadIdx.x % 3 == 0) return;
    const float c = a[1];
    __syncthreads();
    x[threadIdx.x] = b + c;
}

__global__ void shift(float *x, float *y, int n)
{
    x += blockIdx.x * blockDim.x;
    y += threadIdx.x;
    __shared__ float s[64];
    bool more = n > 0;
    do {
        s[threadIdx.x] = x[threadIdx.x] * n;
        __syncthreads();
        y[blockIdx.x * blockDim.x] = s[blockDim.x - 1 - threadIdx.x] + n;
        if (--n < 1) more = false;
        if (n == 2) continue;
        __syncthreads();
        if (n == 1) break;
        x[threadIdx.x] += 1;
    } while (more);
}

__global__ void guarded(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

__global__ void guards(const float *x, float *y, int n)
{
    unsigned tx = threadIdx.x, before = tx - 5;
    int back = n - 1 - (int)tx, three = (tx + 1) * 3;
    if (before < 50 && back >= 3 && three <= 2 * n && 4u > blockIdx.x) {
        float v = x[before] + x[back];
        y[blockIdx.x * blockDim.x + tx] = v;
    }
}

__global__ void guards_return(const float *x, float *y, int n)
{
    const int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y;
    if (i >= n || j >= 3 || i < 2) { return; }
    y[i + j * n] = x[i] + j;
    if (i % 2) return;
    y[i + j * n] += 1;
}
}
