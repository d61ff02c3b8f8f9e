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

/// Modules whose release build is small instead of fast: they run at the start of a program, or once for a request of a
/// person.
let compact: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

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

/// Release builds of programs without data that depends on the folder of the build: the compiler's hashes of its modules,
/// and a build id of the debug information. The same sources then make the same stripped programs.
let reproducible: [LinkerSetting] = [
  .unsafeFlags(
    ["-Xlinker", "--build-id=none", "-Xlinker", "-T", "-Xlinker", "\(Context.packageDirectory)/scripts/release.ld"],
    .when(configuration: .release))
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

/// The language of the C++ targets. The package has no `cxxLanguageStandard`: `swift package dump-symbol-graph` would
/// pass it to the C targets, too, where it is an error.
let cxx17: [CXXSetting] = fortifiedCXX + [.unsafeFlags(["-std=c++17", "-Wall", "-Wextra", "-Werror"])]

let log = Target.Dependency.product(name: "Logging", package: "swift-log")
// Modules of swift-collections one by one: the umbrella compiles hundreds of files.
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let ordered = Target.Dependency.product(name: "OrderedCollections", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
// Only the programs need these. A package without the trait Programs does not resolve them.
let programs = TargetDependencyCondition.when(traits: ["Programs"])
let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: programs)
let toml = Target.Dependency.target(name: "CPlayheadTOML", condition: programs)
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift", condition: programs)

// The order of this list is the order of the layers: a target imports only what precedes it.
// `make` builds with --explicit-target-dependency-import-check: an import that is not declared here is an error.
let package = Package(
  name: "playhead",
  products: [
    .library(name: "Playhead", targets: ["Playhead"]),
    // The same with the types of Foundation.
    .library(name: "PlayheadFoundation", targets: ["PlayheadFoundation"]),
    // For the tests of programs: a virtual clock, an output in memory, and time-coded files.
    .library(name: "PlayheadTesting", targets: ["PlayheadTesting"]),
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
    .systemLibrary(
      name: "CPlayheadFFmpeg", providers: [.apt(["libavformat-dev", "libswresample-dev", "libswscale-dev"])]),
    .systemLibrary(name: "CPlayheadPulse", providers: [.apt(["libpulse-dev"])]),
    .systemLibrary(name: "CPlayheadSonic", providers: [.apt(["libsonic-dev"])]),
    .systemLibrary(name: "CPlayheadRubberBand", providers: [.apt(["librubberband-dev"])]),
    // With pkg-config: its headers have a folder of their own.
    .systemLibrary(name: "CPlayheadLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CPlayheadEbur128", providers: [.apt(["libebur128-dev"])]),
    .target(name: "CPlayheadMediaShims", cSettings: fortifiedC),
    .target(name: "CPlayheadSandbox", cSettings: fortifiedC),
    .target(name: "CPlayheadCurl", cSettings: fortifiedC, linkerSettings: [.linkedLibrary("curl")]),
    .target(name: "CPlayheadXML", dependencies: ["CPlayheadLibXML2"], cSettings: fortifiedC),
    .target(
      name: "CPlayheadTags", cxxSettings: cxx17,
      linkerSettings: [.linkedLibrary("tag"), .linkedLibrary("uchardet"), .linkedLibrary("icuuc")]),
    // With the headers of libtomlplusplus-dev alone.
    .target(name: "CPlayheadTOML", cxxSettings: cxx17),

    // Values.
    .target(name: "PlayheadMediaCore", swiftSettings: optimized),

    // The real-time boundary, and the libraries that media come from, go to and are stretched with.
    .target(
      name: "PlayheadRealtimeAudio", dependencies: ["PlayheadMediaCore", "CPlayheadMediaShims"],
      swiftSettings: optimized),
    .target(
      name: "PlayheadFileAccess", dependencies: ["PlayheadMediaCore", "CPlayheadMediaShims"], swiftSettings: optimized),
    .target(
      name: "PlayheadLibAV",
      dependencies: ["PlayheadMediaCore", "PlayheadFileAccess", "CPlayheadFFmpeg", "CPlayheadMediaShims", log],
      swiftSettings: optimized),
    .target(
      name: "PlayheadPulseIO", dependencies: ["PlayheadMediaCore", "PlayheadRealtimeAudio", "CPlayheadPulse", log],
      swiftSettings: optimized),

    .target(
      name: "PlayheadNetworkIO", dependencies: ["PlayheadMediaCore", "PlayheadRealtimeAudio", "CPlayheadCurl"],
      swiftSettings: optimized),

    .target(
      name: "PlayheadTimeStretch",
      dependencies: [
        "PlayheadMediaCore", "CPlayheadSonic",
        .target(name: "CPlayheadRubberBand", condition: .when(traits: ["RubberBand"])),
      ],
      swiftSettings: optimized),
    .target(name: "PlayheadTags", dependencies: ["CPlayheadTags"], swiftSettings: optimized),
    // Processes that parse untrusted bytes.
    .target(
      name: "PlayheadIsolation",
      dependencies: [
        "PlayheadMediaCore", "PlayheadRealtimeAudio", "PlayheadFileAccess", "CPlayheadMediaShims", "CPlayheadSandbox",
        "PlayheadLibAV", "PlayheadTags", log,
      ],
      swiftSettings: optimized),

    // Lists of media.
    .target(name: "PlayheadPlaylists", dependencies: ["PlayheadMediaCore", "CPlayheadXML"], swiftSettings: optimized),

    // The event loop that controls playback.
    .target(
      name: "PlayheadControlLoop",
      dependencies: ["PlayheadMediaCore", "CPlayheadMediaShims", "PlayheadRealtimeAudio", deque, heap],
      swiftSettings: optimized),

    // The state of a player, its queue and its observers, as pure values.
    .target(name: "PlayheadPlayerModel", dependencies: ["PlayheadMediaCore", deque, heap], swiftSettings: optimized),

    // What plays.
    .target(
      name: "PlayheadMediaAssets",
      dependencies: [
        "PlayheadMediaCore", "CPlayheadMediaShims", "PlayheadRealtimeAudio", "PlayheadLibAV", "PlayheadNetworkIO",
        "PlayheadPlaylists", "PlayheadTags", "PlayheadIsolation",
        "PlayheadFileAccess", "PlayheadWholeFiles", deque,
      ],
      swiftSettings: optimized),
    .target(
      name: "PlayheadPlayback",
      dependencies: [
        "PlayheadMediaCore", "CPlayheadMediaShims", "PlayheadRealtimeAudio", "PlayheadNetworkIO", "PlayheadPlaylists",
        "PlayheadControlLoop", "PlayheadPlayerModel",
        "PlayheadMediaAssets",
        "PlayheadTimeStretch", log, deque, ordered, heap,
      ],
      swiftSettings: optimized),

    // What changes the audio that is played.
    .target(
      name: "PlayheadEffects", dependencies: ["PlayheadMediaCore", "PlayheadPlayback"], swiftSettings: optimized),

    // How loud it is.
    .target(
      name: "PlayheadLoudness",
      dependencies: ["PlayheadMediaCore", "PlayheadRealtimeAudio", "PlayheadMediaAssets", "CPlayheadEbur128"],
      swiftSettings: optimized),

    // Files that are written.
    .target(
      name: "PlayheadWholeFiles", dependencies: ["PlayheadMediaCore", "PlayheadFileAccess"], swiftSettings: optimized),

    // What files look like.
    .target(
      name: "PlayheadWaveforms",
      dependencies: [
        "PlayheadMediaCore", "PlayheadRealtimeAudio", "PlayheadFileAccess", "PlayheadMediaAssets", "PlayheadWholeFiles",
      ],
      swiftSettings: optimized),

    // What records.
    .target(
      name: "PlayheadRecordingFiles", dependencies: ["PlayheadMediaCore", "PlayheadFileAccess", "PlayheadWholeFiles"],
      swiftSettings: optimized),
    .target(
      name: "PlayheadRecording",
      dependencies: [
        "PlayheadMediaCore", "PlayheadRealtimeAudio", "PlayheadMediaAssets", "PlayheadWholeFiles",
        "PlayheadRecordingFiles",
      ],
      swiftSettings: optimized),

    // What is kept.
    .target(
      name: "PlayheadSavedState",
      dependencies: ["PlayheadMediaCore", "PlayheadRealtimeAudio", log, grdb],
      swiftSettings: optimized + compact),

    // What drives it.
    .target(name: "PlayheadWireProtocol", dependencies: ["PlayheadMediaCore"], swiftSettings: optimized),
    .target(
      name: "PlayheadControlServer",
      dependencies: [
        "PlayheadMediaCore", "CPlayheadMediaShims", "PlayheadRealtimeAudio", "PlayheadFileAccess", "PlayheadPlaylists",
        "PlayheadWireProtocol", "PlayheadNetworkIO",
        "PlayheadControlLoop",
        "PlayheadPlayerModel", "PlayheadPlayback", "PlayheadEffects", "PlayheadMediaAssets", "PlayheadIsolation",
        "PlayheadLoudness", "PlayheadWholeFiles", "PlayheadWaveforms", "PlayheadRecording", "PlayheadSavedState", log,
        deque, ordered,
      ],
      swiftSettings: optimized),
    .target(
      name: "PlayheadDaemonConfiguration",
      dependencies: [
        "PlayheadMediaCore", "PlayheadFileAccess", "PlayheadWireProtocol", "PlayheadControlServer", "CPlayheadSandbox",
        toml,
      ],
      swiftSettings: optimized + compact),
    .executableTarget(
      name: "playhead-worker", dependencies: ["PlayheadMediaAssets"], swiftSettings: strict,
      linkerSettings: small + reproducible + bindNow),
    .executableTarget(
      name: "playheadd",
      dependencies: [
        "PlayheadDaemonConfiguration", "PlayheadWireProtocol", "PlayheadControlServer", "PlayheadSavedState",
        "PlayheadPulseIO", "PlayheadLibAV", "PlayheadIsolation",
        "PlayheadMediaAssets", "PlayheadControlLoop", "PlayheadPlayerModel", "PlayheadPlayback", "PlayheadRecording",
        "PlayheadRealtimeAudio", "PlayheadFileAccess",
        "PlayheadMediaCore",
        "CPlayheadMediaShims", log,
        argumentParser,
      ],
      swiftSettings: strict + compact, linkerSettings: small + reproducible + bindNow + icuData),
    .executableTarget(
      name: "playhead",
      dependencies: [
        "PlayheadWireProtocol", "PlayheadFileAccess", "PlayheadWholeFiles", "PlayheadRecordingFiles",
        "PlayheadMediaCore", "CPlayheadMediaShims",
      ],
      swiftSettings: strict + compact, linkerSettings: small + reproducible + bindNow + standalone),

    // The library's umbrella.
    .target(
      name: "Playhead",
      dependencies: [
        "PlayheadMediaCore", "PlayheadRealtimeAudio", "PlayheadLibAV", "PlayheadPulseIO", "PlayheadNetworkIO",
        "PlayheadPlaylists", "PlayheadControlLoop", "PlayheadPlayerModel",
        "PlayheadMediaAssets", "PlayheadPlayback", "PlayheadEffects", "PlayheadLoudness",
        "PlayheadWaveforms", "PlayheadRecording", log,
      ],
      swiftSettings: optimized),

    .target(name: "PlayheadFoundation", dependencies: ["Playhead"], swiftSettings: optimized),
    .target(name: "PlayheadTimeCode", dependencies: ["PlayheadMediaCore"], swiftSettings: optimized),
    .target(name: "PlayheadTesting", dependencies: ["Playhead", "PlayheadTimeCode"], swiftSettings: optimized),

    // Run by scripts/check-media, one process per file; not installed.
    .executableTarget(
      name: "check-media",
      dependencies: [
        "PlayheadControlLoop", "PlayheadPlayerModel", "PlayheadPlayback", "PlayheadMediaAssets", "PlayheadLibAV",
        "PlayheadRealtimeAudio", "MediaTesting", "PlayheadMediaCore",
      ],
      swiftSettings: strict),

    // For tests only.
    .target(name: "CAllocationProbe"),
    .target(name: "CSystemCalls"),
    .executableTarget(
      name: "worker-for-tests",
      dependencies: ["PlayheadIsolation", "CSystemCalls", "CPlayheadSandbox", "PlayheadMediaCore"],
      swiftSettings: strict),
    .executableTarget(
      name: "crashing-worker",
      dependencies: ["PlayheadMediaAssets", "PlayheadIsolation", "CPlayheadSandbox", "PlayheadMediaCore"],
      swiftSettings: strict),
    .target(name: "CSanitizerSupport"),
    .target(
      name: "RigSupport", dependencies: ["PlayheadMediaCore", "PlayheadTimeCode", "CSanitizerSupport"],
      swiftSettings: optimized),
    .target(
      name: "MediaTesting",
      dependencies: [
        "PlayheadMediaCore", "PlayheadRealtimeAudio", "RigSupport", "CAllocationProbe", "CSanitizerSupport",
      ],
      swiftSettings: optimized),
    .target(
      name: "DaemonTesting",
      dependencies: [
        "PlayheadControlServer", "PlayheadFileAccess", "PlayheadControlLoop", "PlayheadPlayerModel", "PlayheadPlayback",
        "PlayheadRealtimeAudio", "PlayheadMediaCore",
        "RigSupport", log,
      ],
      swiftSettings: optimized),
    .testTarget(
      name: "LibraryTests",
      dependencies: ["PlayheadFoundation", "PlayheadTesting", "PlayheadTimeCode", "RigSupport", "CAllocationProbe"],
      swiftSettings: strict),
    .testTarget(name: "RigSupportTests", dependencies: ["RigSupport", "PlayheadMediaCore"], swiftSettings: strict),
    .testTarget(name: "MediaCoreTests", dependencies: ["PlayheadMediaCore", "RigSupport"], swiftSettings: strict),
    .testTarget(
      name: "RealtimeAudioTests",
      dependencies: ["PlayheadRealtimeAudio", "MediaTesting", "RigSupport", "PlayheadMediaCore"],
      swiftSettings: strict),
    .testTarget(
      name: "LibAVTests",
      dependencies: [
        "PlayheadLibAV", "CPlayheadFFmpeg", "PlayheadMediaCore", "MediaTesting", "RigSupport", "CSanitizerSupport", log,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TimeStretchTests", dependencies: ["PlayheadTimeStretch", "PlayheadMediaCore", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PlaylistsTests", dependencies: ["PlayheadPlaylists", "PlayheadMediaCore", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "TagsTests", dependencies: ["PlayheadTags", "PlayheadMediaCore", "RigSupport"], swiftSettings: strict),
    .testTarget(
      name: "IsolationTests",
      dependencies: [
        "PlayheadIsolation", "PlayheadLibAV", "PlayheadMediaCore", "PlayheadRealtimeAudio", "RigSupport",
        "CSystemCalls", "CPlayheadSandbox",
        "worker-for-tests",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PulseIOTests",
      dependencies: ["PlayheadPulseIO", "PlayheadRealtimeAudio", "PlayheadMediaCore", "RigSupport", log],
      swiftSettings: strict),
    .testTarget(
      name: "NetworkIOTests",
      dependencies: ["PlayheadNetworkIO", "PlayheadMediaCore", "PlayheadRealtimeAudio", "MediaTesting", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "MediaAssetsTests",
      dependencies: [
        "PlayheadMediaAssets", "PlayheadIsolation", "PlayheadNetworkIO", "PlayheadLibAV", "PlayheadTags",
        "PlayheadRealtimeAudio", "PlayheadMediaCore", "MediaTesting",
        "RigSupport", "CPlayheadFFmpeg", "playhead-worker", "worker-for-tests",
      ],
      exclude: ["Metadata/write-tags.py", "Metadata/write-formats.py"],
      swiftSettings: strict),
    .testTarget(
      name: "ControlLoopTests", dependencies: ["PlayheadControlLoop", "PlayheadRealtimeAudio", "PlayheadMediaCore"],
      swiftSettings: strict),
    .testTarget(
      name: "PlayerModelTests",
      dependencies: ["PlayheadPlayerModel", "PlayheadMediaCore", "MediaTesting", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PlaybackTests",
      dependencies: [
        "PlayheadControlLoop", "PlayheadPlayerModel", "PlayheadPlayback", "PlayheadMediaAssets", "PlayheadTimeStretch",
        "PlayheadRealtimeAudio", "PlayheadMediaCore",
        "MediaTesting",
        "RigSupport",
      ],
      exclude: ["Goldens"],
      swiftSettings: strict),
    .testTarget(
      name: "EffectsTests",
      dependencies: [
        "PlayheadEffects", "PlayheadPlayback", "PlayheadMediaCore", "PlayheadTesting", "MediaTesting", "RigSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LoudnessTests",
      dependencies: [
        "PlayheadLoudness", "CPlayheadEbur128", "PlayheadMediaAssets", "PlayheadRealtimeAudio", "PlayheadMediaCore",
        "RigSupport", "playhead-worker",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "FileAccessTests", dependencies: ["PlayheadFileAccess", "PlayheadMediaCore", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "WholeFilesTests",
      dependencies: ["PlayheadWholeFiles", "PlayheadFileAccess", "PlayheadMediaCore", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "WaveformsTests",
      dependencies: [
        "PlayheadWaveforms", "PlayheadWholeFiles", "PlayheadMediaAssets", "PlayheadRealtimeAudio", "PlayheadMediaCore",
        "RigSupport", "playhead-worker",
      ],
      exclude: ["read-dat.py"],
      swiftSettings: strict),
    .testTarget(
      name: "RecordingTests",
      dependencies: [
        "PlayheadRecording", "PlayheadPulseIO", "PlayheadWholeFiles", "PlayheadMediaAssets", "PlayheadRealtimeAudio",
        "PlayheadMediaCore", "MediaTesting", "RigSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SavedStateTests",
      dependencies: ["PlayheadSavedState", "PlayheadMediaCore", "RigSupport", grdb],
      swiftSettings: strict),
    .testTarget(
      name: "WireProtocolTests",
      dependencies: ["PlayheadWireProtocol", "PlayheadMediaCore", "MediaTesting", "RigSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ControlServerTests",
      dependencies: [
        "PlayheadControlServer", "PlayheadWireProtocol", "PlayheadControlLoop", "PlayheadPlayerModel",
        "PlayheadPlayback", "PlayheadEffects", "PlayheadMediaAssets", "PlayheadSavedState", "PlayheadMediaCore",
        "MediaTesting", "RigSupport",
        "CSanitizerSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "DaemonConfigurationTests",
      dependencies: [
        "PlayheadDaemonConfiguration", "PlayheadControlServer", "PlayheadWireProtocol", "PlayheadFileAccess",
        "PlayheadMediaCore", "RigSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CheckMediaTests",
      dependencies: ["check-media", "DaemonTesting", "MediaTesting", "RigSupport", "PlayheadMediaCore"],
      swiftSettings: strict),
    .testTarget(
      name: "DaemonTests",
      dependencies: [
        "DaemonTesting", "MediaTesting", "RigSupport", "PlayheadMediaCore", "PlayheadDaemonConfiguration", "playheadd",
        "playhead-worker", "crashing-worker", "playhead",
      ],
      swiftSettings: strict),
    // Real devices in real time: `scripts/test` runs these last, two suites at a time.
    .testTarget(
      name: "RigTests",
      dependencies: [
        "DaemonTesting", "MediaTesting", "PlayheadPulseIO", "PlayheadControlLoop", "PlayheadPlayerModel",
        "PlayheadPlayback", "PlayheadRealtimeAudio", "RigSupport",
        "PlayheadMediaCore", "playheadd",
        "playhead-worker", "playhead",
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
