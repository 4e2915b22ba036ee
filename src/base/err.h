/* err.h - the one way a function reports that it could not do its job.
 *
 * Bugs abort (td_bug).  Everything a caller or a machine can cause returns a td_status and leaves
 * a sentence in the calling thread's error record.  A fast path that declines returns TD_SKIP,
 * which is not an error and leaves no text.  Nothing below the Python layer prints.
 */
#ifndef TD_BASE_ERR_H
#define TD_BASE_ERR_H

typedef enum td_status {
    TD_OK = 0,
    TD_SKIP,        /* declined; the caller takes the general path */
    TD_ERR_NOMEM,   /* host memory */
    TD_ERR_OOM,     /* device memory; the text says asked, held and free */
    TD_ERR_TYPE,    /* operand kinds, dtypes */
    TD_ERR_VALUE,   /* shapes, ranges, names */
    TD_ERR_INDEX,   /* an index out of range */
    TD_ERR_OVERFLOW, /* a number that its dtype cannot hold */
    TD_ERR_DEVICE,  /* the driver said no */
    TD_ERR_JIT,     /* the compiler said no */
    TD_ERR_LIBRARY, /* an optional library is missing; the text names the package */
    TD_ERR_IO,      /* the file system said no */
    TD_ERR_KERNEL,  /* a kernel told of a failure of its program; who asked for the wait has kept it */
    TD_ERR_STATE,   /* what is asked for does not go with what was done before */
    TD_ERR_CALLER,  /* the program's own code failed, or it was interrupted; td_error_code tells who called which */
    TD_ERR_PEER,    /* a process of the same group has gone */
    TD_ERR_THREADS, /* threads of a kernel disturb each other, or read what nobody has written */
    TD_ERR_NAME,    /* a function of the program's names what is not there, or not yet */
    TD_ERR_FLOAT,   /* a floating-point error, looked for (array/run/fperror.h) */
} td_status;

#define TD_PRINTF(f, a) __attribute__((format(printf, f, a)))

td_status   td_fail(td_status st, const char *fmt, ...) TD_PRINTF(2, 3);
const char *td_error(void); /* borrowed; valid until this thread's next failure */
/* As td_fail, of a failure that the CUDA driver, or what plays it, has a number for (CUresult). */
td_status   td_fail_code(td_status st, int code, const char *fmt, ...) TD_PRINTF(3, 4);
/* The CUresult of this thread's last failure; 0: it was not the driver's.  A failure whose text holds the
 * text of the one before it, as where a caller says more, keeps that one's number. */
int         td_error_code(void);
_Noreturn void td_bug(const char *file, int line, const char *what);

#define TD_ASSERT(c) ((c) ? (void)0 : td_bug(__FILE__, __LINE__, #c))

/* The one macro that returns: TD_TRY(call) passes a failure up. */
#define TD_TRY(call)                                                                               \
    do {                                                                                           \
        td_status td_try_ = (call);                                                                \
        if (td_try_)                                                                               \
            return td_try_;                                                                        \
    } while (0)

#endif
