/* engine.h - what differs between kinds of devices on the way from IR to a kernel. */
#ifndef TD_JIT_ENGINE_H
#define TD_JIT_ENGINE_H
#include "dev/core/dev.h"
#include "ir/core/ir.h"

typedef struct td_engine {
    const char *suffix;      /* of entries on disk */
    bool        interpreted; /* launches need the IR: it is kept */
    /* Adds to *key what code for d depends on besides the IR. */
    td_status (*key)(td_dev *d, td_hash *key);
    /* IR to what is kept on disk; *code is owned (free). */
    td_status (*compile)(td_dev *d, const td_fn *f, void **code, size_t *nbytes);
    /* Code to a function for launches that lives as long as the process; name is borrowed as long.  *turns: its
     * launches take a td_kfiber_launch behind the arguments. */
    td_status (*load)(td_dev *d, const char *name, const void *code, size_t nbytes, td_func **out, bool *turns);
    /* Bytes that one thread handles at a time. */
    int (*width)(void);
} td_engine;

const td_engine *td_jit_engine(td_dev *d); /* borrowed */

/* What the CPU's compiler is given for f: f itself, or in mem, when f is the program of one of many threads, that
 * of a block or, where they have to take turns, of a thread (out->simt).  TD_SKIP: a kernel of
 * threads with functions inside, which is interpreted. */
td_status td_jit_widen(const td_fn *f, int vector_bytes, td_arena *mem, td_fn *out);

#endif
