/* steps.h - the steps that steps.c makes and tile.c runs. */
#ifndef TD_ARRAY_STEPS_H
#define TD_ARRAY_STEPS_H
#include "array/now/now.h"
#include "ir/interp/interp_ops.h"

enum {
    TD_STEPS_MAX = 40,
    TD_STEPS_CONSTS = 12,
    TD_STEPS_OUTS = 3,
    TD_STEPS_REGS = TD_STEPS_MAX + TD_STEPS_CONSTS + 2 * TD_STEPS_OUTS /* parameters */,
    TD_STEPS_TILE = 64, /* elements converted to words at a time */
};

/* td_step_of - one step: fn computes a register from others; or with bits, another register's bits are read as
 * an element of that dtype. */
typedef struct td_step_of {
    td_elt *fn;
    uint8_t out, arg[3], bits;
} td_step_of;

typedef struct td_steps_const {
    td_word word;
    uint8_t reg;
} td_steps_const;

/* A register has one word per lane.  The first nparam registers are the operands' words, two for a complex
 * operand. */
struct td_steps {
    td_ufunc_loop *loop; /* computes the same in memory, with `data`; NULL: none */
    void          *data;
    uint8_t        nparam, nreg, nstep, nconst, nout;
    uint8_t        out[TD_STEPS_OUTS]; /* registers of the results */
    td_steps_const constant[TD_STEPS_CONSTS];
    td_step_of     step[TD_STEPS_MAX];
};

/* Runs p's steps over n lanes.  reg: the address of each register; operands and constants are filled in. */
void td_steps_compute(const td_steps *p, td_word *const *reg, int n);

/* Reads n elements of the real dtype dt, `step` bytes apart, as words; writes words as elements, which are a
 * word's first bytes. */
void td_words_read(td_dtype dt, const char *at, int64_t step, int n, td_word *out);
void td_words_write(size_t size, char *at, int64_t step, int n, const td_word *w);

#endif
