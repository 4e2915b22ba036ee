// Textures and surfaces through objects: filters, addresses, kinds of elements, against formulas of the programming guide.
#include "treadle_cuda.h"
#include <cuda_fp16.h>

#define WRONG(c) ((c) ? (void)atomicAdd(bad, 1) : (void)0)

enum { WRAP, CLAMP, MIRROR, BORDER };
enum { W = 7, H = 5, D = 3 };

static float values[D][H][W];

static td_cu_texture floats(int dims, int mode, bool linear, bool normalized)
{
    td_cu_texture t = {};

    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                values[z][y][x] = float(x * x + 10 * y + 100 * z);
    t.data = values;
    t.extent[0] = W;
    t.extent[1] = dims > 1 ? H : 0;
    t.extent[2] = dims > 2 ? D : 0;
    t.pitch = sizeof values[0][0];
    t.slice = sizeof values[0];
    t.channels = 1;
    t.kind = 'f';
    t.size = 4;
    t.address[0] = t.address[1] = t.address[2] = uint8_t(mode);
    t.linear = linear;
    t.normalized = normalized;
    t.border[0] = -7;
    return t;
}

static unsigned long long object(const td_cu_texture &t) { return reinterpret_cast<unsigned long long>(&t); }

// Where element i lies; -1: the border.
static int where(int i, int n, int mode)
{
    if (mode == BORDER)
        return i < 0 || i >= n ? -1 : i;
    if (mode == CLAMP)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    while (i < 0)
        i += 2 * n;
    if (mode == WRAP)
        return i % n;
    i %= 2 * n;
    return i < n ? i : 2 * n - 1 - i;
}

static double value(int x, int y, int z) { return x < 0 || y < 0 || z < 0 ? -7 : values[z][y][x]; }

static void split(double v, int *whole, double *weight)
{
    *whole = int(floor(v - 0.5));
    *weight = nearbyint((v - 0.5 - *whole) * 256) / 256;
}

__global__ void points(int *bad, int *)
{
    for (int mode = WRAP; mode <= BORDER; mode++)
        for (int normalized = 0; normalized < 2; normalized++) {
            td_cu_texture one = floats(1, mode, false, normalized), two = floats(2, mode, false, normalized), three = floats(3, mode, false, normalized);
            int m = normalized || mode == BORDER ? mode : CLAMP;

            for (int i = -9; i < 16; i++) {
                float x = (i + 0.5f) / (normalized ? W : 1), y = (2 * i + 0.25f) / (normalized ? H : 1), z = (i / 2 + 0.5f) / (normalized ? D : 1);
                int px = where(i, W, m), py = where(2 * i, H, m), pz = where(i / 2, D, m);

                WRONG(tex1D<float>(object(one), x) != float(value(px, 0, 0)));
                WRONG(tex2D<float>(object(two), x, y) != float(value(px, py, 0)));
                WRONG(tex3D<float>(object(three), x, y, z) != float(value(px, py, pz)));
                WRONG(tex2DLod<float>(object(two), x, y, 0) != float(value(px, py, 0)));
            }
        }
}

__global__ void linears(int *bad, int *)
{
    for (int mode = WRAP; mode <= BORDER; mode++)
        for (int normalized = 0; normalized < 2; normalized++) {
            td_cu_texture one = floats(1, mode, true, normalized), two = floats(2, mode, true, normalized), three = floats(3, mode, true, normalized);
            int m = normalized || mode == BORDER ? mode : CLAMP;

            for (int i = -20; i < 60; i++) {
                double x = i * 0.25 + 0.0625, y = i * 0.125 + 0.25, z = i * 0.0625 + 0.5, wx, wy, wz, want[3] = {0, 0, 0};
                float fx = float(normalized ? x / W : x), fy = float(normalized ? y / H : y), fz = float(normalized ? z / D : z);
                int ix, iy, iz;

                split(x, &ix, &wx);
                split(y, &iy, &wy);
                split(z, &iz, &wz);
                for (int k = 0; k < 8; k++) {
                    double a = k & 1 ? wx : 1 - wx, b = k & 2 ? wy : 1 - wy, c = k & 4 ? wz : 1 - wz;
                    int px = where(ix + (k & 1), W, m), py = where(iy + (k >> 1 & 1), H, m), pz = where(iz + (k >> 2), D, m);

                    want[0] += k < 2 ? a * value(px, 0, 0) : 0;
                    want[1] += k < 4 ? a * b * value(px, py, 0) : 0;
                    want[2] += a * b * c * value(px, py, pz);
                }
                // A coordinate that was scaled may fall on the next weight.
                double near = normalized ? 1.0 : 1e-4;
                WRONG(fabs(tex1D<float>(object(one), fx) - want[0]) > near);
                WRONG(fabs(tex2D<float>(object(two), fx, fy) - want[1]) > near);
                WRONG(fabs(tex3D<float>(object(three), fx, fy, fz) - want[2]) > near);
            }
        }
}

__global__ void kinds(int *bad, int *)
{
    static const signed char bytes[8] = {-128, -127, -1, 0, 1, 64, 127, 5};
    static const unsigned short words[8] = {0, 1, 255, 256, 32768, 65535, 7, 9};
    static const int ints[4] = {-2147483647 - 1, 16777217, 0, 2147483647};
    unsigned short halves[4];
    td_cu_texture t = {};

    t.extent[0] = 2;
    t.channels = 4;
    t.size = 1;
    t.kind = 'i';
    t.data = const_cast<signed char *>(bytes);
    char4 c = tex1Dfetch<char4>(object(t), 1);
    WRONG(c.x != 1 || c.y != 64 || c.z != 127 || c.w != 5);
    WRONG(tex1Dfetch<char4>(object(t), 2).x != 0 || tex1Dfetch<char4>(object(t), -1).y != 0);
    t.as_float = 1;
    float4 f = tex1Dfetch<float4>(object(t), 0);
    WRONG(f.x != -1 || f.y != -1 || f.z != -1.0f / 127 || f.w != 0 || tex1Dfetch<float4>(object(t), 1).z != 1);
    t.kind = 'u';
    t.size = 2;
    t.channels = 2;
    t.extent[0] = 4;
    t.data = const_cast<unsigned short *>(words);
    WRONG(tex1Dfetch<float2>(object(t), 2).y != 1 || tex1Dfetch<float2>(object(t), 1).x != 255.0f / 65535);
    t.as_float = 0;
    WRONG(tex1Dfetch<ushort2>(object(t), 2).x != 32768 || tex1Dfetch<ushort2>(object(t), 2).y != 65535);
    t.kind = 'i';
    t.size = 4;
    t.channels = 1;
    t.data = const_cast<int *>(ints);
    for (int i = 0; i < 4; i++)
        WRONG(tex1Dfetch<int>(object(t), i) != ints[i]);
    t.kind = 'f';
    t.size = 2;
    for (int i = 0; i < 4; i++)
        halves[i] = __half_as_ushort(__float2half(i ? -0.1f * i : 3e-6f));
    t.data = halves;
    for (int i = 0; i < 4; i++)
        WRONG(tex1Dfetch<float>(object(t), i) != __half2float(__ushort_as_half(halves[i])));
    float through;
    tex1Dfetch(&through, object(t), 3);
    WRONG(through != __half2float(__ushort_as_half(halves[3])));
}

__global__ void layers(int *bad, int *)
{
    td_cu_texture t = floats(3, CLAMP, true, false);

    t.layered = 1;
    for (int l = -1; l < 5; l++) {
        int layer = l < 0 ? 0 : l > 2 ? 2 : l;

        WRONG(tex2DLayered<float>(object(t), 2.5f, 3.5f, l) != values[layer][3][2]);
        WRONG(tex2DLayered<float>(object(t), 3.0f, 3.5f, l) != (values[layer][3][2] + values[layer][3][3]) / 2);
    }
    float4 g = tex2Dgather<float4>(object(floats(2, CLAMP, false, false)), 3.0f, 2.0f);
    WRONG(g.x != values[0][2][2] || g.y != values[0][2][3] || g.z != values[0][1][3] || g.w != values[0][1][2]);
}

__global__ void surfaces(int *bad, int *)
{
    td_cu_texture t = floats(3, CLAMP, false, false), flat = floats(2, CLAMP, false, false);

    surf3Dwrite(1.5f, object(t), 3 * 4, 2, 1);
    WRONG(values[1][2][3] != 1.5f || surf3Dread<float>(object(t), 3 * 4, 2, 1) != 1.5f);
    surf2Dwrite(make_float2(2, 3), object(flat), 4 * 4, 1);
    WRONG(values[0][1][4] != 2 || values[0][1][5] != 3);
    WRONG(surf2Dread<float2>(object(flat), 4 * 4, 1).y != 3);
    WRONG(surf2DLayeredread<float>(object(t), 4 * 4, 1, 0) != 2);
    surf2Dwrite(9.0f, object(flat), W * 4, 1, cudaBoundaryModeZero);
    WRONG(values[0][2][0] == 9 || surf2Dread<float>(object(flat), 0, H, cudaBoundaryModeZero) != 0);
    WRONG(surf2Dread<float>(object(flat), 99 * 4, 1, cudaBoundaryModeClamp) != values[0][1][W - 1]);
    float v;
    surf1Dread(&v, object(floats(1, CLAMP, false, false)), 2 * 4);
    WRONG(v != 4);
}

__global__ void beyond(int *, int *)
{
    surf2Dwrite(9.0f, object(floats(2, CLAMP, false, false)), W * 4, 1);
}

TD_CU_TABLE_BEGIN
TD_CU_KERNEL(TD_CU_PLAIN, "points|1|1", (points), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "linear|1|1", (linears), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "kinds|1|1", (kinds), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "layers|1|1", (layers), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "surfaces|1|1", (surfaces), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "beyond|1|1||a surface of 28 bytes x 5 x 1 is accessed at (28, 1, 0)", (beyond), 0)
TD_CU_GLOBALS
TD_CU_TABLE_END
