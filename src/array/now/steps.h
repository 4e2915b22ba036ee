/* steps.h - what steps.c makes and tile.c runs. */
#ifndef TD_ARRAY_STEPS_H
#define TD_ARRAY_STEPS_H
#include "array/now/now.h"
#include "ir/interp/interp_ops.h"

enum {
    TD_STEPS_MAX = 40,
    TD_STEPS_CONSTS = 12,
    TD_STEPS_OUTS = 3,
    TD_STEPS_REGS = TD_STEPS_MAX + TD_STEPS_CONSTS + 2 * TD_STEPS_OUTS /* parameters */,
    TD_STEPS_TILE = 64, /* elements that are words at once */
};

/* td_step_of - a register gets what fn computes from others; bits: or another's bits as an element of that dtype. */
typedef struct td_step_of {
    td_elt *fn;
    uint8_t out, arg[3], bits;
} td_step_of;

typedef struct td_steps_const {
    td_word word;
    uint8_t reg;
} td_steps_const;

/* A register is a word a lane.  The first nparam ones are the operands' words, two of a complex operand. */
struct td_steps {
    uint8_t        nparam, nreg, nstep, nconst, nout;
    uint8_t        out[TD_STEPS_OUTS]; /* the results' */
    td_steps_const constant[TD_STEPS_CONSTS];
    td_step_of     step[TD_STEPS_MAX];
};

/* Runs p's steps over n lanes; reg: where each register is, operands and constants filled. */
void td_steps_compute(const td_steps *p, td_word *const *reg, int n);

/* n elements of dt, real, `step` bytes apart, as words; words as elements of so many bytes, which are a word's first. */
void td_words_read(td_dtype dt, const char *at, int64_t step, int n, td_word *out);
void td_words_write(size_t size, char *at, int64_t step, int n, const td_word *w);

#endif
