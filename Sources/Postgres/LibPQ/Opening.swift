internal import CPostgres
internal import Glibc

extension ConnectionInfo {
    /// All that is handed to libpq: what was given, what must be, and limits where none was given.
    func settings(applicationName: String) -> [(keyword: String, value: String)] {
        let limits = [
            "connect_timeout": "2", "tcp_user_timeout": "3000",
            // A server that vanished without a word is noticed within about ten seconds.
            "keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3",
        ]
        let given = Set(settings.map(\.keyword))
        return
            replacing(limits.filter { !given.contains($0.key) })
            .replacing(["client_encoding": "UTF8", "application_name": applicationName])
            .settings
    }
}

/// Connects, blocking. The handle may be of a failed connection; `nil` when out of memory.
func open(_ settings: [(keyword: String, value: String)]) -> OpaquePointer? {
    var keywords: [UnsafePointer<CChar>?] = unsafe settings.map {
        unsafe UnsafePointer(strdup($0.keyword))
    }
    var values: [UnsafePointer<CChar>?] = unsafe settings.map {
        unsafe UnsafePointer(strdup($0.value))
    }
    defer {
        unsafe (keywords + values).forEach { text in
            unsafe free(UnsafeMutableRawPointer(mutating: text))
        }
    }
    unsafe keywords.append(nil)
    unsafe values.append(nil)
    return unsafe PQconnectdbParams(keywords, values, 0)
}
