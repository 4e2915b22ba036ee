/* arena.h - memory that dies all at once, at the end of one compilation.
 *
 * td_alloc never returns NULL for a live arena: on exhaustion it records the failure and hands out
 * a static sink; whoever owns the arena checks `failed` once, before the result is used.  A single
 * request beyond the sink's size must go through td_alloc_big.
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
void *td_alloc_big(td_arena *a, size_t size); /* the same, but NULL when memory is out */
void  td_arena_free(td_arena *a);             /* ok on {0} */

#endif
