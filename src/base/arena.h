/* arena.h - memory that is freed all at once, at the end of one compilation.
 *
 * td_alloc never returns NULL: where the system has no memory, it sets `failed` and takes from the reserve, which all
 * arenas share.  The arena's owner checks `failed` before it uses the result; what may take more than a part of the
 * reserve asks in between, or calls td_alloc_big.  The process ends where the reserve does.
 */
#ifndef TD_BASE_ARENA_H
#define TD_BASE_ARENA_H
#include <stdbool.h>
#include <stddef.h>

enum { TD_ARENA_RESERVE = 8 << 20 }; /* bytes; pages of it that nobody needed cost nothing */

typedef struct td_arena {
    struct td_chunk *head;
    bool             failed, reserved; /* reserved: it has memory of the reserve */
} td_arena; /* {0} is an empty one */

void *td_alloc(td_arena *a, size_t size);     /* zeroed, 16-aligned; owned by the arena */
void *td_alloc_big(td_arena *a, size_t size); /* the same, but NULL when there is no memory */
void  td_arena_free(td_arena *a);             /* ok on {0} */

#endif
