internal import CLibevent
internal import Glibc

/// The listening socket. Evhttp owns it once it is bound to it. On the loop's thread only.
@safe final class Listener {
    private let handle: OpaquePointer
    private let bound: OpaquePointer
    let port: UInt16
    private(set) var isOpen = true

    init(options: ServerOptions, base: OpaquePointer, http: OpaquePointer) throws(ServerFailure) {
        let handle = try unsafe Listener.bind(options, base)
        let socket = unsafe evconnlistener_get_fd(handle)
        Listener.sendWithoutDelay(socket)
        // Out of file descriptors, libevent would call accept in a tight loop; the tick turns the
        // listener on again.
        unsafe evconnlistener_set_error_cb(handle) { listener, _ in
            unsafe evconnlistener_disable(listener)
        }
        guard let bound = unsafe evhttp_bind_listener(http, handle) else {
            unsafe evconnlistener_free(handle)
            throw .outOfResources
        }
        unsafe self.handle = handle
        unsafe self.bound = bound
        port = Listener.port(of: socket)
    }

    /// How many connections may be open at once, after the process's own limit.
    static func connectionsMax(_ limits: ServerLimits) -> Int {
        var process = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &process) == 0 else {
            return limits.connectionsMax
        }
        let descriptors = Int(clamping: process.rlim_cur)
        return min(limits.connectionsMax, max(1, descriptors - ServerLimits.descriptorsReserved))
    }

    func pause() {
        if isOpen { unsafe evconnlistener_disable(handle) }
    }

    func resume() {
        if isOpen { unsafe evconnlistener_enable(handle) }
    }

    /// Closes the socket; new clients are refused from here on.
    func close(in http: OpaquePointer) {
        guard isOpen else { return }
        isOpen = false
        unsafe evhttp_del_accept_socket(http, bound)
    }

    private static func bind(_ options: ServerOptions, _ base: OpaquePointer) throws(ServerFailure)
        -> OpaquePointer
    {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(options.host, String(options.port), &hints, &found) == 0,
            let address = unsafe found
        else { throw .addressUnknown(host: options.host) }
        defer { unsafe freeaddrinfo(address) }
        let flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE
        guard
            let listener = unsafe evconnlistener_new_bind(
                base, nil, nil, flags, options.limits.backlogMax, address.pointee.ai_addr,
                Int32(address.pointee.ai_addrlen))
        else {
            throw .bindFailed(host: options.host, port: options.port, errno: errno)
        }
        return unsafe listener
    }

    /// Over TLS, head and body leave as two records; with Nagle's algorithm the second would wait
    /// 40 ms for an acknowledgement. Linux hands the option on to accepted sockets.
    private static func sendWithoutDelay(_ socket: Int32) {
        var on: Int32 = 1
        unsafe setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func port(of socket: Int32) -> UInt16 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &address) { storage in
            let generic = UnsafeMutableRawPointer(storage)
            let socketAddress = unsafe generic.assumingMemoryBound(to: sockaddr.self)
            guard unsafe getsockname(socket, socketAddress, &length) == 0 else { return 0 }
            // The port stands at the same place in sockaddr_in and sockaddr_in6.
            return unsafe UInt16(
                bigEndian: generic.assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port)
        }
    }
}
