/* conv.c - memory for convolutions. */
#include "array/run/conv.h"

#include "array/graph/internal.h"
#include "array/graph/values.h"

static uintptr_t
address(const td_node *n)
{
    return n->buf->ptr + (uintptr_t)n->view.offset * td_dtype_size((td_dtype)n->dt);
}

/* Runs the job with the graph's lock given up.  Its arrays are held. */
static td_status
run(td_conv *c, td_dev *dev, const td_node *first, const td_node *second, const td_node *out)
{
    uintptr_t *place[3][3] = {[TD_CONV_FORWARD] = {&c->x, &c->w, &c->y},
                              [TD_CONV_INPUT] = {&c->y, &c->w, &c->x},
                              [TD_CONV_WEIGHT] = {&c->x, &c->y, &c->w}};
    td_status st;
    void *token;

    *place[c->kind][0] = address(first);
    *place[c->kind][1] = address(second);
    *place[c->kind][2] = address(out);
    token = td_graph_unlock();
    st = td_conv_run(td_dev_stream(dev), c);
    td_graph_lock(token);
    return st;
}

/* Do the arrays have the shapes of their roles?  x [batch, groups channels, in], w [groups outputs, channels, kernel], y [batch,
 * groups outputs, out]. */
static bool
fits(const td_conv *c, const td_array *first, const td_array *second, const td_shape *shape)
{
    int64_t in = 1, out = 1, taps = 1, x, w, y;

    for (int i = 0; i < TD_CONV_RANK; i++) {
        in *= c->in[i];
        out *= c->out[i];
        taps *= c->kernel[i];
        if (c->in[i] < 1 || c->out[i] < 1 || c->kernel[i] < 1 || c->stride[i] < 1 ||
            c->dilation[i] < 1)
            return false;
    }
    x = c->batch * c->groups * c->channels * in;
    w = c->groups * c->outputs * c->channels * taps;
    y = c->batch * c->groups * c->outputs * out;
    if (x < 1 || w < 1 || y < 1)
        return false;
    return td_array_size(first) == (c->kind == TD_CONV_INPUT ? y : x) &&
           td_array_size(second) == (c->kind == TD_CONV_WEIGHT ? y : w) &&
           td_shape_size(shape) == (c->kind == TD_CONV_FORWARD ? y
                                    : c->kind == TD_CONV_INPUT ? x
                                                               : w);
}

td_status
td_array_conv(const td_conv *c, const td_array *first, const td_array *second,
              const td_shape *shape, td_array *out)
{
    td_dev *dev = td_array_dev(first);
    td_conv own = *c;
    td_node *a = NULL, *b = NULL;
    td_hold h;
    td_status st;

    own.dt = td_array_dtype(first);
    if (!td_dev_info(dev)->host || (own.dt != TD_F32 && own.dt != TD_F64) ||
        td_array_dtype(second) != own.dt || td_array_dev(second) != dev)
        return TD_SKIP;
    if (!fits(c, first, second, shape))
        return td_fail(TD_ERR_VALUE, "convolution: arrays that do not fit its geometry");
    td_hold_begin(&h);
    st = td_node_dense(first, &a);
    if (!st) {
        td_hold_add(a);
        st = td_node_dense(second, &b);
    }
    if (!st) {
        td_hold_add(b);
        st = td_array_empty(dev, own.dt, shape, out);
    }
    if (!st) {
        st = run(&own, dev, a, b, out->store->node);
        if (st)
            td_array_unref(out);
    }
    td_hold_end(&h);
    td_node_unref(a);
    td_node_unref(b);
    return st;
}
