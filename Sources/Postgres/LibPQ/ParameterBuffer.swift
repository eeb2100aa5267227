import Countersign

/// Parameters laid out as libpq takes them: one buffer, and for each its place, length and format.
struct ParameterBuffer {
    private var buffer: [CChar] = []
    /// Where each begins in `buffer`; `nil` is NULL.
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// - Throws: SQLSTATE 22021 for a NUL in text, which would silently end the value there;
    ///   54000 for more than a protocol message can hold.
    init(_ parameters: [Parameter]) throws(PostgresError) {
        for parameter in parameters {
            formats.append(parameter.isBinary ? 1 : 0)
            guard let content = parameter.content else {
                offsets.append(nil)
                lengths.append(0)
                continue
            }
            guard parameter.isBinary || !content.contains(0) else {
                throw .other(sqlState: "22021")
            }
            guard let length = Int32(exactly: content.count) else {
                throw .other(sqlState: "54000")
            }
            offsets.append(buffer.count)
            lengths.append(length)
            buffer += content.lazy.map { CChar(bitPattern: $0) }
            buffer.append(0)
        }
        guard parameters.count <= UInt16.max else { throw .other(sqlState: "54000") }
    }

    /// Hands out what `PQsendQueryPrepared` takes; the pointers are valid only inside `body`.
    func withPointers<Result>(
        _ body: (
            _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>?,
            _ lengths: UnsafePointer<Int32>?, _ formats: UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        unsafe buffer.withUnsafeBufferPointer { bytes in
            let values: [UnsafePointer<CChar>?] = unsafe offsets.map { offset in
                guard let offset, let base = bytes.baseAddress else { return nil }
                return unsafe base + offset
            }
            return unsafe body(Int32(values.count), values, lengths, formats)
        }
    }
}
