/* lanes.h - which streams traced work went to. */
#ifndef TD_TESTS_LANES_H
#define TD_TESTS_LANES_H

#include "dev/core/trace.h"

/* The streams that d's work of a kind went to, as bits, of the records from `from` to before `to`. */
static inline unsigned
lanes_of(const td_dev *d, size_t from, size_t to, td_trace_kind kind)
{
    unsigned lanes = 0;
    td_tracerec r;

    for (size_t i = from; i < to; i++)
        if (td_trace_get(i, &r) && r.kind == kind && r.dev == d)
            lanes |= 1u << r.lane;
    return lanes;
}

#endif
