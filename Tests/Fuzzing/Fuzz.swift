import Countersign
import Crypto
import Foundation

@testable import WebAuthn

/// What libFuzzer calls with every input. Which parser gets it is said by `COUNTERSIGN_FUZZ_TARGET`;
/// a refusal is what is wanted, and only a crash, a hang or a wrong round trip is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Bytes(UnsafeBufferPointer(start: start, count: count))
    target.run(input)
    return 0
}

/// Called once by libFuzzer before anything else: with `COUNTERSIGN_FUZZ_SEEDS`, writes the target's
/// first inputs into that folder and ends.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> CInt {
    guard let folder = ProcessInfo.processInfo.environment["COUNTERSIGN_FUZZ_SEEDS"] else {
        _ = target
        return 0
    }
    for (index, seed) in target.seeds.enumerated() {
        let path = "\(folder)/seed-\(index)"
        guard FileManager.default.createFile(atPath: path, contents: Data(seed)) else {
            fatalError("\(path) cannot be written")
        }
    }
    exit(0)
}

private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["COUNTERSIGN_FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        fatalError("COUNTERSIGN_FUZZ_TARGET is one of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    return target
}()
