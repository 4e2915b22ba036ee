/* context.h - a function that is stopped on a stack of its own, and switching to it. */
#ifndef TD_BASE_CONTEXT_H
#define TD_BASE_CONTEXT_H
#include <stddef.h>

#if !defined(TD_CONTEXT_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define TD_CONTEXT_UCONTEXT
#endif

#ifdef TD_CONTEXT_UCONTEXT
#include <ucontext.h>
typedef ucontext_t td_context_regs;
#else
typedef void *td_context_regs; /* the top of the stack, where registers and FPU control words are saved */
#endif

/* td_context - plain memory of its owner.  Borrows the stack. */
typedef struct td_context {
    td_context_regs regs;
    void           *stack; /* lowest byte; AddressSanitizer is told of it */
    size_t          nbytes;
    void           *fake;  /* AddressSanitizer's */
} td_context;

/* Prepares c: the first switch to it calls enter(), which must call td_context_entered first and must never
 * return. `skew` bytes at the top of the stack stay unused, so that hot frames of many stacks map to different
 * cache sets. */
void td_context_make(td_context *c, void *stack, size_t nbytes, size_t skew, void (*enter)(void));
void td_context_entered(td_context *from); /* from: the context that switched here */
/* Saves `from` and continues at `to`; returns when somebody switches to `from`.  last: nobody ever will. */
void td_context_switch(td_context *from, td_context *to, int last);
void td_context_clean(void *stack, size_t nbytes); /* lets the stack of an abandoned context be used again */

#endif
