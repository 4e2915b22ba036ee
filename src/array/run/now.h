/* now.h - small work that a CPU runs at once instead of recording it.
 *
 * A function that returns TD_SKIP has done nothing; the caller goes the general way, which also reports wrong operands.
 */
#ifndef TD_ARRAY_NOW_RUN_H
#define TD_ARRAY_NOW_RUN_H
#include "array/graph/internal.h"
#include "array/now/now.h"

enum { TD_NOW_MOST = 1 << 14 }; /* elements that may be packed on the stack, whatever the limit is */

bool td_now_few(int64_t n); /* is n, elements times instructions, below the limit? */

/* Does the thread record for replays, look for floating-point errors, or a profile count kernels? */
bool td_now_watched(void);

bool td_now_there(const td_node *n);    /* can its value be read now? */
bool td_now_own(const td_storage *s);   /* does no other storage share its memory, and no running work read it? */

/* Describes n, which can be read now; bits holds a number's value. */
td_few td_now_operand(const td_node *n, uint64_t bits[2]);

/* As td_array_select and td_array_put. */
td_status td_now_select(const td_array *a, const td_array *mask, td_array *out);
td_status td_now_put(const td_array *a, const td_pick *p, const td_operand *value);
td_status td_now_assign(const td_array *a, td_node *value); /* a[...] = value, which broadcasts to a */

/* Are a and b vectors or matrices so small that td_now_product multiplies them best? */
bool td_now_multiplies(const td_array *a, const td_array *b);
td_status td_now_product(const td_array *a, const td_array *b, td_array *out);

#endif
