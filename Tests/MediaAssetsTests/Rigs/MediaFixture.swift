import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// A separate folder for a test's files, which is removed with the object.
final class TemporaryFolder {
  let path: String

  /// FFmpeg logs every damaged file, which is too much for tests with hundreds of them.
  private static let quietness: Void = LibAV.discardLog()

  init() throws {
    Self.quietness
    var template = Array("\(FileManager.default.temporaryDirectory.path)/playhead-assets-XXXXXX".utf8CString)
    path = try #require(mkdtemp(&template).map { String(cString: $0) })
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Path of a file in the folder.
  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file in the folder and returns its path.
  @discardableResult
  func write(_ bytes: [UInt8], as name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }
}

/// Writes a file whose path is bytes.
func writeFile(_ bytes: [UInt8], at path: [UInt8]) throws {
  let file = try #require(
    (path + [0]).withUnsafeBufferPointer { name in
      name.withMemoryRebound(to: CChar.self) { $0.baseAddress.flatMap { fopen($0, "w") } }
    })
  defer { fclose(file) }
  #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
}

/// A file's bytes.
func readFile(_ path: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) }

/// A command-line tool that makes test files. A missing or failing tool fails the test.
enum Tool {
  struct Failure: Error, CustomStringConvertible { var description: String }

  /// Runs `ffmpeg` with these arguments; existing files are overwritten.
  static func ffmpeg(_ arguments: String...) throws { try ffmpeg(arguments: arguments) }

  /// Runs `ffmpeg` with these arguments; existing files are overwritten.
  static func ffmpeg(arguments: [String]) throws {
    try Fixtures.ffmpeg(["-nostdin", "-hide_banner", "-loglevel", "error", "-y"] + arguments)
  }

  /// The audio of a file as FFmpeg's program decodes it, interleaved; `options` are input options.
  static func decode(_ path: String, _ options: [String] = []) throws -> [Float] {
    let decoded = path + ".f32"
    try ffmpeg(arguments: options + ["-i", path, "-map", "0:a", "-c:a", "pcm_f32le", "-f", "f32le", decoded])
    return try readFile(decoded).withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count - 3, by: 4).map { bytes.loadUnaligned(fromByteOffset: $0, as: Float.self) }
    }
  }

  /// Runs a tool from PATH and discards its standard output.
  static func run(_ name: String, _ arguments: [String]) throws {
    var child = pid_t()
    var cArguments = ([name] + arguments).map { strdup($0) }
    defer { for argument in cArguments { free(argument) } }
    cArguments.append(nil)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    let spawned = posix_spawnp(&child, name, &actions, nil, cArguments, environ)
    guard spawned == 0 else {
      throw Failure(description: "\(name) cannot be run: \(String(cString: strerror(spawned)))")
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else { throw Failure(description: "\([name] + arguments) ended with status \(status)") }
  }
}

extension AudioTrackReader {
  /// Reads up to `frameCount` frames; fewer at the end.
  func readFrames(_ frameCount: Int, chunkFrames: Int = 1_000) throws -> (position: Int64?, samples: [Float]) {
    var samples: [Float] = []
    var first: Int64?
    var expected: Int64?
    let chunk = UnsafeMutablePointer<Float>.allocate(capacity: chunkFrames * format.channelCount)
    defer { chunk.deallocate() }
    while samples.count < frameCount * format.channelCount {
      let wanted = min(chunkFrames, frameCount - samples.count / format.channelCount)
      guard case .frames(let count, let position) = try read(into: chunk, capacityFrames: wanted) else { break }
      first = first ?? position
      #expect(expected == nil || position == expected, "positions are contiguous")
      expected = position + Int64(count)
      samples += UnsafeBufferPointer(start: chunk, count: count * format.channelCount)
    }
    return (first, samples)
  }

  /// Seeks exactly.
  @discardableResult
  func seekExactly(to time: MediaTime) throws -> MediaTime {
    try seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
  }

  /// Reads all remaining frames into `samples`, including those before an error.
  func readToEnd(into samples: inout [Float]) throws {
    let chunk = UnsafeMutablePointer<Float>.allocate(capacity: 4_096 * format.channelCount)
    defer { chunk.deallocate() }
    var expected = position
    while case .frames(let count, let position) = try read(into: chunk, capacityFrames: 4_096) {
      #expect(position == expected, "positions are contiguous")
      expected += Int64(count)
      samples += UnsafeBufferPointer(start: chunk, count: count * format.channelCount)
    }
  }

  /// Reads all remaining frames.
  func readToEnd() throws -> [Float] { try readFrames(.max / 64, chunkFrames: 4_096).samples }
}

/// Runs `body` and returns the code of its error; 0 without an error.
func errorCode(_ body: () throws -> Void) -> Int {
  do {
    try body()
    return 0
  } catch let error as MediaError {
    return error.code.rawValue
  } catch {
    return -1
  }
}

/// Opens a file asset.
func openFile(_ asset: Asset, interrupt: Interrupt) throws -> Demuxer {
  guard case .file(let demuxer, _) = try MediaFile.open(asset, interrupt: interrupt) else {
    throw MediaError(.unknownFormat, "a stream is no file")
  }
  return demuxer
}
