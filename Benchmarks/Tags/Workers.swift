import PlayheadMediaAssets
import PlayheadMediaCore

// Compares opening files and reading their tags in this process and in a worker, one file at a time. Rounds of both are
// interleaved, with all files in the cache. The figure `isolated-tags` measures a daemon that opens many files at once.

/// The measured processes: this one and a worker.
private let isolations: [Asset.Isolation] = [.none, .opening]

/// The limit of the difference between the medians of opening a file, in milliseconds.
private let maximumAddedMilliseconds = 3.0

/// Measures and prints the times. Returns whether opening in a worker is within the limit.
func isOpeningInAWorkerFast(_ paths: [String], rounds: Int) async throws -> Bool {
  // By isolation.
  var openings: [[Double]] = [[], []]
  var tags: [[Double]] = [[], []]
  // The first round fills the caches, and starts the worker.
  for round in 0...rounds {
    for path in paths {
      for (index, isolation) in isolations.enumerated() {
        let time = try milliseconds { try open(path, isolation) }
        if round > 0 { openings[index].append(time) }
      }
    }
    for (index, isolation) in isolations.enumerated() {
      let start = ContinuousClock.now
      for path in paths { try await readTags(path, isolation) }
      if round > 0 { tags[index].append((ContinuousClock.now - start) / .milliseconds(1)) }
    }
  }
  let (opening, reading) = (openings.map(median), tags.map(median))
  let added = opening[1] - opening[0]
  print("\(paths.count) files; medians of \(rounds) rounds, interleaved")
  print(
    "opening a file     in process \(text(opening[0])) ms, in a worker \(text(opening[1])) ms,",
    "\(text(added)) ms more (max \(text(maximumAddedMilliseconds)))")
  print(
    "all with all tags  in process \(text(reading[0])) ms, in a worker \(text(reading[1])) ms,",
    "\(text(reading[1] / reading[0])) times")
  return added <= maximumAddedMilliseconds
}

private func open(_ path: String, _ isolation: Asset.Isolation) throws {
  _ = try Asset(path: Array(path.utf8), isolation: isolation).load()
}

private func readTags(_ path: String, _ isolation: Asset.Isolation) async throws {
  let asset = Asset(path: Array(path.utf8), isolation: isolation)
  let (_, metadata) = try await asset.load(.duration, .assetMetadata)
  precondition(!metadata.items.isEmpty, "\(path) has no tags")
}
