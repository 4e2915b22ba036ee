/* t_interp.c - the interpreter's arithmetic where C and hardware leave room: the SPECIAL rows, casts,
 * and every elementwise operation at one lane and at many.
 */
#include "ir/interp/interp.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 32 };

static int failures, ran;

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        failures++;                                                                                \
    } while (0)

/* An operation, or with op == OP_cast or OP_bitcast a conversion to `to`, over n elements in one instruction. */
static td_status
apply(td_op op, td_dtype dt, td_dtype to, int n, const void *const in[3], void *out)
{
    static const uint32_t one[3] = {1, 1, 1};
    td_arena mem = {0};
    td_fn f = td_fn_new(&mem, "apply");
    int arity = op < TD_OPS ? td_optab[op].arity : 1;
    uint64_t args[TD_MAXARG + 1];
    td_val x[TD_MAXARG], zero = td_const_int(&f, TD_I64, 0), y;
    td_status st;

    for (int a = 0; a < arity; a++) {
        args[a] = (uintptr_t)in[a];
        x[a] = td_load(&f, td_param_ptr(&f, op == OP_select && a == 0 ? TD_BOOL : dt), zero,
                       TD_NONE, n, 0);
    }
    args[arity] = (uintptr_t)out;
    y = op == OP_cast      ? td_cast(&f, x[0], to)
        : op == OP_bitcast ? td_bitcast(&f, x[0], to)
                           : td_emit(&f, op, x);
    if (!f.st)
        td_store(&f, td_param_ptr(&f, (td_dtype)td_at(&f, y)->dt), zero, y, TD_NONE, 0);
    st = td_fn_finish(&f);
    if (!st)
        st = td_interp(&f, one, one, args, 0, NULL);
    if (st)
        FAIL("%s %s x%d: %s", td_optab[op].name, td_dtype_name(dt), n, td_error());
    ran++;
    td_arena_free(&mem);
    return st;
}

/* --- integers: the SPECIAL rows --- */

static const struct {
    td_op op;
    td_dtype dt;
    int64_t x, y, want;
} int_rows[] = {
    {OP_truncate_divide, TD_I32, 7, 2, 3},
    {OP_truncate_divide, TD_I32, -7, 2, -3},
    {OP_truncate_divide, TD_I32, 7, -2, -3},
    {OP_truncate_divide, TD_I32, 7, 0, 0},
    {OP_truncate_divide, TD_I32, 0, 0, 0},
    {OP_truncate_divide, TD_I8, INT8_MIN, -1, INT8_MIN},
    {OP_truncate_divide, TD_I16, INT16_MIN, -1, INT16_MIN},
    {OP_truncate_divide, TD_I32, INT32_MIN, -1, INT32_MIN},
    {OP_truncate_divide, TD_I64, INT64_MIN, -1, INT64_MIN},
    {OP_truncate_divide, TD_I64, INT64_MIN, 1, INT64_MIN},
    {OP_truncate_divide, TD_U8, 255, 2, 127},
    {OP_truncate_divide, TD_U8, 255, 0, 0},
    {OP_truncate_divide, TD_U32, 0xffffffff, 0xffffffff, 1},
    {OP_truncate_divide, TD_U64, -1, 2, INT64_MAX},
    {OP_truncate_divide, TD_U64, -1, -1, 1},
    {OP_fmod, TD_I32, 7, 3, 1},
    {OP_fmod, TD_I32, -7, 3, -1},
    {OP_fmod, TD_I32, 7, -3, 1},
    {OP_fmod, TD_I32, 7, 0, 0},
    {OP_fmod, TD_I8, INT8_MIN, -1, 0},
    {OP_fmod, TD_I32, INT32_MIN, -1, 0},
    {OP_fmod, TD_I64, INT64_MIN, -1, 0},
    {OP_fmod, TD_U16, 65535, 10, 5},
    {OP_fmod, TD_U32, 5, 0xffffffff, 5},
    {OP_fmod, TD_U64, -1, 10, 5},
    {OP_fmod, TD_U64, 5, 0, 0},
    {OP_left_shift, TD_I32, 1, 31, INT32_MIN},
    {OP_left_shift, TD_I32, 1, 32, 0},
    {OP_left_shift, TD_I32, 1, -1, 0},
    {OP_left_shift, TD_I32, -1, 4, -16},
    {OP_left_shift, TD_I8, 1, 7, INT8_MIN},
    {OP_left_shift, TD_I8, 1, 8, 0},
    {OP_left_shift, TD_U8, 3, 7, 128},
    {OP_left_shift, TD_U8, 3, 8, 0},
    {OP_left_shift, TD_U8, 3, 255, 0},
    {OP_left_shift, TD_I64, 1, 63, INT64_MIN},
    {OP_left_shift, TD_I64, 1, 64, 0},
    {OP_left_shift, TD_I64, 1, INT64_MIN, 0},
    {OP_left_shift, TD_U64, 1, -1, 0},
    {OP_right_shift, TD_I32, -16, 2, -4},
    {OP_right_shift, TD_I32, -16, 32, -1},
    {OP_right_shift, TD_I32, -16, -1, -1},
    {OP_right_shift, TD_I32, 16, 40, 0},
    {OP_right_shift, TD_I32, 16, -1, 0},
    {OP_right_shift, TD_I8, -128, 7, -1},
    {OP_right_shift, TD_I8, -128, 100, -1},
    {OP_right_shift, TD_U8, 255, 7, 1},
    {OP_right_shift, TD_U8, 255, 8, 0},
    {OP_right_shift, TD_U32, 0xffffffff, 31, 1},
    {OP_right_shift, TD_U32, 0xffffffff, 32, 0},
    {OP_right_shift, TD_I64, INT64_MIN, 63, -1},
    {OP_right_shift, TD_I64, INT64_MIN, 64, -1},
    {OP_right_shift, TD_U64, INT64_MIN, 63, 1},
    {OP_right_shift, TD_U64, INT64_MIN, 64, 0},
    {OP_mulhi, TD_U8, 255, 255, 254},
    {OP_mulhi, TD_U16, 65535, 65535, 65534},
    {OP_mulhi, TD_U32, 0xffffffff, 0xffffffff, 0xfffffffe},
    {OP_mulhi, TD_U32, 0xD2511F53, 0x12345678, 0x0ef4b3b8},
    {OP_mulhi, TD_U64, -1, -1, -2},
    {OP_mulhi, TD_U64, INT64_MIN, 2, 1},
    {OP_mulhi, TD_U64, 3, 5, 0},
};

static void
test_int_rows(void)
{
    for (size_t k = 0; k < sizeof int_rows / sizeof *int_rows; k++) {
        td_dtype dt = int_rows[k].dt;
        int64_t out = 0;
        const void *in[3] = {&int_rows[k].x, &int_rows[k].y};

        if (!apply(int_rows[k].op, dt, dt, 1, in, &out) &&
            memcmp(&out, &int_rows[k].want, td_dtype_size(dt)) != 0)
            FAIL("%s %s (%" PRId64 ", %" PRId64 ") is %" PRIx64 ", not %" PRId64,
                 td_optab[int_rows[k].op].name, td_dtype_name(dt), int_rows[k].x, int_rows[k].y,
                 out, int_rows[k].want);
    }
}

/* --- floats --- */

static const struct {
    td_op op;
    double x, y, want;
} float_rows[] = {
    {OP_fmod, 5.5, 2, 1.5},
    {OP_fmod, -5.5, 2, -1.5},
    {OP_fmod, 5.5, -2, 1.5},
    {OP_fmod, 5, 0, NAN},
    {OP_fmod, INFINITY, 2, NAN},
    {OP_fmod, 5, INFINITY, 5},
    {OP_fmod, NAN, 2, NAN},
    {OP_fmod, 0x1p100, 3, 1},
    {OP_fmod, -0.0, 3, -0.0},
    {OP_fmod, -6, 3, -0.0},
    {OP_signbit, -0.0, 0, 1},
    {OP_signbit, 0.0, 0, 0},
    {OP_signbit, -INFINITY, 0, 1},
    {OP_signbit, 3, 0, 0},
    {OP_divide, 1, 0, INFINITY},
    {OP_divide, -1, 0, -INFINITY},
    {OP_sqrt, -1, 0, NAN},
    {OP_sqrt, -0.0, 0, -0.0},
    {OP_copysign, 3, -0.0, -3},
    {OP_pow, 0, 0, 1},
    {OP_pow, -8, 1.0 / 2, NAN},
    {OP_pow, -2, 3, -8},
    {OP_arctan2, -0.0, -1, -3.141592653589793},
    {OP_maximum, NAN, 1, NAN},
    {OP_maximum, 1, NAN, NAN},
    {OP_fmax, NAN, 1, 1},
    {OP_fmax, 1, NAN, 1},
    {OP_floor_divide, -7, 2, -4},
    {OP_remainder, -7, 2, 1},
    {OP_remainder, 7, -2, -1},
    {OP_rint, 2.5, 0, 2},
    {OP_rint, -0.4, 0, -0.0},
    {OP_log, 0, 0, -INFINITY},
    {OP_log, -1, 0, NAN},
    {OP_exp, -INFINITY, 0, 0},
    {OP_less, NAN, 1, 0},
    {OP_not_equal, NAN, NAN, 1},
    {OP_equal, 0.0, -0.0, 1},
};

static bool
same(double a, double b)
{
    return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
}

static void
test_float_rows(void)
{
    for (size_t k = 0; k < sizeof float_rows / sizeof *float_rows; k++) {
        td_op op = float_rows[k].op;
        double x = float_rows[k].x, y = float_rows[k].y, out = 0, want = float_rows[k].want;
        float fx = (float)x, fy = (float)y, fout = 0;
        bool truth = td_optab[op].result == TD_RES_BOOL;
        const void *d[3] = {&x, &y}, *f[3] = {&fx, &fy};

        apply(op, TD_F64, TD_F64, 1, d, &out);
        apply(op, TD_F32, TD_F32, 1, f, &fout);
        if (truth ? *(char *)&out != (want != 0) : !same(out, want))
            FAIL("%s float64 (%g, %g) is %.17g, not %.17g", td_optab[op].name, x, y, out, want);
        if (truth ? *(char *)&fout != (want != 0) : !same((double)fout, (double)(float)want))
            FAIL("%s float32 (%g, %g) is %.9g, not %.9g", td_optab[op].name, x, y, (double)fout,
                 want);
    }
}

/* --- casts --- */

/* To bool, int8 … int64, uint8 … uint64. */
static const struct {
    double x;
    int64_t want[9];
} float_to_int[] = {
    {NAN, {1, 0, 0, INT32_MIN, INT64_MIN, 0, 0, 0, INT64_MIN}},
    {INFINITY, {1, 0, 0, INT32_MIN, INT64_MIN, 0, 0, 0, 0}},
    {-INFINITY, {1, 0, 0, INT32_MIN, INT64_MIN, 0, 0, 0, INT64_MIN}},
    {0.0, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {-0.0, {0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {0.5, {1, 0, 0, 0, 0, 0, 0, 0, 0}},
    {-0.9, {1, 0, 0, 0, 0, 0, 0, 0, 0}},
    {1.9, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {-1.9, {1, -1, -1, -1, -1, 255, 65535, 4294967295, -1}},
    {127.9, {1, 127, 127, 127, 127, 127, 127, 127, 127}},
    {128.0, {1, -128, 128, 128, 128, 128, 128, 128, 128}},
    {-129.0, {1, 127, -129, -129, -129, 127, 65407, 4294967167, -129}},
    {255.0, {1, -1, 255, 255, 255, 255, 255, 255, 255}},
    {256.5, {1, 0, 256, 256, 256, 0, 256, 256, 256}},
    {-32769.0, {1, -1, 32767, -32769, -32769, 255, 32767, 4294934527, -32769}},
    {65536.0, {1, 0, 0, 65536, 65536, 0, 0, 65536, 65536}},
    {70000.0, {1, 112, 4464, 70000, 70000, 112, 4464, 70000, 70000}},
    {2147483647.0, {1, -1, -1, 2147483647, 2147483647, 255, 65535, 2147483647, 2147483647}},
    {2147483648.0, {1, 0, 0, INT32_MIN, 2147483648, 0, 0, 2147483648, 2147483648}},
    {-2147483648.5, {1, 0, 0, INT32_MIN, -2147483648, 0, 0, 2147483648, -2147483648}},
    {-2147483649.0, {1, 0, 0, INT32_MIN, -2147483649, 0, 0, 2147483647, -2147483649}},
    {4294967295.0, {1, 0, 0, INT32_MIN, 4294967295, 0, 0, 4294967295, 4294967295}},
    {4294967301.0, {1, 0, 0, INT32_MIN, 4294967301, 0, 0, 5, 4294967301}},
    {-4294967301.0, {1, 0, 0, INT32_MIN, -4294967301, 0, 0, 4294967291, -4294967301}},
    {9007199254740993.0, {1, 0, 0, INT32_MIN, 9007199254740992, 0, 0, 0, 9007199254740992}},
    {0x1p62, {1, 0, 0, INT32_MIN, 4611686018427387904, 0, 0, 0, 4611686018427387904}},
    {0x1p63, {1, 0, 0, INT32_MIN, INT64_MIN, 0, 0, 0, INT64_MIN}},
    {-0x1p63, {1, 0, 0, INT32_MIN, INT64_MIN, 0, 0, 0, INT64_MIN}},
    {-0x1.8p63, {1, 0, 0, INT32_MIN, INT64_MIN, 0, 0, 0, INT64_MIN}},
    {0x1.8p63, {1, 0, 0, INT32_MIN, INT64_MIN, 0, 0, 0, -4611686018427387904}},
    {0x1p64, {1, 0, 0, INT32_MIN, INT64_MIN, 0, 0, 0, 0}},
    {1e300, {1, 0, 0, INT32_MIN, INT64_MIN, 0, 0, 0, 0}},
    {-1e300, {1, 0, 0, INT32_MIN, INT64_MIN, 0, 0, 0, INT64_MIN}},
};

static void
test_float_to_int(void)
{
    for (size_t k = 0; k < sizeof float_to_int / sizeof *float_to_int; k++)
        for (int to = TD_BOOL; to <= TD_U64; to++) {
            double x = float_to_int[k].x;
            float f = (float)x;
            uint16_t h = td_double_to_half(x), b = td_double_to_bfloat(x);
            const void *in[] = {&x, &f, &h, &b};
            static const td_dtype from[] = {TD_F64, TD_F32, TD_F16, TD_BF16};
            const double held[] = {x, (double)f, (double)td_half_to_float(h),
                                   (double)td_bfloat_to_float(b)};

            for (int s = 0; s < 4; s++) {
                int64_t out = 0;

                if (!same(held[s], x) || apply(OP_cast, from[s], (td_dtype)to, 1, &in[s], &out))
                    continue;
                if (memcmp(&out, &float_to_int[k].want[to], td_dtype_size((td_dtype)to)) != 0)
                    FAIL("%s %g to %s is %" PRIx64 ", not %" PRId64, td_dtype_name(from[s]), x,
                         td_dtype_name((td_dtype)to), out, float_to_int[k].want[to]);
            }
        }
}

/* Where one rounding and two differ, and the ends of the ranges. */
static const struct {
    td_dtype from, to;
    uint64_t bits, want;
} roundings[] = {
    {TD_F64, TD_F16, 0x3ff0020000000000, 0x3c00}, /* 1 + 2^-11, a tie */
    {TD_F64, TD_F16, 0x3ff0020000000001, 0x3c01}, /* just above it: float would hide that */
    {TD_F64, TD_F16, 0x40effdffffffffff, 0x7bff}, /* just below 65520 */
    {TD_F64, TD_F16, 0x40effe0000000000, 0x7c00}, /* 65520 */
    {TD_F64, TD_F16, 0x3e60000000000000, 0x0000}, /* 2^-25, a tie to zero */
    {TD_F64, TD_F16, 0x3e60000000000001, 0x0001},
    {TD_F64, TD_BF16, 0x3ff0100000000000, 0x3f80}, /* 1 + 2^-8, a tie */
    {TD_F64, TD_BF16, 0x3ff0100000000001, 0x3f81},
    {TD_F64, TD_BF16, 0xbff0100000000001, 0xbf81},
    {TD_F64, TD_BF16, 0x3ff00fffffffffff, 0x3f80},
    {TD_F64, TD_BF16, 0x7fe0000000000000, 0x7f80}, /* 2^1023 */
    {TD_F64, TD_BF16, 0x3690000000000001, 0x0000}, /* below the smallest float */
    {TD_F64, TD_F32, 0x3ff0000010000000, 0x3f800000},
    {TD_F64, TD_F32, 0x3ff0000010000001, 0x3f800001},
    {TD_F32, TD_BF16, 0x3f808000, 0x3f80},
    {TD_F32, TD_BF16, 0x3f818000, 0x3f82},
    {TD_F32, TD_F16, 0x7f800000, 0x7c00},
    {TD_F16, TD_F64, 0x0001, 0x3e70000000000000}, /* the smallest half, 2^-24 */
    {TD_F16, TD_BF16, 0x3c08, 0x3f81},
    {TD_BF16, TD_F16, 0x7f7f, 0x7c00},
    {TD_I64, TD_F32, 0x4000004000000001,
     0x5e800001}, /* 2^62 + 2^38 + 1: double would make a tie of it */
    {TD_I64, TD_F32, 0x4000004000000000, 0x5e800000},
    {TD_I64, TD_BF16, 0x4040000000000001, 0x5e81},
    {TD_I64, TD_BF16, 0x4040000000000000, 0x5e80},
    {TD_I64, TD_F64, 0x7fffffffffffffff, 0x43e0000000000000},
    {TD_U64, TD_F64, 0xffffffffffffffff, 0x43f0000000000000},
    {TD_U64, TD_F32, 0xffffffffffffffff, 0x5f800000},
    {TD_U64, TD_F16, 0xffffffffffffffff, 0x7c00},
    {TD_U64, TD_BF16, 0xffffffffffffffff, 0x5f80},
    {TD_I32, TD_F16, 2049, 0x6800}, /* ties to 2048 */
    {TD_I32, TD_F32, 16777217, 0x4b800000},
    {TD_BOOL, TD_F16, 1, 0x3c00},
    {TD_U8, TD_BF16, 255, 0x437f},
    {TD_I8, TD_F32, 0x80, 0xc3000000},
};

static void
test_roundings(void)
{
    for (size_t k = 0; k < sizeof roundings / sizeof *roundings; k++) {
        uint64_t out = 0;
        const void *in[3] = {&roundings[k].bits};

        if (!apply(OP_cast, roundings[k].from, roundings[k].to, 1, in, &out) &&
            out != roundings[k].want)
            FAIL("%s %" PRIx64 " to %s is %" PRIx64 ", not %" PRIx64,
                 td_dtype_name(roundings[k].from), roundings[k].bits,
                 td_dtype_name(roundings[k].to), out, roundings[k].want);
    }
}

static const int64_t some_ints[] = {
    0,         1,         2,     100,   127,       128,        255,        256,
    32767,     32768,     65535, 65536, INT32_MAX, 0x80000000, 0xffffffff, 0x100000000,
    INT64_MAX, INT64_MIN, -1,    -2,    -128,      -129,       -32769,     INT32_MIN};

/* Every pair of dtypes, against the conversion of scalars: integers of up to 53 bits, as each dtype holds them. */
static void
test_all_casts(void)
{
    for (int from = 0; from < TD_C64; from++)
        for (int to = 0; to < TD_C64; to++)
            for (size_t k = 0; k < sizeof some_ints / sizeof *some_ints; k++) {
                td_scalar s = {.dt = TD_I64, .i = some_ints[k]};
                uint64_t in[2], want[2], out = 0;
                const void *args[3] = {in};
                bool wide = s.i > (int64_t)1 << 53 || s.i < -((int64_t)1 << 53);

                td_scalar_bits(s, (td_dtype)from, in);
                td_scalar_bits(td_scalar_load((td_dtype)from, in), (td_dtype)to, want);
                if (wide && td_dtype_size((td_dtype)from) == 8 && td_dtype_is_float((td_dtype)to))
                    continue;
                if (!apply(OP_cast, (td_dtype)from, (td_dtype)to, 1, args, &out) && out != want[0])
                    FAIL("%s %" PRIx64 " to %s is %" PRIx64 ", not %" PRIx64,
                         td_dtype_name((td_dtype)from), in[0], td_dtype_name((td_dtype)to), out,
                         want[0]);
            }
}

/* Reinterpreting there and back keeps every bit, a signalling half NaN's too. */
static void
test_bitcasts(void)
{
    static const td_dtype pair[][2] = {{TD_F16, TD_U16}, {TD_BF16, TD_I16}, {TD_F32, TD_I32},
                                       {TD_F64, TD_U64}, {TD_I8, TD_U8},    {TD_F16, TD_BF16},
                                       {TD_I64, TD_F64}, {TD_U32, TD_F32}};
    static const uint64_t bits[4] = {0x7d017d017d017d01, 0xffffffffffffffff, 0x8000800080008080,
                                     0x0102030405060708};

    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) {
        size_t size = td_dtype_size(pair[k][0]);
        int n = (int)(sizeof bits / size);
        uint64_t there[4] = {0}, back[4] = {0};
        const void *in[3] = {bits}, *again[3] = {there};

        apply(OP_bitcast, pair[k][0], pair[k][1], n, in, there);
        apply(OP_bitcast, pair[k][1], pair[k][0], n, again, back);
        if (memcmp(bits, there, sizeof bits) != 0 || memcmp(bits, back, sizeof bits) != 0)
            FAIL("bitcast of %s to %s changes bits", td_dtype_name(pair[k][0]),
                 td_dtype_name(pair[k][1]));
    }
}

/* --- every operation: lanes do not touch each other --- */

static void
test_lanes(td_op op, td_dtype dt)
{
    uint64_t in[3][N], one[N] = {0}, all[N] = {0};
    size_t size = td_dtype_size(dt);
    size_t result = td_dtype_size(td_optab[op].result == TD_RES_BOOL ? TD_BOOL : dt);
    const void *args[3] = {in[0], in[1], in[2]};

    for (int a = 0; a < 3; a++)
        for (int l = 0; l < N; l++) {
            td_scalar s = {.dt = TD_I64, .i = (l * 7 + a * 3) % 11 - 4};
            td_dtype as = op == OP_select && a == 0 ? TD_BOOL : dt;
            uint64_t bits[2];

            td_scalar_bits(s, as, bits);
            memcpy((char *)in[a] + (size_t)l * td_dtype_size(as), bits, td_dtype_size(as));
        }
    if (apply(op, dt, dt, N, args, all))
        return;
    for (int l = 0; l < N; l++) {
        const void *at[3];

        for (int a = 0; a < 3; a++)
            at[a] = (char *)in[a] + (size_t)l * (op == OP_select && a == 0 ? 1 : size);
        apply(op, dt, dt, 1, at, (char *)one + (size_t)l * result);
    }
    for (int l = 0; l < N; l++)
        if (memcmp((char *)one + (size_t)l * result, (char *)all + (size_t)l * result, result) != 0)
            FAIL("%s %s: lane %d differs from one lane alone", td_optab[op].name, td_dtype_name(dt),
                 l);
}

int
main(void)
{
    test_int_rows();
    test_float_rows();
    test_float_to_int();
    test_roundings();
    test_all_casts();
    test_bitcasts();
    for (int op = 0; op < TD_OPS; op++)
        for (int dt = 0; dt < TD_DTYPE_COUNT; dt++)
            if (td_op_admits((td_op)op, (td_dtype)dt))
                test_lanes((td_op)op, (td_dtype)dt);
    printf("%d kernels, %d failures\n", ran, failures);
    return failures != 0;
}
