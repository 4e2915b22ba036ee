/* internal.h - what the files of this folder share. */
#ifndef TD_GRAD_INTERNAL_H
#define TD_GRAD_INTERNAL_H
#include "grad/grad.h"

void      td_hooks_free(td_hook *h);
td_status td_var_twin(td_var *v, td_var **out); /* v's storage as a variable without history; kept with v */
/* May a result of dtype `from` be written to a variable of dtype `own`?  Not if its kind is higher. */
bool td_var_can_hold(td_dtype own, td_dtype from);
/* expand as a recorded value, for backward rules */
td_status td_var_broadcast(td_var *v, const td_shape *s, td_var **out);
/* If a write through another view gave v's base a new history, v's history follows. */
td_status td_var_refresh(td_var *v);
/* v, which retains its gradient, is about to become f's output `out`. */
void      td_var_move_retained(td_var *v, td_gradfn *f, uint32_t out);
/* May v be written to?  TD_ERR_STATE: it was made in inference mode, which has ended. */
td_status td_var_writable(const td_var *v);
/* Zeros of shape s with g added through the view w of their elements in C order. */
td_status td_var_place(td_var *g, const td_shape *s, const td_view *w, td_var **out);
/* The view of g that w is if g were in C order from 0. */
td_status td_var_window(td_var *g, const td_view *w, td_var **out);
/* The range of a storage's elements that either view covers. */
void      td_window_span(const td_view *whole, const td_view *part, int64_t *lo, int64_t *hi);

#endif
