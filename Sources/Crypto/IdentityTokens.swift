package import Countersign

extension IdentityKey {
    /// Reads the claims of a compact JWS that this key signed; `nil` for every other text.
    package var tokenReader: IdentityTokenReader {
        { token in
            do throws(CompactJWS.Failure) {
                return SignedJSON.decode(try CompactJWS.verify(token, key: self))
            } catch {
                // Whatever is wrong with it, nobody vouches.
                return nil
            }
        }
    }
}
