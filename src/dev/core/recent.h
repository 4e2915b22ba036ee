/* recent.h - a device's last launches, and the failure that ended it.
 *
 * A kernel that reads where it must not fails late: some later call is told, and then every call of
 * the process, whatever it asks for.  So the launches that may still be running are remembered, with
 * the lines of the program that asked for them, and the first such failure is kept, with the launches
 * that may have caused it.  Waiting that succeeds tells which launches have ended, and that the device
 * lives.  Any thread may call.
 */
#ifndef TD_DEV_RECENT_H
#define TD_DEV_RECENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TD_RECENT_TEXT = 1024 };

typedef struct td_recent td_recent;

/* td_launched - a launch as it is remembered. */
typedef struct td_launched {
    const void *stream; /* compared only */
    bool        legacy; /* the default stream, which waits for all others and they for it */
    bool        apart;  /* another library's stream, of which that may not be true */
    const char *name, *what; /* for the process's life; what: in the user's words, or NULL */
    uint32_t    site; /* td_name_text's; 0: not known */
} td_launched;

td_recent *td_recent_new(void); /* for the process's life; NULL: no memory */

/* Remembers a launch about to be made; its number, from 1 up. */
uint64_t td_recent_add(td_recent *r, const td_launched *l);
uint64_t td_recent_last(td_recent *r); /* the number of the last one; 0: there is none */
void     td_recent_drop(td_recent *r, uint64_t number); /* the driver refused it */
/* All that was launched on a stream up to that number has ended; NULL: on all streams. */
void     td_recent_done(td_recent *r, const void *stream, uint64_t number);
/* The stream goes: what it was given comes before all that the default one is given later; with `never`
 * it was not launched at all. */
void     td_recent_gone(td_recent *r, const void *stream, bool never);

/* The device is lost: failure `name` was told by `call`.  Only the first is kept. */
void     td_recent_fail(td_recent *r, const char *name, const char *call);
/* "; first error: …" once the device is lost, else ""; returns text. */
const char *td_recent_told(td_recent *r, char text[TD_RECENT_TEXT]);

#endif
