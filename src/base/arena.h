/* arena.h - memory that is freed all at once, at the end of one compilation.
 *
 * td_alloc never returns NULL for a live arena: out of memory, it sets `failed` and returns a static block that
 * every such request shares.  The arena's owner checks `failed` once, before it uses the result.  A single request
 * that is larger than that block must go through td_alloc_big.
 */
#ifndef TD_BASE_ARENA_H
#define TD_BASE_ARENA_H
#include <stdbool.h>
#include <stddef.h>

typedef struct td_arena {
    struct td_chunk *head;
    bool             failed;
} td_arena;

void *td_alloc(td_arena *a, size_t size);     /* zeroed, 16-aligned; owned by the arena */
void *td_alloc_big(td_arena *a, size_t size); /* the same, but NULL when there is no memory */
void  td_arena_free(td_arena *a);             /* ok on {0} */

#endif
