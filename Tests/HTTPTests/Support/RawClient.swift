import Countersign
import Glibc

/// What a client saw of one answer.
struct RawResponse: Sendable, Equatable {
    let status: Int
    /// Names in lower case.
    let headers: [String: String]
    let body: Bytes

    var text: String { String(decoding: body, as: UTF8.self) }
}

/// A socket to a server on this machine, with nothing between the test and the bytes.
///
/// Blocks, so it is used inside `blocking { }` only. Every wait ends after thirty
/// seconds, or when the test says so.
final class RawClient {
    enum Failure: Error {
        case noConnection(errno: Int32)
        /// The server closed, and what came before is no whole answer.
        case closed(after: Bytes)
        case silent(after: Bytes)
    }

    private(set) var socket: Int32
    private var received: Bytes = []

    init(port: UInt16, waitMilliseconds: Int = 30_000) throws {
        // A program that a test starts must not keep the connection open.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        socket = Glibc.socket(AF_INET, kind, 0)
        guard socket >= 0 else { throw Failure.noConnection(errno: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var wait = timeval(
            tv_sec: waitMilliseconds / 1000, tv_usec: waitMilliseconds % 1000 * 1000)
        unsafe setsockopt(
            socket, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var on: Int32 = 1
        unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, size)
            }
        }
        guard result == 0 else {
            let reason = errno
            close()
            throw Failure.noConnection(errno: reason)
        }
    }

    deinit { close() }

    func close() {
        if socket >= 0 { Glibc.close(socket) }
        socket = -1
    }

    /// Closes with a reset instead of an orderly end.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(
            socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// Sends everything; false when the server no longer takes it.
    @discardableResult func send(_ bytes: Bytes) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult func send(_ text: String) -> Bool { send(Bytes(text.utf8)) }

    /// The next answer; leaves what follows it for the next call.
    func response(toHead: Bool = false) throws -> RawResponse {
        let end = Bytes("\r\n\r\n".utf8)
        var head: ArraySlice<UInt8>?
        while head == nil {
            if let range = received.firstRange(of: end) {
                head = received[..<range.lowerBound]
                received.removeFirst(range.upperBound)
            } else {
                try receiveMore()
            }
        }
        let lines = String(decoding: head ?? [], as: UTF8.self).split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] =
                String(parts.last ?? "").trimmingPrefix(" ").description
        }
        let status = Int(lines.first?.split(separator: " ").dropFirst().first ?? "") ?? 0
        let hasBody = !toHead && status >= 200 && status != 204
        let length = hasBody ? Int(headers["content-length"] ?? "") ?? 0 : 0
        while received.count < length { try receiveMore() }
        let body = Bytes(received.prefix(length))
        received.removeFirst(length)
        return RawResponse(status: status, headers: headers, body: body)
    }

    /// Everything until the server closes; throws when it does not.
    func restUntilClosed() throws -> Bytes {
        do {
            while true { try receiveMore() }
        } catch Failure.closed(let rest) {
            return rest
        }
    }

    /// Whether the server has closed or closes within thirty seconds.
    func isClosed() -> Bool { (try? restUntilClosed()) != nil }

    private func receiveMore() throws {
        var buffer = Bytes(repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe recv(socket, $0.baseAddress, $0.count, 0)
        }
        if count > 0 {
            received += buffer.prefix(count)
        } else if count == 0 || errno == ECONNRESET {
            throw Failure.closed(after: received)
        } else {
            throw Failure.silent(after: received)
        }
    }
}

extension RawClient {
    static func pause(microseconds: UInt32) { usleep(microseconds) }

    /// Sends the same bytes now and then; true when the server ends it within thirty seconds.
    func dripUntilClosed(_ bytes: Bytes, every microseconds: UInt32) -> Bool {
        guard !bytes.isEmpty else { return isClosed() }
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            guard send(bytes) else { return true }
            RawClient.pause(microseconds: microseconds)
        }
        return false
    }
}
