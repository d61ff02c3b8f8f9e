import Glibc

// usage: MediaBench read FILE... | compositions FILE FILE | transcode FOLDER SOURCE...   [ROUNDS]
//
// Processor time and memory of a process of its own for each measurement; rounds are interleaved, and the first of each only brings programs and
// files into the cache. More than what is asked of the medians of the ratios ends with status 1.
//
// read: reading files as numbers of 16 bits with AssetReader, against `ffmpeg -f s16le`, which is told to use one thread. Both throw away
// what they read. compositions: reading two files one behind the other and mixed, against reading each by itself. transcode: a whole
// file coded anew by AssetExportSession, against `ffmpeg` with the same encoders and settings.

let program = CommandLine.arguments[0]
var arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.count) {
case ("--read", 2): try read(arguments[1])
case ("--each", 3): for path in arguments.dropFirst() { try read(path) }
case ("--behind", 3): try read(composition(of: Array(arguments.dropFirst()), isMixed: false))
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
