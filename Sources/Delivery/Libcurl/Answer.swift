import Countersign

/// What libcurl has received of one answer; filled by its callbacks on the exchange's own thread.
final class Answer {
    /// More fields than this are not an answer that anything here reads.
    static let fieldBytesMax = 32 * 1024

    let bodyBytesMax: Int
    var status = 0
    private(set) var fields: [HTTPField] = []
    private(set) var body: Bytes = []
    private(set) var isTooLarge = false
    private var fieldBytes = 0

    init(bodyBytesMax: Int) { self.bodyBytesMax = bodyBytesMax }

    /// Takes a piece of the body; `false` ends the exchange.
    func append(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard piece.count <= bodyBytesMax - body.count else {
            isTooLarge = true
            return false
        }
        unsafe body.append(contentsOf: piece)
        return true
    }

    /// Takes one line of the head, of which an interim answer (1xx) may come first.
    func appendLine(_ line: UnsafeRawBufferPointer) -> Bool {
        fieldBytes += line.count
        guard fieldBytes <= Self.fieldBytesMax else {
            isTooLarge = true
            return false
        }
        let text = unsafe String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            fields = []
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...]
            fields.append(HTTPField(String(text[..<colon]), trimmed(value)))
        }
        return true
    }
}

/// Without spaces, tabs and line ends around it.
private func trimmed(_ text: Substring) -> String {
    let isSpace = { (character: Character) in character.isWhitespace }
    let start = text.drop(while: isSpace)
    return String(start.reversed().drop(while: isSpace).reversed())
}

/// `CURLOPT_WRITEFUNCTION`; any result but the number of bytes offered ends the exchange.
func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
    let answer = unsafe Unmanaged<Answer>.fromOpaque(context).takeUnretainedValue()
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe answer.append(piece) ? size * count : 0
}

/// `CURLOPT_HEADERFUNCTION`; called once for each line of the head.
func receiveField(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
    let answer = unsafe Unmanaged<Answer>.fromOpaque(context).takeUnretainedValue()
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe answer.appendLine(line) ? size * count : 0
}
