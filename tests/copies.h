/* copies.h - n bytes to a device, from there to another place of it, and back. */
#ifndef TD_TESTS_COPIES_H
#define TD_TESTS_COPIES_H
#include "check.h"
#include "dev/core/dev.h"

#include <stdlib.h>
#include <string.h>

/* Do they come back as they went, and is what is filled there so here? */
static inline int
copies_return(td_dev *d, td_stream *s, size_t n)
{
    unsigned char *in = malloc(n), *out = calloc(n, 1);
    td_buf *a = NULL, *b = NULL;
    int ok;

    for (size_t k = 0; k < n; k++)
        in[k] = (unsigned char)(k * 7 + k / 253 + k / 65537);
    ok = CHECK_OK(td_buf_new(d, s, n, &a)) && CHECK_OK(td_buf_new(d, s, n, &b)) && CHECK(a->ptr % 512 == 0) &&
         CHECK_OK(td_copy_in(s, a->ptr, in, n)) && CHECK_OK(td_copy(s, b->ptr, a->ptr, n)) &&
         CHECK_OK(td_copy_out(s, out, b->ptr, n)) && CHECK(memcmp(in, out, n) == 0) &&
         CHECK_OK(td_fill(s, b->ptr, 9, n)) && CHECK_OK(td_copy_out(s, out, b->ptr, n)) &&
         CHECK(out[0] == 9 && out[n - 1] == 9);
    td_buf_unref(a);
    td_buf_unref(b);
    free(in);
    free(out);
    return ok;
}

#endif
