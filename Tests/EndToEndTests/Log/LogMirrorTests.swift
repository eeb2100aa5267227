import Countersign
import Crypto
import Dispatch
import Evidence
import Foundation
import HTTP
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// The directory that holds the log outside of the database.
@Suite struct `The mirror of a log` {
    /// A log, and a mirror of it in an empty directory.
    private func withMirror(
        _ body: (WitnessedLog, LogMirror, _ folder: URL) async throws -> Void
    ) async throws {
        try await WitnessedLog.with(.generate()) { log in
            let folder = FileManager.default.temporaryDirectory
                .appending(path: "mirror-\(UUID().uuidString)")
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            try await body(
                log, LogMirror(folder: MirrorFolder(folder.path), reader: log.reader), folder)
        }
    }

    private func files(_ folder: URL) throws -> Set<String> {
        let all = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return Set(
            try all.filter { path in
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: folder.path + "/" + path)
                return attributes[.type] as? FileAttributeType == .typeRegular
            })
    }

    @Test func `begins by itself only while nothing was published`() async throws {
        try await withMirror { log, mirror, folder in
            #expect(try await mirror.newest() == nil)
            let size = try await log.grow(3)
            // It was there before: this is its first checkpoint, also after a restart in between.
            #expect(try await mirror.newest() == nil)
            #expect(try await mirror.update() == 0)
            #expect(try await mirror.newest()?.text == log.testimony.published()?.note.text)
            #expect(
                try files(folder) == [
                    "checkpoint", "tile/0/000.p/\(size)", "tile/entries/000.p/\(size)",
                ])
        }
    }

    @Test func `that is empty after that is not there, until somebody says that it is new`()
        async throws
    {
        try await withMirror { log, mirror, folder in
            _ = try await mirror.newest()
            try await log.grow(3)
            _ = try await mirror.update()
            for file in try files(folder) {
                try FileManager.default.removeItem(at: folder.appending(path: file))
            }
            for _ in 0..<2 {
                await #expect { try await mirror.newest() } throws: { error in
                    if case LogMirror.Failure.empty = error { true } else { false }
                }
                await #expect(throws: LogMirror.Failure.self) { try await mirror.update() }
            }
            #expect(try files(folder) == [])
            try Data().write(to: folder.appending(path: LogMirror.beginning))
            #expect(try await mirror.newest() == nil)
            #expect(try await mirror.update() == 0)
            #expect(try files(folder).contains("checkpoint"))
            #expect(try !files(folder).contains(LogMirror.beginning))
        }
    }

    @Test func `without its directory is unread, and names the path that it cannot write`()
        async throws
    {
        try await withMirror { log, mirror, folder in
            _ = try await mirror.newest()
            try await log.grow(3)
            try Data().write(to: folder.appending(path: "tile"))
            await #expect { try await mirror.update() } throws: { error in
                if case LogMirror.Failure.disk(let failure) = error {
                    failure.path.hasPrefix("tile/")
                } else {
                    false
                }
            }
            try FileManager.default.removeItem(at: folder)
            await #expect { try await mirror.newest() } throws: { error in
                if case LogMirror.Failure.disk(let failure) = error {
                    failure.path.isEmpty
                } else {
                    false
                }
            }
        }
    }

    @Test func `keeps no part of a tile that it has whole`() async throws {
        try await withMirror { log, mirror, folder in
            _ = try await mirror.newest()
            try await log.grow(100)
            _ = try await mirror.update()
            let size = try await log.grow(200)
            _ = try await mirror.update()
            #expect(
                try files(folder) == [
                    "checkpoint", "tile/0/000", "tile/entries/000", "tile/1/000.p/1",
                    "tile/0/001.p/\(size - 256)", "tile/entries/001.p/\(size - 256)",
                ])
        }
    }

    @Test func `goes on past a month that was detached before it began`() async throws {
        try await withMirror { log, mirror, folder in
            try await log.grow(300)
            try Data().write(to: folder.appending(path: LogMirror.beginning))
            // As if it had been written in 2019 and detached.
            try await log.test.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        SET session_replication_role = replica;
                        ALTER TABLE countersign.log_leaf DISABLE TRIGGER ALL;
                        UPDATE countersign.log_leaf SET evidence_id =
                            overlay(evidence_id::text PLACING '01685000' FROM 1 FOR 8)::uuid
                         WHERE position < 10
                        """)
            }
            await #expect { try await mirror.update() } throws: { error in
                if case LogMirror.Failure.incomplete = error { true } else { false }
            }
            try await log.test.run { connection throws(PostgresError) in
                try connection.run(
                    script: """
                        CREATE OR REPLACE FUNCTION countersign.detached_until() RETURNS uuid
                        LANGUAGE sql STABLE AS $$ SELECT '01690000-0000-0000-0000-000000000000'::uuid $$
                        """)
            }
            #expect(try await mirror.update() == 1)
            #expect(try !files(folder).contains("tile/entries/000"))
            #expect(try files(folder).isSuperset(of: ["tile/0/000", "checkpoint"]))
        }
    }

    @Test func `is never overwritten by a log that does not continue it`() async throws {
        let key = try Ed25519PrivateKey.generate()
        try await withMirror { log, mirror, folder in
            _ = try await mirror.newest()
            try await log.grow(300)
            _ = try await mirror.update()
            let held = try #require(try await mirror.newest())
            // Another database under the same name, that has grown further.
            try await WitnessedLog.with(key) { other in
                try await other.grow(400)
                let forked = LogMirror(folder: MirrorFolder(folder.path), reader: other.reader)
                await #expect { try await forked.update() } throws: { error in
                    if case LogMirror.Failure.other = error { true } else { false }
                }
            }
            #expect(try await mirror.newest() == held)
            #expect(try !files(folder).contains("tile/0/001.p/144"))
        }
    }

    @Test func `on a disk that never answers is not waited for`() async throws {
        try await withMirror { log, _, folder in
            let disk = DispatchQueue(label: "hangs")
            disk.suspend()
            let mirror = LogMirror(
                folder: MirrorFolder(folder.path, deadline: .milliseconds(200), on: disk),
                reader: log.reader)
            for _ in 0..<2 {
                await #expect { try await mirror.newest() } throws: { error in
                    if case LogMirror.Failure.disk(let failure) = error {
                        failure.path == "checkpoint"
                    } else {
                        false
                    }
                }
            }
            disk.resume()
            // Late as it is, it is not confused by what nobody waited for.
            let late = try await mirror.newest()
            #expect(late == nil)
        }
    }

    @Test func `forgets that it was new, also when it was interrupted before`() async throws {
        try await withMirror { log, mirror, folder in
            _ = try await mirror.newest()
            try await log.grow(3)
            _ = try await mirror.update()
            try Data().write(to: folder.appending(path: LogMirror.beginning))
            _ = try await mirror.update()
            #expect(try !files(folder).contains(LogMirror.beginning))
        }
    }
}
