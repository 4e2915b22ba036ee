/* draws.h - the random state of compiled functions: what each thread of the program has of its own.
 *
 * Row 2 * k holds numpy.random's generator and row 2 * k + 1 random's; k is 0 outside of parallel loops, and within one
 * the number of the piece that takes the turns, + 1.  A generator is a Mersenne twister; the words of its row are
 * named below.  Rows of pieces mean nothing outside of the loop.
 */
#ifndef TD_BASE_DRAWS_H
#define TD_BASE_DRAWS_H
#include <stdint.h>

enum {
    TD_DRAWS_KEY = 0,     /* 624 words */
    TD_DRAWS_NEXT = 624,  /* which of them comes next */
    TD_DRAWS_KEPT = 625,  /* 1: the next two words are a normal number that was made with another one */
    TD_DRAWS_LOOPS = 628, /* row 0: parallel loops so far that drew */
    TD_DRAWS_WORDS = 640, /* in a row */
    TD_DRAWS_ROWS = 2 * (256 + 1),
};

/* The calling thread's, seeded by the system when it is first asked for.  NULL: there is no memory.  Gone with the
 * thread. */
uint32_t *td_draws_here(void);

#endif
