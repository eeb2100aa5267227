import Foundation

/// A TCP server on loopback that answers as a test says, also in ways that no HTTP server would.
///
/// Unchecked: everything is set before the thread starts, and the counter is behind a lock.
final class RawServer: @unchecked Sendable {
    /// What happens after a request's head has been read.
    enum Answer: Sendable {
        /// Sends these bytes and closes.
        case text(String)
        /// Sends these bytes and keeps the connection open without another word.
        case textThenSilence(String)
    }

    let port: UInt16
    private let listener: Int32
    private let answer: Answer
    private let heads = Locked<[String]>([])
    private let open = Locked<[Int32]>([])

    init(_ answer: Answer) throws {
        self.answer = answer
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                unsafe bind(listener, raw, size) != 0 || listen(listener, 8) != 0
                    || getsockname(listener, raw, &size) != 0
            }
        }
        guard !failed else { throw POSIXError(.EADDRNOTAVAIL) }
        port = address.sin_port.bigEndian
        Thread.detachNewThread { [self] in serve() }
    }

    /// The heads of the requests that came, in order.
    var requests: [String] { heads.current }

    /// Closes everything; call it at the end of the test.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        open.withLock { $0.forEach { _ = shutdown($0, Int32(SHUT_RDWR)) } }
    }

    private func serve() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { break }
            open.withLock { $0.append(connection) }
            Thread.detachNewThread { [self] in converse(connection) }
        }
        close(listener)
    }

    private func converse(_ connection: Int32) {
        var head: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while !head.contains([13, 10, 13, 10]) {
            let count = unsafe recv(connection, &piece, piece.count, 0)
            guard count > 0 else { return finish(connection) }
            head += piece[..<count]
        }
        heads.withLock { $0.append(String(decoding: head, as: UTF8.self)) }
        switch answer {
        case .text(let text): say(text, connection)
        case .textThenSilence(let text):
            say(text, connection)
            // Until the client hangs up.
            while unsafe recv(connection, &piece, piece.count, 0) > 0 {}
        }
        finish(connection)
    }

    private func say(_ text: String, _ connection: Int32) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let rest = Array(bytes[sent...])
            let count = unsafe send(connection, rest, rest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return }
            sent += count
        }
    }

    private func finish(_ connection: Int32) {
        open.withLock { $0.removeAll { $0 == connection } }
        close(connection)
    }
}
