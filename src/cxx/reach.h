/* reach.h - what functions do, directly or in anything that they may call by name.  In doubt they do it. */
#ifndef TD_CXX_REACH_H
#define TD_CXX_REACH_H
#include "cxx/unit.h"

enum {
    CX_BARRIER = 1,  /* waits for the threads of its block or grid */
    CX_WARP = 2,     /* waits for its warp: shuffles, votes, __syncwarp */
    CX_INDEX = 4,    /* reads threadIdx or its kin */
    CX_VOLATILE = 8, /* accesses volatile memory: it may rely on its warp running in step */
    CX_GRID = 16,    /* waits for its grid's threads */
};

typedef struct reach {
    const cx_unit *u;
    struct reach_name *name;
    uint32_t n, cap;  /* names; slots of the hash table */
    uint32_t *slot;
    uint8_t  all;     /* flags of code called without a name (operators), and of unknown headers */
} reach;

td_status td_reach_find(const cx_unit *u, reach *r);
/* Flags of the name t: of functions, macros and classes of that name, and of the built-in one. */
uint8_t td_reach_of(const reach *r, const tok *t);
/* Flags of the tokens [i, end). */
uint8_t td_reach_range(const reach *r, uint32_t i, uint32_t end);
/* Does f take its indices as parameters?  Kernels do, and functions all of whose calls are seen. */
bool td_reach_takes(const reach *r, const cx_fn *f);
bool td_reach_index_call(const reach *r, const tok *t); /* of such a function's name, no kernel's */

#endif
