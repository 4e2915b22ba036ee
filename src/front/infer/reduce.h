/* reduce.h - the reductions that there are. */
#ifndef TD_FRONT_REDUCE_H
#define TD_FRONT_REDUCE_H
#include <stdbool.h>

#define RED_KINDS                                                                                  \
    RED(sum) RED(mean) RED(prod) RED(min) RED(max) RED(any) RED(all) RED(count_nonzero)            \
    RED(argmin) RED(argmax)

enum {
#define RED(name) RED_##name,
    RED_KINDS
#undef RED
};

const char *reduction_name(int how);
bool        reduction_is_sum(int how); /* which compensates floats and widens integers */

#endif
