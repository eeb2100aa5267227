import Countersign
import HTTP
import WebAuthn

extension Configuration {
    /// The origins that passkey assertions may come from: those that are written down, and those of the
    /// Android app, whose clients name the app by the certificate that signs it.
    var passkeyOrigins: [String] {
        let ofApp = android.certificates.map {
            WebAuthn.RelyingParty.androidOrigin(fingerprint: $0)
        }
        return rp.origins + ofApp.filter { !rp.origins.contains($0) }
    }

    /// What is served below `/.well-known/`.
    var wellKnown: WellKnown {
        WellKnown(
            origins: passkeyOrigins, appleApp: apple.appID,
            androidApp: android.package.map {
                WellKnown.AndroidApp(package: $0, certificates: android.certificates)
            })
    }
}
