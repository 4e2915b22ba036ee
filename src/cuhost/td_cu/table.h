// table.h - the table of a module's kernels and variables, td_cu_module.
//
//   TD_CU_TABLE_BEGIN
//   TD_CU_KERNEL(TD_CU_PLAIN, "f<float, 4>", (f<float, 4>), 256)      // 256: of __launch_bounds__, or 0
//   TD_CU_GLOBALS
//   TD_CU_GLOBAL("c", c)
//   TD_CU_TABLE_END
#ifndef TD_CU_TABLE_H
#define TD_CU_TABLE_H

namespace td_cu {

template <class T> struct bare { using type = T; static constexpr bool is_const = false; };
template <class T> struct bare<const T> { using type = T; static constexpr bool is_const = true; };
template <class T> struct bare<volatile T> { using type = T; static constexpr bool is_const = false; };
template <class T> struct bare<const volatile T> { using type = T; static constexpr bool is_const = true; };

template <class T> struct kind { static constexpr char of = __is_enum(T) ? 'i' : 's'; };
#define TD_CU_KIND(T, k) template <> struct kind<T> { static constexpr char of = k; };
TD_CU_KIND(bool, 'b')
TD_CU_KIND(char, char(-1) < 0 ? 'i' : 'u')
TD_CU_KIND(signed char, 'i')
TD_CU_KIND(short, 'i')
TD_CU_KIND(int, 'i')
TD_CU_KIND(long, 'i')
TD_CU_KIND(long long, 'i')
TD_CU_KIND(unsigned char, 'u')
TD_CU_KIND(unsigned short, 'u')
TD_CU_KIND(unsigned int, 'u')
TD_CU_KIND(unsigned long, 'u')
TD_CU_KIND(unsigned long long, 'u')
TD_CU_KIND(float, 'f')
TD_CU_KIND(double, 'f')
TD_CU_KIND(void, 'v')
template <class T> struct kind<T *> { static constexpr char of = 'p'; };

template <class T> struct size_of { static constexpr uint32_t is = sizeof(T); };
template <> struct size_of<void> { static constexpr uint32_t is = 0; };
template <class R, class... P> struct size_of<R(P...)> { static constexpr uint32_t is = 0; };

template <class T> struct param {
    static constexpr td_cu_param row = {sizeof(T), alignof(T), kind<T>::of, 0, '-', 0};
};
template <class T> struct param<T *> {
    using item = typename bare<T>::type;
    static constexpr td_cu_param row = {sizeof(T *), alignof(T *), 'p', bare<T>::is_const, kind<item>::of, size_of<item>::is};
};

template <class L> struct param_rows;
template <class... P> struct param_rows<list<P...>> {
    static constexpr td_cu_param row[sizeof...(P) + 1] = {param<P>::row..., {}};
    static constexpr uint32_t n = sizeof...(P);
};

template <auto F> using rows_of = param_rows<typename split_of<F>::rest>;

inline void init(const td_cu_host *h) { host = h; }

} // namespace td_cu

#define TD_CU_FLAGS_TD_CU_PLAIN 0
#define TD_CU_FLAGS_TD_CU_SWITCHED TD_CU_SWITCHES
#define TD_CU_FLAGS_TD_CU_REGIONS 0

#define TD_CU_TABLE_BEGIN static const td_cu_kernel td_cu_kernels[] = {
#define TD_CU_KERNEL(kind, name, f, bounds)                                                                            \
    {name, td_cu::kind<f>, TD_CU_FLAGS_##kind, td_cu::rows_of<f>::n, td_cu::rows_of<f>::row, bounds},
#define TD_CU_GLOBALS                                                                                                  \
    {nullptr, nullptr, 0, 0, nullptr, 0}                                                                               \
    }                                                                                                                  \
    ;                                                                                                                  \
    static const td_cu_global td_cu_globals[] = {
#define TD_CU_GLOBAL(name, v) {name, const_cast<void *>(static_cast<const volatile void *>(&v)), sizeof(v)},
#define TD_CU_TABLE_END                                                                                                \
    {nullptr, nullptr, 0}                                                                                              \
    }                                                                                                                  \
    ;                                                                                                                  \
    extern "C" __attribute__((visibility("default"))) const td_cu_module td_cu_module_ __asm__("td_cu_module") = {     \
        TD_CU_ABI, td_cu::init, td_cu_kernels, sizeof td_cu_kernels / sizeof *td_cu_kernels - 1, td_cu_globals,        \
        sizeof td_cu_globals / sizeof *td_cu_globals - 1, &td_cu::nstatic};

#endif
