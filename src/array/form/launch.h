/* launch.h - finding a form's kernel and launching it. */
#ifndef TD_ARRAY_LAUNCH_H
#define TD_ARRAY_LAUNCH_H
#include "array/form/nest.h"
#include "array/plan/plan.h"

/* td_code - how a kernel is found, or made.  Plain data. */
typedef struct td_code {
    td_hash   key;   /* of all that `build` reads */
    td_build *build; /* build(ctx, f) */
    void     *ctx;   /* borrowed */
} td_code;

/* Launches a kernel that has no plan on s, with the graph's lock given up.  Words are arguments in the order of their
 * declaration; dims says what is told about the launch, its extents are the nest's. */
td_status td_form_launch(td_stream *s, const td_code *c, const td_nest *n, td_dims *dims, const uint64_t *words, int nword);

/* td_more - what a launch has beside its plan.  Plain data. */
typedef struct td_more {
    const uint64_t *word;   /* arguments behind the plan's own */
    int             n;
    uint16_t        tail;   /* the last so many are addresses */
    size_t          nbytes; /* behind these addresses */
    const char     *red;    /* the reduction that profiles name first; NULL: none */
    bool            merges; /* it merges what another kernel has reduced */
} td_more;

/* Launches a plan's kernel.  TD_SKIP: one kernel cannot have so many arguments. */
td_status td_form_launch_plan(const td_plan *p, const td_code *c, const td_nest *n, const td_more *more);

#endif
