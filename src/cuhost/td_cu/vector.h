// vector.h - CUDA's vector types with its sizes and alignments, and the functions that make them.
#ifndef TD_CU_VECTOR_H
#define TD_CU_VECTOR_H

// name, scalar, alignment of 2, alignment of 4
#define TD_CU_VECTORS(V) \
    V(char, signed char, 2, 4) \
    V(uchar, unsigned char, 2, 4) \
    V(short, short, 4, 8) \
    V(ushort, unsigned short, 4, 8) \
    V(int, int, 8, 16) \
    V(uint, unsigned int, 8, 16) \
    V(long, long, 16, 16) \
    V(ulong, unsigned long, 16, 16) \
    V(longlong, long long, 16, 16) \
    V(ulonglong, unsigned long long, 16, 16) \
    V(float, float, 8, 16) \
    V(double, double, 16, 16)


#define TD_CU_VECTOR(name, T, two, four) \
    struct name##1 { T x; }; \
    struct alignas(two) name##2 { T x, y; }; \
    struct name##3 { T x, y, z; }; \
    struct alignas(four) name##4 { T x, y, z, w; }; \
    TD_CU_INLINE name##1 make_##name##1(T x) { return {x}; } \
    TD_CU_INLINE name##2 make_##name##2(T x, T y) { return {x, y}; } \
    TD_CU_INLINE name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    TD_CU_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
TD_CU_VECTORS(TD_CU_VECTOR)
#undef TD_CU_VECTOR

// CUDA 13's names for both alignments.
#define TD_CU_VECTOR(name, T) \
    typedef name##4 name##4_16a; \
    struct alignas(32) name##4_32a { T x, y, z, w; }; \
    TD_CU_INLINE name##4_16a make_##name##4_16a(T x, T y, T z, T w) { return {x, y, z, w}; } \
    TD_CU_INLINE name##4_32a make_##name##4_32a(T x, T y, T z, T w) { return {x, y, z, w}; }
TD_CU_VECTOR(long, long)
TD_CU_VECTOR(ulong, unsigned long)
TD_CU_VECTOR(longlong, long long)
TD_CU_VECTOR(ulonglong, unsigned long long)
TD_CU_VECTOR(double, double)
#undef TD_CU_VECTOR

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

#endif
