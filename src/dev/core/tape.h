/* tape.h - a thread's work on a device, recorded instead of done, to be done again and again.
 *
 * While a tape records, kernels, copies within the device, fills, products and collectives (nccl.h) of the calling
 * thread are kept; what would need values (copies to and from the host, waiting) is refused by name.  Memory
 * made meanwhile is the tape's and stays as long as it does: blocks that nobody else holds any more
 * are handed out again within it.
 *
 * A slot is a buffer whose place another one takes at each replay; a draw's offset moves on with its
 * generator.  Work that neither changes is, where the device can do so, launched in runs as one (a
 * CUDA graph); the rest is launched by itself with its arguments patched.  So a replay needs no
 * copies, but for a small slot that much of the work reads.
 *
 * Recording belongs to one thread; td_tape_play may be called by any, one after the other.
 */
#ifndef TD_DEV_TAPE_H
#define TD_DEV_TAPE_H
#include "dev/core/trace.h"

typedef struct td_tape td_tape;

enum { TD_TAPE_CALLS = 256 }; /* collectives that can be recorded as called at once */
typedef struct td_work td_work; /* work.h */

extern _Thread_local td_tape *td_tape_current; /* what the calling thread records on; NULL: nothing */

static inline td_tape *
td_tape_now(void)
{
    return td_tape_current;
}

td_status td_tape_new(td_dev *d, td_tape **out); /* owned; the thread records from now on */
void      td_tape_stop(td_tape *t);              /* recording has ended; again: nothing */
void      td_tape_free(td_tape *t);              /* ok on NULL; stops first */
td_tape  *td_tape_pause(void);                   /* work is done again until td_tape_resume(what was returned) */
void      td_tape_resume(td_tape *t);

/* TD_OK where the thread does not record, else the error that names `what`. */
td_status td_tape_refuse(const char *what);

/* While recording: the device's and the pool's calls. */
td_status td_tape_add(td_tape *t, td_stream *s, const td_work *w);
bool      td_tape_reuse(td_tape *t, td_dev *d, size_t nbytes, td_buf **out);
td_status td_tape_own(td_tape *t, td_buf *b); /* refs b; on failure the caller's reference goes */
bool      td_tape_owns(const td_tape *t, const td_buf *b);

typedef enum td_slotkind { TD_SLOT_IN, TD_SLOT_OUT } td_slotkind;

/* b's place is taken by other memory at each replay: read, or filled by it.  Slots are numbered from 0. */
td_status td_tape_slot(td_tape *t, td_buf *b, td_slotkind kind);
/* Words (key, offset), in this order, among a launch's arguments belong to a draw of generator `rng`. */
td_status td_tape_draw(td_tape *t, int rng, uint64_t key, uint64_t offset);
/* Recording has ended, slots and draws are told: makes the tape ready. */
td_status td_tape_finish(td_tape *t);

typedef struct td_tapeplay {
    const uintptr_t *slot; /* the memory of each, aligned to 16 bytes as the slot's was */
    const uint64_t (*rng)[2]; /* each generator's key, and how far it has moved on since recording */
} td_tapeplay;

td_status td_tape_play(td_tape *t, td_stream *s, const td_tapeplay *p);

typedef struct td_tapeinfo {
    int    kernels; /* launches, products and copies recorded */
    int    runs;    /* of those, how many rows are launched as one */
    int    patched; /* how many are launched by themselves with other arguments each time */
    size_t nbytes;  /* of memory that the tape keeps */
} td_tapeinfo;

td_tapeinfo td_tape_info(const td_tape *t);

/* td_tapework - a recorded piece of work, for people.  The names live as long as the tape. */
typedef struct td_tapework {
    const char *kind, *name; /* as profiles have them */
    size_t nbytes;           /* read and written; 0: not known */
    uint32_t site;           /* the line that recorded it (site.h); 0: not known */
} td_tapework;

td_tapework td_tape_work(const td_tape *t, int i); /* i: below td_tape_info's kernels */

#endif
