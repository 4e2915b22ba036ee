/* reduce.h - the reductions that there are. */
#ifndef TD_FRONT_REDUCE_H
#define TD_FRONT_REDUCE_H

#define RED_KINDS                                                                                  \
    RED(sum) RED(mean) RED(prod) RED(min) RED(max) RED(any) RED(all) RED(count_nonzero)            \
    RED(argmin) RED(argmax)

enum {
#define RED(name) RED_##name,
    RED_KINDS
#undef RED
};

#endif
