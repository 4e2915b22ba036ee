// Kernels f(const float *x, float *y, int n) with control flow and variables of many kinds round their barriers.
#define SYNC __syncthreads()
#define SYNCED() __syncthreads()
#define AT(i) ((i) * 2 + off)
#define ME (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))
#define ALL (blockIdx.x * blockDim.x * blockDim.y * blockDim.z + ME)

extern __shared__ float outside[];
__device__ int counter[4];
__constant__ float scale = 2.5f;

struct pair { float a, b; __device__ float sum() const { return a + b; } };

__device__ float rotate(float v, float *s)
{
    s[ME] = v;
    __syncthreads();
    float r = s[(ME + 1) % (blockDim.x * blockDim.y * blockDim.z)];
    __syncthreads();
    return r;
}

__device__ unsigned number() { return ALL; }

__device__ void twice(float &v) { v *= 2; }

__device__ void fold(volatile float *v, unsigned me)
{
    v[me] += v[me + 16];
    v[me] += v[me + 8];
    v[me] += v[me + 4];
    v[me] += v[me + 2];
    v[me] += v[me + 1];
}

extern "C" {

__global__ void early_uniform(const float *x, float *y, int n)
{
    if (blockIdx.x % 2 == 1 || n < 0) return;
    __shared__ float s[128];
    s[ME] = x[number()];
    SYNC;
    y[number()] = s[(ME + 5) % (blockDim.x * blockDim.y * blockDim.z)];
}

__global__ void early_nested(const float *x, float *y, int n)
{
    __shared__ float s[128];
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        s[ME] = x[ALL] + i;
        SYNCED();
        for (int k = 0; k < 3; k++) {
            sum += s[(ME + k) % 64];
            if (ME % 5 == 3 && i == 2 && k == 1) { y[ALL] = -sum; return; }
        }
        __syncthreads();
    }
    y[ALL] = sum;
}

__global__ void both_branches(const float *x, float *y, int n)
{
    __shared__ float s[128];
    int off = n % 3;
    if (blockIdx.x & 1) {
        s[ME] = x[ALL] * off;
        __syncthreads();
        y[ALL] = s[ME ^ 1];
    } else if (n > 5) {
        float keep = x[ALL];
        s[ME] = keep + off;
        __syncthreads();
        keep += s[ME ^ 1];
        __syncthreads();
        y[ALL] = keep;
    } else
        __syncthreads();
    y[ALL] += AT(1);
}

__global__ void flag_loop(const float *x, float *y, int n)
{
    __shared__ bool done;
    __shared__ int rounds;
    float v = x[ALL];
    if (ME == 0) { done = false; rounds = 0; }
    __syncthreads();
    while (!done) {
        v = v * 0.5f + 1;
        __syncthreads();
        if (ME == 0 && ++rounds >= n % 7) done = true;
        __syncthreads();
    }
    y[ALL] = v + rounds;
}

__global__ void shadows(const float *x, float *y, int n)
{
    __shared__ float s[128];
    float v = x[ALL];
    int i = ME;
    s[i] = v;
    __syncthreads();
    {
        float v = s[i ^ 3];
        int i = 2;
        __syncthreads();
        s[ME] = v * i;
        for (int i = 0; i < 2; i++) {
            __syncthreads();
            v += s[(ME + i) % 64];
        }
        y[ALL] = v;
    }
    __syncthreads();
    y[ALL] += v + i;
}

__global__ void kinds(const float *x, float *y, int n)
{
    __shared__ float s[2][64];
    const float c = x[ALL] * 2, *p = x + ALL;
    float4 q = make_float4(c, c + 1, c + 2, c + 3);
    float t[2][3] = {{1, 2, 3}, {4, 5, c}}, z, w(c), u{c};
    unsigned char small = ME;
    pair pr = {c, 1};
    double d = c;
    bool odd = ME & 1;
    s[0][ME] = q.y;
    __syncthreads();
    q.x += s[0][ME ^ 1];
    t[1][2] += q.x;
    small += 250;
    p += n > 0;
    z = w + u;
    twice(w);
    d /= 3;
    __syncthreads();
    s[1][ME] = t[1][2] + t[0][n % 3] + small + z + d;
    __syncthreads();
    y[ALL] = s[1][ME ^ 2] + q.w + pr.sum() + c + p[-(n > 0)] + w + (odd ? 1 : 0);
}

__global__ void steps(const float *x, float *y, int n)
{
    __shared__ float s[128];
    int lo = 0, hi = n, me = ME, turn = 0;
    float v = x[ALL];
    if (n > 3)
        hi = n / 2;
    else
        lo = 1;
    for (int i = lo, j = hi; i < j; i += 1, --j) {
        s[me] = v + i * j;
        __syncthreads();
        v = s[(me + i + 1) % 64] * 0.5f;
        __syncthreads();
        if (i == 5) break;
        if (j % 2) continue;
        turn++;
        me ^= 1;
    }
    y[ALL] = v + turn + me;
}

__global__ void calls(const float *x, float *y, int n)
{
    __shared__ float s[128];
    float v = x[ALL];
    for (int i = 0; i < 3; i++)
        v = rotate(v, s) + i;
    s[ME] = v;
    __syncthreads();
    y[ALL] = v + s[ME ^ 1];
}

__global__ void counts(const float *x, float *y, int n)
{
    int c = __syncthreads_count(x[ALL] > 0.5f);
    __syncthreads();
    if (__syncthreads_or(c > 1000)) c = 0;
    __syncthreads();
    y[ALL] = c;
}

__global__ void file_scope(const float *x, float *y, int n)
{
    outside[ME] = x[ALL] * scale;
    __syncthreads();
    for (int k = 1; k < 64; k <<= 1) {
        float add = 0;
        if (ME >= k) add = outside[ME - k];
        __syncthreads();
        outside[ME] += add;
        __syncthreads();
    }
    y[ALL] = outside[ME];
}

__global__ void chooses(const float *x, float *y, int n)
{
    __shared__ float s[128];
    float v = 0;
    switch (ME % 3) {
    case 0: v = x[ALL]; break;
    case 1: v = 1;
    default: v += 2;
    }
    s[ME] = v;
    __syncthreads();
    switch (n % 2) {
    case 0: v = s[ME ^ 1]; break;
    default: __syncthreads(); v = s[ME ^ 2];
    }
    y[ALL] = v;
}

__global__ void jumps(const float *x, float *y, int n)
{
    __shared__ float s[128];
    s[ME] = x[ALL];
    __syncthreads();
    if (ME == 3) goto end;
    s[ME] += 1;
end:
    y[ALL] = s[ME];
}

__global__ void captures(const float *x, float *y, int n)
{
    __shared__ float s[128];
    auto put = [&](float v) { s[ME] = v; };
    put(x[ALL]);
    __syncthreads();
    auto get = [](float *from) { return from[ME ^ 1]; };
    y[ALL] = get(s);
}

__global__ void parameters(const float *x, float *y, int n)
{
    __shared__ float s[128];
    x += ALL;
    y += blockIdx.x * blockDim.x * blockDim.y * blockDim.z;
    s[ME] = *x;
    __syncthreads();
    n += ME;
    *(y + ME) = s[ME ^ 1] + n;
    __syncthreads();
    y[ME] += n;
}

__global__ void countdown(const float *x, float *y, int n)
{
    __shared__ float s[128];
    float v = x[ALL];
    while (n-- > 0) {
        s[ME] = v;
        __syncthreads();
        v = s[ME ^ (n & 3)] + 1;
        __syncthreads();
        if (n == 2) { n = 0; }
    }
    do {
        s[ME] = v;
        __syncthreads();
        v += s[ME ^ 4];
        __syncthreads();
    } while (++n < 3);
    y[ALL] = v + n;
}

__global__ void swaps(const float *x, float *y, int n)
{
    __shared__ float s0[64], s1[64];
    float *from = s0, *to = s1;
    from[ME] = x[ALL];
    __syncthreads();
    for (int i = 0; i < n % 5; i++) {
        to[ME] = from[(ME + 1) % 64] + i;
        float *t = from;
        from = to;
        to = t;
        __syncthreads();
    }
    y[ALL] = from[ME];
}

__global__ void mixed(const float *x, float *y, int n)
{
    __shared__ float s[128];
    int a = n * 2, b = ME, c = a + 1, d = b + c, e;
    s[b] = x[ALL] + d;
    __syncthreads();
    e = s[b ^ 1] > 3;
    int f = a - 1, g = e + f;
    for (; f > 0; f -= a / 2 + 1) {
        s[b] += g;
        __syncthreads();
        g += s[b ^ 2] > 10;
        __syncthreads();
    }
    y[ALL] = s[b] + e + g + c + d;
}

__global__ void atomics(const float *x, float *y, int n)
{
    __shared__ int bins[8];
    if (ME < 8) bins[ME] = 0;
    __syncthreads();
    atomicAdd(&bins[int(x[ALL] * 8)], 1);
    __syncthreads();
    if (ME < 8) atomicAdd(&counter[ME % 4], bins[ME]);
    y[ALL] = bins[ME % 8];
}

__global__ void in_step(const float *x, float *y, int n)
{
    __shared__ volatile float s[96];
    volatile float *v = s + 16;
    s[ME] = 0;
    s[32 + ME] = 0;
    __syncthreads();
    if (ME < 32) {
        v[ME] = x[blockIdx.x * 64 + ME];
        fold(v, ME);
        float first = v[0];
        v[ME] = x[blockIdx.x * 64 + ME];
        if (ME >= 1) v[ME] += v[ME - 1];
        if (ME >= 2) v[ME] += v[ME - 2];
        if (ME >= 4) v[ME] += v[ME - 4];
        if (ME >= 8) v[ME] += v[ME - 8];
        if (ME >= 16) v[ME] += v[ME - 16];
        y[blockIdx.x * 64 + ME] = v[ME];
        y[blockIdx.x * 64 + 32 + ME] = first;
    }
}

__global__ void strides(const float *x, float *y, int n)
{
    const unsigned all = gridDim.x * blockDim.x * blockDim.y * blockDim.z, id = number();
    float sum = 0, most = 0;
    for (unsigned i = ALL; i < all * 7u / 3; i += all) {
        float v = x[i % all] * n;
        if (v < 2) continue;
        sum += v;
    }
    for (int i = ALL + n; i < all; i += all / 4) {
        float v = x[i];
        for (int k = 0; k < n; k++) v = v * 0.5f + k;
        most = v > most ? v : most;
        sum -= v;
    }
    for (int i = ME; i <= n; i += 3) y[blockIdx.x * 64 + ME] += i;
    y[id] += sum + most;
}

__global__ void strides_and_barriers(const float *x, float *y, int n)
{
    __shared__ float s[64];
    const int tid = ME, size = blockDim.x * blockDim.y * blockDim.z;
    float sum = 0;
    for (int i = blockIdx.x * size + tid; i < 192; i += 5 * n) sum += x[i];
    s[tid] = sum;
    __syncthreads();
    for (int i = tid; i < 64; i += 16) y[blockIdx.x * 64 + i] = s[i] + s[63 - i] + n;
}

__global__ void warps(const float *x, float *y, int n)
{
    __shared__ float part[4];
    float v = x[ALL];
    unsigned m = __ballot_sync(~0u, v > 0.5f);
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
    if (ME % 32 == 0) part[ME / 32] = v + __popc(m);
    __syncthreads();
    y[ALL] = part[ME / 32] + part[(ME / 32 + 1) % 2];
}

}

template <int N, typename T, bool Twice>
__global__ void templated(const float *x, float *y, int n)
{
    __shared__ T s[N];
    constexpr int half = N / 2;
    const int where = (ME + half) % N;
    s[ME] = x[ALL];
    __syncthreads();
    T v = s[where];
    if (Twice) {
        __syncthreads();
        s[ME] = v * 2;
        __syncthreads();
        v = s[where];
    }
    __syncthreads();
    for (int i = 0; i < half; i += 8) {
        s[where] = v + i;
        __syncthreads();
        v = s[ME];
        __syncthreads();
    }
    y[ALL] = v;
}
