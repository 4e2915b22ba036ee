/* cudamem.c - a CUDA device's memory: whole allocations, and pieces whose parts can be returned.
 *
 * A piece with a grain is a range of addresses with one allocation mapped to each grain.  So any
 * grain can go back to the driver while its neighbours are in use, and the pool can collect free
 * memory that lies scattered.  Drivers without virtual memory management give plain allocations.
 * So does cuMemAlloc for pieces without a grain; only those can be shared with other processes,
 * by cuIpcGetMemHandle.
 */
#include "dev/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

/* parts - a piece's allocations, one per grain; 0: returned.  In the device's list, under
 * parts_mu. */
typedef struct parts {
    struct parts *next, **link; /* link: the pointer to this entry */
    cu_ptr ptr;
    size_t n, own, nown; /* nown of them, from `own` on, belong to the piece */
    cu_mem at[];
} parts;

enum { REACH_MAX = 64 }; /* most devices that can be let in: bits of td_cuda's reach */

static cu_memprop
properties(const td_cuda *c)
{
    return (cu_memprop){.type = CU_MEM_PINNED, .where = CU_MEM_DEVICE, .device = c->ordinal};
}

size_t
td_cuda_grain(td_cuda *c)
{
    const td_driver *v = c->drv;
    cu_memprop prop = properties(c);
    int dev, have = 0;
    size_t n = 0;
    bool pushed;

    if (!v->cuMemAddressReserve || !v->cuMemAddressFree || !v->cuMemCreate || !v->cuMemRelease ||
        !v->cuMemMap || !v->cuMemUnmap || !v->cuMemSetAccess || !v->cuMemGetAllocationGranularity ||
        v->cuDeviceGet(&dev, c->ordinal) ||
        v->cuDeviceGetAttribute(&have, CU_ATTR_VIRTUAL_MEMORY, dev) || !have ||
        td_cuda_enter(c, &pushed))
        return 0;
    if (v->cuMemGetAllocationGranularity(&n, &prop, CU_MEM_MINIMUM))
        n = 0;
    td_cuda_leave(c, pushed);
    return n;
}

/* Lets c, and the devices that were let in, access [ptr, ptr + nbytes), which is mapped. */
static td_status
give_access(td_cuda *c, cu_ptr ptr, size_t nbytes)
{
    cu_memaccess to[1 + REACH_MAX] = {
        {.where = CU_MEM_DEVICE, .device = c->ordinal, .flags = CU_MEM_READ_WRITE}};
    size_t n = 1;

    for (int i = 0; i < REACH_MAX; i++)
        if (c->reach >> i & 1)
            to[n++] =
                (cu_memaccess){.where = CU_MEM_DEVICE, .device = i, .flags = CU_MEM_READ_WRITE};
    return CU_TRY(c, cuMemSetAccess, ptr, nbytes, to, n);
}

/* Unmaps and releases the grains [from, to). */
static td_status
drop_parts(td_cuda *c, td_piece *m, size_t from, size_t to)
{
    parts *p = m->parts;
    td_status st = TD_OK, r;

    for (size_t i = from; i < to; i++) {
        if (!p->at[i])
            continue;
        r = CU_TRY(c, cuMemUnmap, m->ptr + i * m->grain, m->grain);
        if (!r && i >= p->own && i < p->own + p->nown)
            r = CU_TRY(c, cuMemRelease, p->at[i]);
        p->at[i] = 0;
        st = st ? st : r;
    }
    return st;
}

/* Maps all grains: makes allocations for the piece's own, and maps the others' existing ones. */
static td_status
map_parts(td_cuda *c, td_piece *m, size_t nbytes)
{
    cu_memprop prop = properties(c);
    parts *p = m->parts;
    td_status st = TD_OK;

    for (size_t i = 0; i < p->n && !st; i++) {
        bool own = i >= p->own && i < p->own + p->nown;
        cu_mem h = p->at[i];

        if (own)
            st = CU_TRY(c, cuMemCreate, &h, m->grain, &prop, 0);
        if (!st) {
            st = CU_TRY(c, cuMemMap, m->ptr + i * m->grain, m->grain, 0, h, 0);
            if (st && own)
                (void)c->drv->cuMemRelease(h);
            p->at[i] = st ? 0 : h;
        }
        for (size_t k = i + 1; st && k < p->n; k++)
            p->at[k] = 0; /* not mapped */
    }
    if (!st)
        st = give_access(c, m->ptr, nbytes);
    if (st)
        (void)drop_parts(c, m, 0, p->n);
    return st;
}

static cu_mem
part_at(const td_part *a)
{
    return ((const parts *)a->piece->parts)->at[a->at / a->piece->grain];
}

static void
list_parts(td_cuda *c, parts *p, cu_ptr ptr)
{
    parts **head = (parts **)&c->pieces;

    p->ptr = ptr;
    p->next = *head;
    p->link = head;
    if (p->next)
        p->next->link = &p->next;
    *head = p;
}

static void
unlist_parts(parts *p)
{
    *p->link = p->next;
    if (p->next)
        p->next->link = p->link;
}

/* Gets m->nbytes of new memory, with the grains of `a` mapped before and after it. */
static td_status
get_parts(td_cuda *c, td_piece *m, const td_part a[2])
{
    size_t own = a[0].piece != NULL, nown = m->nbytes / m->grain,
           n = own + nown + (a[1].piece != NULL);
    parts *p = calloc(1, sizeof *p + n * sizeof(cu_mem));
    cu_ptr ptr;
    td_status st;

    if (!p)
        return td_fail(TD_ERR_NOMEM, "%s: no host memory for a region's record", c->dev.info.name);
    *p = (parts){.n = n, .own = own, .nown = nown};
    if (a[0].piece)
        p->at[0] = part_at(&a[0]);
    if (a[1].piece)
        p->at[n - 1] = part_at(&a[1]);
    m->parts = p;
    st = CU_TRY(c, cuMemAddressReserve, &ptr, n * m->grain, m->grain, 0, 0);
    if (!st) {
        m->ptr = (uintptr_t)ptr;
        pthread_mutex_lock(&c->parts_mu);
        st = map_parts(c, m, n * m->grain);
        if (!st)
            list_parts(c, p, ptr);
        pthread_mutex_unlock(&c->parts_mu);
        if (st)
            (void)c->drv->cuMemAddressFree(ptr, n * m->grain);
    }
    m->nbytes = n * m->grain;
    if (st) {
        free(m->parts);
        m->parts = NULL;
    }
    return st;
}

td_status
td_cuda_mem_get(td_dev *d, td_piece *m)
{
    static const td_part none[2];
    td_cuda *c = td_cuda_of(d);
    cu_ptr p = 0;
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    if (m->grain && m->nbytes % m->grain == 0) {
        st = get_parts(c, m, none);
    } else {
        m->grain = 0;
        st = CU_TRY(c, cuMemAlloc, &p, m->nbytes);
        m->ptr = (uintptr_t)p;
    }
    td_cuda_leave(c, pushed);
    return st;
}

/* cuMemFree waits for the device; unmapping is not documented to wait. */
td_status
td_cuda_mem_put(td_dev *d, td_piece *m)
{
    td_cuda *c = td_cuda_of(d);
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    if (m->grain) {
        st = td_cuda_status(c, c->drv->cuCtxSynchronize(), "cuCtxSynchronize");
        pthread_mutex_lock(&c->parts_mu);
        if (!st)
            st = drop_parts(c, m, 0, ((parts *)m->parts)->n);
        unlist_parts(m->parts);
        pthread_mutex_unlock(&c->parts_mu);
        if (!st)
            st = CU_TRY(c, cuMemAddressFree, m->ptr, m->nbytes);
        free(m->parts);
        m->parts = NULL;
    } else {
        st = CU_TRY(c, cuMemFree, m->ptr);
    }
    td_cuda_leave(c, pushed);
    return st;
}

td_status
td_cuda_mem_cut(td_dev *d, td_piece *m, size_t at, size_t nbytes)
{
    td_cuda *c = td_cuda_of(d);
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    pthread_mutex_lock(&c->parts_mu);
    st = drop_parts(c, m, at / m->grain, (at + nbytes) / m->grain);
    pthread_mutex_unlock(&c->parts_mu);
    td_cuda_leave(c, pushed);
    return st;
}

td_status
td_cuda_mem_join(td_dev *d, td_piece *m, const td_part a[2])
{
    td_cuda *c = td_cuda_of(d);
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    st = get_parts(c, m, a);
    td_cuda_leave(c, pushed);
    return st;
}

/* ---- other devices ---- */

/* Gives access to existing memory grain by grain, since some may have been returned. */
static td_status
let_into(td_cuda *c, const parts *p)
{
    size_t grain = c->dev.pool.grain;
    td_status st = TD_OK;

    for (size_t i = 0; i < p->n && !st; i++)
        if (p->at[i])
            st = give_access(c, p->ptr + i * grain, grain);
    return st;
}

td_status
td_cuda_let_in(td_cuda *c, td_cuda *peer)
{
    int dev, from, can = 0, r;
    uint64_t bit = (uint64_t)1 << peer->ordinal;
    bool pushed;
    td_status st = TD_OK;

    if (atomic_load(&c->asked) & bit)
        return TD_OK;
    TD_TRY(CU_TRY(c, cuDeviceGet, &dev, c->ordinal));
    TD_TRY(CU_TRY(c, cuDeviceGet, &from, peer->ordinal));
    TD_TRY(CU_TRY(c, cuDeviceCanAccessPeer, &can, from, dev));
    if (can) {
        TD_TRY(td_cuda_enter(peer, &pushed));
        r = c->drv->cuCtxEnablePeerAccess(c->ctx, 0); /* for memory of cuMemAlloc */
        td_cuda_leave(peer, pushed);
        if (r != CU_PEER_ALREADY)
            TD_TRY(td_cuda_status(c, r, "cuCtxEnablePeerAccess"));
        TD_TRY(td_cuda_enter(c, &pushed));
        pthread_mutex_lock(&c->parts_mu);
        c->reach |= bit;
        for (const parts *p = c->pieces; p && !st; p = p->next)
            st = let_into(c, p);
        if (st)
            c->reach &= ~bit;
        pthread_mutex_unlock(&c->parts_mu);
        td_cuda_leave(c, pushed);
    }
    if (!st)
        atomic_fetch_or(&c->asked, bit);
    return st;
}

/* ---- other processes ---- */

static td_status
no_ipc(const td_cuda *c)
{
    return td_fail(TD_ERR_DEVICE, "%s: this driver shares no memory between processes",
                   c->dev.info.name);
}

td_status
td_cuda_share(td_dev *d, const td_buf *b, td_shared *out)
{
    td_cuda *c = td_cuda_of(d);
    const td_piece *m = td_pool_piece(b);
    cu_ipcmem h;
    bool pushed;
    td_status st;

    if (!m || m->grain)
        return out ? td_fail(TD_ERR_VALUE, "%s: this memory cannot be shared", d->info.name)
                   : TD_SKIP;
    if (!out)
        return TD_OK;
    if (!c->drv->cuIpcGetMemHandle)
        return no_ipc(c);
    TD_TRY(td_cuda_enter(c, &pushed));
    st = CU_TRY(c, cuIpcGetMemHandle, &h, m->ptr);
    td_cuda_leave(c, pushed);
    memcpy(out->bytes, h.bytes, sizeof out->bytes);
    out->base = m->ptr;
    out->nbytes = m->nbytes;
    return st;
}

td_status
td_cuda_share_open(td_dev *d, td_shared *m)
{
    td_cuda *c = td_cuda_of(d);
    cu_ipcmem h;
    cu_ptr ptr = 0;
    td_status st;

    if (!c->drv->cuIpcOpenMemHandle)
        return no_ipc(c);
    memcpy(h.bytes, m->bytes, sizeof h.bytes);
    st = CU_CALL(c, cuIpcOpenMemHandle, &ptr, h, CU_IPC_LAZY_PEER);
    m->base = (uintptr_t)ptr;
    return st;
}

td_status
td_cuda_share_close(td_dev *d, const td_shared *m)
{
    td_cuda *c = td_cuda_of(d);

    return CU_CALL(c, cuIpcCloseMemHandle, m->base);
}
