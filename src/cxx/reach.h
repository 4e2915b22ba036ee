/* reach.h - what functions do, they or whatever they may call by name.  When in doubt: they do. */
#ifndef TD_CXX_REACH_H
#define TD_CXX_REACH_H
#include "cxx/unit.h"

enum {
    CX_BARRIER = 1,  /* waits for its block's or grid's threads */
    CX_WARP = 2,     /* waits for its warp's: shuffles, votes, __syncwarp */
    CX_INDEX = 4,    /* reads threadIdx or its kin */
    CX_VOLATILE = 8, /* reads or writes volatile memory: may count on its warp's threads going in step */
    CX_GRID = 16,    /* waits for its grid's threads */
};

typedef struct reach {
    const cx_unit *u;
    struct reach_name *name;
    uint32_t n, cap;  /* names; slots of the hash table */
    uint32_t *slot;
    uint8_t  all;     /* of what is called without a name (operators), and of headers not known here */
} reach;

td_status td_reach_find(const cx_unit *u, reach *r);
/* Flags of the name t: of functions, macros and classes of that name, and of the built-in one. */
uint8_t td_reach_of(const reach *r, const tok *t);
/* Flags of the tokens [i, end). */
uint8_t td_reach_range(const reach *r, uint32_t i, uint32_t end);
/* The function f takes its indices as parameters: it is a kernel, or a function whose calls are all seen. */
bool td_reach_takes(const reach *r, const cx_fn *f);
bool td_reach_index_call(const reach *r, const tok *t); /* of such a function's name, no kernel's */

#endif
