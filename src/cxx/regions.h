/* regions.h - a kernel cut at its barriers (src/cuhost/td_cu/regions.h has the pieces of the result). */
#ifndef TD_CXX_REGIONS_H
#define TD_CXX_REGIONS_H
#include "cxx/body.h"

/* cx_region - consecutive statements that a block's threads run without waiting for each other, or in turns. */
typedef struct cx_region {
    uint32_t first, last; /* statements */
    uint32_t from, end;   /* tokens */
    bool     in_turns;
    bool     returns;     /* a thread may return in it */
    bool     in_loop;
    uint32_t strided;     /* the loop whose body it is; 0: none */
} cx_region;

/* The parts of a strided loop's header: its variable, tokens of bound and step. */
typedef struct cx_stride {
    uint32_t local, bound, step; /* variable; the first token of condition and of what is added */
} cx_stride;

typedef struct cx_guard { /* tokens of a test */
    uint32_t from, end;
    bool     negated; /* it fails in most threads: one that passes returns, or is at an edge */
} cx_guard;

enum { CX_GUARDS = 4 };

typedef struct cx_guards {
    cx_guard guard[CX_GUARDS]; /* in the order of the text */
    uint32_t n;
    uint32_t from;             /* the token ahead of which they are evaluated */
    bool    *reads;            /* reads[local]: a test needs the variable, which is computed for it */
} cx_guards;

typedef struct cx_plan {
    cx_body    b;
    cx_region *region; /* region[1] … */
    uint32_t   nregion;
    uint8_t   *used;   /* used[local * (nregion + 1) + region]: the variable's name must be visible there */
    cx_guards  guards; /* of the region that is written */
    bool       alive;  /* threads that have returned are recorded */
} cx_plan;

/* plan.c: false: the kernel is not cut; its threads are fibers. */
bool td_plan_make(cx_job *j, const cx_fn *f, cx_plan *p);
uint32_t td_plan_home(const cx_plan *p, const cx_local *l); /* the region that declares it; 0: none */
static inline bool
td_plan_used(const cx_plan *p, uint32_t local, uint32_t region)
{
    return p->used[(size_t)local * (p->nregion + 1) + region];
}

/* stride.c: can threads run the loop together?  Its parts. */
bool td_plan_strided(const cx_body *b, uint32_t stmt, cx_stride *out);

/* guard.c: finds tests of indices among the statements from first to last; false: there is none. */
bool td_plan_guards(const cx_body *b, uint32_t first, uint32_t last, cx_guards *g);
/* Finds what the test of a strided loop reads; false: it is no test that td_cu/line.h knows. */
bool td_plan_guard_round(const cx_body *b, uint32_t loop, cx_guards *g);

/* regions.c: the edits. */
void td_plan_write(cx_plan *p);

#endif
