/* libdevice.h - the GPU's math functions as LLVM bitcode, cut by tools/libdevice.py.
 *
 * Each blob is a module that defines one public function, with private copies of the tables it needs.
 * A kernel links the blobs of what it calls and makes their functions internal.  Without libdevice at
 * build time the table is empty.
 */
#ifndef TD_LOWER_LIBDEVICE_H
#define TD_LOWER_LIBDEVICE_H
#include <stddef.h>

typedef struct td_blob {
    const char          *name; /* "__nv_expf" */
    const unsigned char *bytes;
    size_t               nbytes;
} td_blob;

extern const td_blob td_libdevice[]; /* sorted by name; ends with a NULL name */

#endif
