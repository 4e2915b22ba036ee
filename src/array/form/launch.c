/* launch.c - finding a form's kernel and launching it. */
#include "array/form/launch.h"

#include "dev/core/trace.h"

#include <stdio.h>
#include <string.h>

enum { MORE_MAX = 32 }; /* words behind a plan's own */

static void
set_extents(td_dims *dims, const td_nest *n)
{
    dims->grid[0] = (uint32_t)n->blocks;
    dims->block[0] = (uint32_t)n->block;
    dims->grid[1] = dims->grid[2] = dims->block[1] = dims->block[2] = 1;
}

td_status
td_form_launch(td_stream *s, const td_code *c, const td_nest *n, td_dims *dims,
               const uint64_t *words, int nword)
{
    void *token = td_graph_unlock();
    td_kernel *k;
    td_status st;

    set_extents(dims, n);
    st = td_jit_get(td_stream_dev(s), c->key, c->build, c->ctx, &k);
    if (!st) {
        st = td_jit_launch(k, s, dims, words, nword);
        td_jit_release(k);
    }
    td_graph_lock(token);
    return st;
}

/* Many operands of many dims have more strides than a kernel can have arguments. */
static bool
fits(const td_plan *p)
{
    return p->nopnd * (p->nd + 1) + p->nscalar + 3 * p->nd <= TD_PLAN_WORDS;
}

/* A label is made once for each kernel. */
static void
describe(const td_plan *p, td_kernel *k, const td_more *more, td_dims *dims)
{
    char head[48] = "";

    if (more->red && !td_jit_label(k))
        snprintf(head, sizeof head, "%s of %s", more->red, more->merges ? "parts" : "");
    td_plan_dims(p, k, head, dims);
    if (!td_watched())
        return;
    dims->last = more->tail;
    dims->nbytes += more->nbytes;
}

static td_status
launch_with(const td_plan *p, td_kernel *k, const td_nest *n, const td_more *more)
{
    uint64_t words[TD_PLAN_WORDS + MORE_MAX];
    int nword = td_plan_words(p, words);
    td_dims dims = {0};

    TD_ASSERT(more->n <= MORE_MAX);
    memcpy(words + nword, more->word, (size_t)more->n * sizeof *words);
    set_extents(&dims, n);
    describe(p, k, more, &dims);
    return td_jit_launch(k, p->stream, &dims, words, nword + more->n);
}

td_status
td_form_launch_plan(const td_plan *p, const td_code *c, const td_nest *n, const td_more *more)
{
    void *token;
    td_kernel *k;
    td_status st;

    if (!fits(p))
        return TD_SKIP;
    token = td_graph_unlock();
    st = td_jit_get(p->dev, c->key, c->build, c->ctx, &k);
    if (!st) {
        st = launch_with(p, k, n, more);
        td_jit_release(k);
    }
    td_graph_lock(token);
    return st;
}
