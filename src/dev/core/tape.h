/* tape.h - a tape: a thread's work on a device, recorded instead of run, to be replayed any number of times.
 *
 * While a tape records, it keeps the calling thread's kernels, copies within the device, fills, products and
 * collectives (nccl.h).  Work that needs values (copies to and from the host, waiting) is refused by name.  Memory
 * that the thread allocates meanwhile belongs to the tape and stays as long as the tape; within the recording,
 * blocks that nobody holds any more are reused.
 *
 * A slot is a buffer that each replay replaces by another.  A draw's offset advances with its generator.  Runs of
 * work without slots or draws are launched as one CUDA graph if the device has graphs; other work is launched by
 * itself with patched arguments.  So a replay copies nothing, except a small slot that much of the work reads.
 *
 * Recording belongs to one thread.  Any thread may call td_tape_play, one at a time.
 */
#ifndef TD_DEV_TAPE_H
#define TD_DEV_TAPE_H
#include "dev/core/trace.h"

typedef struct td_tape td_tape;

enum { TD_TAPE_CALLS = 256 }; /* collectives that can be recorded as one call */
typedef struct td_work td_work; /* work.h */

extern _Thread_local td_tape *td_tape_current; /* the tape that the calling thread records on; NULL: none */

static inline td_tape *
td_tape_now(void)
{
    return td_tape_current;
}

td_status td_tape_new(td_dev *d, td_tape **out); /* owned; the thread records from now on */
void      td_tape_stop(td_tape *t);              /* ends recording; does nothing the second time */
void      td_tape_free(td_tape *t);              /* ok on NULL; stops first */
td_tape  *td_tape_pause(void);                   /* work runs again until td_tape_resume(the returned tape) */
void      td_tape_resume(td_tape *t);

/* TD_OK if the thread does not record, else the error that names `what`. */
td_status td_tape_refuse(const char *what);

/* The calls below are the device's and the pool's, while recording. */
td_status td_tape_add(td_tape *t, td_stream *s, const td_work *w);
bool      td_tape_reuse(td_tape *t, td_dev *d, size_t nbytes, td_buf **out);
td_status td_tape_own(td_tape *t, td_buf *b); /* takes a reference on b; on failure the caller's reference is dropped */
bool      td_tape_owns(const td_tape *t, const td_buf *b);

typedef enum td_slotkind { TD_SLOT_IN, TD_SLOT_OUT } td_slotkind;

/* Each replay replaces b by other memory, which it reads or fills.  Slots are numbered from 0. */
td_status td_tape_slot(td_tape *t, td_buf *b, td_slotkind kind);
/* Declares that in launches' arguments the words (key, offset), in this order, belong to a draw of generator `rng`. */
td_status td_tape_draw(td_tape *t, int rng, uint64_t key, uint64_t offset);
/* Recording has ended, and slots and draws are declared: makes the tape ready to play. */
td_status td_tape_finish(td_tape *t);

typedef struct td_tapeplay {
    const uintptr_t *slot; /* the memory for each slot, aligned to 16 bytes as the slot's was */
    const uint64_t (*rng)[2]; /* each generator's key, and how far it has advanced since recording */
} td_tapeplay;

td_status td_tape_play(td_tape *t, td_stream *s, const td_tapeplay *p);

typedef struct td_tapeinfo {
    int    kernels; /* launches, products and copies recorded */
    int    runs;    /* runs launched as one graph */
    int    patched; /* pieces launched by themselves with other arguments each time */
    size_t nbytes;  /* bytes of memory that the tape keeps */
} td_tapeinfo;

td_tapeinfo td_tape_info(const td_tape *t);

/* td_tapework - a recorded piece of work, described for people.  The names live as long as the tape. */
typedef struct td_tapework {
    const char *kind, *name; /* as profiles have them */
    size_t nbytes;           /* read and written; 0: not known */
    uint32_t site;           /* the line that recorded it (site.h); 0: not known */
} td_tapework;

td_tapework td_tape_work(const td_tape *t, int i); /* i: below td_tape_info's kernels */

#endif
