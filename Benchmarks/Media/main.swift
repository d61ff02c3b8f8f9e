import Glibc

// usage: MediaBench read FILE... | compositions FILE FILE | transcode FOLDER SOURCE...   [ROUNDS]
//
// Measures processor time and memory, in a separate process for each measurement. Rounds are interleaved, and the first
// of each only fills the caches with programs and files. The exit status is 1 if a median ratio exceeds its limit.
//
// - read: reads files as 16-bit samples with AssetReader, compared with `ffmpeg -f s16le` with one thread. Both discard
//   the result.
// - compositions: reads two files one after the other and mixed, compared with each file alone.
// - transcode: transcodes a whole file with AssetExportSession, compared with `ffmpeg` with the same encoders and
//   settings.

let program = CommandLine.arguments[0]
var arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.count) {
case ("--read", 2): try read(arguments[1])
case ("--each", 3): for path in arguments.dropFirst() { try read(path) }
case ("--sequence", 3): try read(composition(of: Array(arguments.dropFirst()), isMixed: false))
case ("--mixed", 3): try read(composition(of: Array(arguments.dropFirst()), isMixed: true))
case ("--export", 3): try await export(arguments[1], to: arguments[2])
default:
  let rounds = arguments.last.flatMap { Int($0) }
  if rounds != nil { arguments.removeLast() }
  let files = Array(arguments.dropFirst())
  switch (arguments.first, files.count) {
  case ("read", 1...): exit(measureReading(files, rounds: rounds ?? 9) ? 0 : 1)
  case ("compositions", 2): measureCompositions(files, rounds: rounds ?? 9)
  case ("transcode", 2...): exit(measureTranscoding(Array(files.dropFirst()), files[0], rounds: rounds ?? 3) ? 0 : 1)
  default:
    print("usage: MediaBench read FILE... | compositions FILE FILE | transcode FOLDER SOURCE... [ROUNDS]")
    exit(2)
  }
}
