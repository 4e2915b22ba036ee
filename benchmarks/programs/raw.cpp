// The programs of raw.cu in C++ with OpenMP: the same algorithms, blocks and tiles, in loops.
#include <cmath>
#include <cstring>

#define TILE 16
#define THREADS 256
#define EXPORT extern "C" __attribute__((visibility("default"))) void

EXPORT
chain(const float *__restrict a, const float *__restrict b, const float *__restrict c, const float *__restrict d,
      float *__restrict out, int n)
{
#pragma omp parallel for simd
    for (int i = 0; i < n; i++)
        out[i] = sqrtf(a[i] * a[i] + b[i] * b[i]) * expf(-c[i]) + d[i];
}

EXPORT
stencil(const float *__restrict a, float *__restrict out, int h, int w)
{
#pragma omp parallel for
    for (int i = 0; i < h; i++) {
        memcpy(out + i * w, a + i * w, w * sizeof *a);
        if (i > 0 && i < h - 1)
            for (int j = 1; j < w - 1; j++)
                out[i * w + j] =
                    0.25f * (a[(i - 1) * w + j] + a[(i + 1) * w + j] + a[i * w + j - 1] + a[i * w + j + 1]);
    }
}

EXPORT
mandelbrot(int *out, int h, int w, int limit)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
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
}

EXPORT
matmul(const float *__restrict a, const float *__restrict b, float *__restrict c, int rows, int inner, int columns)
{
#pragma omp parallel for collapse(2)
    for (int by = 0; by < rows; by += TILE)
        for (int bx = 0; bx < columns; bx += TILE) {
            float tile_a[TILE][TILE], tile_b[TILE][TILE], total[TILE][TILE] = {};

            for (int start = 0; start < inner; start += TILE) {
                for (int y = 0; y < TILE; y++)
                    for (int x = 0; x < TILE; x++) {
                        int i = by + y, j = bx + x;

                        tile_a[y][x] = i < rows && start + x < inner ? a[i * inner + start + x] : 0;
                        tile_b[y][x] = j < columns && start + y < inner ? b[(start + y) * columns + j] : 0;
                    }
                for (int y = 0; y < TILE; y++)
                    for (int k = 0; k < TILE; k++)
                        for (int x = 0; x < TILE; x++)
                            total[y][x] += tile_a[y][k] * tile_b[k][x];
            }
            for (int y = 0; y < TILE && by + y < rows; y++)
                for (int x = 0; x < TILE && bx + x < columns; x++)
                    c[(by + y) * columns + bx + x] = total[y][x];
        }
}

EXPORT
sums(const float *a, float *part, int blocks, int n)
{
#pragma omp parallel for
    for (int block = 0; block < blocks; block++) {
        float own[THREADS] = {};

        for (int first = block * THREADS; first < n; first += THREADS * blocks) {
            int many = n - first < THREADS ? n - first : THREADS;

            for (int t = 0; t < many; t++)
                own[t] += a[first + t];
        }
        for (int half = THREADS / 2; half > 0; half /= 2)
            for (int t = 0; t < half; t++)
                own[t] += own[t + half];
        part[block] = own[0];
    }
}
