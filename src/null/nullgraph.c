/* nullgraph.c - graphs of the played driver: work captured from a stream, done when the graph is
 * launched.
 */
#include "null/nulldrv.h"

#include <stdlib.h>
#include <string.h>

/* null_row - the captured work of a stream, of a graph, or of an executable graph. */
typedef struct null_row {
    null_work *first, **end;
} null_row;

static void
free_row(null_row *r)
{
    for (null_work *w; r && (w = r->first); free(w))
        r->first = w->next;
    if (r)
        r->end = &r->first;
}

bool
td_null_keep(cu_stream stream, const null_work *w, int *code)
{
    null_object *o = (null_object *)stream;
    null_row *r = o && td_null_object_is(o, NULL_STREAM) ? o->data : NULL;
    null_work *copy;

    if (!r)
        return false;
    copy = malloc(sizeof *copy);
    *code = copy ? 0 : CU_OUT_OF_MEMORY;
    if (!copy)
        return true;
    *copy = *w;
    copy->next = NULL;
    *r->end = copy;
    r->end = &copy->next;
    return true;
}

int
td_null_cuStreamBeginCapture(cu_stream stream, int mode)
{
    int r = td_null_due_ctx(NULL_cuStreamBeginCapture);
    null_object *o = (null_object *)stream;
    null_row *row;

    (void)mode;
    if (r)
        return r;
    if (!td_null_object_is(o, NULL_STREAM) || o->data)
        return CU_INVALID_VALUE; /* the legacy stream too */
    row = calloc(1, sizeof *row);
    if (!row)
        return CU_OUT_OF_MEMORY;
    row->end = &row->first;
    o->data = row;
    return 0;
}

/* Fails as the driver does; the capture has ended then. */
int
td_null_cuStreamEndCapture(cu_stream stream, cu_graph *graph)
{
    int r = td_null_due_ctx(NULL_cuStreamEndCapture);
    null_object *o = (null_object *)stream, *g;
    null_row *row;

    if (!td_null_object_is(o, NULL_STREAM) || !o->data)
        return CU_INVALID_VALUE;
    row = o->data;
    o->data = NULL;
    g = r ? NULL : td_null_object_new(NULL_GRAPH);
    if (!g) {
        free_row(row);
        free(row);
        return r ? r : CU_OUT_OF_MEMORY;
    }
    g->data = row;
    *graph = (cu_graph)g;
    return 0;
}

/* Moves the work: a graph can be instantiated once. */
int
td_null_cuGraphInstantiate(cu_exec *exec, cu_graph graph, unsigned long long flags)
{
    int r = td_null_due_ctx(NULL_cuGraphInstantiate);
    null_object *g = (null_object *)graph, *e;

    (void)flags;
    if (r)
        return r;
    if (!td_null_object_is(g, NULL_GRAPH) || !g->data)
        return CU_INVALID_VALUE;
    e = td_null_object_new(NULL_EXEC);
    if (!e)
        return CU_OUT_OF_MEMORY;
    e->data = g->data;
    g->data = NULL;
    *exec = (cu_exec)e;
    return 0;
}

int
td_null_cuGraphLaunch(cu_exec exec, cu_stream stream)
{
    int r = td_null_due_ctx(NULL_cuGraphLaunch);
    const null_object *o = (const null_object *)exec;

    if (!r && !td_null_object_is(o, NULL_EXEC))
        r = CU_INVALID_HANDLE;
    if (r)
        return r;
    for (const null_work *w = ((const null_row *)o->data)->first; w && !r; w = w->next)
        r = td_null_submit(stream, *w);
    return r;
}

static int
null_graph_destroy(int r, void *handle, null_kind kind)
{
    null_object *o = handle;

    if (r)
        return r;
    if (!td_null_object_is(o, kind))
        return CU_INVALID_HANDLE;
    free_row(o->data);
    (void)td_null_object_free(o, kind);
    return 0;
}

int
td_null_cuGraphExecDestroy(cu_exec exec)
{
    return null_graph_destroy(td_null_due_ctx(NULL_cuGraphExecDestroy), exec, NULL_EXEC);
}

int
td_null_cuGraphDestroy(cu_graph graph)
{
    return null_graph_destroy(td_null_due_ctx(NULL_cuGraphDestroy), graph, NULL_GRAPH);
}
