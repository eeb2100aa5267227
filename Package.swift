// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is compiled with these; the C modules are only headers.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// What `./countersign fuzz` builds with libFuzzer, which brings the `main` that it lacks; for every other
/// build it is not there.
let fuzzing: [Target] =
    Context.environment["COUNTERSIGN_FUZZ"] == nil
    ? []
    : [
        .executableTarget(
            name: "Fuzzing", dependencies: ["Countersign", "Crypto", "WebAuthn"],
            path: "Tests/Fuzzing",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
    ]

/// The graph of docs/architecture.md: one Swift target per C library, and the domain imports nothing.
let package = Package(
    name: "countersign",
    products: [.executable(name: "countersign", targets: ["CountersignMain"])],
    targets: [
        .systemLibrary(name: "CLibevent", pkgConfig: "libevent_openssl"),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CFido2", pkgConfig: "libfido2"),
        .systemLibrary(name: "CCbor", pkgConfig: "libcbor"),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),

        .target(name: "Countersign", swiftSettings: strict),
        .target(name: "Crypto", dependencies: ["Countersign", "COpenSSL"], swiftSettings: strict),
        .target(
            name: "WebAuthn", dependencies: ["Countersign", "Crypto", "CFido2", "CCbor"],
            swiftSettings: strict),
        .target(name: "Evidence", dependencies: ["Countersign", "Crypto"], swiftSettings: strict),
        .target(
            name: "Postgres", dependencies: ["Countersign", "Crypto", "Evidence", "CPostgres"],
            exclude: ["SQL/README.md", "SQL/audit_plans.sql"],
            resources: [
                .embedInCode("SQL/queries"), .embedInCode("SQL/migrations"),
                .embedInCode("SQL/roles.sql"),
            ],
            swiftSettings: strict),
        .target(name: "HTTP", dependencies: ["Countersign", "CLibevent"], swiftSettings: strict),
        .target(
            name: "Delivery", dependencies: ["Countersign", "Crypto", "CCurl"],
            swiftSettings: strict),
        .executableTarget(
            name: "CountersignMain",
            dependencies: [
                "Countersign", "Crypto", "WebAuthn", "Evidence", "Postgres", "HTTP", "Delivery",
            ],
            swiftSettings: strict),

        .target(
            name: "TestSupport",
            dependencies: ["Countersign", "Crypto", "WebAuthn", "Evidence", "Postgres"],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "CountersignTests", dependencies: ["Countersign", "Crypto", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "CryptoTests", dependencies: ["Countersign", "Crypto", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "WebAuthnTests",
            dependencies: ["Countersign", "Crypto", "WebAuthn", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "EvidenceTests",
            dependencies: ["Countersign", "Crypto", "Evidence", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PostgresTests",
            dependencies: [
                "Countersign", "Crypto", "Delivery", "Evidence", "Postgres", "TestSupport",
                "WebAuthn",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPTests", dependencies: ["Countersign", "HTTP", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "DeliveryTests",
            dependencies: [
                "Countersign", "Crypto", "WebAuthn", "HTTP", "Delivery", "CountersignMain",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Countersign", "Crypto", "WebAuthn", "Evidence", "Postgres", "HTTP", "Delivery",
                "CountersignMain", "TestSupport",
            ],
            exclude: ["Peers/python"],
            swiftSettings: strict),
        .testTarget(name: "TidyTests", swiftSettings: strict),
    ] + fuzzing
)
