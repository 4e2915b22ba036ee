/* cpu.h - the parts of td_cxx_for_cpu: each collects edits of the text. */
#ifndef TD_CXX_CPU_H
#define TD_CXX_CPU_H
#include "cxx/cxx.h"
#include "cxx/edit.h"
#include "cxx/reach.h"

/* cx_job - one rewriting.  Arena's. */
typedef struct cx_job {
    cx_unit  u;
    reach    r;
    edits    e;
    uint8_t *manner;  /* of each function that is a kernel: cpu.c */
    uint32_t nshared; /* __shared__ variables numbered so far */
    bool     checked;
    bool     globals; /* something reads threadIdx and its kin where no parameters of these names are */
} cx_job;

/* shared.c: __shared__ and extern __shared__ to td_cu::shared and td_cu::dynamic_shared. */
void td_cpu_shared(cx_job *j);
/* indices.c: kernels and functions take the built-in variables as parameters; calls and lambdas pass them. */
void td_cpu_indices(cx_job *j);
bool td_cpu_lambda(const cx_job *j, uint32_t i); /* the [ of one */
/* check.c: accesses through names are checked. */
void td_cpu_check(cx_job *j);
/* step.c: threads give up their turns behind accesses to volatile memory. */
void td_cpu_step(cx_job *j);
/* gpu.c: texture references to objects in constant memory. */
void td_cpu_textures(const cx_unit *u, edits *e, const td_cxx *c);
/* refuse.c: TD_ERR_JIT for what a CPU cannot have, by name, with what to do instead. */
td_status td_cpu_refuse(const cx_job *j);

static inline bool
is(const cx_job *j, uint32_t i, const char *s)
{
    const tok *t = &j->u.k.t[i];

    return (t->kind == TOK_MARK || t->kind == TOK_WORD) && td_tok_is(t, s);
}

#endif
