/* t_wait.c - waiting for work that a program may break off: it is asked while work is left, and only then. */
#include "array/graph/node.h"
#include "null/null.h"

#include "check.h"

#include <string.h>

enum { N = 4096, FILLS = 60 };

static int asked;

static td_status
stop_at_once(void)
{
    asked++;
    return td_fail_code(TD_ERR_CALLER, 1, "the program was interrupted");
}

static td_status
go_on(void)
{
    asked++;
    return TD_OK;
}

/* A small result is waited for in the same way, and what was left of one does not disturb the next. */
static void
small_results(td_dev *null, td_buf *b)
{
    unsigned char got[16];
    td_stream *s = td_dev_stream(null);

    for (uint64_t seed = 1; seed <= 20; seed++) {
        td_null_delay(seed);
        for (int i = 0; i < FILLS; i++)
            CHECK_OK(td_fill(s, b->ptr, i, N));
        memset(got, 255, sizeof got);
        td_graph_on_poll(stop_at_once);
        CHECK_FAILS(td_graph_copy_out(s, got, b->ptr, sizeof got), TD_ERR_CALLER, "interrupted");
        CHECK(got[0] == 255 && got[15] == 255);
        CHECK_OK(td_fill(s, b->ptr, FILLS, N));
        td_graph_on_poll(go_on);
        CHECK_OK(td_graph_copy_out(s, got, b->ptr, sizeof got));
        CHECK(got[0] == FILLS && got[15] == FILLS);
    }
    td_null_delay(0);
    td_graph_on_poll(stop_at_once);
    CHECK_OK(td_graph_copy_out(s, got, b->ptr, sizeof got)); /* nothing is left: nobody is asked */
    td_graph_on_poll(NULL);
}

int
main(void)
{
    td_dev *null;
    td_event *e;
    td_buf *b;

    CHECK_OK(td_dev_get("null", &null));
    CHECK_OK(td_buf_new(null, NULL, N, &b));
    CHECK_OK(td_event_new(null, false, &e));
    td_graph_on_poll(stop_at_once);
    CHECK_OK(td_graph_await_stream(td_dev_stream(null))); /* nothing is left: nobody is asked */
    CHECK(asked == 0);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        td_null_delay(seed);
        for (int i = 0; i < FILLS; i++)
            CHECK_OK(td_fill(td_dev_stream(null), b->ptr, i, N));
        CHECK_FAILS(td_graph_await_stream(td_dev_stream(null)), TD_ERR_CALLER, "interrupted");
        CHECK_OK(td_event_record(e, td_dev_stream(null)));
        CHECK_FAILS(td_graph_await(e), TD_ERR_CALLER, "interrupted");
        asked = 0;
        td_graph_on_poll(go_on);
        CHECK_OK(td_graph_await(e));
        CHECK(((unsigned char *)b->ptr)[N - 1] == FILLS - 1); /* what was left has been done */
        td_graph_on_poll(stop_at_once);
    }
    td_null_delay(0);
    td_graph_on_poll(NULL);
    small_results(null, b);
    td_event_free(e);
    td_buf_unref(b);
    return check_failures != 0;
}
