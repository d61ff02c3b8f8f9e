// swift-tools-version: 6.2
import PackageDescription

/// Every target of this package. `scripts/swift-build` makes each warning an error; a package that depends on this one
/// does not.
let strict: [SwiftSetting] =
  Context.environment["PLAYHEAD_WARNINGS"] == "errors" ? [.treatAllWarnings(as: .error)] : []

/// The modules under test are optimized in debug builds too, with assertions: the tests take half the time.
/// Cross-module optimization is off: dependents would read the C modules of these.
let optimized: [SwiftSetting] =
  strict + [.unsafeFlags(["-O", "-disable-cmo", "-assert-config", "Debug"], .when(configuration: .debug))]

/// Release builds of programs without unneeded data: a table of all functions for libraries that might look them up, the
/// same code twice, and 24 bytes for each relocation (DT_RELR, glibc 2.36). Measured in playheadd, with 54,000
/// relocations: 2 MB less, resident, of 11.
let small: [LinkerSetting] = [
  .unsafeFlags(
    [
      "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "--icf=safe", "-Xlinker", "-z", "-Xlinker",
      "pack-relative-relocs",
    ], .when(configuration: .release))
]

/// Links the C library statically, too. A program that starts and ends within milliseconds then needs half the time:
/// nothing is loaded at start. The program relocates itself, so that its code is at a random address.
let standalone: [LinkerSetting] = [
  .unsafeFlags(["-static-executable", "-Xclang-linker", "-static-pie"], .when(configuration: .release))
]

/// Resolves every symbol at start (BIND_NOW), so that the linker's tables are read-only afterwards (full RELRO).
let bindNow: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(configuration: .release))]

/// The data of ICU that playheadd needs, instead of the 34 MB in Foundation: the object file that `scripts/icu-data`
/// wrote. Set by `make release`.
let icuData: [LinkerSetting] =
  Context.environment["PLAYHEAD_ICU_DATA"].map { [.unsafeFlags([$0], .when(configuration: .release))] } ?? []

/// Checks the sizes of buffers that C code passes to the C library. Needs optimization.
let fortifiedC: [CSetting] = [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]
let fortifiedCXX: [CXXSetting] = [.define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))]

let log = Target.Dependency.product(name: "Logging", package: "swift-log")
// Modules of swift-collections one by one: the umbrella compiles hundreds of files.
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let ordered = Target.Dependency.product(name: "OrderedCollections", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
// Only the programs need these. A package without the trait Programs does not resolve them.
let programs = TargetDependencyCondition.when(traits: ["Programs"])
let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: programs)
let toml = Target.Dependency.target(name: "CTOML", condition: programs)
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift", condition: programs)

// The order of this list is the order of the layers: a target imports only what precedes it.
// `make` builds with --explicit-target-dependency-import-check: an import that is not declared here is an error.
let package = Package(
  name: "playhead",
  products: [
    .library(name: "Playhead", targets: ["Playhead"]),
    .executable(name: "playheadd", targets: ["playheadd"]),
    // Run to parse untrusted bytes; lies beside playheadd.
    .executable(name: "playhead-worker", targets: ["playhead-worker"]),
    .executable(name: "playhead", targets: ["playhead"]),
  ],
  traits: [
    // None is on by default: a program that depends on the library then resolves only what the library needs, and
    // contains no code under the GPL. `scripts/swift-build` turns both on.
    .trait(
      name: "Programs",
      description: "The daemon and its client, with their dependencies: GRDB, ArgumentParser and toml++."),
    .trait(
      name: "RubberBand",
      description:
        "Spectral time stretching with Rubber Band. It is under the GPL, and so is then what is built as a whole."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // System libraries and the little C that Swift cannot say.
    // Without pkg-config: Debian's headers and libraries lie where the compiler looks, and libpulse's flags are refused.
    .systemLibrary(name: "CFFmpeg", providers: [.apt(["libavformat-dev", "libswresample-dev", "libswscale-dev"])]),
    .systemLibrary(name: "CPulse", providers: [.apt(["libpulse-dev"])]),
    .systemLibrary(name: "CSonic", providers: [.apt(["libsonic-dev"])]),
    .systemLibrary(name: "CRubberBand", providers: [.apt(["librubberband-dev"])]),
    // With pkg-config: its headers have a folder of their own.
    .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CEbur128", providers: [.apt(["libebur128-dev"])]),
    .target(name: "CMediaShims", cSettings: fortifiedC),
    .target(name: "CSandbox", cSettings: fortifiedC),
    .target(name: "CCurl", cSettings: fortifiedC, linkerSettings: [.linkedLibrary("curl")]),
    .target(name: "CXML", dependencies: ["CLibXML2"], cSettings: fortifiedC),
    .target(
      name: "CTags", cxxSettings: fortifiedCXX + [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])],
      linkerSettings: [.linkedLibrary("tag"), .linkedLibrary("uchardet"), .linkedLibrary("icuuc")]),
    // With the headers of libtomlplusplus-dev alone.
    .target(name: "CTOML", cxxSettings: fortifiedCXX + [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]),

    // Values.
    .target(name: "MediaCore", swiftSettings: optimized),

    // The real-time boundary, and the libraries that media come from, go to and are stretched with.
    .target(name: "RealtimeAudio", dependencies: ["MediaCore", "CMediaShims"], swiftSettings: optimized),
    .target(name: "FileAccess", dependencies: ["MediaCore", "CMediaShims"], swiftSettings: optimized),
    .target(
      name: "LibAV", dependencies: ["MediaCore", "FileAccess", "CFFmpeg", "CMediaShims", log], swiftSettings: optimized),
    .target(
      name: "PulseIO", dependencies: ["MediaCore", "RealtimeAudio", "CPulse", log], swiftSettings: optimized),

    .target(name: "NetworkIO", dependencies: ["MediaCore", "RealtimeAudio", "CCurl"], swiftSettings: optimized),

    .target(
      name: "TimeStretch",
      dependencies: [
        "MediaCore", "CSonic", .target(name: "CRubberBand", condition: .when(traits: ["RubberBand"])),
      ],
      swiftSettings: optimized),
    .target(name: "Tags", dependencies: ["CTags"], swiftSettings: optimized),
    // Processes that parse untrusted bytes.
    .target(
      name: "Isolation",
      dependencies: ["MediaCore", "RealtimeAudio", "FileAccess", "CMediaShims", "CSandbox", "LibAV", "Tags", log],
      swiftSettings: optimized),

    // Lists of media.
    .target(name: "Playlists", dependencies: ["MediaCore", "CXML"], swiftSettings: optimized),

    // The event loop that controls playback.
    .target(
      name: "ControlLoop", dependencies: ["MediaCore", "CMediaShims", "RealtimeAudio", deque, heap],
      swiftSettings: optimized),

    // The state of a player, its queue and its observers, as pure values.
    .target(name: "PlayerModel", dependencies: ["MediaCore", deque, heap], swiftSettings: optimized),

    // What plays.
    .target(
      name: "MediaAssets",
      dependencies: [
        "MediaCore", "CMediaShims", "RealtimeAudio", "LibAV", "NetworkIO", "Playlists", "Tags", "Isolation",
        "FileAccess", "WholeFiles", deque,
      ],
      swiftSettings: optimized),
    .target(
      name: "Playback",
      dependencies: [
        "MediaCore", "CMediaShims", "RealtimeAudio", "NetworkIO", "Playlists", "ControlLoop", "PlayerModel",
        "MediaAssets",
        "TimeStretch", log, deque, ordered, heap,
      ],
      swiftSettings: optimized),

    // How loud it is.
    .target(
      name: "Loudness", dependencies: ["MediaCore", "RealtimeAudio", "MediaAssets", "CEbur128"],
      swiftSettings: optimized),

    // Files that are written.
    .target(name: "WholeFiles", dependencies: ["MediaCore", "FileAccess"], swiftSettings: optimized),

    // What files look like.
    .target(
      name: "Waveforms", dependencies: ["MediaCore", "RealtimeAudio", "FileAccess", "MediaAssets", "WholeFiles"],
      swiftSettings: optimized),

    // What records.
    .target(
      name: "RecordingFiles", dependencies: ["MediaCore", "FileAccess", "WholeFiles"], swiftSettings: optimized),
    .target(
      name: "Recording", dependencies: ["MediaCore", "RealtimeAudio", "MediaAssets", "WholeFiles", "RecordingFiles"],
      swiftSettings: optimized),

    // What is kept.
    .target(
      name: "SavedState",
      dependencies: ["MediaCore", "RealtimeAudio", log, grdb],
      swiftSettings: optimized),

    // What drives it.
    .target(name: "WireProtocol", dependencies: ["MediaCore"], swiftSettings: optimized),
    .target(
      name: "ControlServer",
      dependencies: [
        "MediaCore", "CMediaShims", "RealtimeAudio", "FileAccess", "Playlists", "WireProtocol", "NetworkIO",
        "ControlLoop",
        "PlayerModel", "Playback", "MediaAssets", "Isolation",
        "Loudness", "WholeFiles", "Waveforms", "Recording", "SavedState", log, deque, ordered,
      ],
      swiftSettings: optimized),
    .target(
      name: "DaemonConfiguration",
      dependencies: ["MediaCore", "FileAccess", "WireProtocol", "ControlServer", "CSandbox", toml],
      swiftSettings: optimized),
    .executableTarget(
      name: "playhead-worker", dependencies: ["MediaAssets"], swiftSettings: strict, linkerSettings: small + bindNow),
    .executableTarget(
      name: "playheadd",
      dependencies: [
        "DaemonConfiguration", "WireProtocol", "ControlServer", "SavedState", "PulseIO", "LibAV", "Isolation",
        "MediaAssets", "ControlLoop", "PlayerModel", "Playback", "Recording", "RealtimeAudio", "FileAccess",
        "MediaCore",
        "CMediaShims", log,
        argumentParser,
      ],
      swiftSettings: strict, linkerSettings: small + bindNow + icuData),
    .executableTarget(
      name: "playhead",
      dependencies: ["WireProtocol", "FileAccess", "WholeFiles", "RecordingFiles", "MediaCore", "CMediaShims"],
      swiftSettings: strict, linkerSettings: small + bindNow + standalone),

    // The library's umbrella.
    .target(
      name: "Playhead",
      dependencies: [
        "MediaCore", "RealtimeAudio", "LibAV", "PulseIO", "NetworkIO", "Playlists", "ControlLoop", "PlayerModel",
        "MediaAssets", "Playback", "Loudness",
        "Waveforms", "Recording", log,
      ],
      swiftSettings: optimized),

    // Run by scripts/check-media, one process per file; not installed.
    .executableTarget(
      name: "check-media",
      dependencies: [
        "ControlLoop", "PlayerModel", "Playback", "MediaAssets", "LibAV", "RealtimeAudio", "MediaTesting", "MediaCore",
      ],
      swiftSettings: strict),

    // For tests only.
    .target(name: "CAllocationProbe"),
    .target(name: "CSystemCalls"),
    .executableTarget(
      name: "worker-for-tests", dependencies: ["Isolation", "CSystemCalls", "CSandbox", "MediaCore"],
      swiftSettings: strict),
    .executableTarget(
      name: "crashing-worker", dependencies: ["MediaAssets", "Isolation", "CSandbox", "MediaCore"],
      swiftSettings: strict),
    .target(name: "CSanitizerSupport"),
    .target(name: "RigSupport", dependencies: ["MediaCore", "CSanitizerSupport"], swiftSettings: optimized),
    .target(
      name: "MediaTesting",
      dependencies: ["MediaCore", "RealtimeAudio", "RigSupport", "CAllocationProbe", "CSanitizerSupport"],
      swiftSettings: optimized),
    .target(
      name: "DaemonTesting",
      dependencies: [
        "ControlServer", "FileAccess", "ControlLoop", "PlayerModel", "Playback", "RealtimeAudio", "MediaCore",
        "RigSupport", log,
      ],
      swiftSettings: optimized),
    .testTarget(name: "RigSupportTests", dependencies: ["RigSupport", "MediaCore"], swiftSettings: strict),
    .testTarget(name: "MediaCoreTests", dependencies: ["MediaCore", "RigSupport"], swiftSettings: strict),
    .testTarget(
      name: "RealtimeAudioTests", dependencies: ["RealtimeAudio", "MediaTesting", "RigSupport", "MediaCore"],
      swiftSettings: strict),
    .testTarget(
      name: "LibAVTests",
      dependencies: ["LibAV", "CFFmpeg", "MediaCore", "MediaTesting", "RigSupport", "CSanitizerSupport", log],
      swiftSettings: strict),
    .testTarget(
      name: "TimeStretchTests", dependencies: ["TimeStretch", "MediaCore", "RigSupport"],
      swiftSettings: strict),
    .testTarget(name: "PlaylistsTests", dependencies: ["Playlists", "MediaCore", "RigSupport"], swiftSettings: strict),
    .testTarget(
      name: "TagsTests", dependencies: ["Tags", "MediaCore", "RigSupport"], swiftSettings: strict),
    .testTarget(
      name: "IsolationTests",
      dependencies: [
        "Isolation", "LibAV", "MediaCore", "RealtimeAudio", "RigSupport", "CSystemCalls", "CSandbox",
        "worker-for-tests",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PulseIOTests", dependencies: ["PulseIO", "RealtimeAudio", "MediaCore", "RigSupport", log],
      swiftSettings: strict),
    .testTarget(
      name: "NetworkIOTests", dependencies: ["NetworkIO", "MediaCore", "RealtimeAudio", "MediaTesting", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "MediaAssetsTests",
      dependencies: [
        "MediaAssets", "Isolation", "NetworkIO", "LibAV", "Tags", "RealtimeAudio", "MediaCore", "MediaTesting",
        "RigSupport", "CFFmpeg", "playhead-worker", "worker-for-tests",
      ],
      exclude: ["Metadata/write-tags.py", "Metadata/write-formats.py"],
      swiftSettings: strict),
    .testTarget(
      name: "ControlLoopTests", dependencies: ["ControlLoop", "RealtimeAudio", "MediaCore"], swiftSettings: strict),
    .testTarget(
      name: "PlayerModelTests", dependencies: ["PlayerModel", "MediaCore", "MediaTesting", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PlaybackTests",
      dependencies: [
        "ControlLoop", "PlayerModel", "Playback", "MediaAssets", "TimeStretch", "RealtimeAudio", "MediaCore",
        "MediaTesting",
        "RigSupport",
      ],
      exclude: ["Goldens"],
      swiftSettings: strict),
    .testTarget(
      name: "LoudnessTests",
      dependencies: [
        "Loudness", "CEbur128", "MediaAssets", "RealtimeAudio", "MediaCore", "RigSupport", "playhead-worker",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "FileAccessTests", dependencies: ["FileAccess", "MediaCore", "RigSupport"], swiftSettings: strict),
    .testTarget(
      name: "WholeFilesTests", dependencies: ["WholeFiles", "FileAccess", "MediaCore", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "WaveformsTests",
      dependencies: [
        "Waveforms", "WholeFiles", "MediaAssets", "RealtimeAudio", "MediaCore", "RigSupport", "playhead-worker",
      ],
      exclude: ["read-dat.py"],
      swiftSettings: strict),
    .testTarget(
      name: "RecordingTests",
      dependencies: [
        "Recording", "PulseIO", "WholeFiles", "MediaAssets", "RealtimeAudio", "MediaCore", "MediaTesting", "RigSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SavedStateTests",
      dependencies: ["SavedState", "MediaCore", "RigSupport", grdb],
      swiftSettings: strict),
    .testTarget(
      name: "WireProtocolTests", dependencies: ["WireProtocol", "MediaCore", "MediaTesting", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ControlServerTests",
      dependencies: [
        "ControlServer", "WireProtocol", "ControlLoop", "PlayerModel", "Playback", "MediaAssets", "MediaCore",
        "MediaTesting", "RigSupport",
        "CSanitizerSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "DaemonConfigurationTests",
      dependencies: ["DaemonConfiguration", "ControlServer", "WireProtocol", "FileAccess", "MediaCore", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "CheckMediaTests",
      dependencies: ["check-media", "DaemonTesting", "MediaTesting", "RigSupport", "MediaCore"], swiftSettings: strict),
    .testTarget(
      name: "DaemonTests",
      dependencies: [
        "DaemonTesting", "MediaTesting", "RigSupport", "MediaCore", "DaemonConfiguration", "playheadd",
        "playhead-worker", "crashing-worker", "playhead",
      ],
      swiftSettings: strict),
    // Real devices in real time: `scripts/test` runs these last, two suites at a time.
    .testTarget(
      name: "RigTests",
      dependencies: [
        "DaemonTesting", "PulseIO", "ControlLoop", "PlayerModel", "Playback", "RealtimeAudio", "RigSupport",
        "MediaCore", "playheadd",
        "playhead-worker", "playhead",
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
