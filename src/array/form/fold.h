/* fold.h - one reducing kernel: its schedule, its code, its launch. */
#ifndef TD_ARRAY_FOLD_H
#define TD_ARRAY_FOLD_H
#include "array/form/nest.h"
#include "array/plan/plan.h"
#include "array/graph/reduce.h"

/* int64 arguments after the plan's own. */
enum {
    TD_FOLD_COUNT,  /* elements behind one result */
    TD_FOLD_SEGS,   /* segments a result */
    TD_FOLD_SEGLEN, /* reduced positions a segment */
    TD_FOLD_EXTENT, /* reduced positions in all: elements, or (CPU, along, several reduced dims) rows */
    TD_FOLD_UNITS,  /* units in all */
    TD_FOLD_OWN,    /* units a segment */
    TD_FOLD_PER,    /* units a block (CPU) */
    TD_FOLD_STRIPS, /* across: strips of `lanes` results in the last dim */
    TD_FOLD_ROWS,   /* across: results in all, the distance between segments */
    TD_FOLD_EXTRAS /* behind these: ddof (float64), then the addresses of results or accumulators */
};

enum { TD_FOLD_DEEP = 16 };

typedef struct td_fold {
    const td_plan *p;
    td_red         red;
    td_dtype       out, acc[TD_MAXACC];
    int            nacc;
    bool           pair; /* accumulators of complex numbers */
    uint16_t       value[TD_MAXACC]; /* steps: the element, or the accumulators when merging */
    bool           merging;          /* elements are accumulators of an earlier kernel */
    bool           final;            /* writes results, not accumulators */
    bool           masked;
    bool           streamed; /* CPU, across: row by row, accumulators in memory; never final */
    int            lanes;
    bool           cut;      /* results have several segments */
    bool           near;     /* CPU: float32 elements are added in float32 for a few terms, then in float64 */
    td_nest        nest;     /* a unit is a row of results times a segment of what is reduced */
    int            deep;        /* GPU, across: rows whose loads a thread issues together */
    bool           fixed[TD_PLAN_STEPS]; /* across: steps that have one value for all rows that a lane walks over */
    td_num         shift; /* while building: a float64 or complex128 number subtracted from the elements; TD_NONE: nothing */
    td_val         ddof_param, out_ptr[TD_MAXACC]; /* while building */
} td_fold;

td_status td_fold_build_cpu(void *ctx, td_fn *f);
td_status td_fold_build_gpu(void *ctx, td_fn *f);

/* Computes n, a pending reduction, with the pending work below it.  TD_SKIP: one kernel cannot hold that work. */
td_status td_eval_reduce(td_node *n);

#endif
