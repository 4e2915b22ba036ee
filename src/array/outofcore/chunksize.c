/* chunksize.c - what fits a device, and how many rows a chunk has. */
#include "array/outofcore/chunk.h"
#include "array/outofcore/feed.h"

size_t
td_chunk_room(td_dev *d)
{
    td_memstat m = td_mem_stats(d);
    size_t bound = td_mem_bound(d), free_bytes = 0, total = 0;

    if (td_dev_memory(d, &free_bytes, &total))
        free_bytes = bound; /* only the limit decides */
    free_bytes += m.cached;
    bound = bound > m.used ? bound - m.used : 0;
    return bound < free_bytes ? bound : free_bytes;
}

size_t
td_node_bytes(const td_node *n)
{
    return (size_t)td_shape_size(&n->view.shape) * td_dtype_size((td_dtype)n->dt);
}

/* May that many bytes be held, leaving some for the kernels? */
bool
td_chunk_has_room(td_dev *d, size_t nbytes)
{
    return nbytes <= td_chunk_room(d) / 4 * 3;
}

/* takes 5 ms on the bus, against a chunk's overhead of 0.1 ms */
#define CHUNK_GPU ((size_t)256 << 20)
#define CHUNK_CPU ((size_t)16 << 20) /* stays in the last-level cache for the next job's kernel */

/* what a function of rows may hold of its own, in sizes of its rows and its result */
enum { CALL_NEEDS = 4 };
enum { SETS = 3 }; /* sets of buffers: feed.c */

/* The rows that sources and targets read and write as a whole: of the largest that have such. */
static int64_t
grain_of(const td_pass *p)
{
    int64_t grain = 1;
    size_t most = 0;

    for (int i = 0; i < p->nfeed; i++) {
        int64_t g = td_host_grain(p->feed[i].host, p->feed[i].axis);

        if (g > 1 && td_host_bytes(p->feed[i].host) > most) {
            most = td_host_bytes(p->feed[i].host);
            grain = g;
        }
    }
    for (int i = 0; i < p->njob; i++)
        if (p->job[i].sink && p->job[i].sink->grain[p->job[i].to] > grain)
            grain = p->job[i].sink->grain[p->job[i].to];
    return grain;
}

/* Chooses the number of rows in a chunk: buffers and what is computed of them take half of the
 * room. */
void
td_pass_size(td_pass *p, int64_t want)
{
    bool cpu = td_dev_info(p->dev)->host;
    size_t room = td_chunk_room(p->dev) / 2, in = 0, moved = 0, out = 0, need, most;
    size_t n = (size_t)p->n;
    int64_t grain = grain_of(p);

    for (int i = 0; i < p->nfeed; i++) {
        moved += td_host_bytes(p->feed[i].host);
        in += p->feed[i].in_place ? 0 : td_host_bytes(p->feed[i].host);
    }
    for (int i = 0; i < p->njob; i++)
        if (p->job[i].sink)
            out += td_node_bytes(p->job[i].node);
    need = ((SETS + 1) * in + (cpu ? 0 : (TD_DRAIN_SLOTS + 2) * out) +
            (p->calls ? CALL_NEEDS * (moved + out) : 0)) /
               n +
           1;
    most = (cpu ? CHUNK_CPU : CHUNK_GPU) / ((moved + out) / n + 1);
    p->rows = (int64_t)(room / need < most ? room / need : most);
    if (p->rows >= grain)
        p->rows -= p->rows % grain;
    else if ((size_t)grain <= room / need && (size_t)grain <= 4 * most)
        p->rows = grain;
    else if (p->rows > 0) /* several times for one of them */
        p->rows = grain / ((grain + p->rows - 1) / p->rows);
    p->rows = want ? want : p->rows;
    p->rows = p->rows / p->multiple * p->multiple;
    if (p->rows < p->multiple)
        p->rows = p->multiple;
    if (p->rows > p->n)
        p->rows = p->n;
}
