/* err.h - the one way a function reports that it could not do its job.
 *
 * Bugs abort (td_bug).  Everything a caller or a machine can cause returns a td_status and leaves
 * a sentence in the calling thread's error record.  A fast path that declines returns TD_SKIP,
 * which is not an error and leaves no text.  Nothing below the Python layer prints,
 * except for td_bug and for what TREADLE_DUMP asks for (td_dump in base/opts.h).
 */
#ifndef TD_BASE_ERR_H
#define TD_BASE_ERR_H

typedef enum td_status {
    TD_OK = 0,
    TD_SKIP,        /* declined; the caller takes the general path */
    TD_ERR_NOMEM,   /* no host memory */
    TD_ERR_OOM,     /* no device memory; the text says asked, held and free */
    TD_ERR_TYPE,    /* wrong kind or dtype of an operand */
    TD_ERR_VALUE,   /* wrong shape, range or name */
    TD_ERR_INDEX,   /* an index out of range */
    TD_ERR_OVERFLOW, /* a number that its dtype cannot hold */
    TD_ERR_DEVICE,  /* the driver refused */
    TD_ERR_JIT,     /* the compiler refused */
    TD_ERR_LIBRARY, /* an optional library is missing; the text names the package */
    TD_ERR_IO,      /* the file system refused */
    TD_ERR_KERNEL,  /* a kernel reported an error of its own program; the device keeps the report until a wait */
    TD_ERR_STATE,   /* the request contradicts an earlier one */
    TD_ERR_CALLER,  /* the program's own code failed or was interrupted; td_error_code tells which call it was */
    TD_ERR_PEER,    /* a process of the same group has left */
    TD_ERR_THREADS, /* threads of a kernel race, or read memory that was never written */
    TD_ERR_NAME,    /* the program's function uses a name that is not defined, or not yet */
    TD_ERR_FLOAT,   /* a floating-point error that the program asked to be told of (array/run/fperror.h) */
} td_status;

#define TD_PRINTF(f, a) __attribute__((format(printf, f, a)))

td_status   td_fail(td_status st, const char *fmt, ...) TD_PRINTF(2, 3); /* writes the error record; returns st */
const char *td_error(void); /* borrowed; valid until this thread's next failure */
/* As td_fail, for a failure that has a CUresult: of the CUDA driver, or of the null device. */
td_status   td_fail_code(td_status st, int code, const char *fmt, ...) TD_PRINTF(3, 4);
/* The CUresult of this thread's last failure; 0: it was not the driver's.  A failure keeps the number of the one
 * before it if its text contains the earlier text, as it does when a caller adds to a message. */
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
