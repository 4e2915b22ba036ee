/* draws.h - random state of compiled functions, one set of rows per thread of the program.
 *
 * Row 2 * k is numpy.random's generator, row 2 * k + 1 random's.  k is 0 outside parallel loops.  Inside one it is
 * the number of the piece that runs the iterations, plus 1; rows of pieces mean nothing outside the loop.  A
 * generator is a Mersenne twister; the words of its row are named below.
 */
#ifndef TD_BASE_DRAWS_H
#define TD_BASE_DRAWS_H
#include <stdint.h>

enum {
    TD_DRAWS_KEY = 0,     /* 624 words */
    TD_DRAWS_NEXT = 624,  /* index of the next word to use */
    TD_DRAWS_KEPT = 625,  /* 1: the next two words hold a normal number left over from the last pair */
    TD_DRAWS_LOOPS = 628, /* in row 0: parallel loops so far that drew numbers */
    TD_DRAWS_WORDS = 640, /* words of a row */
    TD_DRAWS_ROWS = 2 * (256 + 1),
};

/* The calling thread's rows, which the system seeds at the first call and which are freed with the thread.
 * NULL: no memory. */
uint32_t *td_draws_here(void);

#endif
