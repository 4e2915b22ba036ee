/* context.c - switching stacks: assembly for x86-64 and aarch64, ucontext elsewhere.
 *
 * A switch is a call, so it saves what a callee must keep: registers, and the control words of the FPU (rounding,
 * exceptions).  ucontext also asks the kernel for the signal mask, 50 times slower.
 */
#include "base/context.h"

#include <stdint.h>
#include <string.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define ASAN 1
#else
#define ASAN 0
#endif

#ifndef TD_CONTEXT_UCONTEXT

/* Saves the registers in *from and continues at `to`. */
void td_context_swap(void **from, void *to) __attribute__((visibility("hidden")));
extern const char td_context_start[] __attribute__((visibility("hidden")));

#if defined(__x86_64__)
/* The saved words from the top down: return address, rbp, rbx, r12 to r15, control words (8
 * bytes).  Loading control words is slow, so the code skips it where they are equal. */
__asm__(".text\n"
        ".globl td_context_swap\n"
        ".hidden td_context_swap\n"
        ".type td_context_swap, @function\n"
        ".p2align 4\n"
        "td_context_swap:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movl (%rsp), %eax\n"
        "    movzwl 4(%rsp), %ecx\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    cmpl (%rsp), %eax\n"
        "    je 1f\n"
        "    ldmxcsr (%rsp)\n"
        "1:  cmpw 4(%rsp), %cx\n"
        "    je 2f\n"
        "    fldcw 4(%rsp)\n"
        "2:  addq $8, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size td_context_swap, . - td_context_swap\n"
        ".globl td_context_start\n"
        ".hidden td_context_start\n"
        ".type td_context_start, @function\n"
        "td_context_start:\n" /* rbp 0 and a return address of 0 end a stack walk */
        "    callq *%rbx\n"
        "    ud2\n"
        ".size td_context_start, . - td_context_start\n");

enum { SAVED = 8, CONTROL = 0, FUNCTION = 5, RETURN = 7 }; /* words */

static void
save_control(uint64_t *at)
{
    uint32_t mxcsr;
    uint16_t cw;

    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(cw));
    *at = mxcsr | (uint64_t)cw << 32;
}

#else /* aarch64 */
/* From the lowest address: x19 to x30, d8 to d15, fpcr. */
__asm__(".text\n"
        ".globl td_context_swap\n"
        ".hidden td_context_swap\n"
        ".type td_context_swap, %function\n"
        ".p2align 4\n"
        "td_context_swap:\n"
        "    sub sp, sp, #176\n"
        "    stp x19, x20, [sp]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mrs x9, fpcr\n"
        "    str x9, [sp, #160]\n"
        "    mov x10, sp\n"
        "    str x10, [x0]\n"
        "    mov sp, x1\n"
        "    ldr x10, [sp, #160]\n"
        "    cmp x9, x10\n"
        "    b.eq 1f\n"
        "    msr fpcr, x10\n"
        "1:  ldp x19, x20, [sp]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #176\n"
        "    ret\n"
        ".size td_context_swap, . - td_context_swap\n"
        ".globl td_context_start\n"
        ".hidden td_context_start\n"
        ".type td_context_start, %function\n"
        "td_context_start:\n"
        "    blr x19\n"
        "    brk #1\n"
        ".size td_context_start, . - td_context_start\n");

enum { SAVED = 22, CONTROL = 20, FUNCTION = 0, RETURN = 11 }; /* words */

static void
save_control(uint64_t *at)
{
    __asm__ volatile("mrs %0, fpcr" : "=r"(*at));
}
#endif

static void
fill_start_frame(td_context *c, size_t used, void (*enter)(void))
{
    /* Two words stay free above: the stack pointer is a multiple of 16 where td_context_start
     * calls. */
    uint64_t *at = (uint64_t *)(void *)((char *)c->stack + used) - 2 - SAVED;

    memset(at, 0, (SAVED + 2) * sizeof *at);
    save_control(&at[CONTROL]);
    at[FUNCTION] = (uint64_t)(uintptr_t)enter;
    at[RETURN] = (uint64_t)(uintptr_t)td_context_start;
    c->regs = at;
}

static void
swap(td_context *from, td_context *to)
{
    td_context_swap(&from->regs, to->regs);
}

#else

static void
fill_start_frame(td_context *c, size_t used, void (*enter)(void))
{
    (void)getcontext(&c->regs);
    c->regs.uc_stack.ss_sp = c->stack;
    c->regs.uc_stack.ss_size = used;
    c->regs.uc_link = NULL;
    makecontext(&c->regs, enter, 0);
}

static void
swap(td_context *from, td_context *to)
{
    (void)swapcontext(&from->regs, &to->regs);
}
#endif

void
td_context_make(td_context *c, void *stack, size_t nbytes, size_t skew, void (*enter)(void))
{
    c->stack = stack;
    c->nbytes = nbytes;
    c->fake = NULL;
    fill_start_frame(c, nbytes - (skew & ~(size_t)15), enter);
}

void
td_context_entered(td_context *from)
{
#if ASAN
    const void *stack;

    /* only the sanitizer knows where a thread's own stack lies */
    __sanitizer_finish_switch_fiber(NULL, &stack, &from->nbytes);
    memcpy(&from->stack, &stack, sizeof stack);
#else
    (void)from;
#endif
}

void
td_context_switch(td_context *from, td_context *to, int last)
{
#if ASAN
    __sanitizer_start_switch_fiber(last ? NULL : &from->fake, to->stack, to->nbytes);
    swap(from, to);
    __sanitizer_finish_switch_fiber(from->fake, NULL, NULL);
#else
    (void)last;
    swap(from, to);
#endif
}

void
td_context_clean(void *stack, size_t nbytes)
{
#if ASAN
    __asan_unpoison_memory_region(stack, nbytes);
#else
    (void)stack;
    (void)nbytes;
#endif
}
