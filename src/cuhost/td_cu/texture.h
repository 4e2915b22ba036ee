// texture.h - textures and surfaces through objects, whose value is the address of a td_cu_texture.
//
// Point filtering reads the element that contains the coordinate.  Linear filtering averages the nearest 2, 4 or 8,
// with weights of 8 fractional bits, as GPUs do.  A coordinate out of range is wrapped, clamped or mirrored, or reads
// the border.
#ifndef TD_CU_TEXTURE_H
#define TD_CU_TEXTURE_H

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;

enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum { cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3 };

namespace td_cu {

// The type that an element is read as: a scalar, or a vector of 1, 2 or 4 of them.
template <class T> struct texel {
    using scalar = T;
    static constexpr int n = 1;
};
#define TD_CU_TEXEL(name, T, two, four)                                                                                \
    template <> struct texel<name##1> { using scalar = T; static constexpr int n = 1; };                               \
    template <> struct texel<name##2> { using scalar = T; static constexpr int n = 2; };                               \
    template <> struct texel<name##4> { using scalar = T; static constexpr int n = 4; };
TD_CU_VECTORS(TD_CU_TEXEL)
#undef TD_CU_TEXEL

template <class T, class S> TD_CU_INLINE T texel_of(const S *v)
{
    constexpr int n = texel<T>::n;
    typename texel<T>::scalar s[n];
    T r;

    for (int c = 0; c < n; c++)
        s[c] = typename texel<T>::scalar(v[c]);
    static_assert(sizeof r == sizeof s, "a texture is read as a scalar or 1, 2 or 4 of them");
    memcpy(&r, s, sizeof r);
    return r;
}

inline const td_cu_texture *texture_of(unsigned long long object) { return reinterpret_cast<const td_cu_texture *>(object); }

// The index of an element along one axis; -1: the border.
inline long place(long i, long n, int mode)
{
    if (i >= 0 && i < n)
        return i;
    switch (mode) {
    case 0: return (i % n + n) % n;
    case 1: return i < 0 ? 0 : n - 1;
    case 2: i = (i % (2 * n) + 2 * n) % (2 * n); return i < n ? i : 2 * n - 1 - i;
    default: return -1;
    }
}

inline const char *element_at(const td_cu_texture *t, long x, long y, long z)
{
    return static_cast<const char *>(t->data) + size_t(z) * t->slice + size_t(y) * t->pitch + size_t(x) * t->channels * t->size;
}

template <class T> inline T load_as(const char *p)
{
    T v;

    memcpy(&v, p, sizeof v);
    return v;
}

// A channel as a double, which holds all but large 64-bit integers (textures have none).
inline double channel(const td_cu_texture *t, const char *p)
{
    switch (t->kind) {
    case 'i': return t->size == 1 ? load_as<int8_t>(p) : t->size == 2 ? load_as<int16_t>(p) : load_as<int32_t>(p);
    case 'u': return t->size == 1 ? load_as<uint8_t>(p) : t->size == 2 ? load_as<uint16_t>(p) : load_as<uint32_t>(p);
    default: break;
    }
    if (t->size == 4)
        return double(load_as<float>(p));
    uint32_t h = load_as<uint16_t>(p), rest = h & 0x7fff; // half
    float f = rest >= 0x7c00 ? from_bits<float>(0x7f800000 | rest << 13) : from_bits<float>(uint64_t(rest << 13)) * 0x1p112f;

    return double(h & 0x8000 ? -f : f);
}

// Scales an integer of the whole range to a float in [0, 1] or [-1, 1].
inline double unit(const td_cu_texture *t, double v)
{
    double high = t->kind == 'u' ? (t->size == 1 ? 255.0 : 65535.0) : t->size == 1 ? 127.0 : 32767.0, r = v / high;

    return r < -1 ? -1 : r;
}

inline void fetch(const td_cu_texture *t, long x, long y, long z, double *out)
{
    const char *p;

    for (int c = 0; c < 4; c++)
        out[c] = 0;
    if (x < 0 || y < 0 || z < 0) {
        for (int c = 0; c < t->channels; c++)
            out[c] = double(t->border[c]);
        return;
    }
    p = element_at(t, x, y, z);
    if (t->kind == 'f' && t->size == 4) { // the most frequent case
        for (int c = 0; c < t->channels; c++)
            out[c] = double(load_as<float>(p + 4 * c));
        return;
    }
    for (int c = 0; c < t->channels; c++, p += t->size)
        out[c] = t->as_float && t->kind != 'f' ? unit(t, channel(t, p)) : channel(t, p);
}

struct axis { // the one or two elements that are read along an axis, and the second's weight
    long at[2];
    double weight;
};

inline axis along(const td_cu_texture *t, int k, float v, long n)
{
    int mode = t->address[k];
    axis a = {{0, 0}, 0};

    if (!n)
        return a;
    if (t->normalized)
        v = (mode == 0 ? v - floorf(v) : v) * float(n); // wrapping first keeps large coordinates exact
    else if (mode == 0 || mode == 2)
        mode = 1; // as on a GPU: these modes need normalised coordinates
    if (!(fabsf(v) < 1e9f))
        v = v < 0 ? -1e9f : 1e9f;
    if (!t->linear) {
        a.at[0] = place(long(floorf(v)), n, mode);
        return a;
    }
    double from = double(v) - 0.5, whole = floor(from); // exact

    a.weight = nearbyint((from - whole) * 256) / 256;
    a.at[0] = place(long(whole), n, mode);
    a.at[1] = place(long(whole) + 1, n, mode);
    return a;
}

inline void blend(const td_cu_texture *t, const axis &x, const axis &y, const axis &z, double *out)
{
    double v[4];

    if (!t->linear)
        return fetch(t, x.at[0], y.at[0], z.at[0], out);
    out[0] = out[1] = out[2] = out[3] = 0;
    for (int k = 0; k <= (z.weight != 0); k++)
        for (int j = 0; j <= (y.weight != 0); j++)
            for (int i = 0; i <= (x.weight != 0); i++) {
                double w = (i ? x.weight : 1 - x.weight) * (j ? y.weight : 1 - y.weight) * (k ? z.weight : 1 - z.weight);

                fetch(t, x.at[i], y.at[j], z.at[k], v);
                for (int c = 0; c < t->channels; c++)
                    out[c] += w * v[c];
            }
}

template <class T> inline T sample(unsigned long long object, float x, float y, float z, int layer = -1)
{
    const td_cu_texture *t = texture_of(object);
    const axis none = {{0, 0}, 0};
    long height = t->extent[1], depth = t->extent[2];
    axis third = layer >= 0 ? none : along(t, 2, z, t->layered ? 0 : depth);
    double v[4];

    if (layer >= 0)
        third.at[0] = third.at[1] = place(layer, depth ? depth : 1, 1);
    blend(t, along(t, 0, x, t->extent[0]), along(t, 1, y, height), third, v);
    return texel_of<T>(v);
}

} // namespace td_cu

template <class T> inline T tex1Dfetch(cudaTextureObject_t t, int i)
{
    const td_cu_texture *x = td_cu::texture_of(t);
    double v[4] = {};

    if (i >= 0 && i < int(x->extent[0])) // a GPU gives 0 beyond linear memory
        td_cu::fetch(x, i, 0, 0, v);
    return td_cu::texel_of<T>(v);
}
template <class T> inline T tex1D(cudaTextureObject_t t, float x) { return td_cu::sample<T>(t, x, 0, 0); }
template <class T> inline T tex2D(cudaTextureObject_t t, float x, float y) { return td_cu::sample<T>(t, x, y, 0); }
template <class T> inline T tex3D(cudaTextureObject_t t, float x, float y, float z) { return td_cu::sample<T>(t, x, y, z); }
template <class T> inline T tex1DLayered(cudaTextureObject_t t, float x, int layer) { return td_cu::sample<T>(t, x, 0, 0, layer < 0 ? 0 : layer); }
template <class T> inline T tex2DLayered(cudaTextureObject_t t, float x, float y, int layer) { return td_cu::sample<T>(t, x, y, 0, layer < 0 ? 0 : layer); }
// Textures have one level.
template <class T> inline T tex1DLod(cudaTextureObject_t t, float x, float) { return tex1D<T>(t, x); }
template <class T> inline T tex2DLod(cudaTextureObject_t t, float x, float y, float) { return tex2D<T>(t, x, y); }
template <class T> inline T tex3DLod(cudaTextureObject_t t, float x, float y, float z, float) { return tex3D<T>(t, x, y, z); }
template <class T> inline T tex1DGrad(cudaTextureObject_t t, float x, float, float) { return tex1D<T>(t, x); }
template <class T> inline T tex2DGrad(cudaTextureObject_t t, float x, float y, float2, float2) { return tex2D<T>(t, x, y); }

// The forms that write through a pointer.
template <class T> inline void tex1Dfetch(T *r, cudaTextureObject_t t, int i) { *r = tex1Dfetch<T>(t, i); }
template <class T> inline void tex1D(T *r, cudaTextureObject_t t, float x) { *r = tex1D<T>(t, x); }
template <class T> inline void tex2D(T *r, cudaTextureObject_t t, float x, float y) { *r = tex2D<T>(t, x, y); }
template <class T> inline void tex3D(T *r, cudaTextureObject_t t, float x, float y, float z) { *r = tex3D<T>(t, x, y, z); }

// One component of the four elements around a position, in CUDA's order: (0, 1), (1, 1), (1, 0), (0, 0).
template <class T> inline T tex2Dgather(cudaTextureObject_t t, float x, float y, int component = 0)
{
    td_cu_texture linear = *td_cu::texture_of(t);
    static const int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    double v[4], out[4];

    linear.linear = 1;
    td_cu::axis a = td_cu::along(&linear, 0, x, linear.extent[0]), b = td_cu::along(&linear, 1, y, linear.extent[1]);
    for (int i = 0; i < 4; i++) {
        td_cu::fetch(&linear, a.at[order[i][0]], b.at[order[i][1]], 0, v);
        out[i] = v[component & 3];
    }
    return td_cu::texel_of<T>(out);
}

// ---- surfaces: x in bytes, elements as they lie ----

namespace td_cu {

// The element's address; NULL: it is out of range, and the access does nothing.
template <class T> inline char *surface_at(cudaSurfaceObject_t s, int xbytes, int y, int z, cudaSurfaceBoundaryMode mode)
{
    const td_cu_texture *t = texture_of(s);
    const long width = long(t->extent[0]) * t->channels * t->size, height = t->extent[1] ? t->extent[1] : 1, depth = t->extent[2] ? t->extent[2] : 1;
    long x = xbytes, r = y, l = z;

    if (x < 0 || x + long(sizeof(T)) > width || r < 0 || r >= height || l < 0 || l >= depth) {
        if (mode == cudaBoundaryModeTrap)
            fail(threadIdx, blockIdx, "a surface of %ld bytes x %ld x %ld is accessed at (%d, %d, %d)", width, height, depth, xbytes, y, z);
        if (mode == cudaBoundaryModeZero)
            return nullptr;
        x = clip(x, 0, width - long(sizeof(T)));
        r = clip(r, 0, height - 1);
        l = clip(l, 0, depth - 1);
    }
    return static_cast<char *>(t->data) + size_t(l) * t->slice + size_t(r) * t->pitch + size_t(x);
}

template <class T> inline T surface_read(const char *p)
{
    T v;

    memset(static_cast<void *>(&v), 0, sizeof v);
    if (p)
        memcpy(static_cast<void *>(&v), p, sizeof v);
    return v;
}

template <class T> inline void surface_write(char *p, const T &v)
{
    if (p)
        memcpy(p, static_cast<const void *>(&v), sizeof v);
}

} // namespace td_cu

#define TD_CU_SURFACE(name, places, at)                                                                                \
    template <class T> inline T surf##name##read(cudaSurfaceObject_t s, TD_CU_PLACES places, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
    {                                                                                                                  \
        return td_cu::surface_read<T>(td_cu::surface_at<T> at);                                                        \
    }                                                                                                                  \
    template <class T> inline void surf##name##read(T *r, cudaSurfaceObject_t s, TD_CU_PLACES places, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
    {                                                                                                                  \
        *r = td_cu::surface_read<T>(td_cu::surface_at<T> at);                                                          \
    }                                                                                                                  \
    template <class T> inline void surf##name##write(T v, cudaSurfaceObject_t s, TD_CU_PLACES places, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
    {                                                                                                                  \
        td_cu::surface_write<T>(td_cu::surface_at<T> at, v);                                                           \
    }
#define TD_CU_PLACES(...) __VA_ARGS__
TD_CU_SURFACE(1D, (int x), (s, x, 0, 0, mode))
TD_CU_SURFACE(2D, (int x, int y), (s, x, y, 0, mode))
TD_CU_SURFACE(3D, (int x, int y, int z), (s, x, y, z, mode))
TD_CU_SURFACE(1DLayered, (int x, int layer), (s, x, 0, layer, mode))
TD_CU_SURFACE(2DLayered, (int x, int y, int layer), (s, x, y, layer, mode))
#undef TD_CU_SURFACE
#undef TD_CU_PLACES

#endif
