/* cpu.h - the steps of td_cxx_for_cpu: each collects edits of the text. */
#ifndef TD_CXX_CPU_H
#define TD_CXX_CPU_H
#include "cxx/cxx.h"
#include "cxx/edit.h"
#include "cxx/reach.h"

/* cx_job - the rewriting of one text.  In the arena. */
typedef struct cx_job {
    cx_unit  u;
    reach    r;
    edits    e;
    uint8_t *manner;  /* for each function that is a kernel: how its threads run (cpu.c) */
    uint32_t nshared; /* __shared__ variables numbered so far */
    bool     checked;
    bool     globals; /* code uses threadIdx and its kin where no parameters have these names */
} cx_job;

/* shared.c: __shared__ and extern __shared__ to td_cu::shared and td_cu::dynamic_shared. */
void td_cpu_shared(cx_job *j);
/* indices.c: passes the built-in variables to kernels and functions as parameters. */
void td_cpu_indices(cx_job *j);
bool td_cpu_lambda(const cx_job *j, uint32_t i); /* is the [ at i a lambda's? */
/* check.c: accesses through names are checked. */
void td_cpu_check(cx_job *j);
/* step.c: makes threads give way after accesses to volatile memory. */
void td_cpu_step(cx_job *j);
/* gpu.c: turns texture references into objects in constant memory. */
void td_cpu_textures(const cx_unit *u, edits *e, const td_cxx *c);
/* refuse.c: TD_ERR_JIT for code that a CPU cannot run; names it, and says what to do instead. */
td_status td_cpu_refuse(const cx_job *j);

static inline bool
is(const cx_job *j, uint32_t i, const char *s)
{
    const tok *t = &j->u.k.t[i];

    return (t->kind == TOK_MARK || t->kind == TOK_WORD) && td_tok_is(t, s);
}

#endif
