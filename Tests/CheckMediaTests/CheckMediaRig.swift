import DaemonTesting
import Foundation
import RigSupport

/// A folder with media files, and `scripts/check-media` for it.
final class CheckMediaRig {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path
  static let program = "\(Executables.folder)/check-media"
  static let frameCount = 30_000

  let folder: TemporaryDirectory
  /// The folder of the media files.
  let media: String

  init() throws {
    folder = try TemporaryDirectory("check-media")
    media = folder.file("media")
    try FileManager.default.createDirectory(atPath: media, withIntermediateDirectories: false)
  }

  /// Writes time-coded audio; returns the path.
  @discardableResult
  func write(_ name: String) throws -> String {
    let path = "\(media)/\(name)"
    if name.hasSuffix(".wav") {
      try TimeCode.writeWAV(path: path, file: 1, frameCount: Self.frameCount, sampleRateHz: 48_000)
    } else {
      try TimeCode.writeFLAC(path: path, file: 1, frameCount: Self.frameCount, sampleRateHz: 48_000)
    }
    return path
  }

  /// Writes an executable shell script next to the media files; returns the path.
  func script(_ name: String, _ body: String) throws -> String {
    let path = folder.file(name)
    try "#!/bin/sh\n\(body)\n".write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return path
  }

  /// Runs `scripts/check-media` for the media files.
  ///
  /// - Parameters:
  ///   - program: the program that checks a file.
  ///   - tools: a folder that is searched for reference decoders first.
  func run(_ arguments: [String] = [], program: String = program, tools: String? = nil) throws -> Program.Outcome {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return try Program(
      "\(Self.root)/scripts/check-media", ["--program", program, "--jobs", "1"] + arguments + [media],
      environment: ["PATH": tools.map { "\($0):\(path)" } ?? path, "TMPDIR": folder.path]
    ).waitForEnd()
  }
}
