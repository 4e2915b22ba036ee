// cooperative_groups/reduce.h - reductions of a group's values.
#ifndef TD_CU_CG_REDUCE_H
#define TD_CU_CG_REDUCE_H
#pragma GCC system_header
#include "../cooperative_groups.h"

namespace cooperative_groups {

#define TD_CU_OPERATION(name, expression)                                                                              \
    template <class T = void> struct name {                                                                            \
        T operator()(const T &a, const T &b) const { return expression; }                                              \
    };                                                                                                                 \
    template <> struct name<void> {                                                                                    \
        template <class T> T operator()(const T &a, const T &b) const { return expression; }                           \
    };
TD_CU_OPERATION(plus, a + b)
TD_CU_OPERATION(less, b < a ? b : a)
TD_CU_OPERATION(greater, a < b ? b : a)
TD_CU_OPERATION(bit_and, a &b)
TD_CU_OPERATION(bit_or, a | b)
TD_CU_OPERATION(bit_xor, a ^ b)
#undef TD_CU_OPERATION

// Combines the values in the order of ranks; every thread computes the result.
template <class G, class T, class Op> inline T reduce(const G &g, T v, Op op)
{
    T r = g.shfl(v, 0);

    for (unsigned i = 1; i < g.size(); i++)
        r = op(r, g.shfl(v, int(i)));
    return r;
}

} // namespace cooperative_groups

#endif
