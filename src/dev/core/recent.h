/* recent.h - a device's recent launches, and the failure that ended the device.
 *
 * A kernel that accesses memory out of bounds fails late: some later call is told, and then every call of the
 * process fails.  So we remember launches that may still be running, with the program's lines that asked for them.
 * The first such failure is kept together with the launches that may have caused it.  A wait that succeeds tells
 * which launches have ended, and that the device is sound.  Any thread may call.
 */
#ifndef TD_DEV_RECENT_H
#define TD_DEV_RECENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TD_RECENT_TEXT = 1024 };

typedef struct td_recent td_recent;

/* td_launched - what is remembered of a launch. */
typedef struct td_launched {
    const void *stream; /* compared only */
    bool        legacy; /* the default stream, which waits for all others and they for it */
    bool        apart;  /* another library's stream, for which that may not hold */
    const char *name, *what; /* for the process's life; what: in the user's words, or NULL */
    uint32_t    site; /* td_name_text's; 0: not known */
} td_launched;

td_recent *td_recent_new(void); /* for the process's life; NULL: no memory */

/* Remembers a launch about to be made; returns its number, counted from 1. */
uint64_t td_recent_add(td_recent *r, const td_launched *l);
uint64_t td_recent_last(td_recent *r); /* number of the newest launch; 0: there is none */
void     td_recent_drop(td_recent *r, uint64_t number); /* the driver refused that launch */
/* Marks as ended what was launched on the stream up to that number; NULL: on all streams. */
void     td_recent_done(td_recent *r, const void *stream, uint64_t number);
/* The stream is freed: its launches now count as launched before later ones of the default stream; never: as not
 * launched at all. */
void     td_recent_gone(td_recent *r, const void *stream, bool never);

/* The device is lost: `call` reported failure `name`.  Only the first such failure is kept. */
void     td_recent_fail(td_recent *r, const char *name, const char *call);
/* "; first error: …" if the device is lost, else ""; returns text. */
const char *td_recent_told(td_recent *r, char text[TD_RECENT_TEXT]);

#endif
