/* type.h - the types of values in Python kernels.
 *
 * Types are made once and never freed, so they are compared by address.  Callers hold one lock
 * around all functions (under Python: the GIL).
 */
#ifndef TD_FRONT_TYPE_H
#define TD_FRONT_TYPE_H
#include "base/err.h"
#include "base/hash.h"
#include "base/text.h"
#include "type/dtype.h"

typedef enum td_tkind {
    TD_T_NUM,    /* a number or bool of dt */
    TD_T_NONE,   /* None */
    TD_T_TUPLE,  /* item[n]; of a named one `object` is its class */
    TD_T_ARRAY,  /* elements of item[0] (NUM or RECORD), ndim, layout */
    TD_T_RECORD, /* a structured dtype */
    TD_T_OBJECT, /* known when compiling: a function, module, dtype, string, class; `object` is its handle */
    TD_T_SLICE,  /* item[3]: start, stop, step, each NONE or NUM */
    TD_T_RANGE,  /* item[3] */
    TD_T_ITER,   /* enumerate, zip, reversed: `object` says which; item[n] */
    TD_T_BOX,    /* a list, dict, set or str of base/box.h: ndim says which.  Inside of the front a site's (box.h), whose
                    number + 1 is `object`; a caller's has item[n], what its elements are, and layout 'T' where it is
                    treadle.typed's.  An instance of a class has the class's handle as `object` in both, and `size` fields */
} td_tkind;

typedef struct td_field {
    const char *name;
    const struct td_type *type; /* NUM or RECORD; with ndim of a sub-array's elements */
    uint32_t offset;
    uint32_t ndim;
    int64_t  shape[4];
} td_field;

enum { TD_MAXDIM_KERNEL = 8 };

typedef struct td_type {
    uint8_t  kind;
    uint8_t  dt;     /* NUM */
    bool     weak;   /* NUM: a Python int, float or complex: beside a float it takes that one's dtype */
    char     layout; /* ARRAY: 'C', 'F', 'A' (any strides) */
    uint8_t  ndim;   /* ARRAY */
    bool     readonly; /* ARRAY */
    uint32_t n;
    uint32_t object; /* NUM: a mixed one's kinds */
    const struct td_type *const *item;
    /* RECORD; instances of a class: name and type */
    const td_field *field; /* n of them; of a class `size` */
    uint32_t size, align;
    const char *name; /* as errors and explain show it: "float32", "array(float32, 2d, C)" */
} td_type;

/* Makes room for the types of one more function, so that none of the functions below, which cannot fail, lacks memory. */
td_status td_type_room(void);

const td_type *td_type_num(td_dtype dt);
const td_type *td_type_weak(char kind); /* 'i', 'f' or 'c': Python's int, float, complex */
const td_type *td_type_mixed(uint32_t kinds); /* of front/infer/exact.h, at least one; of a single kind: that one's type */
const td_type *td_type_none(void);
const td_type *td_type_tuple(const td_type *const *item, uint32_t n);
const td_type *td_type_named(uint32_t object, const char *name, const td_type *const *item, uint32_t n); /* name: the class's; of one's type's name the part before "(" counts */
const td_type *td_type_tuple_like(const td_type *t, const td_type *const *item); /* t, a tuple, with other items */
const td_type *td_type_slice(const td_type *const item[3]);
const td_type *td_type_range(const td_type *const item[3]);
const td_type *td_type_iter(uint32_t which, const td_type *const *item, uint32_t n);
const td_type *td_type_optional(const td_type *item);    /* an ITER of a bool and the value: a value, or None */
const td_type *td_type_optional_of(const td_type *t);    /* the value's type; NULL: t is another type */
const td_type *td_type_array(const td_type *item, uint32_t ndim, char layout, bool readonly);
const td_type *td_type_record(const td_field *field, uint32_t n, uint32_t size, uint32_t align); /* copies */
const td_type *td_type_box(uint32_t which, const td_type *const *item, uint32_t n, bool typed);
const td_type *td_type_site(uint32_t which, uint32_t number);
const td_type *td_type_class(uint32_t object, const char *name); /* a jitclass's instances; it has no fields until they are told */
void           td_type_set_fields(const td_type *class, const char *const *name, const td_type *const *type, uint32_t n); /* once */
const td_type *td_type_object(uint32_t object, const char *name);

/* Bytes of an element in memory (NUM, RECORD). */
uint32_t td_type_size(const td_type *t);

/* Words of kernel arguments that a value takes: NUM 1 (complex 2: re, im); NONE, OBJECT 0; TUPLE its items';
 * ARRAY 1 + ndim, and ndim more when layout is 'A' or the elements are records: address, shape, strides in units of
 * the element's size (bytes for records); RECORD 1: its address. */
uint32_t td_type_words(const td_type *t);

#endif
