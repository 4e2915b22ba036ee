/* api.h - what the files of the C API share: the lock, handles, checks at the door. */
#ifndef TD_API_API_H
#define TD_API_API_H
#include "array/graph/array.h"

#include "treadle.h"

/* treadle_array - refcounted; holds one td_array.  The other handles are the core's own objects. */
struct treadle_array {
    int64_t  refs; /* under the lock */
    bool     fixed; /* a broadcast view: not written through */
    td_array a;
};

/* Every function that touches the graph runs between these; they nest. */
bool           td_api_enter(void);               /* false: the interpreter's lock is the graph's, and the caller has it */
treadle_status td_api_leave(bool held, td_status st);
/* The same with a result: st or the new handle in *out, which takes over r; it is fixed if `like` is and shares its storage. */
treadle_status td_api_done(bool held, td_status st, td_array *r, const treadle_array *like, treadle_array **out);

td_status td_api_null(const char *fn);            /* TD_ERR_VALUE: something was NULL */
td_status td_api_dtype(const char *fn, treadle_dtype dt, td_dtype *out); /* TD_ERR_VALUE: none */
td_status td_api_shape(const char *fn, int ndim, const int64_t *dims, td_shape *out);
td_status td_api_device(treadle_device *d, td_dev **out); /* NULL: the default */
td_status td_api_operand(const char *fn, const treadle_operand *x, td_operand *out);
td_status td_api_number(const char *fn, const treadle_operand *x, td_operand *out); /* TD_ERR_VALUE: an array */

#endif
