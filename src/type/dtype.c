/* dtype.c - the dtype table, promotion, scalars. */
#include "type/dtype.h"

#include <math.h>
#include <string.h>

const td_dtinfo td_dtab[TD_DTYPE_COUNT] = {
#define DT(e, n, sz, k, str, c) [TD_##e] = {.name = #n, .typestr = str, .size = sz, .kind = k},
#include "type/dtypes.def"
};

td_status
td_dtype_parse(const char *text, td_dtype *out)
{
    for (int i = 0; i < TD_DTYPE_COUNT; i++)
        if (strcmp(text, td_dtab[i].name) == 0 || strcmp(text, td_dtab[i].typestr) == 0) {
            *out = (td_dtype)i;
            return TD_OK;
        }
    return td_fail(TD_ERR_TYPE, "dtype '%s' is not supported", text);
}

static int
rank_of(td_dtype dt)
{
    switch (td_dtype_kind(dt)) {
    case 'b': return 0;
    case 'u':
    case 'i': return 1;
    case 'f': return 2;
    }
    return 3;
}

/* The float that holds an integer of `size` bytes: int8 float16, int16 float32, wider float64. */
static td_dtype
float_for_int(td_dtype dt)
{
    size_t size = td_dtype_size(dt);

    return size == 1 ? TD_F16 : size == 2 ? TD_F32 : TD_F64;
}

static td_dtype
promote_ints(td_dtype a, td_dtype b)
{
    size_t na = td_dtype_size(a), nb = td_dtype_size(b), n;

    if (td_dtype_kind(a) == td_dtype_kind(b))
        return na >= nb ? a : b;
    if (td_dtype_kind(a) == 'u')
        return promote_ints(b, a);
    if (na > nb)
        return a;
    n = 2 * nb; /* a signed type that holds b */
    return n == 2 ? TD_I16 : n == 4 ? TD_I32 : n == 8 ? TD_I64 : TD_F64;
}

static td_dtype
promote_floats(td_dtype a, td_dtype b)
{
    if (td_dtype_is_half(a) && td_dtype_is_half(b))
        return a == b ? a : TD_F32;
    return a > b ? a : b;
}

td_dtype
td_promote(td_dtype a, td_dtype b)
{
    if (a == b)
        return a;
    if (rank_of(a) < rank_of(b))
        return td_promote(b, a);
    switch (rank_of(a)) { /* b's kind is at most a's */
    case 1: return rank_of(b) == 0 ? a : promote_ints(a, b);
    case 2:
        if (rank_of(b) == 2)
            return promote_floats(a, b);
        if (a == TD_BF16 && td_dtype_size(b) == 1)
            return a; /* a's 8 bits hold the integer */
        return rank_of(b) == 0 ? a : promote_floats(a, float_for_int(b));
    case 3: {
        td_dtype r = rank_of(b) == 3   ? td_dtype_real_of(b)
                     : rank_of(b) == 0 ? TD_F32
                                       : td_promote(b, TD_F16);

        return td_dtype_complex_of(promote_floats(td_dtype_real_of(a), r == TD_F16 ? TD_F32 : r));
    }
    }
    return a;
}

td_dtype
td_promote_weak(td_dtype a, char kind)
{
    int k = kind == 'b' ? 0 : kind == 'i' ? 1 : kind == 'f' ? 2 : 3;

    if (k <= rank_of(a))
        return a;
    switch (k) {
    case 1: return TD_I64;
    case 2: return TD_F64; /* complex with bool or an integer */
    }
    return rank_of(a) == 2 ? td_dtype_complex_of(a) : TD_C128;
}

td_dtype
td_dtype_float_of(td_dtype dt)
{
    return rank_of(dt) >= 2 ? dt : float_for_int(dt);
}

td_dtype
td_dtype_real_of(td_dtype dt)
{
    return dt == TD_C64 ? TD_F32 : dt == TD_C128 ? TD_F64 : dt;
}

td_dtype
td_dtype_complex_of(td_dtype dt)
{
    return td_dtype_is_half(dt) || dt == TD_F32 || dt == TD_C64 ? TD_C64 : TD_C128;
}

bool
td_can_cast(td_dtype from, td_dtype to, char casting)
{
    if (from == to || casting == 'u')
        return true;
    if (casting == 's')
        return td_promote(from, to) == to;
    if (rank_of(from) == 1 && rank_of(to) == 1)
        return !(td_dtype_kind(from) == 'i' && td_dtype_kind(to) == 'u');
    return rank_of(from) <= rank_of(to);
}

int64_t
td_f64_to_i64(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

int32_t
td_f64_to_i32(double x)
{
    return x > -0x1p31 - 1 && x < 0x1p31 ? (int32_t)x : INT32_MIN;
}

uint64_t
td_f64_to_u64(double x)
{
    if (!(x >= 0x1p63))
        return (uint64_t)td_f64_to_i64(x);
    return (uint64_t)td_f64_to_i64(x - 0x1p63) ^ (uint64_t)1 << 63;
}

static double
real_of(td_scalar s)
{
    switch (td_dtype_kind(s.dt)) {
    case 'b':
    case 'i': return (double)s.i;
    case 'u': return (double)s.u;
    }
    return s.f[0];
}

static uint64_t
float_bits(td_dtype dt, double v)
{
    uint64_t out = 0;
    float f = (float)v;

    switch (dt) {
    case TD_F16:  return td_double_to_half(v);
    case TD_BF16: return td_double_to_bfloat(v);
    case TD_F32:
    case TD_C64:  memcpy(&out, &f, sizeof f); break;
    default:      memcpy(&out, &v, sizeof v);
    }
    return out;
}

static uint64_t
int_of(td_scalar s, td_dtype dt)
{
    if (td_dtype_kind(s.dt) != 'f' && td_dtype_kind(s.dt) != 'c')
        return s.u;
    if (dt == TD_U64)
        return td_f64_to_u64(s.f[0]);
    if (td_dtype_size(dt) == 8 || dt == TD_U32)
        return (uint64_t)td_f64_to_i64(s.f[0]);
    return (uint64_t)(int64_t)td_f64_to_i32(s.f[0]);
}

void
td_scalar_bits(td_scalar s, td_dtype dt, uint64_t out[2])
{
    char from = td_dtype_kind(s.dt);
    double re = real_of(s), im = from == 'c' ? s.f[1] : 0;

    out[0] = out[1] = 0;
    switch (td_dtype_kind(dt)) {
    case 'b': out[0] = from == 'f' || from == 'c' ? re != 0 || im != 0 : s.u != 0; break;
    case 'i':
    case 'u': {
        size_t size = td_dtype_size(dt);

        out[0] = int_of(s, dt);
        if (size < 8)
            out[0] &= ((uint64_t)1 << (8 * size)) - 1;
        break;
    }
    case 'f': out[0] = float_bits(dt, re); break;
    default:
        out[0] = float_bits(dt, re);
        if (dt == TD_C64)
            out[0] |= float_bits(dt, im) << 32;
        else
            out[1] = float_bits(dt, im);
    }
}

td_scalar
td_scalar_load(td_dtype dt, const void *p)
{
    td_scalar s = {.dt = dt};
    uint16_t h;
    float f[2];

    switch (dt) {
    case TD_BOOL: s.i = *(const uint8_t *)p != 0; break;
    case TD_I8:   s.i = *(const int8_t *)p; break;
    case TD_I16:  s.i = *(const int16_t *)p; break;
    case TD_I32:  s.i = *(const int32_t *)p; break;
    case TD_I64:  s.i = *(const int64_t *)p; break;
    case TD_U8:   s.u = *(const uint8_t *)p; break;
    case TD_U16:  s.u = *(const uint16_t *)p; break;
    case TD_U32:  s.u = *(const uint32_t *)p; break;
    case TD_U64:  s.u = *(const uint64_t *)p; break;
    case TD_F16:
        memcpy(&h, p, 2);
        s.f[0] = (double)td_half_to_float(h);
        break;
    case TD_BF16:
        memcpy(&h, p, 2);
        s.f[0] = (double)td_bfloat_to_float(h);
        break;
    case TD_F32:
        memcpy(f, p, 4);
        s.f[0] = (double)f[0];
        break;
    case TD_F64: memcpy(s.f, p, 8); break;
    case TD_C64:
        memcpy(f, p, 8);
        s.f[0] = (double)f[0];
        s.f[1] = (double)f[1];
        break;
    case TD_C128:        memcpy(s.f, p, 16); break;
    case TD_DTYPE_COUNT: break;
    }
    return s;
}
