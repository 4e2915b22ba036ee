/* dtype.h - the element types and NumPy 2's promotion between them. */
#ifndef TD_TYPE_DTYPE_H
#define TD_TYPE_DTYPE_H
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum td_dtype {
#define DT(e, name, size, kind, str, c) TD_##e,
#include "type/dtypes.def"
    TD_DTYPE_COUNT
} td_dtype;

typedef struct td_dtinfo {
    const char *name, *typestr;
    uint8_t     size;
    char        kind;
} td_dtinfo;

extern const td_dtinfo td_dtab[TD_DTYPE_COUNT];

static inline size_t      td_dtype_size(td_dtype dt) { return td_dtab[dt].size; }
static inline char        td_dtype_kind(td_dtype dt) { return td_dtab[dt].kind; }
static inline const char *td_dtype_name(td_dtype dt) { return td_dtab[dt].name; }
static inline bool        td_dtype_is_float(td_dtype dt) { return td_dtab[dt].kind == 'f'; }
static inline bool        td_dtype_is_complex(td_dtype dt) { return td_dtab[dt].kind == 'c'; }
static inline bool        td_dtype_is_half(td_dtype dt) { return dt == TD_F16 || dt == TD_BF16; }
static inline bool        td_dtype_is_int(td_dtype dt) { return td_dtab[dt].kind == 'i' || td_dtab[dt].kind == 'u'; }

/* By name ("float32") or typestr ("<f4"); TD_ERR_TYPE names what was asked. */
td_status td_dtype_parse(const char *text, td_dtype *out);

/* NumPy's result_type of two dtypes (float16 with bfloat16 is float32). */
td_dtype td_promote(td_dtype a, td_dtype b);

/* The dtype of a Python scalar of `kind` (b, i, f or c) in an operation with an array of dtype `a`: NEP 50's
 * weak scalars.  An int with a bool array is int64, a float with an integer array float64, … */
td_dtype td_promote_weak(td_dtype a, char kind);

/* A float dtype for function results over `dt`, as NumPy: int8 -> float16, int16 -> float32,
 * other integers -> float64; floats and complex unchanged. */
td_dtype td_dtype_float_of(td_dtype dt);
td_dtype td_dtype_real_of(td_dtype dt);    /* complex -> its component's dtype; others unchanged */
td_dtype td_dtype_complex_of(td_dtype dt); /* float16/32 -> complex64, others -> complex128 */

/* NumPy's can_cast(from, to, casting): 's' safe, 'k' same_kind, 'u' unsafe. */
bool td_can_cast(td_dtype from, td_dtype to, char casting);

/* One number, for scalars that travel as kernel arguments. */
typedef struct td_scalar {
    td_dtype dt;
    union {
        int64_t  i; /* bool and signed */
        uint64_t u; /* unsigned */
        double   f[2]; /* float; complex: re, im */
    };
} td_scalar;

/* The element's bits as they stand in memory, zero-extended to 16 bytes; out[0] is what a kernel
 * argument of that dtype carries.  Converts from s.dt to dt by NumPy's (C's) rules, total. */
void td_scalar_bits(td_scalar s, td_dtype dt, uint64_t out[2]);
td_scalar td_scalar_load(td_dtype dt, const void *p);

/* IEEE half and bfloat16, round to nearest even. */
float    td_half_to_float(uint16_t h);
uint16_t td_float_to_half(float f);
uint16_t td_double_to_half(double d); /* one rounding */
float    td_bfloat_to_float(uint16_t h);
uint16_t td_double_to_bfloat(double d); /* one rounding */

/* C's conversion made total, NumPy's values on x86-64: out of range and NaN give the minimum. */
int64_t  td_f64_to_i64(double x);
int32_t  td_f64_to_i32(double x);
uint64_t td_f64_to_u64(double x);

#endif
