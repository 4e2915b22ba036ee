/* plan.c - copies the expression of one kernel out of the graph. */
#include "array/plan/plan.h"

#include "array/graph/values.h"

#include <string.h>

void
td_plan_begin(td_plan *p, td_dev *d, const td_shape *shape)
{
    p->dev = d;
    p->stream = td_dev_stream(d);
    p->nstep = p->nopnd = p->nscalar = p->nstore = 0;
    p->rounds.from = p->rounds.to = p->rounds.ncarry = p->rounds.nvary = 0;
    p->shape = *shape;
    p->tail_kept = p->flat = false;
    p->period = 0;
    p->axes = p->lack = 0;
    p->site = 0;
    p->put = TD_PUT_NONE;
    p->open = true;
    p->total = td_shape_size(shape);
}

void
td_plan_rows(td_plan *p, uint32_t axes, uint32_t lack)
{
    p->axes = axes;
    p->lack = lack;
}

static td_status
new_opnd(td_plan *p, td_role role, td_dtype dt, uint16_t *out)
{
    if (p->nopnd == TD_PLAN_OPNDS)
        return TD_SKIP;
    p->opnd[p->nopnd] = (td_opnd){.role = (uint8_t)role, .dt = (uint8_t)dt};
    *out = p->nopnd++;
    return TD_OK;
}

int
td_plan_scalar_words(td_scalar s, td_dtype dt, uint64_t word[2])
{
    int n = td_dtype_is_complex(dt) ? 2 : 1; /* a complex number is two arguments */

    td_scalar_bits(s, dt, word);
    if (dt == TD_C64)
        word[1] = word[0] >> 32;
    for (int i = 0; i < n && td_dtype_real_of(dt) == TD_F32; i++)
        word[i] &= UINT32_MAX;
    return n;
}

td_status
td_plan_scalar(td_plan *p, td_scalar s, td_dtype dt, uint16_t *at)
{
    uint64_t word[2];
    int n = td_plan_scalar_words(s, dt, word);

    if (p->nscalar + n > TD_PLAN_SCALARS)
        return TD_SKIP;
    *at = p->nscalar;
    for (int i = 0; i < n; i++) {
        p->scalar_dt[p->nscalar] = (uint8_t)td_dtype_real_of(dt);
        p->scalar[p->nscalar++] = word[i];
    }
    return TD_OK;
}

td_status
td_plan_table(td_plan *p, td_buf *buf, uint16_t *opnd)
{
    TD_TRY(new_opnd(p, TD_ROLE_TABLE, TD_U64, opnd));
    p->opnd[*opnd].buf = td_buf_ref(buf);
    p->opnd[*opnd].ptr = buf->ptr;
    return TD_OK;
}

/* `view` with the axes of the mask `lack` put in, of extent 1. */
static td_view
completed(const td_plan *p, const td_view *view, uint32_t lack)
{
    td_view r = {.shape = p->shape, .offset = view->offset};
    int from = view->shape.ndim;

    for (int i = p->shape.ndim - 1; i >= 0; i--) {
        bool own = !(lack >> i & 1) && from > 0;

        from -= own;
        r.shape.dim[i] = own ? view->shape.dim[from] : 1;
        r.stride[i] = own ? view->stride[from] : 0;
    }
    return r;
}

/* Strides of `view` along the plan's shape; full-rank, before collapsing. */
static td_status
set_strides(td_plan *p, td_opnd *o, const td_view *view, uint32_t lack)
{
    td_view own = lack ? completed(p, view, lack) : *view, wide;

    TD_TRY(td_view_broadcast(&own, &p->shape, &wide));
    memcpy(o->stride, wide.stride, (size_t)p->shape.ndim * sizeof *o->stride);
    return TD_OK;
}

static td_status
new_load(td_plan *p, td_buf *buf, td_dtype dt, const td_view *view, uint16_t *out)
{
    td_opnd *o;

    TD_TRY(new_opnd(p, TD_ROLE_LOAD, dt, out));
    o = &p->opnd[*out];
    TD_TRY(set_strides(p, o, view, p->lack));
    o->buf = td_buf_ref(buf);
    o->view = *view;
    o->lack = p->lack;
    o->ptr = buf->ptr + (uintptr_t)(view->offset * (int64_t)td_dtype_size(dt));
    return TD_OK;
}

td_status
td_plan_load(td_plan *p, const td_node *n, uint16_t *opnd)
{
    return new_load(p, n->buf, (td_dtype)n->dt, &n->view, opnd);
}

static td_status
add_load(td_plan *p, td_buf *buf, td_dtype dt, const td_view *view, uint16_t *out)
{
    td_opnd *o;

    for (uint16_t i = 0; i < p->nopnd; i++) {
        o = &p->opnd[i];
        if (o->role == TD_ROLE_LOAD && o->buf == buf && o->dt == dt && o->lack == p->lack &&
            td_view_eq(&o->view, view)) {
            *out = i;
            return TD_OK;
        }
    }
    return new_load(p, buf, dt, view, out);
}

static td_status
add_index(td_plan *p, const td_shape *own, uint16_t *out)
{
    td_view v = td_view_contiguous(own);

    TD_TRY(new_opnd(p, TD_ROLE_INDEX, TD_I64, out));
    return set_strides(p, &p->opnd[*out], &v, p->lack);
}

/* Strides of a gather's source along the result's dims.  The axes of the indices replace the taken axis; the source has
 * stride 0 along them, because each index brings its own offset. */
static td_status
add_gathered(td_plan *p, const td_node *n, uint16_t *out)
{
    const td_node *src = n->src[0];
    int axis = (int)n->par[0].i, rank = (int)n->par[1].i;
    td_view v = {.shape = n->view.shape, .offset = src->view.offset};

    for (int i = 0; i < n->view.shape.ndim; i++)
        v.stride[i] = i < axis          ? src->view.stride[i]
                      : i < axis + rank ? 0
                                        : src->view.stride[i - rank + 1];
    return add_load(p, src->buf, (td_dtype)src->dt, &v, out);
}

static td_status add_node(td_plan *p, td_node *n, uint16_t *out);

/* Broadcasts a reduction's result back over the axes that it has reduced. */
static td_status
add_reduction(td_plan *p, td_node *n, td_step *s)
{
    uint32_t lack = p->lack;
    td_status st;

    s->nsrc = 1;
    TD_TRY(td_plan_scalar(p, n->par[0], TD_F64, &s->scalar));
    p->lack = 0;
    st = add_node(p, n->src[0], &s->src[0]);
    p->lack = lack;
    return st;
}

/* Adds a search.  Its scalars: the stride of the sorted elements, their number, and the bits of that number. */
static td_status
add_searched(td_plan *p, const td_node *n, td_step *s)
{
    const td_node *src = n->src[0];
    td_view v = {.shape = n->view.shape, .offset = src->view.offset};
    int64_t count = src->view.shape.dim[0];
    int64_t num[3] = {src->view.stride[0], count,
                      count ? 64 - __builtin_clzll((uint64_t)count) : 0};

    TD_TRY(add_load(p, src->buf, (td_dtype)src->dt, &v, &s->opnd));
    for (int i = 0; i < 3; i++) {
        uint16_t at;

        TD_TRY(td_plan_scalar(p, (td_scalar){.dt = TD_I64, .i = num[i]}, TD_I64, &at));
        s->scalar = i ? s->scalar : at;
    }
    s->nsrc = 1;
    return add_node(p, n->src[1], &s->src[0]);
}

static td_status
add_pending(td_plan *p, td_node *n, td_step *s)
{
    switch ((td_kind)n->kind) {
    case TD_N_IOTA:
        TD_TRY(add_index(p, &n->view.shape, &s->opnd));
        TD_TRY(td_plan_scalar(p, n->par[0], (td_dtype)n->par[0].dt, &s->scalar));
        return td_plan_scalar(p, n->par[1], (td_dtype)n->par[1].dt, &(uint16_t){0});
    case TD_N_RANDOM:
        TD_TRY(add_index(p, &n->view.shape, &s->opnd));
        for (int i = 0; i < TD_NPAR; i++) {
            uint16_t at;

            TD_TRY(td_plan_scalar(p, n->par[i], n->par[i].dt, &at));
            s->scalar = i ? s->scalar : at;
        }
        return TD_OK;
    case TD_N_GATHER:
        TD_TRY(add_gathered(p, n, &s->opnd));
        TD_TRY(td_plan_scalar(p,
                              (td_scalar){.dt = TD_I64, .i = n->src[0]->view.stride[n->par[0].i]},
                              TD_I64, &s->scalar));
        s->nsrc = 1;
        return add_node(p, n->src[1], &s->src[0]);
    case TD_N_SEARCH: return add_searched(p, n, s);
    case TD_N_OP:
    case TD_N_CAST:
        s->nsrc = n->nsrc;
        for (int i = 0; i < n->nsrc; i++)
            TD_TRY(add_node(p, n->src[i], &s->src[i]));
        return TD_OK;
    case TD_N_REDUCE:  TD_ASSERT(p->axes); return add_reduction(p, n, s);
    case TD_N_LEAF:
    case TD_N_SCALAR:
    case TD_N_SPILLED: /* cannot occur: inputs came back before and stay in memory */
    case TD_N_ROWFN:   /* computed by chunks.  Neither this */
    case TD_N_HOST:    break;
    }
    td_bug(__FILE__, __LINE__, "node kind");
}

static td_status
add_node(td_plan *p, td_node *n, uint16_t *out)
{
    td_step s = {.dt = n->dt, .op = n->op};

    if (n->slot) {
        *out = (uint16_t)(n->slot - 1);
        return p->lacks[*out] == p->lack ? TD_OK : TD_SKIP;
    }
    s.kind = n->kind;
    if (n->kind == TD_N_SCALAR)
        TD_TRY(td_plan_scalar(p, n->par[0], (td_dtype)n->dt, &s.scalar));
    else if (n->kind == TD_N_LEAF)
        TD_TRY(add_load(p, n->buf, (td_dtype)n->dt, &n->view, &s.opnd));
    else
        TD_TRY(add_pending(p, n, &s));
    for (int i = 0; i < s.nsrc; i++)
        if (p->step[s.src[i]].stage > s.stage)
            s.stage = p->step[s.src[i]].stage;
    s.stage += s.kind == TD_N_REDUCE;
    TD_TRY(td_plan_append(p, n, &s, out));
    n->slot = p->nstep;
    return TD_OK;
}

td_status
td_plan_append(td_plan *p, td_node *n, const td_step *s, uint16_t *step)
{
    if (p->nstep == TD_PLAN_STEPS)
        return TD_SKIP;
    p->lacks[p->nstep] = p->lack;
    p->seen[p->nstep] = td_node_ref(n);
    p->step[p->nstep] = *s;
    *step = p->nstep++;
    return TD_OK;
}

td_status
td_plan_step(td_plan *p, td_node *n, const uint16_t *src, uint16_t *step)
{
    td_step s = {.kind = n->kind, .dt = n->dt, .op = n->op};

    if (n->kind != TD_N_OP && n->kind != TD_N_CAST)
        TD_TRY(add_pending(p, n, &s));
    s.nsrc = n->nsrc;
    for (int i = 0; i < n->nsrc; i++)
        s.src[i] = src[i];
    return td_plan_append(p, n, &s, step);
}

td_status
td_plan_add(td_plan *p, td_node *root, uint16_t *step)
{
    p->site = p->site ? p->site : root->site;
    return add_node(p, root, step);
}

td_status
td_plan_store(td_plan *p, uint16_t step, td_dtype dt, td_buf *buf, const td_view *view,
              td_node *node)
{
    uint16_t at;
    td_opnd *o;

    TD_TRY(new_opnd(p, TD_ROLE_STORE, dt, &at));
    o = &p->opnd[at];
    o->buf = td_buf_ref(buf);
    o->ptr = buf->ptr + (uintptr_t)(view->offset * (int64_t)td_dtype_size(dt));
    o->view = *view;
    o->node = node ? td_node_ref(node) : NULL;
    p->store_step[at] = step;
    p->nstore++;
    return set_strides(p, o, view, p->lacks[step]);
}

/* How often the plan's own steps refer to each step. */
static void
count_edges(const td_plan *p, int32_t edges[])
{
    for (uint16_t i = 0; i < p->nstep; i++)
        edges[i] = 0;
    for (uint16_t i = 0; i < p->nstep; i++)
        for (int k = 0; k < p->step[i].nsrc; k++)
            edges[p->step[i].src[k]]++;
}

/* Does anything outside of the plan refer to step i's node? */
static bool
held_outside(const td_plan *p, uint16_t i, const int32_t edges[])
{
    return p->seen[i]->nsrc && p->seen[i]->refs > edges[i] + 1;
}

/* A value is worth memory if Python holds it and several nodes read it, or if an earlier kernel has computed it without
 * writing it: so no value that is needed again is computed more than twice. */
static bool
worth_keeping(const td_plan *p, const td_node *n)
{
    if (n->kind == TD_N_REDUCE) /* a small result that is expensive to compute */
        return true;
    if (n->buf || (n->kind != TD_N_OP && n->kind != TD_N_CAST && !td_node_looks_up(n)))
        return false;
    return td_shape_eq(&n->view.shape, &p->shape) && (n->computed || (n->named && n->uses > 1));
}

/* Sets keep[i] for each step that gets memory, and returns how many do.  A node is needed again if something outside of the
 * plan refers to it, or if it is a source of a node that is needed again and gets no memory.  *left: some node is needed
 * again and gets no memory, so its sources will be read again.  Sources stand before the steps that read them. */
static int
choose_keeps(const td_plan *p, const td_node *root, bool keep[], bool *left)
{
    int32_t edges[TD_PLAN_STEPS];
    bool needed[TD_PLAN_STEPS] = {false};
    int kept = 0;

    count_edges(p, edges);
    *left = false;
    for (int i = p->nstep - 1; i >= 0; i--) {
        const td_node *n = p->seen[i];

        keep[i] = false;
        if (n == root || n->buf)
            continue;
        needed[i] |= held_outside(p, (uint16_t)i, edges);
        keep[i] = needed[i] && worth_keeping(p, n);
        kept += keep[i];
        *left |= needed[i] && !keep[i];
        for (int k = 0; k < p->step[i].nsrc && needed[i] && !keep[i]; k++)
            needed[p->step[i].src[k]] = true;
    }
    return kept;
}

bool
td_plan_escapes(const td_plan *p, const td_node *root)
{
    bool keep[TD_PLAN_STEPS], left;

    /* root's own store takes one operand more; a node for which no operand is left would stay pending */
    return choose_keeps(p, root, keep, &left) + 1 > TD_PLAN_OPNDS - p->nopnd || left;
}

td_status
td_plan_keep(td_plan *p, const td_node *root)
{
    bool keep[TD_PLAN_STEPS], left;

    choose_keeps(p, root, keep, &left);
    for (uint16_t i = 0; i < p->nstep; i++) {
        td_node *n = p->seen[i];
        td_view v = n->view;
        td_buf *b;

        if (!keep[i]) {
            n->computed = 1;
            continue;
        }
        if (p->nopnd == TD_PLAN_OPNDS)
            return TD_OK; /* no room for another store: the node stays pending */
        TD_TRY(td_buf_new(p->dev, p->stream,
                          (size_t)td_shape_size(&v.shape) * td_dtype_size((td_dtype)n->dt), &b));
        TD_TRY(td_plan_store(p, i, (td_dtype)n->dt, b, &v, n));
        td_buf_unref(b);
    }
    return TD_OK;
}

void
td_plan_settle(td_plan *p)
{
    for (uint16_t i = 0; i < p->nopnd; i++) {
        td_opnd *o = &p->opnd[i];

        if (o->role == TD_ROLE_STORE && o->node && !o->node->buf)
            td_node_settle(o->node, td_buf_ref(o->buf), &o->view);
    }
}

void
td_plan_close(td_plan *p)
{
    for (uint16_t i = 0; i < p->nstep && p->open; i++)
        p->seen[i]->slot = 0;
    p->open = false;
    td_need_met(true);
}

void
td_plan_end(td_plan *p)
{
    td_plan_close(p);
    for (uint16_t i = 0; i < p->nstep; i++)
        td_node_unref(p->seen[i]);
    for (uint16_t i = 0; i < p->nopnd; i++) {
        td_buf_unref(p->opnd[i].buf);
        td_node_unref(p->opnd[i].node);
    }
    p->nstep = p->nopnd = 0;
}
