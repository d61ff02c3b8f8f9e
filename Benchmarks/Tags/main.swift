import CPlayheadFFmpeg
import Glibc
import PlayheadLibAV
import PlayheadMediaAssets

// usage: TagsBench [workers] FOLDER [ROUNDS]
//
// Opens every file of a folder and reads all its tags, like the daemon. For comparison it makes the library calls of
// ffprobe for the same files: avformat_open_input and avformat_find_stream_info. Then it iterates over the dictionaries
// of the file and its streams, and copies their texts. Rounds of both are interleaved, with all files in the cache. The
// limit is 1.5 times ffprobe's median; above it, the exit status is 1. Also prints TagLib's memory.
//
// With `workers`, compares workers with this process instead (Workers.swift).

/// Entries that the iterations found.
nonisolated(unsafe) var dictionaryCount = 0

func openAsFFprobe(_ path: String) {
  var context: UnsafeMutablePointer<AVFormatContext>?
  precondition(avformat_open_input(&context, path, nil, nil) >= 0, "ffprobe's calls cannot open \(path)")
  precondition(avformat_find_stream_info(context, nil) >= 0, "ffprobe's calls find no streams in \(path)")
  var texts: [(String, String)] = []
  if let context {
    appendEntries(context.pointee.metadata, &texts)
    for index in 0..<Int(context.pointee.nb_streams) {
      appendEntries(context.pointee.streams[index]?.pointee.metadata, &texts)
    }
  }
  dictionaryCount += texts.count
  avformat_close_input(&context)
}

/// The entries of a dictionary that ffprobe prints.
func appendEntries(_ dictionary: OpaquePointer?, _ texts: inout [(String, String)]) {
  var last: UnsafeMutablePointer<AVDictionaryEntry>?
  while let entry = av_dict_get(dictionary, "", last, AV_DICT_IGNORE_SUFFIX) {
    last = entry
    texts.append((String(cString: entry.pointee.key), String(cString: entry.pointee.value)))
  }
}

/// Opens a file like an asset.
func open(_ path: String) throws -> Demuxer {
  try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
}

/// This process's proportional memory, in kB (/proc/self/smaps_rollup).
func pssKilobytes() -> Int {
  guard let file = fopen("/proc/self/smaps_rollup", "r") else { return 0 }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 4_096)
  let count = fread(&bytes, 1, bytes.count, file)
  let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
  return lines.first { $0.hasPrefix("Pss:") }.flatMap { Int($0.filter(\.isNumber)) } ?? 0
}

var arguments = CommandLine.arguments.dropFirst()
let comparesWorkers = arguments.first == "workers"
if comparesWorkers { arguments.removeFirst() }
guard let folder = arguments.popFirst(), case let paths = files(in: folder), !paths.isEmpty else {
  print("usage: TagsBench [workers] FOLDER [ROUNDS], with a folder that is not empty")
  exit(2)
}
let rounds = arguments.popFirst().flatMap { Int($0) } ?? 9
LibAV.discardLog()
if comparesWorkers { exit(try await isOpeningInAWorkerFast(paths, rounds: rounds) ? 0 : 1) }
// The memory of TagLib, after the first tag was read.
for path in paths { _ = try open(path) }
let before = pssKilobytes()
_ = try MetadataReader.read(open(paths[0]), displayPath: paths[0])
let first = pssKilobytes() - before
for path in paths { _ = try MetadataReader.read(open(path), displayPath: path) }
let last = pssKilobytes() - before
var tagTimes: [Double] = []
var openingTimes: [Double] = []
var ffprobeTimes: [Double] = []
var itemCount = 0
var artworkCount = 0
for round in 0...rounds {
  let ffprobe = milliseconds { for path in paths { openAsFFprobe(path) } }
  let openOnly = try milliseconds { for path in paths { _ = try open(path) } }
  itemCount = 0
  artworkCount = 0
  let withTags = try milliseconds {
    for path in paths {
      let metadata = try MetadataReader.read(open(path), displayPath: path)
      itemCount += metadata.items.count
      artworkCount += metadata.artwork.count
    }
  }
  // The first round fills the caches and loads TagLib.
  if round == 0 { continue }
  tagTimes.append(withTags)
  openingTimes.append(openOnly)
  ffprobeTimes.append(ffprobe)
}
print("\(paths.count) files, \(itemCount) items, \(artworkCount) images; medians of \(rounds) rounds, interleaved")
precondition(dictionaryCount > 0, "ffprobe's calls find no tags")
print("ffprobe's library calls           \(text(median(ffprobeTimes))) ms")
print(
  "opened here, no tags              \(text(median(openingTimes))) ms,",
  "\(text(median(openingTimes) / median(ffprobeTimes))) times")
print(
  "opened here, all tags             \(text(median(tagTimes))) ms,",
  "\(text(median(tagTimes) / median(ffprobeTimes))) times (max 1.5)"
)
print("memory (PSS): the first tag costs \(first) kB, all \(paths.count) files \(last) kB")
guard median(tagTimes) <= 1.5 * median(ffprobeTimes) else {
  print("TagsBench: opening files and reading all tags was more than 1.5 times as slow as ffprobe's calls")
  exit(1)
}
