package import Countersign
import Foundation
import Glibc

/// A connection to a server on this machine, with nothing between the test and the bytes.
///
/// Blocks, so each use is handed to a thread that may: ``run(port:_:)``.
package final class HttpSocket {
    /// What a client saw of one answer.
    package struct Answer: Sendable {
        /// 0 when the server closed without an answer.
        package let status: Int
        package let body: Bytes

        /// The last part of a problem's `type`: `not-found`.
        package var problem: String? {
            json?["type"]?.text?.split(separator: "/").last.map(String.init)
        }

        /// `nil` when the body is no JSON.
        package var json: JSON? { try? TestFiles.json(body) }
    }

    /// The socket cannot be had, or stays silent for a minute.
    package struct Failure: Error {
        package let errno: Int32
    }

    private let socket: Int32

    private init(port: UInt16) throws {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        socket = Glibc.socket(AF_INET, kind, 0)
        guard socket >= 0 else { throw Failure(errno: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var wait = timeval(tv_sec: 60, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &wait, size)
        unsafe setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &wait, size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(errno: errno) }
    }

    deinit { close(socket) }

    /// Connects and does something with the connection, on a thread that may block.
    package static func run<Result: Sendable>(
        port: UInt16, _ body: @escaping @Sendable (HttpSocket) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Swift.Result { try body(HttpSocket(port: port)) })
            }
        }
    }

    /// Sends everything; `false` when the server takes no more.
    @discardableResult package func send(_ bytes: Bytes) -> Bool {
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

    @discardableResult package func send(_ text: String) -> Bool { send(Bytes(text.utf8)) }

    /// The one answer of a connection that the request asked to be closed.
    package func answer() throws -> Answer {
        let end = Bytes("\r\n\r\n".utf8)
        let received = try everything()
        guard let range = received.firstRange(of: end) else {
            return Answer(status: 0, body: [])
        }
        let head = String(decoding: received[..<range.lowerBound], as: UTF8.self)
        let status = head.split(separator: " ", maxSplits: 2).dropFirst().first
        return Answer(
            status: status.flatMap { Int($0) } ?? 0, body: Bytes(received[range.upperBound...]))
    }

    /// What comes until the server closes.
    ///
    /// - Throws: ``Failure`` when it neither sends nor closes for a minute.
    package func everything() throws -> Bytes {
        var received: Bytes = []
        while let piece = try piece() { received += piece }
        return received
    }

    /// What comes next; `nil` when the server has closed.
    ///
    /// - Throws: ``Failure`` when it neither sends nor closes for a minute.
    package func piece() throws -> Bytes? {
        var buffer = Bytes(repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe recv(socket, $0.baseAddress, $0.count, 0)
        }
        // A server that closes with input unread resets the connection.
        if count == 0 || count < 0 && errno == ECONNRESET { return nil }
        guard count > 0 else { throw Failure(errno: errno) }
        return Bytes(buffer.prefix(count))
    }
}

/// One request in its exact bytes; the connection ends with it.
package struct HttpMessage: Sendable {
    package var method: String
    package var target: String
    /// Whole lines, without `Host`, `Connection` and `Content-Length`.
    package var fields: [String]
    package var body: Bytes

    package init(_ method: String, _ target: String, fields: [String] = [], body: Bytes = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    package var head: Bytes {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost", "Connection: close"]
        if method != "GET" { lines.append("Content-Length: \(body.count)") }
        return Bytes((lines + fields + ["", ""]).joined(separator: "\r\n").utf8)
    }

    /// Sends it and reads the answer.
    package func send(to port: UInt16) async throws -> HttpSocket.Answer {
        try await HttpSocket.run(port: port) { [self] socket in
            // A server may answer before it has read everything, and take no more.
            if socket.send(head) { socket.send(body) }
            return try socket.answer()
        }
    }
}
