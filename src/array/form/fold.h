/* fold.h - one reducing kernel: its form, its code, its launch. */
#ifndef TD_ARRAY_FOLD_H
#define TD_ARRAY_FOLD_H
#include "array/plan/plan.h"
#include "array/graph/reduce.h"

/* int64 arguments after the plan's own. */
enum {
    TD_FOLD_COUNT,  /* elements behind one result */
    TD_FOLD_SEGS,   /* segments a result */
    TD_FOLD_SEGLEN, /* reduced positions a segment */
    TD_FOLD_EXTENT, /* reduced positions in all: elements, or rows of several reduced dims (CPU, along) */
    TD_FOLD_UNITS,  /* units in all */
    TD_FOLD_OWN,    /* units a segment */
    TD_FOLD_PER,    /* units a block (CPU) */
    TD_FOLD_STRIPS, /* across: strips of `lanes` results in the last dim */
    TD_FOLD_ROWS,   /* across: results in all, the distance between segments */
    TD_FOLD_EXTRAS
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
    bool           near;     /* CPU: float32 sums are added up in float32 for a few terms */
    int            team, block; /* GPU, along: threads a unit, threads a block */
    int            deep;        /* GPU, across: rows that a thread reads side by side */
    td_num         shift; /* while building: a float64 or complex128 number subtracted from the elements; TD_NONE: nothing */
    td_val         ddof_param, out_ptr[TD_MAXACC]; /* while building */
} td_fold;

td_status td_fold_build_cpu(void *ctx, td_fn *f);
td_status td_fold_build_gpu(void *ctx, td_fn *f);

/* n, a pending reduction whose source may be pending.  TD_SKIP: its source does not fit one kernel. */
td_status td_eval_reduce(td_node *n);

#endif
