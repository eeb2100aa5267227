import Foundation
import Testing

/// Rules about Swift files that the compiler cannot state. A failure names the file and the line.
@Suite struct `The Swift sources` {
    @Test(arguments: Repository.swift)
    func `stay within 400 lines a file`(file: TextFile) {
        #expect(file.lineCount <= 400)
    }

    @Test(arguments: Repository.swift)
    func `stay within 70 lines a function`(file: TextFile) {
        let long = MeasuredFunction.all(in: file.code).filter { $0.length > 70 }
        #expect(long.isEmpty)
    }

    @Test(arguments: Repository.sources)
    func `do not crash on an error`(file: TextFile) {
        #expect(file.places { $0.contains("try!") } == [])
        #expect(file.places { $0.contains("as!") } == [])
        #expect(file.places { $0.hasWord("fatalError") } == [])
    }

    @Test(arguments: Repository.sources)
    func `print through the console or the log`(file: TextFile) {
        let printers = ["print", "debugPrint", "dump", "NSLog", "puts"]
        #expect(
            file.places { line in printers.contains { isCall($0, in: line) } } == [])
    }

    @Test(arguments: Repository.domain)
    func `of the domain import nothing`(file: TextFile) {
        #expect(file.imports == [])
    }

    @Test(arguments: Repository.domain)
    func `of the domain are handed time and randomness`(file: TextFile) {
        let sources = [
            ".random(", ".randomElement(", ".shuffle", "SystemRandomNumberGenerator",
            "ContinuousClock",
        ]
        #expect(file.places { line in sources.contains { line.contains($0) } } == [])
    }

    @Test func `import a C library in the one target that owns it`() {
        for (module, owner) in cLibraries {
            let importers = Set(
                Repository.sources.filter { $0.imports.contains(module) }.map(\.target))
            #expect(importers.isSubset(of: [owner]), "\(module) belongs to \(owner)")
        }
    }

    @Test func `know the owner of every C library`() {
        let modules = Repository.files.filter { $0.path.hasSuffix("/module.modulemap") }
        #expect(Set(modules.map(\.target)) == Set(cLibraries.keys))
    }

    @Test(arguments: Repository.sources)
    func `keep the imports of C libraries to themselves`(file: TextFile) {
        #expect(
            file.places { line in
                cLibraries.keys.contains { line.hasWord($0) }
                    && (line.hasPrefix("public import") || line.hasPrefix("package import"))
            } == [])
    }

    /// A wrapper folder is named after its library; a lock is needed in several targets.
    @Test(arguments: Repository.sources)
    func `are unsafe only where a C library is wrapped`(file: TextFile) {
        let isInFolder = file.path.split(separator: "/").count >= 4
        let isWrapper =
            cLibraries.values.contains(file.target)
            && (isInFolder || file.path.hasSuffix("/Locked.swift"))
            || file.path.hasPrefix("Sources/CountersignMain/Posix/")
        if !isWrapper {
            #expect(file.places { $0.hasWord("unsafe") } == [])
        }
    }

    @Test(arguments: Repository.sources)
    func `state why an unchecked type may be shared`(file: TextFile) {
        let unchecked = file.places { $0.contains("@unchecked Sendable") }
        if !unchecked.isEmpty {
            #expect(uncheckedFiles.contains(file.path), "not among the agreed files")
            #expect(file.lines.contains { $0.contains("//") && $0.contains("Sendable") })
        }
    }

    @Test(arguments: Repository.swift.filter { $0.path.hasPrefix("Tests/") })
    func `of tests disable none`(file: TextFile) {
        #expect(file.places { $0.contains(".disabled(") || $0.contains("XCTSkip") } == [])
    }

    @Test func `have no main.swift, whose code would belong to the main actor`() {
        #expect(!Repository.swift.contains { $0.path.hasSuffix("/main.swift") })
    }

    /// Each C module and the only target that may import it.
    private let cLibraries = [
        "CLibevent": "HTTP", "CPostgres": "Postgres", "COpenSSL": "Crypto", "CFido2": "WebAuthn",
        "CCbor": "WebAuthn", "CCurl": "Delivery",
    ]

    /// Files that may say `@unchecked Sendable`. Each has been read for it.
    private let uncheckedFiles: Set<String> = [
        "Sources/CountersignMain/CoreBanking/CoreBankingStandIn.swift",
        "Sources/CountersignMain/CoreBanking/Faults.swift",
        "Sources/CountersignMain/CoreBanking/Ledger.swift",
        "Sources/CountersignMain/CoreBanking/NonceMemory.swift",
        "Sources/Crypto/Locked.swift",
        "Sources/Crypto/OpenSSL/EVPKey.swift",
        "Sources/Crypto/OpenSSL/SecretBytes.swift",
        "Sources/Crypto/OpenSSL/X509Handle.swift",
        "Sources/Delivery/Libcurl/ExchangeQueue.swift",
        "Sources/HTTP/Libevent/EventLoop.swift",
        "Sources/HTTP/Libevent/Exchange.swift",
        "Sources/HTTP/Libevent/ServerLoop.swift", "Sources/HTTP/Libevent/StreamedReply.swift",
        "Sources/HTTP/Libevent/TLSContext.swift",
        "Sources/HTTP/Locked.swift",
        "Sources/Postgres/LibPQ/JobQueue.swift",
        "Sources/Postgres/LibPQ/Quarantine.swift",
        "Sources/WebAuthn/LibFido2/FidoPublicKey.swift",
    ]

    /// A call of a free function, not of a method of that name.
    private func isCall(_ name: String, in line: Substring) -> Bool {
        guard line.hasWord(name), let found = line.range(of: name + "(") else { return false }
        guard found.lowerBound != line.startIndex else { return true }
        let before = line[line.index(before: found.lowerBound)]
        return !before.isLetter && before != "."
    }
}
