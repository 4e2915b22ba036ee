/* lex.h - the tokens of a CUDA C++ text.
 *
 * Comments and white space are not tokens; a preprocessor line is one token, with its continuation lines.  Code in
 * #if 0, or in the #else of #if 1, gives no tokens.  Brackets know their partners.
 */
#ifndef TD_CXX_LEX_H
#define TD_CXX_LEX_H
#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum tok_kind {
    TOK_END, /* one stands behind the last token */
    TOK_WORD,
    TOK_NUMBER,
    TOK_STRING, /* with prefix, raw ones too */
    TOK_CHAR,
    TOK_MARK, /* operators and punctuation, longest first; >> and >>> are one */
    TOK_LINE, /* a preprocessor line from its # */
} tok_kind;

typedef struct tok {
    const char *s; /* into the text; not NUL-terminated */
    uint32_t    n, line;
    uint32_t    match; /* of a bracket: its partner's index */
    uint8_t     kind;
    bool        doubtful; /* stands between #if and #endif whose condition is not known here */
} tok;

/* toks - an arena's. */
typedef struct toks {
    const char *text, *file;
    tok     *t;
    uint32_t n; /* without TOK_END */
} toks;

/* Splits a text into tokens.  If the brackets of alternative branches (#if … #else) do not match, only the first
 * is taken. TD_ERR_JIT: a string, comment or bracket does not end, or a bracket has no partner; the text gives
 * the line. */
td_status td_lex(td_arena *a, const char *text, const char *file, toks *out);
/* The tokens of n bytes of a macro's body; brackets need no partners (match 0). */
td_status td_lex_piece(td_arena *a, const char *text, uint32_t n, uint32_t line, toks *out);

bool     td_tok_is(const tok *t, const char *s);
bool     td_tok_among(const tok *t, const char *const *words); /* NULL-terminated */
/* The token after the > that closes the < at i; 0: it is not closed before `end`. */
uint32_t td_tok_angles(const toks *k, uint32_t i, uint32_t end);
char    *td_cxx_dup(td_arena *a, const char *s, size_t n); /* NUL-terminated; never NULL */
/* Room for element n of a growing array in an arena; NULL: no memory (the arena has failed). */
void    *td_cxx_grow(td_arena *a, void *array, uint32_t n, size_t size);

#endif
