/* share.h - memory that other processes of this machine open without a copy.
 *
 * A handle is bytes that can travel to another process in any way.  Each td_share_send makes one, for one or more
 * receivers.  The memory stays until the handle was received and every receiver has dropped it:
 *
 * - The sender keeps a ledger, a file without a name (memfd), with a record per handle: its generation, and whether
 * it was received.  Receivers open it as /proc/PID/fd/N, so no name can be left behind.
 * - A receiver holds a read lock (F_OFD_SETLK) on the handle's record while it holds the memory.  The kernel drops
 * the lock when the receiver ends, however it ends.
 * - The sender holds a reference on the buffer until the record says received and nobody locks it.  It checks when
 * it sends, when the pool needs memory and when it is trimmed.
 * - A receiver returns a GPU's memory after the work that it has launched by then.
 *
 * A handle that nobody receives holds its memory until the sender ends.  On the CPU the memory outlives its sender
 * if it was received before; on a GPU the sender must live as long as the receivers use it.
 */
#ifndef TD_DEV_SHARE_H
#define TD_DEV_SHARE_H
#include "dev/core/dev.h"

/* td_handle - sent as bytes. */
typedef struct td_handle {
    char          device[16];
    int64_t       pid;
    uint64_t      ledger; /* the ledger's inode */
    int32_t       fd;     /* the sender's, of the ledger */
    uint32_t      slot, generation;
    uint32_t      pad;
    uint64_t      base_bytes; /* bytes of the piece that is opened */
    uint64_t      offset, nbytes; /* of the buffer, within that piece */
    unsigned char piece[64]; /* the device's own handle of the piece */
} td_handle;

/* As td_buf_new, of memory that can be sent.  TD_ERR_VALUE: the device has none such. */
td_status td_share_new(td_dev *d, size_t nbytes, td_buf **out); /* owned */
bool      td_share_can(const td_buf *b);

/* Waits for the device's work, and holds b until the handle was received and given back.  TD_ERR_VALUE: b cannot
 * be sent; TD_ERR_DEVICE: the driver cannot do it. */
td_status td_share_send(td_buf *b, td_handle *out);
/* TD_ERR_VALUE: the sender is gone or has freed the memory; TD_ERR_DEVICE: the driver refused. */
td_status td_share_receive(const td_handle *h, td_buf **out); /* owned */

/* Frees what receivers gave back, and gives back what was dropped here; cheap if there is nothing. */
void td_share_poll(void);
/* How many handles nobody has received yet. */
int td_share_waiting(void);
void td_share_lock(bool lock); /* around fork() */

#endif
