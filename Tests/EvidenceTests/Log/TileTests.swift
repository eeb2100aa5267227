import Countersign
import Crypto
import Evidence
import Testing

@Suite struct `A tile` {
    @Test(arguments: [
        ("tile/0/000", 0, 0, 256), ("tile/0/x001/x234/067", 0, 1_234_067, 256),
        ("tile/0/x001/x234/067.p/1", 0, 1_234_067, 1), ("tile/63/999.p/255", 63, 999, 255),
        ("tile/1/x001/000", 1, 1000, 256),
        ("tile/8/x009/x223/x372/x036/x854/x775/807", 8, Int64.max, 256),
    ])
    func `has one path`(path: String, level: Int, index: Int64, width: Int) {
        let place = Tile.Place(level: level, index: index)
        #expect(TilePath.hashes(place, width: width).text == path)
        #expect(TilePath(text: path) == .hashes(place, width: width))
    }

    @Test(arguments: [
        ("tile/entries/000", 0, 256), ("tile/entries/x001/002.p/17", 1002, 17),
    ])
    func `of entries has another`(path: String, index: Int64, width: Int) {
        #expect(TilePath.entries(index: index, width: width).text == path)
        #expect(TilePath(text: path) == .entries(index: index, width: width))
    }

    @Test(arguments: [
        "", "tile", "tile/0", "tile/0/", "/tile/0/000", "tile/0/000/", "tile/0/0", "tile/0/00",
        "tile/0/0000", "tile/00/000", "tile/64/000", "tile/-1/000", "tile/+1/000", "tile/a/000",
        "tile/0/x000/001", "tile/0/001/002", "tile/0/x001", "tile/0/xx01/002", "tile/0/X001/002",
        "tile/0/000.p", "tile/0/000.p/", "tile/0/000.p/0", "tile/0/000.p/01", "tile/0/000.p/256",
        "tile/0/000.p/+1", "tile/0/000.p/1/", "tile/0/000.p/1.p/1", "tile/0/000.q/1",
        "tile//000", "tile/0//000", "tile/0/-01", "tile/0/+01", "tile/0/٠٠٠", "tiles/0/000",
        "tile/entries", "tile/entries/", "tile/entries/0/000", "tile/data/000", "tile/0/000\n",
        "tile/0/x009/x223/x372/x036/x854/x775/808", "tile/0/x001/x009/x223/x372/x036/x854/x775/807",
    ])
    func `has no other spelling`(path: String) {
        #expect(TilePath(text: path) == nil)
    }

    @Test func `is 32 bytes for each hash`() throws {
        let tile = Tile(
            place: Tile.Place(level: 0, index: 7),
            hashes: (0..<256).map { sha256([UInt8($0)]) })
        #expect(tile.bytes.count == 8192)
        #expect(Tile(place: tile.place, bytes: tile.bytes) == tile)
        let one = try #require(Tile(place: tile.place, bytes: Bytes(tile.bytes.prefix(32))))
        #expect(one.hashes == [tile.hashes[0]])
        for count in [0, 1, 31, 33, 8191] {
            #expect(Tile(place: tile.place, bytes: Bytes(tile.bytes.prefix(count))) == nil)
        }
        #expect(Tile(place: tile.place, bytes: tile.bytes + one.bytes) == nil)
    }

    @Test func `of entries has each entry after its length`() throws {
        let long = Bytes(repeating: 9, count: 65_535)
        let tile = try #require(EntryTile(entries: [[1, 2, 3], [], long]))
        #expect(tile.bytes == [0, 3, 1, 2, 3, 0, 0, 0xFF, 0xFF] + long)
        #expect(EntryTile(decoding: tile.bytes) == tile)
        for wrong in [
            [], [0], [0, 1], [0, 3, 1, 2], tile.bytes + [0], Bytes(tile.bytes.dropLast()),
        ] {
            #expect(EntryTile(decoding: wrong) == nil)
        }
        #expect(EntryTile(entries: []) == nil)
        #expect(EntryTile(entries: [long + [9]]) == nil)
        #expect(EntryTile(entries: Array(repeating: [1], count: 257)) == nil)
        #expect(EntryTile(decoding: (0..<257).flatMap { _ in [0, 1, 1] as Bytes }) == nil)
    }
}
