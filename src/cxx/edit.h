/* edit.h - replaces pieces of a text.  Lines keep their numbers: removed pieces leave their line ends. */
#ifndef TD_CXX_EDIT_H
#define TD_CXX_EDIT_H
#include "base/text.h"
#include "cxx/lex.h"

typedef struct cx_edit {
    uint32_t    at, gone; /* bytes of the text */
    const char *put;
} cx_edit;

typedef struct edits {
    td_arena   *a;
    const char *text;
    cx_edit    *e;
    uint32_t    n;
} edits;

/* Edits at one position apply in the order in which they were made; insertions before a removed piece come
 * first.  Edits inside a removed piece are dropped. */
void td_edit_before(edits *e, const tok *t, const char *put);
void td_edit_behind(edits *e, const tok *t, const char *put);
void td_edit_replace(edits *e, const tok *first, const tok *last, const char *put);
/* Formats a text in the arena. */
const char *td_edit_format(edits *e, const char *fmt, ...) TD_PRINTF(2, 3);
/* Tokens [i, end) with a blank between them, preprocessor lines left out. */
const char *td_edit_spell(edits *e, const toks *k, uint32_t i, uint32_t end);


void td_edit_apply(edits *e, td_text *out);

#endif
