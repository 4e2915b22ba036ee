/* body.h - a kernel's body as statements and local variables, for the files that cut it into regions. */
#ifndef TD_CXX_BODY_H
#define TD_CXX_BODY_H
#include "cxx/cpu.h"

typedef enum stmt_kind {
    STMT_EMPTY,
    STMT_BLOCK,
    STMT_IF,
    STMT_FOR,
    STMT_WHILE,
    STMT_DO,
    STMT_SWITCH,
    STMT_JUMP,    /* return, break, continue */
    STMT_DECLARE, /* variables */
    STMT_NAME,    /* typedef, using, enum, static_assert: nothing runs */
    STMT_SHARED,  /* __shared__ … */
    STMT_BARRIER, /* __syncthreads(); */
    STMT_EXPR,
} stmt_kind;

/* cx_stmt - tokens [first, end); 0 stands for no statement. */
typedef struct cx_stmt {
    uint8_t  kind;
    bool     waits;     /* it contains, or calls, a barrier or a warp operation */
    /* a loop that all threads run together, each with its own stride: its iterations are numbered for the block */
    bool     strided;
    bool     cut;       /* runs once for the block: its statements are cut, or it is uniform */
    uint32_t first, end;
    uint32_t open, close;       /* brackets of its condition or header */
    uint32_t child, other, next; /* first statement inside; else; next statement */
    uint32_t region;            /* the region it belongs to; 0: it runs once for the block */
} cx_stmt;

typedef enum keep_kind {
    KEEP_INSIDE, /* lives within one region */
    KEEP_ONCE,   /* one for the block, since it is uniform */
    KEEP_AGAIN,  /* computed again in each region */
    KEEP_EACH,   /* in memory, one for each thread */
    KEEP_ROUND,  /* of a strided loop: computed from its first value and the number of the iteration */
} keep_kind;

typedef struct cx_local {
    const tok *name;
    uint32_t   at, scope_end;      /* token of its name; token where its scope ends */
    uint32_t   stmt;               /* the declaring statement; 0: a parameter */
    uint32_t   base, base_end;     /* tokens of the type's name */
    uint32_t   from, end;          /* of its declarator: stars, name, dimensions, initialiser */
    uint32_t   init;               /* = ( or { of the initialiser; 0: none */
    bool       is_const, is_auto, is_reference, is_array, is_pointer, is_shared;
    bool       odd;     /* changed in ways that are not followed: its address is taken, or it is passed by reference */
    bool       uniform; /* uniform wherever it can be read */
    bool       needed;  /* needed outside of regions */
    uint8_t    keep;
} cx_local;

typedef struct cx_ref {
    uint32_t at, local; /* token, variable */
} cx_ref;

typedef struct cx_body {
    cx_job      *j;
    const cx_fn *f;
    uint32_t     nstmt, nlocal, nref, nmod, nregion;
    cx_stmt     *stmt;  /* stmt[1] is the body */
    cx_local    *local;
    cx_ref      *ref;   /* uses of variables, also inside macros; ascending */
    cx_ref      *mod;   /* changes of variables after their declaration: the operator's token */
    bool         doubt; /* something was not understood */
} cx_body;

/* Reads f's body; false: something in it is not understood. */
bool td_body_read(cx_job *j, const cx_fn *f, cx_body *b);
/* Reads as much as can be understood of the unit's function f; false: it has no body for a device. */
bool td_body_each(cx_job *j, uint32_t f, cx_body *b);
bool td_body_jumps(const cx_body *b, uint32_t n); /* does statement n contain return, break or continue? */
/* The variable that the word means at token `where`; UINT32_MAX: none. */
uint32_t td_body_find(const cx_body *b, const tok *word, uint32_t where);
/* Is the *, & or - at i a unary operator? */
bool td_body_unary(const cx_body *b, uint32_t i);
bool td_body_assigns(const tok *t); /* is it = += ++ …? */

/* ---- uniform.c ---- */
/* does its result depend on its arguments alone, which it does not change? */
bool td_body_pure(const cx_body *b, const tok *function);
/* Finds which variables and statements are uniform over the block: cx_local.uniform, cx_stmt.cut. */
void td_body_uniform(cx_body *b);
/* Do tokens [i, end) have the same value in all threads, and may they be evaluated once?  effects: they may
 * change uniform variables. */
bool td_body_alike(const cx_body *b, uint32_t i, uint32_t end, bool effects);
/* Do they have the same value anywhere in [from, to)? */
bool td_body_again(const cx_body *b, uint32_t i, uint32_t end, uint32_t from, uint32_t to);

#endif
