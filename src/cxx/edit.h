/* edit.h - a text with pieces taken out and put in.  Lines keep their numbers: what is taken out leaves its line ends. */
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

/* At one place they come in the order in which they were asked for; what is put before a piece that is taken
 * out comes first.  Edits inside of a piece that is taken out are gone with it. */
void td_edit_before(edits *e, const tok *t, const char *put);
void td_edit_behind(edits *e, const tok *t, const char *put);
void td_edit_replace(edits *e, const tok *first, const tok *last, const char *put);
/* A text in the arena. */
const char *td_edit_format(edits *e, const char *fmt, ...) TD_PRINTF(2, 3);
/* Tokens [i, end) with a blank between them, preprocessor lines left out. */
const char *td_edit_spell(edits *e, const toks *k, uint32_t i, uint32_t end);


void td_edit_apply(edits *e, td_text *out);

#endif
