"""A filter that keeps edges

The bilateral filter: each pixel becomes the mean of its neighbours, weighted by how near they are and by
how alike in colour. Skin becomes smooth, and what has an outline keeps it. Device functions and
vector types of CUDA C++ on a real photograph.
"""

import numpy
import treadle as np
from treadle import RawKernel

SIZES = {"cpu": {"enlarge": 1}, "cuda": {"enlarge": 8}, "small": {"enlarge": 0}}
TOLERANCE = 2e-5
WHY = "float32 exponentials and sums of 121 weighted pixels in 0…1"

RADIUS = 5
NEAR, ALIKE = 3.0, 0.12  # standard deviations, in pixels and in colour

bilateral = RawKernel(
    f"""
#define RADIUS {RADIUS}
#define NEAR {NEAR}f
#define ALIKE {ALIKE}f
"""
    """
__device__ float squared(float3 v)
{
    return v.x * v.x + v.y * v.y + v.z * v.z;
}

__device__ float3 pixel(const float *photo, int w, int y, int x)
{
    const float *p = photo + 3 * ((size_t)y * w + x);

    return make_float3(p[0], p[1], p[2]);
}

extern "C" __global__ void bilateral(const float *photo, float *out, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= w || y >= h)
        return;
    float3 here = pixel(photo, w, y, x), sum = make_float3(0, 0, 0);
    float total = 0;

    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            float3 there = pixel(photo, w, min(max(y + dy, 0), h - 1), min(max(x + dx, 0), w - 1));
            float3 d = make_float3(there.x - here.x, there.y - here.y, there.z - here.z);
            float weight = expf(-(dx * dx + dy * dy) / (2 * NEAR * NEAR) - squared(d) / (2 * ALIKE * ALIKE));

            sum = make_float3(sum.x + weight * there.x, sum.y + weight * there.y, sum.z + weight * there.z);
            total += weight;
        }
    float *p = out + 3 * ((size_t)y * w + x);

    p[0] = sum.x / total;
    p[1] = sum.y / total;
    p[2] = sum.z / total;
}
""",
    "bilateral",
)


def setup(enlarge):
    from skimage.data import astronaut

    photo = astronaut().astype(numpy.float32) / 255
    if not enlarge:
        return (np.asarray(photo[30:100, 180:260].copy()),)
    return (np.asarray(photo.repeat(enlarge, axis=0).repeat(enlarge, axis=1)),)


def main(photo):
    h, w, _ = photo.shape
    out = np.empty_like(photo)
    bilateral((-(-w // 32), -(-h // 8)), (32, 8), (photo, out, h, w))
    return {"smooth": out}


def reference(photo):
    h, w, _ = photo.shape
    wide = numpy.pad(photo, ((RADIUS, RADIUS), (RADIUS, RADIUS), (0, 0)), "edge")
    total, weights = numpy.zeros_like(photo), numpy.zeros((h, w, 1), numpy.float32)
    for dy in range(-RADIUS, RADIUS + 1):
        for dx in range(-RADIUS, RADIUS + 1):
            there = wide[RADIUS + dy : RADIUS + dy + h, RADIUS + dx : RADIUS + dx + w]
            apart = ((there - photo) ** 2).sum(axis=2, keepdims=True)
            near = numpy.float32(-(dx * dx + dy * dy) / (2 * NEAR * NEAR))
            weight = numpy.exp(near - apart / numpy.float32(2 * ALIKE * ALIKE))
            total += weight * there
            weights += weight
    return {"smooth": total / weights}


def pictures(result):
    image = result["smooth"]
    step = max(1, image.shape[0] // 500)
    return {"smooth skin, sharp edges": (255 * image[::step, ::step]).astype(numpy.uint8)}


if __name__ == "__main__":
    from treadle.demo import alone

    alone.run(globals())
