/* rowfind.c - which rows a node is computed over. */
#include "array/form/row.h"
#include "array/graph/internal.h"
#include "base/parallel.h"
#include "dev/core/dev.h"

enum {
    HELD_MAX = 1 << 15, /* GPU: elements of a row that fit a block's registers */
    SERIAL_MAX =
        1 << 15,     /* CPU: a space of so many elements takes one thread no longer than several */
    SHORT_MAX = 512, /* GPU: a reduction alone gives rows up to so many elements to a few threads */
};

/* Rows must fill the machine, or be so short that nothing would be gained by dividing them. */
static bool
worth(const td_dev *d, const td_rowspace *r)
{
    const td_devinfo *info = td_dev_info(d);
    int64_t total = td_shape_size(&r->shape), length = 1, rows;

    for (int i = 0; i < r->shape.ndim; i++)
        if (r->axes >> i & 1)
            length *= r->shape.dim[i];
    if (!total || length < 2)
        return false;
    rows = total / length;
    if (rows > INT32_MAX)
        return false;
    if (!info->simt)
        return rows >= td_parallel_cut() || total <= SERIAL_MAX;
    return rows * 2 >= info->units || length <= HELD_MAX;
}

/* Is `own` the space's shape without the axes of `lack`? */
static bool
is_shape(const td_shape *own, const td_rowspace *r, uint32_t lack)
{
    int at = 0;

    for (int i = 0; i < r->shape.ndim; i++) {
        if (lack >> i & 1)
            continue;
        if (at == own->ndim || own->dim[at] != r->shape.dim[i])
            return false;
        at++;
    }
    return at == own->ndim;
}

/* Is `own` the space's shape with 1 for the reduced axes, perhaps without leading ones? */
static bool
is_level(const td_shape *own, const td_rowspace *r)
{
    int missing = r->shape.ndim - own->ndim;

    for (int i = 0; i < r->shape.ndim; i++)
        if ((i < missing ? 1 : own->dim[i - missing]) != (r->axes >> i & 1 ? 1 : r->shape.dim[i]))
            return false;
    return missing >= 0;
}

bool
td_row_inside(const td_rowspace *r, const td_node *n, uint32_t lack)
{
    return n->axes == r->axes && td_shape_eq(&n->src[0]->view.shape, &r->shape) &&
           (lack ? is_shape(&n->view.shape, r, lack) : is_level(&n->view.shape, r));
}

bool
td_row_level(const td_rowspace *r, const td_node *n, uint32_t lack)
{
    int first = r->shape.ndim - n->view.shape.ndim; /* shapes broadcast from the last axis */

    if (lack)
        return true;
    for (int i = first < 0 ? 0 : first; i < r->shape.ndim; i++)
        if (r->axes >> i & 1 && n->view.shape.dim[i - first] != 1)
            return false;
    return true;
}

/* Is root computed over the rows that c, a reduction in it, reduces? */
static bool
spans(const td_node *root, const td_node *c, td_rowspace *out)
{
    *out = (td_rowspace){.shape = c->src[0]->view.shape, .axes = c->axes};
    if (!is_shape(&root->view.shape, out, 0) && !is_level(&root->view.shape, out)) {
        out->lack = out->axes;
        if (!is_shape(&root->view.shape, out, out->axes))
            return false;
    }
    return td_row_inside(out, c, out->lack) && worth(root->dev, out);
}

/* Finds below n the first reduction whose rows root, a map, is computed over; if root itself reduces the rows *out, the first
 * one that reduces the same rows. */
static bool
look(td_walk *w, td_node *n, const td_node *root, td_rowspace *out)
{
    if (!td_node_pending(n) || n->slot || w->n == (int)(sizeof w->node / sizeof *w->node))
        return false;
    n->slot = 1;
    w->node[w->n++] = n;
    if (n->kind == TD_N_REDUCE)
        return root->kind == TD_N_REDUCE ? td_row_inside(out, n, 0) : spans(root, n, out);
    for (int i = td_node_looks_up(n); i < n->nsrc; i++)
        if (look(w, n->src[i], root, out))
            return true;
    return false;
}

/* Is root a reduction of short rows, which a few threads read best?  The reducing kernel has only a thread or a whole warp. */
static bool
is_short(const td_node *root)
{
    const td_shape *s = &root->src[0]->view.shape;
    int64_t length = 1;

    for (int i = 0; i < s->ndim; i++)
        if (root->axes >> i & 1)
            length *= s->dim[i];
    return td_dev_info(root->dev)->simt && length <= SHORT_MAX && s->ndim > 1 &&
           root->axes >> (s->ndim - 1) & 1;
}

bool
td_row_find(td_node *root, td_rowspace *out)
{
    td_node *from = root;
    td_walk w;
    bool found;

    if (root->nsrc == 0 || (root->weight < 2 && root->kind != TD_N_REDUCE))
        return false;
    if (root->kind == TD_N_REDUCE) {
        from = root->src[0];
        *out = (td_rowspace){.shape = from->view.shape, .axes = root->axes};
        if (is_shape(&root->view.shape, out, root->axes))
            out->lack = root->axes;
        if (!worth(root->dev, out))
            return false;
        if (is_short(root))
            return true;
    }
    td_walk_begin(&w);
    found = look(&w, from, root, out);
    td_walk_end(&w);
    return found;
}
