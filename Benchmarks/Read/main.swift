import Glibc
import LibAV
import MediaAssets
import MediaCore

// usage: ReadBench FILE... [ROUNDS]
//
// Processor time of reading files as numbers of 16 bits with AssetReader, a process each, and of `ffmpeg -f s16le` for the same files,
// which is told to use one thread. Both throw away what they read. Rounds are interleaved; the first of each only brings programs and
// files into the cache. Asked: at most 1.05 times FFmpeg's, of the medians of the ratios; more ends with status 1.
//
// usage: ReadBench --compositions FILE FILE [ROUNDS]
//
// Processor time of reading a composition of two files, one behind the other and mixed, against that of reading each of them by itself.

/// Reads a file whole; what the process that this is called in does.
func read(_ path: String) throws { try read(Asset(path: path)) }

/// Reads an asset whole.
func read(_ asset: Asset) throws {
  LibAV.discardLog()
  let reader = AssetReader(asset: asset)
  let output = AssetReaderTrackOutput(settings: AudioReadSettings(.signed16))
  try reader.add(output)
  try reader.startReading()
  var byteCount = 0
  while let buffer = output.copyNextSampleBuffer() { byteCount += buffer.data.count }
  if let error = reader.error { throw error }
  guard byteCount > 0 else { exit(1) }
}

/// Two files in a composition: one behind the other in one track, or each in its own.
func composition(of paths: [String], isMixed: Bool) throws -> Asset {
  var composition = Composition()
  var track = try composition.addTrack(.audio)
  for (number, path) in paths.enumerated() {
    if isMixed, number > 0 { track = try composition.addTrack(.audio) }
    let asset = Asset(path: path)
    let range = TimeRange(start: .zero, duration: try asset.load().duration)
    try composition.insertTimeRange(
      range, ofTrack: nil, of: asset, at: composition.track(track)?.duration ?? .zero, inTrack: track)
  }
  return Asset(composition: composition)
}

/// Milliseconds of processor time that a program uses from its beginning to its end.
func processorMilliseconds(_ arguments: [String]) -> Double {
  var before = rusage()
  getrusage(Int32(truncatingIfNeeded: RUSAGE_CHILDREN.rawValue), &before)
  var words = arguments.map { strdup($0) } + [nil]
  defer { for word in words { free(word) } }
  var child = pid_t()
  guard posix_spawnp(&child, arguments[0], nil, nil, &words, environ) == 0 else {
    print("ReadBench: \(arguments[0]) cannot be run")
    exit(1)
  }
  var status: Int32 = 0
  while waitpid(child, &status, 0) < 0, errno == EINTR {}
  guard status == 0 else {
    print("ReadBench: \(arguments) failed")
    exit(1)
  }
  var after = rusage()
  getrusage(Int32(truncatingIfNeeded: RUSAGE_CHILDREN.rawValue), &after)
  func milliseconds(_ usage: rusage) -> Double {
    Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000
      + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000
  }
  return milliseconds(after) - milliseconds(before)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func text(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }

var arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--read", arguments.count == 2 {
  try read(arguments[1])
  exit(0)
}
if let first = arguments.first, ["--each", "--behind", "--mixed"].contains(first), arguments.count == 3 {
  let paths = Array(arguments.dropFirst())
  if first == "--each" {
    for path in paths { try read(path) }
  } else {
    try read(composition(of: paths, isMixed: first == "--mixed"))
  }
  exit(0)
}
let comparesCompositions = arguments.first == "--compositions"
if comparesCompositions { arguments.removeFirst() }
let rounds = arguments.last.flatMap { Int($0) } ?? 9
if arguments.last.map({ Int($0) != nil }) ?? false { arguments.removeLast() }
guard !arguments.isEmpty else {
  print("usage: ReadBench FILE... [ROUNDS]")
  exit(2)
}
if comparesCompositions {
  guard arguments.count == 2 else {
    print("usage: ReadBench --compositions FILE FILE [ROUNDS]")
    exit(2)
  }
  var taken: [String: [Double]] = [:]
  for round in 0...rounds {
    for kind in ["--each", "--behind", "--mixed"] {
      let time = processorMilliseconds([CommandLine.arguments[0], kind] + arguments)
      if round > 0 { taken[kind, default: []].append(time) }
    }
  }
  for (kind, name) in [("--each", "by itself"), ("--behind", "one behind the other"), ("--mixed", "mixed")] {
    let ratios = zip(taken[kind] ?? [], taken["--each"] ?? []).map { $0 / $1 }
    print("two files, \(name): \(text(median(taken[kind] ?? []))) ms of processor time, ratio \(text(median(ratios)))")
  }
  exit(0)
}
var isWithin = true
for path in arguments {
  var (ours, theirs, ratios): ([Double], [Double], [Double]) = ([], [], [])
  for round in 0...rounds {
    let own = processorMilliseconds([CommandLine.arguments[0], "--read", path])
    let other = processorMilliseconds([
      "ffmpeg", "-nostdin", "-nostats", "-v", "error", "-threads", "1", "-i", path, "-map", "0:a", "-f", "s16le", "-y",
      "/dev/null",
    ])
    guard round > 0 else { continue }
    ours.append(own)
    theirs.append(other)
    ratios.append(own / other)
  }
  let name = path.split(separator: "/").last ?? ""
  print(
    "read: \(name): \(text(median(ours))) ms of processor time (ffmpeg -f s16le: \(text(median(theirs)))), ratio \(text(median(ratios))), asked <= 1.05"
  )
  if median(ratios) > 1.05 { isWithin = false }
}
exit(isWithin ? 0 : 1)
