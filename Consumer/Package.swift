// swift-tools-version: 6.2
// A program that depends on Playhead like a user's program: with the URL of a repository and a version.
// `scripts/check-consumer` copies this folder, builds it from scratch and runs the program.
import PackageDescription

let package = Package(
  name: "consumer",
  dependencies: [
    .package(
      url: Context.environment["PLAYHEAD_URL"] ?? "", exact: "0.0.1",
      traits: Context.environment["PLAYHEAD_TRAITS"] == "none" ? [.defaults] : ["RubberBand"])
  ],
  targets: [
    .executableTarget(
      name: "consumer",
      dependencies: [
        "Articles", "Playback", .product(name: "Playhead", package: "playhead"),
        .product(name: "PlayheadTesting", package: "playhead"),
      ]),
    .target(name: "Playback"),
    // The listings of Playhead.docc and of doc comments.
    .target(
      name: "Articles",
      dependencies: [
        .product(name: "Playhead", package: "playhead"), .product(name: "PlayheadFoundation", package: "playhead"),
        .product(name: "PlayheadTesting", package: "playhead"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
