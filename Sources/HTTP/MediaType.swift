/// What a `Content-Type` says, as far as this API cares.
enum MediaType {
    /// Whether a request body with these header fields is JSON in UTF-8 without a content coding.
    static func isJSON(_ headers: HeaderFields) -> Bool {
        guard let contentType = headers.only("content-type"),
            headers.all("content-encoding").allSatisfy({
                ASCII.equalIgnoringCase($0, "identity")
            })
        else { return false }
        let parts = contentType.split(separator: ";", omittingEmptySubsequences: false).map {
            ASCII.trimmed($0)
        }
        return ASCII.equalIgnoringCase(parts[0], "application/json")
            && parts.dropFirst().allSatisfy(isAcceptable)
    }

    /// A charset other than UTF-8 would be decoded wrongly; other parameters mean nothing here.
    private static func isAcceptable(parameter: String) -> Bool {
        let parts = parameter.split(separator: "=", maxSplits: 1)
        guard let name = parts.first, ASCII.equalIgnoringCase(name, "charset") else { return true }
        guard parts.count == 2 else { return false }
        let value = parts[1].hasPrefix("\"") ? parts[1].dropFirst().dropLast() : parts[1]
        return ASCII.equalIgnoringCase(value, "utf-8")
    }
}
