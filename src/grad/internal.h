/* internal.h - what the files of this folder share. */
#ifndef TD_GRAD_INTERNAL_H
#define TD_GRAD_INTERNAL_H
#include "grad/grad.h"

void      td_hooks_free(td_hook *h);
td_status td_var_twin(td_var *v, td_var **out); /* v's storage without a history; kept with v */
td_status td_var_broadcast(td_var *v, const td_shape *s, td_var **out); /* expand as a recorded value: backward's */
/* Writing through another view of the storage has given v's base a new history: v's follows. */
td_status td_var_refresh(td_var *v);
/* v, which keeps its gradient, is about to be f's output `out`. */
void      td_var_move_retained(td_var *v, td_gradfn *f, uint32_t out);
/* Zeros of shape s with g added through w, a window on them in C order. */
td_status td_var_place(td_var *g, const td_shape *s, const td_view *w, td_var **out);
/* g's window, which is w were g in C order from 0. */
td_status td_var_window(td_var *g, const td_view *w, td_var **out);
/* The elements of a storage that either touches. */
void      td_window_span(const td_view *whole, const td_view *part, int64_t *lo, int64_t *hi);

#endif
