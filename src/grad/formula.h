/* formula.h - derivatives: ops.def's and reduce.def's columns as the build has made them ready to run.
 *
 * tools/formulas.py reads the text, says what may be in it, and ends the build where it cannot be read.  The names x, y
 * and z are the operands, r the result, g its gradient.  Of a reduction y is the number of elements for each result and
 * z the ddof, r and g have the axes kept, and a row of reduce.def is a function too, along the same axes.
 *
 * A formula is postfix code in static memory.  What it is run over are variables and numbers, by td_var_apply, so
 * a run is recorded as anything else; numbers alone are computed here.
 */
#ifndef TD_GRAD_FORMULA_H
#define TD_GRAD_FORMULA_H
#include "grad/grad.h"

enum { TD_FORMULA_NAMES = 5, TD_FORMULA_CODE = 32 }; /* x y z r g */

typedef enum td_formula_kind { TD_FORMULA_NONE, TD_FORMULA_ZERO, TD_FORMULA_CODED } td_formula_kind;

typedef struct td_formula {
    uint8_t kind; /* td_formula_kind */
    uint8_t uses; /* a bit a name */
    uint8_t n;    /* steps */
    const struct td_formula_step {
        uint8_t  what; /* a name's place; NUMBER; CALL; REDUCE; CONJ */
        uint16_t op;
        bool     imaginary;
        double   number;
    } *step;
} td_formula;

/* The formulas of a row, one for each operand. */
const td_formula *td_formula_of(td_op op);
const td_formula *td_formula_of_red(td_red red);

/* env: borrowed operands by name; axes: of a reduction's formula.  *out gets an owned variable, or a number (v NULL). */
td_status td_formula_run(const td_formula *f, const td_varop env[TD_FORMULA_NAMES], uint32_t axes, td_varop *out);

#endif
