/* recur.c - a recurrent layer's steps: one plan and one product, launched for each of them. */
#include "array/run/recur.h"

#include "array/form/map.h"
#include "array/graph/internal.h"
#include "array/graph/values.h"
#include "dev/core/blas.h"

#include <string.h>

enum { NODES = 96, TRACKS = 24, KEPT = 4 /* gates that are kept */ };

/* track - the rows of one state or gate at the step that runs first, `stride` elements apart.  Each later step finds them
 * `step` elements further. */
typedef struct track {
    td_buf *buf;
    int64_t at, stride, step; /* elements */
} track;

/* loop - one run over all steps of a layer.  On the stack. */
typedef struct loop {
    const td_recur *r;
    td_dev *dev;
    td_dtype dt;
    int64_t steps, rows, width, gates; /* T, B, H, G */
    bool back;                         /* from the last step to the first: gradients */
    td_plan plan;
    td_node *node[NODES]; /* owned */
    int nnode;
    track moving[TRACKS]; /* the map's operands that move from step to step */
    int nmoving;
    td_gemm product;
    int64_t next_a; /* bytes from one product's first operand to the next one's */
    td_hold hold;
    td_status st; /* the first failure; the functions below do nothing after it */
} loop;

static td_status
begin(loop *l, const td_recur *r, const td_shape *over, int64_t steps, bool back)
{
    const td_shape *w = &r->weight->view.shape;
    static const int count[TD_CELLS] = {1, 1, 4, 3};
    int64_t width = w->ndim == 2 ? w->dim[1] : 0;
    int64_t last = over->ndim == 3 ? over->dim[2] : -1;

    if (steps < 1 || !width || w->dim[0] != count[r->cell] * width || over->dim[1] < 1 ||
        last != (back ? width : w->dim[0]))
        return td_fail(TD_ERR_VALUE, "recurrence: gates, states or weights of another shape");
    memset(l, 0, sizeof *l);
    l->r = r;
    l->dev = td_array_dev(r->weight);
    l->dt = td_array_dtype(r->weight);
    l->gates = count[r->cell];
    l->steps = steps;
    l->rows = over->dim[1];
    l->width = width;
    l->back = back;
    td_hold_begin(&l->hold);
    return TD_OK;
}

static void
finish(loop *l)
{
    td_plan_end(&l->plan);
    for (int i = 0; i < l->nnode; i++)
        td_node_unref(l->node[i]);
    td_hold_end(&l->hold);
}

/* The loop takes over the reference on n.  Returns n; NULL after a failure. */
static td_node *
keep(loop *l, td_node *n)
{
    if (l->st)
        return NULL;
    TD_ASSERT(l->nnode < NODES);
    return l->node[l->nnode++] = n;
}

/* ---- memory ---- */

static int64_t
bytes(const loop *l, int64_t elements)
{
    return elements * (int64_t)td_dtype_size(l->dt);
}

/* Gets memory of [leading, B, width] (leading 0: [B, width]), held at its address until the loop ends. */
static void
make(loop *l, int64_t leading, int64_t width, td_array *out)
{
    td_shape s = {.ndim = 3, .dim = {leading, l->rows, width}};

    if (!leading)
        s = (td_shape){.ndim = 2, .dim = {l->rows, width}};
    if (!l->st)
        l->st = td_array_empty(l->dev, l->dt, &s, out);
    if (!l->st)
        td_hold_add(out->store->node);
}

/* a's value in C order, held at its address until the loop ends. */
static td_node *
dense(loop *l, const td_array *a)
{
    td_node *n = NULL;

    if (l->st)
        return NULL;
    if (td_array_dtype(a) != l->dt || td_array_dev(a) != l->dev)
        l->st = td_fail(TD_ERR_TYPE, "recurrence: operands of several dtypes or devices");
    else
        l->st = td_node_dense(a, &n);
    if (!l->st)
        td_hold_add(n);
    return keep(l, n);
}

/* The track through n, [count, B, columns], that begins with row `first`. */
static track
steps_of(const loop *l, const td_node *n, int64_t first, int64_t columns)
{
    int64_t size = l->rows * columns;

    return n ? (track){n->buf, n->view.offset + first * size, columns,
                       l->r->reverse != l->back ? -size : size}
             : (track){0};
}

/* The track that stays on n, [B, columns]. */
static track
still(const td_node *n, int64_t columns)
{
    return (track){n->buf, n->view.offset, columns, 0};
}

static track
gate(const loop *l, track t, int k)
{
    t.at += k * l->width;
    return t;
}

static td_view
window(const loop *l, const track *t)
{
    td_view v = {.shape = {.ndim = 2, .dim = {l->rows, l->width}}, .offset = t->at};

    v.stride[0] = t->stride;
    v.stride[1] = 1;
    return v;
}

/* ---- the map ---- */

static void
note(loop *l, const track *t)
{
    TD_ASSERT(l->nmoving < TRACKS);
    if (t->step)
        l->moving[l->nmoving++] = *t;
}

static td_node *
get(loop *l, track t)
{
    td_view v = window(l, &t);
    td_node *n = NULL;

    if (l->st)
        return NULL;
    note(l, &t);
    l->st = td_node_leaf(t.buf, l->dt, &v, &n);
    return keep(l, n);
}

static void
put(loop *l, td_node *n, track t)
{
    td_view v = window(l, &t);
    uint16_t step = 0;

    if (l->st)
        return;
    note(l, &t);
    l->st = td_plan_add(&l->plan, n, &step);
    if (!l->st)
        l->st = td_plan_store(&l->plan, step, l->dt, t.buf, &v, NULL);
}

static td_node *
number(loop *l, double v)
{
    td_node *n = NULL;

    if (!l->st)
        l->st = td_node_scalar(l->dev, (td_scalar){.dt = l->dt, .f = {v}}, &n);
    return keep(l, n);
}

static td_node *
emit(loop *l, td_op op, td_node *x, td_node *y, td_node *z)
{
    td_shape s = {.ndim = 2, .dim = {l->rows, l->width}};
    td_node *src[TD_MAXSRC] = {x, y, z}, *n = NULL;

    if (!l->st)
        l->st = td_node_new(TD_N_OP, l->dev, td_op_result(op, l->dt), &s, &n);
    if (l->st)
        return NULL;
    n->op = (uint16_t)op;
    for (int i = 0; i < td_optab[op].arity; i++)
        td_node_add_src(n, src[i]);
    td_node_seal(n);
    return keep(l, n);
}

#define ADD(x, y)  emit(l, OP_add, x, y, NULL)
#define SUB(x, y)  emit(l, OP_subtract, x, y, NULL)
#define MUL(x, y)  emit(l, OP_multiply, x, y, NULL)
#define SIGMOID(x) emit(l, OP_sigmoid, x, NULL, NULL)
#define TANH(x)    emit(l, OP_tanh, x, NULL, NULL)

/* Derivatives of sigmoid and tanh, from their results r, times g. */
#define SIGMOID_BACK(g, r) MUL(MUL(g, r), SUB(number(l, 1), r))
#define TANH_BACK(g, r)    MUL(g, SUB(number(l, 1), MUL(r, r)))

/* Writes a state, or zeros, to where t begins. */
static void
set_state(loop *l, const td_array *a, track t)
{
    td_node *n = a ? dense(l, a) : number(l, 0);
    td_view v = window(l, &t);

    if (!l->st)
        l->st = td_eval_into(n, l->dt, t.buf, &v);
}

/* ---- running ---- */

/* Sets up the product c = a @ weight (transposed if asked), which takes k numbers of each sequence to n. */
static void
set_product(loop *l, track a, const td_node *weight, bool turned, const td_node *c)
{
    int64_t k = turned ? l->width : l->gates * l->width,
            n = turned ? l->gates * l->width : l->width;

    l->product = (td_gemm){.dt = l->dt,
                           .tb = turned,
                           .m = l->rows,
                           .n = n,
                           .k = k,
                           .a = a.buf->ptr + (uintptr_t)bytes(l, a.at),
                           .b = weight->buf->ptr + (uintptr_t)bytes(l, weight->view.offset),
                           .c = c->buf->ptr,
                           .lda = k,
                           .ldb = l->width,
                           .ldc = n,
                           .batch = 1};
    l->next_a = bytes(l, a.step);
}

static td_status
multiply(loop *l)
{
    void *token = td_graph_unlock();
    td_status st = td_blas_gemm(l->plan.stream, &l->product);

    td_graph_lock(token);
    l->product.a += (uintptr_t)l->next_a;
    return st == TD_ERR_LIBRARY ? TD_SKIP : st;
}

static void
step_on(loop *l, td_opnd *o)
{
    for (int i = 0; i < l->nmoving; i++) {
        const track *t = &l->moving[i];

        if (o->buf == t->buf && o->view.offset == t->at && o->view.stride[0] == t->stride) {
            o->ptr += (uintptr_t)bytes(l, t->step);
            return;
        }
    }
}

static td_status
map(loop *l)
{
    td_status st = td_map_launch(&l->plan);

    for (uint16_t k = 0; k < l->plan.nopnd; k++)
        step_on(l, &l->plan.opnd[k]);
    return st;
}

/* Runs all steps.  Forward the product precedes the map, backward it follows. */
static td_status
run(loop *l)
{
    td_status st = l->st;

    if (!st)
        td_plan_collapse(&l->plan, 0, false);
    for (int64_t i = 0; i < l->steps && !st; i++) {
        st = l->back ? map(l) : multiply(l);
        if (!st)
            st = l->back ? multiply(l) : map(l);
    }
    return st;
}

static void
begin_map(loop *l)
{
    td_shape s = {.ndim = 2, .dim = {l->rows, l->width}};

    td_plan_begin(&l->plan, l->dev, &s);
}

/* ---- forward ---- */

typedef struct ahead {
    track in, state,
        bias; /* what the gates are made of; bias: one row for all sequences, or no buf */
    track h, next_h, c, next_c, kept; /* states before and after a step; kept: the gates' values */
} ahead;

/* Gate k before its sigmoid or tanh; *of_state: what the state adds to it. */
static td_node *
gate_sum(loop *l, const ahead *a, int k, td_node **of_state)
{
    td_node *h = get(l, gate(l, a->state, k));

    if (a->bias.buf)
        h = ADD(h, get(l, gate(l, a->bias, k)));
    *of_state = h;
    return ADD(get(l, gate(l, a->in, k)), h);
}

static void
simple_ahead(loop *l, const ahead *a)
{
    td_node *h, *sum = gate_sum(l, a, 0, &h);

    put(l, l->r->cell == TD_CELL_RELU ? emit(l, OP_relu, sum, NULL, NULL) : TANH(sum), a->next_h);
}

static void
lstm_ahead(loop *l, const ahead *a)
{
    td_node *g[4], *h, *c;

    for (int k = 0; k < 4; k++) {
        g[k] = gate_sum(l, a, k, &h);
        g[k] = k == 2 ? TANH(g[k]) : SIGMOID(g[k]);
        put(l, g[k], gate(l, a->kept, k));
    }
    c = ADD(MUL(g[1], get(l, a->c)), MUL(g[0], g[2]));
    put(l, c, a->next_c);
    put(l, MUL(g[3], TANH(c)), a->next_h);
}

static void
gru_ahead(loop *l, const ahead *a)
{
    td_node *of[3], *r = SIGMOID(gate_sum(l, a, 0, &of[0])),
                    *z = SIGMOID(gate_sum(l, a, 1, &of[1]));
    td_node *n, *kept[KEPT];

    (void)gate_sum(l, a, 2, &of[2]);
    n = TANH(ADD(get(l, gate(l, a->in, 2)), MUL(r, of[2])));
    kept[0] = r;
    kept[1] = z;
    kept[2] = n;
    kept[3] = of[2];
    for (int k = 0; k < KEPT; k++)
        put(l, kept[k], gate(l, a->kept, k));
    put(l, ADD(MUL(SUB(number(l, 1), z), n), MUL(z, get(l, a->h))), a->next_h);
}

static void
map_ahead(loop *l, const ahead *a)
{
    begin_map(l);
    switch (l->r->cell) {
    case TD_CELL_LSTM: lstm_ahead(l, a); break;
    case TD_CELL_GRU:  gru_ahead(l, a); break;
    default:           simple_ahead(l, a);
    }
}

static void
kept_unref(td_recur_kept *k)
{
    td_array_unref(&k->h);
    td_array_unref(&k->c);
    td_array_unref(&k->gate);
}

static td_node *
leaf_of(const td_array *a)
{
    return a->store ? a->store->node : NULL;
}

/* Builds the loop's map and product.  All tracks are set. */
static void
prepare_ahead(loop *l, const td_recur_kept *kept, const td_node *state)
{
    const td_recur *r = l->r;
    int64_t last = l->steps - 1, now = r->reverse ? last + 1 : 0, first = r->reverse ? last : 0;
    int64_t next = r->reverse ? last : 1, wide = l->gates * l->width;
    td_node *in = dense(l, r->gates), *weight = dense(l, r->weight),
            *bias = r->bias ? dense(l, r->bias) : NULL, *h = leaf_of(&kept->h),
            *c = leaf_of(&kept->c);
    ahead a;

    if (l->st)
        return;
    a = (ahead){.in = steps_of(l, in, first, wide),
                .state = still(state, wide),
                .bias = bias ? still(bias, 0) : (track){0},
                .h = steps_of(l, h, now, l->width),
                .next_h = steps_of(l, h, next, l->width),
                .c = steps_of(l, c, now, l->width),
                .next_c = steps_of(l, c, next, l->width),
                .kept = steps_of(l, leaf_of(&kept->gate), first, KEPT * l->width)};
    set_state(l, r->h, a.h);
    if (c)
        set_state(l, r->c, a.c);
    if (l->st)
        return;
    set_product(l, a.h, weight, true, state);
    map_ahead(l, &a);
}

td_status
td_recur_run(const td_recur *r, td_recur_kept *kept)
{
    bool lstm = r->cell == TD_CELL_LSTM;
    td_array state = {0};
    td_status st;
    loop l;

    *kept = (td_recur_kept){0};
    TD_TRY(begin(&l, r, &r->gates->view.shape, r->gates->view.shape.dim[0], false));
    make(&l, l.steps + 1, l.width, &kept->h);
    if (lstm)
        make(&l, l.steps + 1, l.width, &kept->c);
    if (lstm || r->cell == TD_CELL_GRU)
        make(&l, l.steps, KEPT * l.width, &kept->gate);
    make(&l, 0, l.gates * l.width, &state);
    if (!l.st)
        prepare_ahead(&l, kept, leaf_of(&state));
    st = run(&l);
    finish(&l);
    td_array_unref(&state);
    if (st)
        kept_unref(kept);
    return st;
}

/* ---- backward ---- */

/* What a backward step reads and hands to the step before it: dh through the product, dc of an LSTM's cell, carry past a
 * GRU's product. */
typedef struct astern {
    track out;                        /* the outputs' gradients; no buf: none */
    track h, next_h, c, next_c, kept; /* what was kept */
    track gates, state;               /* to be written */
    track dh, dc, carry;
} astern;

static td_node *
incoming(loop *l, const astern *a)
{
    td_node *g = get(l, a->dh);

    if (a->out.buf)
        g = ADD(get(l, a->out), g);
    return a->carry.buf ? ADD(g, get(l, a->carry)) : g;
}

static void
simple_astern(loop *l, const astern *a)
{
    td_node *g = incoming(l, a), *h = get(l, a->next_h);

    if (l->r->cell == TD_CELL_TANH)
        g = TANH_BACK(g, h);
    else
        g = emit(l, OP_select, emit(l, OP_greater, h, number(l, 0), NULL), g, number(l, 0));
    put(l, g, a->gates);
}

static void
lstm_astern(loop *l, const astern *a)
{
    td_node *i = get(l, gate(l, a->kept, 0)), *f = get(l, gate(l, a->kept, 1)),
            *g = get(l, gate(l, a->kept, 2)), *o = get(l, gate(l, a->kept, 3));
    td_node *dh = incoming(l, a), *c = TANH(get(l, a->next_c)), *dc, *d[4];

    dc = ADD(get(l, a->dc), TANH_BACK(MUL(dh, o), c));
    d[0] = SIGMOID_BACK(MUL(dc, g), i);
    d[1] = SIGMOID_BACK(MUL(dc, get(l, a->c)), f);
    d[2] = TANH_BACK(MUL(dc, i), g);
    d[3] = SIGMOID_BACK(MUL(dh, c), o);
    for (int k = 0; k < 4; k++)
        put(l, d[k], gate(l, a->gates, k));
    put(l, MUL(dc, f), a->dc);
}

static void
gru_astern(loop *l, const astern *a)
{
    td_node *r = get(l, gate(l, a->kept, 0)), *z = get(l, gate(l, a->kept, 1)),
            *n = get(l, gate(l, a->kept, 2)), *hn = get(l, gate(l, a->kept, 3));
    td_node *dh = incoming(l, a), *dn = TANH_BACK(MUL(dh, SUB(number(l, 1), z)), n);
    td_node *d[3] = {SIGMOID_BACK(MUL(dn, hn), r), SIGMOID_BACK(MUL(dh, SUB(get(l, a->h), n)), z),
                     dn};

    for (int k = 0; k < 3; k++)
        put(l, d[k], gate(l, a->gates, k));
    d[2] = MUL(dn, r);
    for (int k = 0; k < 3; k++)
        put(l, d[k], gate(l, a->state, k));
    put(l, MUL(dh, z), a->carry);
}

static void
map_astern(loop *l, const astern *a)
{
    begin_map(l);
    switch (l->r->cell) {
    case TD_CELL_LSTM: lstm_astern(l, a); break;
    case TD_CELL_GRU:  gru_astern(l, a); break;
    default:           simple_astern(l, a);
    }
}

/* flow - the gradients that pass from step to step, one buffer for each kind. */
typedef struct flow {
    td_array h, c, carry;
} flow;

static void
make_back(loop *l, td_recur_grad *back, flow *f)
{
    make(l, l->steps, l->gates * l->width, &back->gates);
    make(l, 0, l->width, &f->h);
    if (l->r->cell == TD_CELL_LSTM)
        make(l, 0, l->width, &f->c);
    if (l->r->cell == TD_CELL_GRU) {
        make(l, l->steps, l->gates * l->width, &back->state);
        make(l, 0, l->width, &f->carry);
    }
}

static void
prepare_astern(loop *l, const td_recur_kept *kept, const td_recur_given *given,
               const td_recur_grad *back, const flow *f)
{
    const td_recur *r = l->r;
    int64_t last = l->steps - 1, first = r->reverse ? 0 : last, now = r->reverse ? 1 : last;
    int64_t next = r->reverse ? 0 : last + 1, wide = l->gates * l->width;
    td_node *out = given->out ? dense(l, given->out) : NULL, *weight = dense(l, r->weight),
            *h = dense(l, &kept->h), *c = kept->c.store ? dense(l, &kept->c) : NULL,
            *values = kept->gate.store ? dense(l, &kept->gate) : NULL;
    astern a;

    if (l->st)
        return;
    a = (astern){.out = steps_of(l, out, first, l->width),
                 .h = steps_of(l, h, now, l->width),
                 .next_h = steps_of(l, h, next, l->width),
                 .c = steps_of(l, c, now, l->width),
                 .next_c = steps_of(l, c, next, l->width),
                 .kept = steps_of(l, values, first, KEPT * l->width),
                 .gates = steps_of(l, leaf_of(&back->gates), first, wide),
                 .state = steps_of(l, leaf_of(&back->state), first, wide),
                 .dh = still(leaf_of(&f->h), l->width),
                 .dc = f->c.store ? still(leaf_of(&f->c), l->width) : (track){0},
                 .carry = f->carry.store ? still(leaf_of(&f->carry), l->width) : (track){0}};
    set_state(l, given->h, a.dh);
    if (a.dc.buf)
        set_state(l, given->c, a.dc);
    if (a.carry.buf)
        set_state(l, NULL, a.carry);
    if (l->st)
        return;
    set_product(l, a.state.buf ? a.state : a.gates, weight, false, leaf_of(&f->h));
    map_astern(l, &a);
}

/* The gradient of the first state. */
static td_status
first_gradients(flow *f, td_recur_grad *back)
{
    td_operand x[2] = {{.array = &f->h}, {.array = &f->carry}};

    back->c = f->c;
    f->c = (td_array){0};
    if (f->carry.store)
        return td_array_apply(OP_add, x, 2, &back->h);
    back->h = f->h;
    f->h = (td_array){0};
    return TD_OK;
}

static void
grad_unref(td_recur_grad *b)
{
    td_array_unref(&b->gates);
    td_array_unref(&b->state);
    td_array_unref(&b->h);
    td_array_unref(&b->c);
}

td_status
td_recur_back(const td_recur *r, const td_recur_kept *kept, const td_recur_given *given,
              td_recur_grad *back)
{
    flow f = {0};
    td_status st;
    loop l;

    *back = (td_recur_grad){0};
    TD_TRY(begin(&l, r, &kept->h.view.shape, kept->h.view.shape.dim[0] - 1, true));
    make_back(&l, back, &f);
    if (!l.st)
        prepare_astern(&l, kept, given, back, &f);
    st = run(&l);
    finish(&l);
    if (!st)
        st = first_gradients(&f, back);
    td_array_unref(&f.h);
    td_array_unref(&f.c);
    td_array_unref(&f.carry);
    if (st)
        grad_unref(back);
    return st;
}
