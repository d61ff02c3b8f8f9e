// Encoding test files takes a third of the processor time of all tests, and its results do not change between runs.
import Foundation

/// Test files made by FFmpeg, cached between runs.
///
/// The cache is the folder in `PLAYHEAD_FIXTURES`, which `scripts/test` sets to `.build/fixtures`. Without this
/// variable there is no cache.
///
/// Threading: any thread, and any number of processes.
package enum Fixtures {
  /// Maximum size of a cached file in bytes.
  private static let byteLimit = 8 << 20
  private static let folder = ProcessInfo.processInfo.environment["PLAYHEAD_FIXTURES"]

  /// Runs `ffmpeg`, or copies the cached file of the same command. Blocks.
  ///
  /// The key of a file consists of the program's version, the arguments, and the content of the files among the
  /// arguments. Commands that write more than one file, decode to raw samples, or contain a temporary file within
  /// another argument, always run.
  ///
  /// - Parameter arguments: the arguments after the name of the program. The last one is the path of the output file.
  /// - Throws: `RigError` if the program is missing or fails.
  package static func ffmpeg(_ arguments: [String]) throws {
    guard let output = arguments.last, let key = key(of: arguments) else { return try run(arguments) }
    try make(key, at: output) { try run(arguments) }
  }

  /// Writes the files of a folder with `write`, or copies the cached files. Blocks.
  ///
  /// - Parameters:
  ///   - key: everything that the files depend on, except the version of FFmpeg.
  ///   - target: an existing folder for the files.
  ///   - write: writes the files into the folder at the given path.
  package static func files(_ key: [String], in target: String, write: (String) throws -> Void) throws {
    guard folder != nil else { return try write(target) }
    let archive = "\(target)/.fixture"
    try make(Digest(key + [program]).text, at: archive, isFolder: true) {
      try FileManager.default.createDirectory(atPath: archive, withIntermediateDirectories: false)
      try write(archive)
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: archive) {
      try FileManager.default.moveItem(atPath: "\(archive)/\(name)", toPath: "\(target)/\(name)")
    }
    try FileManager.default.removeItem(atPath: archive)
  }

  /// Writes a file or a folder, or copies the cached one.
  private static func make(_ key: String, at path: String, isFolder: Bool = false, _ write: () throws -> Void) throws {
    guard let folder else { return try write() }
    let files = FileManager.default
    let cachedPath = "\(folder)/\(key)"
    if files.fileExists(atPath: cachedPath) {
      // scripts/test removes files that a complete run did not use.
      try? files.setAttributes([.modificationDate: Date()], ofItemAtPath: cachedPath)
      if !isFolder { try? files.removeItem(atPath: path) }
      return try files.copyItem(atPath: cachedPath, toPath: path)
    }
    try write()
    let size = try files.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    guard isFolder || size <= byteLimit else { return }
    try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // The file is renamed when it is complete, because another process may use it meanwhile.
    let temporaryPath = "\(folder)/.\(key).\(getpid())"
    try files.copyItem(atPath: path, toPath: temporaryPath)
    if rename(temporaryPath, cachedPath) != 0 { try files.removeItem(atPath: temporaryPath) }
  }

  /// The key of a command's output file; nil if the command must always run.
  private static func key(of arguments: [String]) -> String? {
    guard folder != nil, let output = arguments.last, output.hasPrefix("/"), !output.contains("%"),
      ["hls", "segment", "concat", "-pass", "f32le"].allSatisfy({ !arguments.contains($0) })
    else { return nil }
    let temporary = FileManager.default.temporaryDirectory.path
    var digest = Digest([program, (output as NSString).pathExtension])
    for argument in arguments.dropLast() {
      if argument.hasPrefix("/"), let bytes = FileManager.default.contents(atPath: argument) {
        // FFmpeg chooses some demuxers by the extension.
        digest.add([(argument as NSString).pathExtension])
        digest.add(bytes)
      } else if argument.contains(temporary) {
        return nil
      } else {
        digest.add([argument])
      }
    }
    return digest.text
  }

  private static func run(_ arguments: [String]) throws { try ChildProcess.run(["ffmpeg"] + arguments) }

  /// Identifies the installed version of FFmpeg: the path, size and time of its program.
  private static let program: String = {
    let path = ChildProcess.find("ffmpeg") ?? ""
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    let time = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
    return "\(path) \(attributes?[.size] ?? 0) \(time)"
  }()
}

/// A 128-bit digest: FNV-1a (Fowler, Noll and Vo) with two seeds. It need not resist attacks.
private struct Digest {
  private var high: UInt64 = 0xcbf2_9ce4_8422_2325
  private var low: UInt64 = 0x9e37_79b9_7f4a_7c15

  init(_ texts: [String]) { add(texts) }

  /// Adds texts with terminators.
  mutating func add(_ texts: [String]) {
    for text in texts {
      for byte in text.utf8 { add(byte) }
      add(0 as UInt8)
    }
  }

  mutating func add(_ bytes: Data) {
    bytes.withUnsafeBytes { bytes in
      for byte in bytes { add(byte) }
    }
  }

  private mutating func add(_ byte: UInt8) {
    high = (high ^ UInt64(byte)) &* 0x100_0000_01b3
    low = (low ^ UInt64(byte)) &* 0x100_0000_01b3
  }

  var text: String { String(high, radix: 16) + "-" + String(low, radix: 16) }
}
