/* blobs.h - libdevice's functions as bitcode, one blob each, sorted by name.  The table is generated
 * by tools/cut_libdevice.py; it is empty when the build had no libdevice.
 */
#ifndef TD_LOWER_BLOBS_H
#define TD_LOWER_BLOBS_H
#include <stddef.h>

typedef struct low_blob {
    const char          *name; /* "__nv_expf" */
    const unsigned char *bytes;
    size_t               nbytes;
} low_blob;

extern const low_blob low_blobs[];
extern const size_t   low_nblob;

#endif
