import Glibc
import RigSupport

/// File operations for tests.
package enum Files {
  /// Writes a file. The path need not be valid UTF-8.
  package static func write(_ path: [UInt8], _ bytes: [UInt8]) throws {
    let descriptor = open(path.map { CChar(bitPattern: $0) } + [0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Program.Failure(description: "cannot write a file") }
    defer { close(descriptor) }
    var writtenCount = 0
    while writtenCount < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(descriptor, buffer.baseAddress.map { $0 + writtenCount }, buffer.count - writtenCount)
      }
      guard count > 0 else { throw Program.Failure(description: "cannot write a file") }
      writtenCount += count
    }
  }

  package static func read(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Program.Failure(description: "cannot read \(path)") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
    }
  }

  /// The type and permissions of a file (`st_mode`); nil if it does not exist.
  package static func mode(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode : nil
  }

  /// The group of a file; nil if it does not exist.
  package static func group(_ path: String) -> gid_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_gid : nil
  }
}

extension TemporaryDirectory {
  /// Writes a file and returns its path.
  @discardableResult
  package func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Files.write(Array(file(name).utf8), bytes)
    return file(name)
  }
}

/// The audio in the file of a `wav:` output.
package enum Recording {
  /// All frames of a 16-bit stereo WAV file, including silence.
  package static func frames(in path: String) throws -> [StereoFrame] {
    try Files.read(path).dropFirst(44).withUnsafeBytes { StereoFrame.frames(of: $0) }
  }

  /// A description of the played audio for comparisons, exact to the sample: `1[0..<4800] - 2[0..<100]`. `-` is silence
  /// between runs, and `?` is audio without a time code. Silence at the end, from draining the output, is omitted.
  package static func describe(_ frames: [StereoFrame]) -> String {
    var parts: [String] = []
    var position = 0
    for run in TimeCode.runs(in: frames) {
      if run.position > position { parts.append("-") }
      parts.append("\(run.file == 0 ? "?" : "\(run.file)")[\(run.firstIndex)..<\(run.endIndex)]")
      position = run.endPosition
    }
    return parts.joined(separator: " ")
  }

  /// A description of the played audio without silence. Joins runs that silence interrupts.
  package static func describeAudio(_ frames: [StereoFrame]) -> String { describe(frames.filter { $0 != .silence }) }
}
