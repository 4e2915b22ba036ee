// cooperative_groups/scan.h - prefix scans over a group's threads.
#ifndef TD_CU_CG_SCAN_H
#define TD_CU_CG_SCAN_H
#pragma GCC system_header
#include "reduce.h"

namespace cooperative_groups {

template <class G, class T, class Op = plus<T>> inline T inclusive_scan(const G &g, T v, Op op = {})
{
    T r = v;

    for (unsigned d = 1; d < g.size(); d *= 2) {
        T left = g.shfl_up(r, d);

        if (g.thread_rank() >= d)
            r = op(left, r);
    }
    return r;
}

// The first thread gets T{}.
template <class G, class T, class Op = plus<T>> inline T exclusive_scan(const G &g, T v, Op op = {})
{
    T r = g.shfl_up(inclusive_scan(g, v, op), 1);

    return g.thread_rank() == 0 ? T() : r;
}

} // namespace cooperative_groups

#endif
