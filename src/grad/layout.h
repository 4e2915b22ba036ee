/* layout.h - where the elements of a result lie in memory, by PyTorch's rules.
 *
 * NumPy lays a result out in C order where its operands disagree; PyTorch asks the first operand that orders two dims.
 */
#ifndef TD_GRAD_LAYOUT_H
#define TD_GRAD_LAYOUT_H
#include "array/graph/array.h"

enum { TD_LAYOUT_SOURCES = 4 };

/* The strides as PyTorch counts them. A stride of 0 stands for a dim of one element or for no elements at all, too;
 * PyTorch gives those the stride that continues the dim after them. */
void td_layout_strides(const td_view *v, td_shape *out);
/* C order without gaps, the strides of dims of one element too. */
bool td_layout_plain(const td_view *v);
/* Do the strides say that a batch of images or volumes has its channels last?  Of one channel, or of one place a
 * channel, they may say either. */
bool td_layout_channels_last(const td_view *v);
/* The layout of a copy of v (torch.preserve_format): v's own, without gaps. */
void td_layout_like(const td_view *v, td_view *out);
/* The layout of an elementwise operation's result of shape s; src: the operands, at most TD_LAYOUT_SOURCES. */
void td_layout_follow(const td_shape *s, const td_view *const *src, int n, td_view *out);
/* The same by the strides of views of shape s alone; a stride of 0 leaves the order open. */
void td_layout_order(const td_shape *s, const td_view *const *src, int n, td_view *out);
/* Gives a, a result that nobody else has, that layout; it becomes a copy if its elements have to move. */
td_status td_layout_settle(td_array *a, const td_view *layout);

#endif
