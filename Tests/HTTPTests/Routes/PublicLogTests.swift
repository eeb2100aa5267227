import Countersign
import HTTP
import Testing

/// A log with one checkpoint and one tile.
struct FakeLog: LogReader {
    func checkpoint() async throws(StoreFailure) -> Bytes? { Bytes("bank.example\n".utf8) }

    func resource(_ path: String) async throws(StoreFailure) -> Bytes? {
        ["tile/0/000.p/3", "tile/entries/x001/234"].contains(path) ? Bytes(path.utf8) : nil
    }
}

@Suite struct `The routes of the log` {
    @Test func `hand out checkpoint, tiles and entries byte for byte, to auditors`() async throws {
        let api = FakeAPI()
        try await api.serve { api async throws in
            let checkpoint = try await api.get("/log/checkpoint", as: .auditor)
            #expect(checkpoint.status == 200 && checkpoint.body == Bytes("bank.example\n".utf8))
            for path in ["tile/0/000.p/3", "tile/entries/x001/234"] {
                let answer = try await api.get("/log/" + path, as: .auditor)
                #expect(answer.status == 200 && answer.body == Bytes(path.utf8), "\(path)")
                #expect(answer.headers["content-type"] == "application/octet-stream")
            }
            // Where it differs from tlog-tiles, as docs/evidence-format.md lists it.
            let tile = try await api.send(
                "GET", "/log/tile/0/000.p/3", as: .auditor, headers: ["Accept-Encoding: gzip"])
            #expect(tile.status == 200 && tile.headers["cache-control"] == "no-store")
            #expect(tile.headers["content-encoding"] == nil)
            #expect(try await api.get("/log/checkpoint?a=b", as: .auditor).status == 400)
            for path in ["tile/0/001", "tile/0/x001/x002/x003/x004/005", "tile/0", "other"] {
                #expect(
                    try await api.get("/log/" + path, as: .auditor).slug == "not-found",
                    "\(path)")
            }
            #expect(try await api.get("/log/checkpoint", as: .backend).slug == "forbidden")
            #expect(try await api.get("/log/checkpoint", as: nil).status == 401)
        }
    }
}
