/* unit.h - what a text declares at namespace and class level: functions, variables, macros, aliases, texture
 * references.
 *
 * It is found from tokens.  A declaration that is not understood is skipped; its tokens stay unchanged.
 */
#ifndef TD_CXX_UNIT_H
#define TD_CXX_UNIT_H
#include "cxx/lex.h"

/* cx_fn - a function, defined or declared.  Members with _at are tokens. */
typedef struct cx_fn {
    const char *name;  /* without namespaces; "operator" for all operators */
    const char *space; /* "ns::", "" */
    const char *owner; /* the class that it is a member of; "" */
    uint32_t    head_at, name_at, open_at, close_at; /* first token, name, ( and ) of its parameters */
    uint32_t    body_at, end_at;                     /* { and } of its body; 0: it is declared only */
    uint32_t    bounds_at;                           /* ( of __launch_bounds__; 0 */
    bool        kernel, device, is_template, external_c;
    bool        instance; /* template void f<int>(…); or template <> … */
} cx_fn;

typedef struct cx_var {
    const char *name, *space;
    uint32_t    name_at, head_at, end_at; /* end: its declaration's ; */
    bool        global;                   /* __device__, __constant__, __managed__: the host can ask for it */
    bool        shared;                   /* __shared__, at namespace level */
    bool        external;                 /* extern: it stands elsewhere */
    bool        constant;                 /* constexpr, const, an enumerator: never changes */
} cx_var;

typedef struct cx_macro {
    const char *name;
    bool        takes; /* arguments */
    toks        body;
    uint32_t    line;
} cx_macro;

typedef struct cx_alias { /* typedef, using, an object macro that names a type */
    const char *name;
    toks        of; /* the tokens of the type: a range of the text's or a macro's */
} cx_alias;

typedef struct cx_unit {
    td_arena *a;
    toks      k;
    uint32_t  nfn, nvar, nmacro, nalias, nclass, ninclude, ntexref;
    cx_fn    *fn;
    cx_var   *var;
    cx_macro *macro;
    cx_alias *alias;
    const char **class_name;
    const char **include;  /* as written, without < > " */
    cx_var   *texref;      /* texture<…> name; */
} cx_unit;

/* TD_ERR_JIT as td_lex. */
td_status td_unit_read(td_arena *a, const char *text, const char *file, cx_unit *u);

const cx_macro *td_unit_macro(const cx_unit *u, const tok *t); /* of that name; NULL */
bool td_tok_named(const tok *t, const char *name); /* a word of this text */

#endif
