/* refuse.c - refuses code that a CPU cannot run. */
#include "cxx/cpu.h"

#include <string.h>

static const struct {
    const char *word, *why;
} refused[] = {
    {"asm",
     "inline PTX (asm) is for GPUs alone: write it in CUDA C++, or keep it in #ifndef TREADLE_CPU"},
    {"__asm__", "inline PTX (__asm__) is for GPUs alone: write it in CUDA C++, or keep it in "
                "#ifndef TREADLE_CPU"},
    {"__asm", "inline PTX (__asm) is for GPUs alone: write it in CUDA C++, or keep it in #ifndef "
              "TREADLE_CPU"},
    {"wmma", "tensor cores (wmma) are the GPU's alone: multiply in CUDA C++, or keep it in #ifndef "
             "TREADLE_CPU"},
    {"nvcuda",
     "namespace nvcuda (tensor cores) is the GPU's alone: keep it in #ifndef TREADLE_CPU"},
    {"cudaLaunchDevice", "a kernel cannot launch kernels on a CPU: launch it from Python"},
    {"cudaLaunchKernel", "a kernel cannot launch kernels on a CPU: launch it from Python"},
    {"cudaDeviceSynchronize",
     "cudaDeviceSynchronize() is the host's: wait for the stream from Python"},
};

/* asm("" …): only a hint to the compiler, also on a CPU. */
static bool
empty_asm(const cx_job *j, uint32_t i)
{
    i++;
    while (is(j, i, "volatile") || is(j, i, "__volatile__"))
        i++;
    return is(j, i, "(") && td_tok_is(&j->u.k.t[i + 1], "\"\"");
}

td_status
td_cpu_refuse(const cx_job *j)
{
    for (uint32_t f = 0; f < j->u.nfn; f++)
        for (uint32_t i = j->u.fn[f].body_at; i < j->u.fn[f].end_at; i++) {
            const tok *t = &j->u.k.t[i];

            if (t->doubtful || (t->kind != TOK_WORD && t->kind != TOK_MARK))
                continue; /* the compiler reports it if it is missing */
            if (td_tok_is(t, "<<<"))
                return td_fail(TD_ERR_JIT,
                               "%s:%u: %s launches a kernel with <<<…>>>, which cannot be done on "
                               "a CPU: launch it from Python",
                               j->u.k.file, t->line, j->u.fn[f].name);
            for (size_t r = 0; r < sizeof refused / sizeof *refused; r++)
                if (td_tok_named(t, refused[r].word) &&
                    !(strstr(refused[r].word, "asm") && empty_asm(j, i)))
                    return td_fail(TD_ERR_JIT, "%s:%u: in %s: %s", j->u.k.file, t->line,
                                   j->u.fn[f].name, refused[r].why);
        }
    for (uint32_t m = 0; m < j->u.nmacro; m++)
        for (uint32_t i = 0; i < j->u.macro[m].body.n; i++)
            for (size_t r = 0; r < 3; r++)
                if (td_tok_named(&j->u.macro[m].body.t[i], refused[r].word))
                    return td_fail(TD_ERR_JIT, "%s:%u: in macro %s: %s", j->u.k.file,
                                   j->u.macro[m].line, j->u.macro[m].name, refused[r].why);
    return TD_OK;
}
