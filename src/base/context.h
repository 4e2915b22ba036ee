/* context.h - where a function stopped on a stack of its own, and going on there. */
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
typedef void *td_context_regs; /* the stack's top; registers and control words of the FPU lie there */
#endif

/* td_context - its owner's; plain memory.  The stack is borrowed. */
typedef struct td_context {
    td_context_regs regs;
    void           *stack; /* its lowest byte; what AddressSanitizer is told */
    size_t          nbytes;
    void           *fake;  /* AddressSanitizer's */
} td_context;

/* The first switch to c calls enter(), which must call td_context_entered first and never return.  `skew`
 * bytes at the top stay unused: hot frames of many stacks then lie in different sets of the cache. */
void td_context_make(td_context *c, void *stack, size_t nbytes, size_t skew, void (*enter)(void));
void td_context_entered(td_context *from); /* from: as the switch that led here had it */
/* Goes on at `to`; returns when somebody switches to `from`.  last: nobody will. */
void td_context_switch(td_context *from, td_context *to, int last);
void td_context_clean(void *stack, size_t nbytes); /* the stack of a context that is given up may be used again */

#endif
