/* engine.h - how each kind of device turns IR into a kernel. */
#ifndef TD_JIT_ENGINE_H
#define TD_JIT_ENGINE_H
#include "dev/core/dev.h"
#include "ir/core/ir.h"

/* td_loaded - code that is loaded on a device. */
typedef struct td_loaded {
    td_func *func;
    void    *code;  /* what unload frees: a module, or code that the linker holds */
    bool     turns; /* a launch passes a td_kfiber_launch after the arguments */
} td_loaded;

typedef struct td_engine {
    const char *suffix;      /* file suffix of its cache entries */
    bool        interpreted; /* launches go through the interpreter, so the IR is kept */
    /* Adds to *key what the code for d depends on besides the IR. */
    td_status (*key)(td_dev *d, td_hash *key);
    /* Compiles IR to code that can be cached; *code is owned (free). */
    td_status (*compile)(td_dev *d, const td_fn *f, void **code, size_t *nbytes);
    /* Loads code; `name` must live as long as it stays loaded. */
    td_status (*load)(td_dev *d, const char *name, const void *code, size_t nbytes, td_loaded *out);
    /* Nobody launches it any more.  On a device with queues this waits for all work of the device. */
    void (*unload)(td_loaded *l);
    /* Bytes that one thread handles at a time. */
    int (*width)(void);
} td_engine;

const td_engine *td_jit_engine(td_dev *d); /* borrowed */

/* Prepares f for the CPU's compiler.  A kernel whose threads are independent passes as it is.  A kernel of
 * threads (f->simt) becomes, in mem, the program of a block of lanes; where that cannot be, out->simt stays set
 * and out is the program of one fiber. TD_SKIP: a kernel of threads that has functions inside; the interpreter
 * runs it. */
td_status td_jit_widen(const td_fn *f, int vector_bytes, td_arena *mem, td_fn *out);

#endif
