import Glibc
import LibAV
import MediaAssets
import MediaCore

// usage: IsolationBench FOLDER [ROUNDS]
//
// Compares opening the files of a folder and reading their tags in this process and in a worker, one file at a time.
// Rounds of both are interleaved, with all files in the cache. The limit is 3 ms more for the median of opening a file;
// above it, the exit status is 1. The figure `isolated-tags` measures a daemon that opens many files at once.

func milliseconds(_ body: () async throws -> Void) async rethrows -> Double {
  let duration = try await ContinuousClock().measure(body)
  return Double(duration.components.seconds) * 1_000 + Double(duration.components.attoseconds) / 1e15
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func text(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

func files(in folder: String) -> [String] {
  guard let directory = opendir(folder) else { return [] }
  defer { closedir(directory) }
  var found: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if !name.hasPrefix(".") { found.append("\(folder)/\(name)") }
  }
  return found.sorted()
}

/// The measured processes: this one and a worker.
let isolations: [Asset.Isolation] = [.none, .opening]

/// Opens a file.
func open(_ path: String, _ isolation: Asset.Isolation) throws -> Asset {
  let asset = Asset(path: Array(path.utf8), isolation: isolation)
  _ = try asset.load()
  return asset
}

guard CommandLine.arguments.count > 1, case let paths = files(in: CommandLine.arguments[1]), !paths.isEmpty else {
  print("usage: IsolationBench FOLDER [ROUNDS], with a folder that is not empty")
  exit(2)
}
let rounds = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 9 : 9
LibAV.discardLog()
// By isolation.
var openings: [[Double]] = [[], []]
var tags: [[Double]] = [[], []]
for round in 0...rounds {
  for path in paths {
    for (index, isolation) in isolations.enumerated() {
      let time = try await milliseconds { _ = try open(path, isolation) }
      // The first round fills the caches, and starts the worker.
      if round > 0 { openings[index].append(time) }
    }
  }
  for (index, isolation) in isolations.enumerated() {
    let time = try await milliseconds {
      for path in paths {
        let asset = Asset(path: Array(path.utf8), isolation: isolation)
        let (_, metadata) = try await asset.load(.duration, .assetMetadata)
        precondition(!metadata.items.isEmpty, "\(path) has no tags")
      }
    }
    if round > 0 { tags[index].append(time) }
  }
}
let (opening, reading) = (openings.map(median), tags.map(median))
let (added, ratio) = (opening[1] - opening[0], reading[1] / reading[0])
print("\(paths.count) files; medians of \(rounds) rounds, interleaved")
print(
  "opening a file     in process \(text(opening[0])) ms, in a worker \(text(opening[1])) ms,",
  "\(text(added)) ms more (max 3)")
print(
  "all with all tags  in process \(text(reading[0])) ms, in a worker \(text(reading[1])) ms,",
  "\(text(ratio)) times")
guard added <= 3 else {
  print("IsolationBench: the limit is exceeded")
  exit(1)
}
