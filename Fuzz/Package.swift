// swift-tools-version: 6.2
import PackageDescription

// Fuzz targets, apart from the main package so that its build stays small. The modules under test are links to the real ones, built
// here with the fuzzer's instrumentation:
//
//   swift build -c release -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld
//   mkdir -p .build/corpus/wire && .build/release/fuzz-wire -max_len=4096 -dict=wire.dict .build/corpus/wire seeds/wire
let package = Package(
  name: "playhead-fuzz",
  targets: [
    .target(name: "CLibFuzzer"),
    .target(name: "MediaCore"),
    .target(name: "WireProtocol", dependencies: ["MediaCore"]),
    .executableTarget(name: "fuzz-wire", dependencies: ["CLibFuzzer", "MediaCore", "WireProtocol"]),
  ],
  swiftLanguageModes: [.v6]
)
