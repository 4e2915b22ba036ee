/* now.h - small work on a CPU, done where it would be recorded or planned: when, and on what.
 *
 * What says TD_SKIP has done nothing: the ordinary way is gone then, which also tells what is wrong with the operands.
 */
#ifndef TD_ARRAY_NOW_RUN_H
#define TD_ARRAY_NOW_RUN_H
#include "array/graph/internal.h"
#include "array/now/now.h"

enum { TD_NOW_MOST = 1 << 14 }; /* elements that are packed on the stack, whatever the limit says */

bool td_now_few(int64_t n); /* elements times instructions */

/* Does the thread record for replays, look for floating-point errors, or a profile count kernels? */
bool td_now_watched(void);

bool td_now_there(const td_node *n);    /* can its value be read in this moment? */
bool td_now_own(const td_storage *s);   /* is its memory nobody else's, and no work under way reads it? */

/* n, which is there; bits holds a number. */
td_few td_now_operand(const td_node *n, uint64_t bits[2]);

/* As td_array_select and td_array_put. */
td_status td_now_select(const td_array *a, const td_array *mask, td_array *out);
td_status td_now_put(const td_array *a, const td_pick *p, const td_operand *value);
td_status td_now_assign(const td_array *a, td_node *value); /* a[...] = value, which broadcasts to a */

/* Are a and b vectors or matrices so small that td_now_product multiplies them best? */
bool td_now_multiplies(const td_array *a, const td_array *b);
td_status td_now_product(const td_array *a, const td_array *b, td_array *out);

#endif
