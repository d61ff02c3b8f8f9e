// swift-tools-version: 6.2
// Small programs that use Playhead. The package is also the test of Playhead as a dependency: `scripts/check-consumer`
// copies this folder, and depends on the repository by URL and version like a user's package (`PLAYHEAD_URL`).
import PackageDescription

let traits: Set<Package.Dependency.Trait> =
  Context.environment["PLAYHEAD_TRAITS"] == "RubberBand" ? [.defaults, "RubberBand"] : [.defaults]

let dependency: Package.Dependency =
  if let url = Context.environment["PLAYHEAD_URL"] {
    .package(url: url, exact: "0.0.1", traits: traits)
  } else {
    .package(name: "playhead", path: "..", traits: traits)
  }

let playhead = Target.Dependency.product(name: "Playhead", package: "playhead")
let foundation = Target.Dependency.product(name: "PlayheadFoundation", package: "playhead")
let testing = Target.Dependency.product(name: "PlayheadTesting", package: "playhead")

/// The programs. Each is one file or two, to be read from top to bottom.
let examples = [
  "capture", "composition", "custom-sink", "equalizer", "export", "looper", "metadata", "movie", "player", "queue",
  "samples", "session", "voice-memo", "waveform",
]

/// For `scripts/check-consumer thread`, which copies the target into this package: a library that reports the
/// operations of Swift's mutexes to the thread sanitizer.
let sanitizing: [Target] =
  Context.environment["PLAYHEAD_SANITIZER"] == "thread" ? [.target(name: "CSwiftMutex")] : []

let package = Package(
  name: "examples",
  dependencies: [dependency],
  targets: sanitizing + examples.map { .executableTarget(name: $0, dependencies: ["ExampleSupport", foundation]) } + [
    .target(name: "ExampleSupport", dependencies: [playhead] + sanitizing.map { .target(name: $0.name) }),
    // The listings of the guide, and checks of Playhead as a dependency.
    .executableTarget(name: "consumer", dependencies: ["Articles", "Playback", playhead, testing]),
    .target(name: "Playback"),
    // The listings of Playhead.docc and of doc comments.
    .target(name: "Articles", dependencies: [playhead, foundation, testing]),
    .testTarget(
      name: "ExampleTests", dependencies: examples.map { .target(name: $0) } + [foundation, testing]),
  ],
  swiftLanguageModes: [.v6]
)
