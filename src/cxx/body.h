/* body.h - a kernel's body as statements and local variables, for those who cut it into regions. */
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
    bool     waits;     /* a barrier or a warp operation stands in it, or in what it calls */
    bool     strided;   /* a loop of each thread by itself that all make together: its rounds are numbered for the block */
    bool     cut;       /* runs once for the block: the statements in it are cut, or it is alike for all threads */
    uint32_t first, end;
    uint32_t open, close;       /* brackets of its condition or header */
    uint32_t child, other, next; /* first statement inside; else; the one behind */
    uint32_t region;            /* that it stands in; 0: it runs once for the block */
} cx_stmt;

typedef enum keep_kind {
    KEEP_INSIDE, /* lives in one region */
    KEEP_ONCE,   /* one for the block: alike for all threads */
    KEEP_AGAIN,  /* computed again in each region */
    KEEP_EACH,   /* in memory, one for each thread */
    KEEP_ROUND,  /* of a strided loop: from its first value and the round's number */
} keep_kind;

typedef struct cx_local {
    const tok *name;
    uint32_t   at, scope_end;      /* its name's token; where it can no longer be named */
    uint32_t   stmt;               /* that declares it; 0: a parameter */
    uint32_t   base, base_end;     /* tokens of the type's name */
    uint32_t   from, end;          /* of its declarator: stars, name, dimensions, initialiser */
    uint32_t   init;               /* = ( or { of the initialiser; 0: none */
    bool       is_const, is_auto, is_reference, is_array, is_pointer, is_shared;
    bool       odd;     /* changed in ways that are not followed: its address is taken, it is passed by reference */
    bool       uniform; /* alike for all threads wherever it can be read */
    bool       needed;  /* must be there outside of regions */
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
    cx_ref      *ref;   /* ascending; names of variables, those in macros too */
    cx_ref      *mod;   /* where a variable changes after its declaration: the operator */
    bool         doubt; /* something is not understood */
} cx_body;

/* false: something in it is not understood. */
bool td_body_read(cx_job *j, const cx_fn *f, cx_body *b);
/* What it has understood of the unit's function f; false: that has no body for a device. */
bool td_body_each(cx_job *j, uint32_t f, cx_body *b);
bool td_body_jumps(const cx_body *b, uint32_t n); /* return, break or continue stands in statement n */
/* The variable that the word means at token `where`; UINT32_MAX: none. */
uint32_t td_body_find(const cx_body *b, const tok *word, uint32_t where);
/* *, & and - before a value, not between two. */
bool td_body_unary(const cx_body *b, uint32_t i);
bool td_body_assigns(const tok *t); /* = += ++ … */

/* ---- uniform.c ---- */
bool td_body_pure(const cx_body *b, const tok *function); /* its result depends on its arguments alone, which it leaves */
/* Finds which variables and statements are alike for all threads: cx_local.uniform, cx_stmt.cut. */
void td_body_uniform(cx_body *b);
/* Tokens [i, end) have the same value for all threads, and evaluating them once does what doing it in each thread
 * does; effects: they may change variables that are alike. */
bool td_body_alike(const cx_body *b, uint32_t i, uint32_t end, bool effects);
/* They can be evaluated anywhere in [from, to) with the same value. */
bool td_body_again(const cx_body *b, uint32_t i, uint32_t end, uint32_t from, uint32_t to);

#endif
