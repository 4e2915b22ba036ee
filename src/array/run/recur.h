/* recur.h - recurrent layers: all steps of one direction of one layer, forward and backward.
 *
 * A step is a matrix product (the previous state times the weights) and one map that computes the rest.  Both kernels are
 * found once and launched for each step with other addresses.  Recorded operation by operation the same steps would be
 * hundreds of nodes.
 *
 * T steps of B sequences, states of H elements.  Gates lie as PyTorch's do: LSTM i, f, g, o (G = 4), GRU r, z, n
 * (G = 3), simple cells one.  Arrays are of one dtype and device.
 */
#ifndef TD_ARRAY_RECUR_H
#define TD_ARRAY_RECUR_H
#include "array/graph/array.h"

typedef enum td_cell { TD_CELL_TANH, TD_CELL_RELU, TD_CELL_LSTM, TD_CELL_GRU, TD_CELLS } td_cell;

/* What td_recur_run fills and td_recur_back reads. */
typedef struct td_recur_kept {
    td_array h;    /* [T + 1, B, H]: the first state, then the state after each step; reverse: in the opposite order */
    td_array c;    /* LSTM: the cells, likewise */
    td_array gate; /* [T, B, 4 H], LSTM: i, f, g, o; GRU: r, z, n, and what the state adds to n */
} td_recur_kept;

typedef struct td_recur {
    td_cell         cell;
    bool            reverse; /* the last step comes first */
    const td_array *gates;   /* [T, B, G H]: what the inputs add; T, B, H > 0 */
    const td_array *weight;  /* [G H, H] */
    const td_array *bias;    /* [G H], of the product with the state; NULL: none */
    const td_array *h, *c;   /* [B, H]: the states to begin with; c: LSTM */
} td_recur;

/* Runs all steps.  The caller owns kept's arrays; arrays that the kind of cell does not have get no store.  TD_SKIP: the
 * device's library has no products of this dtype. */
td_status td_recur_run(const td_recur *r, td_recur_kept *kept);

/* Gradients of the outputs, [T, B, H], and of the last states, [B, H]; NULL: zero. */
typedef struct td_recur_given {
    const td_array *out, *h, *c;
} td_recur_given;

typedef struct td_recur_grad {
    td_array gates; /* [T, B, G H] */
    td_array state; /* GRU: [T, B, 3 H], of what the product with the state adds; others have no store: it equals gates */
    td_array h, c;  /* [B, H], of the first states */
} td_recur_grad;

/* Computes the gradients from what the run of r has kept; r's gates, bias and first states are not read.  The caller owns
 * *back's arrays. */
td_status td_recur_back(const td_recur *r, const td_recur_kept *kept, const td_recur_given *given,
                        td_recur_grad *back);

#endif
