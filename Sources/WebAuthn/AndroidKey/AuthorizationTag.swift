/// A tag of an AuthorizationList that this service reads.
///
/// Source: KeyMint `Tag.aidl` and the attestation extension's schema. Tags that are not here are
/// recorded by their numbers (AK-22).
enum AuthorizationTag: Int, CaseIterable {
    case purpose = 1
    case algorithm = 2
    case keySize = 3
    case blockMode = 4
    case digest = 5
    case padding = 6
    case callerNonce = 7
    case minMacLength = 8
    case ecCurve = 10
    case rsaPublicExponent = 200
    case mgfDigest = 203
    case rollbackResistance = 303
    case earlyBootOnly = 305
    case activeDateTime = 400
    case originationExpireDateTime = 401
    case usageExpireDateTime = 402
    case usageCountLimit = 405
    case noAuthRequired = 503
    case userAuthType = 504
    case authTimeout = 505
    case allowWhileOnBody = 506
    case trustedUserPresenceRequired = 507
    case trustedConfirmationRequired = 508
    case unlockedDeviceRequired = 509
    case allApplications = 600
    case applicationId = 601
    case creationDateTime = 701
    case origin = 702
    case rollbackResistant = 703
    case rootOfTrust = 704
    case osVersion = 705
    case osPatchLevel = 706
    case attestationApplicationId = 709
    case idBrand = 710
    case idDevice = 711
    case idProduct = 712
    case idSerial = 713
    case idImei = 714
    case idMeid = 715
    case idManufacturer = 716
    case idModel = 717
    case vendorPatchLevel = 718
    case bootPatchLevel = 719
    case deviceUniqueAttestation = 720
    case idSecondImei = 723
    case moduleHash = 724

    /// Its name in the schema, under which evidence keeps it.
    var name: String {
        switch self {
        case .purpose: "purpose"
        case .algorithm: "algorithm"
        case .keySize: "keySize"
        case .blockMode: "blockMode"
        case .digest: "digest"
        case .padding: "padding"
        case .callerNonce: "callerNonce"
        case .minMacLength: "minMacLength"
        case .ecCurve: "ecCurve"
        case .rsaPublicExponent: "rsaPublicExponent"
        case .mgfDigest: "mgfDigest"
        case .rollbackResistance: "rollbackResistance"
        case .earlyBootOnly: "earlyBootOnly"
        case .activeDateTime: "activeDateTime"
        case .originationExpireDateTime: "originationExpireDateTime"
        case .usageExpireDateTime: "usageExpireDateTime"
        case .usageCountLimit: "usageCountLimit"
        case .noAuthRequired: "noAuthRequired"
        case .userAuthType: "userAuthType"
        case .authTimeout: "authTimeout"
        case .allowWhileOnBody: "allowWhileOnBody"
        case .trustedUserPresenceRequired: "trustedUserPresenceRequired"
        case .trustedConfirmationRequired: "trustedConfirmationRequired"
        case .unlockedDeviceRequired: "unlockedDeviceRequired"
        case .allApplications: "allApplications"
        case .applicationId: "applicationId"
        case .creationDateTime: "creationDateTime"
        case .origin: "origin"
        case .rollbackResistant: "rollbackResistant"
        case .rootOfTrust: "rootOfTrust"
        case .osVersion: "osVersion"
        case .osPatchLevel: "osPatchLevel"
        case .attestationApplicationId: "attestationApplicationId"
        case .idBrand: "idBrand"
        case .idDevice: "idDevice"
        case .idProduct: "idProduct"
        case .idSerial: "idSerial"
        case .idImei: "idImei"
        case .idMeid: "idMeid"
        case .idManufacturer: "idManufacturer"
        case .idModel: "idModel"
        case .vendorPatchLevel: "vendorPatchLevel"
        case .bootPatchLevel: "bootPatchLevel"
        case .deviceUniqueAttestation: "deviceUniqueAttestation"
        case .idSecondImei: "idSecondImei"
        case .moduleHash: "moduleHash"
        }
    }

    /// What is inside the explicit tag.
    enum Content {
        case integer
        /// SET OF INTEGER.
        case integers
        /// NULL: being there is the meaning.
        case presence
        case octets
        case rootOfTrust
        case applicationID
    }

    var content: Content {
        switch self {
        case .purpose, .blockMode, .digest, .padding, .mgfDigest: .integers
        case .callerNonce, .rollbackResistance, .earlyBootOnly, .noAuthRequired,
            .allowWhileOnBody, .trustedUserPresenceRequired, .trustedConfirmationRequired,
            .unlockedDeviceRequired, .allApplications, .rollbackResistant,
            .deviceUniqueAttestation:
            .presence
        case .applicationId, .idBrand, .idDevice, .idProduct, .idSerial, .idImei, .idMeid,
            .idManufacturer, .idModel, .idSecondImei, .moduleHash:
            .octets
        case .rootOfTrust: .rootOfTrust
        case .attestationApplicationId: .applicationID
        case .algorithm, .keySize, .minMacLength, .ecCurve, .rsaPublicExponent, .activeDateTime,
            .originationExpireDateTime, .usageExpireDateTime, .usageCountLimit, .userAuthType,
            .authTimeout, .creationDateTime, .origin, .osVersion, .osPatchLevel,
            .vendorPatchLevel, .bootPatchLevel:
            .integer
        }
    }

    /// Whether the octets are a text, such as a brand.
    var isText: Bool {
        (Self.idBrand.rawValue...Self.idModel.rawValue).contains(rawValue) || self == .idSecondImei
    }
}

/// Numbers of KeyMint that decide something here. Source: KeyMint's AIDL enumerations of these names.
enum KeyMint {
    enum Algorithm {
        static let ec: Int64 = 3
        static let names: [Int64: String] = [
            1: "RSA", 3: "EC", 4: "ML-DSA", 32: "AES", 33: "TRIPLE_DES", 128: "HMAC",
        ]
    }
    enum Purpose {
        static let sign: Int64 = 2
        static let verify: Int64 = 3
        static let names: [Int64: String] = [
            0: "ENCRYPT", 1: "DECRYPT", 2: "SIGN", 3: "VERIFY", 5: "WRAP_KEY", 6: "AGREE_KEY",
            7: "ATTEST_KEY",
        ]
    }
    enum Digest {
        static let none: Int64 = 0
        static let sha256: Int64 = 4
    }
    enum Curve {
        static let p256: Int64 = 1
    }
    enum Origin {
        static let generated: Int64 = 0
        static let names: [Int64: String] = [
            0: "GENERATED", 1: "DERIVED", 2: "IMPORTED", 3: "RESERVED", 4: "SECURELY_IMPORTED",
        ]
    }
    enum UserAuthType {
        /// HardwareAuthenticatorType is a bit field: 1 password, 2 biometric.
        static let biometric: Int64 = 2
    }
}
