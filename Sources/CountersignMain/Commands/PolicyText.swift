import Countersign

/// Policies and acts as people read them.
enum PolicyText {
    /// A published version; the one in force without a number.
    ///
    /// - Throws: ``CommandFailure``, ``UsageError``.
    static func policy(_ version: String?, from client: APIClient) async throws -> JSON {
        if let version, Int(version) == nil { throw UsageError("\(version) is not a version") }
        let answer = try ServiceAccess.demand(
            await client.get("/v1/policies/\(version ?? "active")"))
        return answer["policy"] ?? .null
    }

    /// One line about a version.
    static func head(_ policy: JSON) -> String {
        let state = policy["active"] == .bool(true) ? "in force" : "not in force"
        return "policy \(policy["version"]?.shown ?? ""), \(state), from "
            + "\(policy["active_from"]?.text ?? ""), published "
            + "\(policy["published_at"]?.text ?? "")\nSHA-256 \(policy["digest"]?.text ?? "")"
    }

    /// A document, one value a line, under the pointers that errors and differences use.
    static func lines(_ json: JSON, at pointer: String = "") -> [String] {
        guard case .object(let members) = json else { return ["\(pointer)  \(json.shown)"] }
        return members.flatMap { member in
            lines(member.value, at: pointer + "/" + JSON.pointerStep(member.name))
        }
    }

    /// A list of differences.
    static func lines(_ differences: [JSON]) -> [String] {
        guard !differences.isEmpty else { return ["no difference"] }
        return differences.map { difference in
            let from = difference["from"]?.shown ?? "(nothing)"
            let to = difference["to"]?.shown ?? "(nothing)"
            return "\(difference["pointer"]?.text ?? "")  \(from) -> \(to)"
        }
    }

    /// An act: what it is, what it changes, and who has signed it.
    static func act(_ act: JSON) -> [String] {
        let document = act["document"] ?? .null
        var all = [
            "act \(act["id"]?.text ?? ""), \(act["kind"]?.text ?? ""), \(act["state"]?.text ?? "")",
            "by \(act["created_by"]?.text ?? ""), open until \(act["expires_at"]?.text ?? "")",
            "document SHA-256 \(act["document_digest"]?.text ?? "")",
        ]
        if let base = document["base_version"] {
            let from = document["active_from"]?.text ?? "as soon as it is signed"
            all.append("against version \(base.shown), in force from: \(from)")
            all.append("")
            if case .array(let differences)? = document["difference"] {
                all += lines(differences)
            }
            all.append("")
        }
        if let payees = document["payees"] {
            all.append("imports \(payees.shown) payees: \(document["reason"]?.text ?? "")")
        }
        guard case .array(let signatures)? = act["signatures"] else { return all }
        let needed = act["signatures_needed"]?.shown ?? ""
        all.append("signed by \(signatures.count) of \(needed)")
        all += signatures.map { signature in
            "  \(signature["person"]?.text ?? "") (\(signature["stage"]?.text ?? "")) at "
                + "\(signature["signed_at"]?.text ?? "")"
                + (signature["counts"] == .bool(false) ? ", with a key that has ended" : "")
        }
        return all
    }
}
