import Glibc

/// Keeps the kernel from writing this process's memory to disk when it crashes: a core would hold keys
/// and customers' messages. A limit that cannot be set is left as it is.
func refuseCoreDumps() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
}
