import Foundation
import LibAV
import MediaCore
import Testing

@testable import MediaAssets

/// A folder of its own for a test's files; removed with the object.
final class TemporaryFolder {
  let path: String

  /// FFmpeg speaks of every damaged file; tests that make them by the hundred would drown.
  private static let quietness: Void = LibAV.discardLog()

  init() throws {
    Self.quietness
    var template = Array("\(FileManager.default.temporaryDirectory.path)/playhead-assets-XXXXXX".utf8CString)
    path = try #require(mkdtemp(&template).map { String(cString: $0) })
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Path of a file in the folder.
  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes bytes into a file of the folder; answers its path.
  @discardableResult
  func write(_ bytes: [UInt8], as name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }
}

/// Writes bytes into a file whose name is bytes.
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

/// A command-line tool that makes test files. A tool that is missing or fails fails the test.
enum Tool {
  struct Failure: Error, CustomStringConvertible { var description: String }

  /// Runs `ffmpeg` with these arguments; existing files are overwritten.
  static func ffmpeg(_ arguments: String...) throws { try ffmpeg(arguments: arguments) }

  /// Runs `ffmpeg` with these arguments; existing files are overwritten.
  static func ffmpeg(arguments: [String]) throws {
    try run("ffmpeg", ["-nostdin", "-hide_banner", "-loglevel", "error", "-y"] + arguments)
  }

  /// The sound of a file as FFmpeg's program decodes it, interleaved; `options` are the input's.
  static func decode(_ path: String, _ options: [String] = []) throws -> [Float] {
    let decoded = path + ".f32"
    try ffmpeg(arguments: options + ["-i", path, "-map", "0:a", "-c:a", "pcm_f32le", "-f", "f32le", decoded])
    return try readFile(decoded).withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count - 3, by: 4).map { bytes.loadUnaligned(fromByteOffset: $0, as: Float.self) }
    }
  }

  /// Runs a tool from PATH; what it writes to its standard output is dropped.
  static func run(_ name: String, _ arguments: [String]) throws {
    var child = pid_t()
    var words = ([name] + arguments).map { strdup($0) }
    defer { for word in words { free(word) } }
    words.append(nil)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    let spawned = posix_spawnp(&child, name, &actions, nil, words, environ)
    guard spawned == 0 else {
      throw Failure(description: "\(name) cannot be run: \(String(cString: strerror(spawned)))")
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else { throw Failure(description: "\([name] + arguments) ended with status \(status)") }
  }
}

/// Stereo sound whose samples tell their own frame index.
enum TimeCode {
  enum Encoding: String, CaseIterable {
    case signed16, signed24, float32

    var byteCount: Int {
      switch self {
      case .signed16: 2
      case .signed24: 3
      case .float32: 4
      }
    }
  }

  /// A WAV file with `frameCount` frames: low 15 bits of the index on the left, the rest on the right.
  static func wav(_ encoding: Encoding, sampleRateHz: Int, frameCount: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ value: some FixedWidthInteger, count: Int) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0.prefix(count)) }
    }
    let frameByteCount = 2 * encoding.byteCount
    bytes += Array("RIFF".utf8)
    append(UInt32(36 + frameCount * frameByteCount), count: 4)
    bytes += Array("WAVEfmt ".utf8)
    append(UInt32(16), count: 4)
    append(UInt16(encoding == .float32 ? 3 : 1), count: 2)
    append(UInt16(2), count: 2)
    append(UInt32(sampleRateHz), count: 4)
    append(UInt32(sampleRateHz * frameByteCount), count: 4)
    append(UInt16(frameByteCount), count: 2)
    append(UInt16(8 * encoding.byteCount), count: 2)
    bytes += Array("data".utf8)
    append(UInt32(frameCount * frameByteCount), count: 4)
    bytes.reserveCapacity(bytes.count + frameCount * frameByteCount)
    for index in 0..<frameCount {
      for code in [index & 0x7fff, index >> 15] {
        switch encoding {
        case .signed16: append(Int16(code), count: 2)
        case .signed24: append(Int32(code << 8), count: 3)
        case .float32: append((Float(code) / 32_768).bitPattern, count: 4)
        }
      }
    }
    return bytes
  }

  /// The index that an interleaved stereo frame tells; nil when it is not a time code.
  static func index(left: Float, right: Float) -> Int64? {
    guard let low = Int64(exactly: left * 32_768), let high = Int64(exactly: right * 32_768), low >= 0, high >= 0
    else { return nil }
    return high << 15 | low
  }
}

extension AudioTrackReader {
  /// Reads up to `frameCount` frames; fewer at the end.
  func readFrames(_ frameCount: Int, pieceFrames: Int = 1_000) throws -> (position: Int64?, samples: [Float]) {
    var samples: [Float] = []
    var first: Int64?
    var expected: Int64?
    let piece = UnsafeMutablePointer<Float>.allocate(capacity: pieceFrames * format.channelCount)
    defer { piece.deallocate() }
    while samples.count < frameCount * format.channelCount {
      let wanted = min(pieceFrames, frameCount - samples.count / format.channelCount)
      guard case .frames(let count, let position) = try read(into: piece, capacityFrames: wanted) else { break }
      first = first ?? position
      #expect(expected == nil || position == expected, "positions are contiguous")
      expected = position + Int64(count)
      samples += UnsafeBufferPointer(start: piece, count: count * format.channelCount)
    }
    return (first, samples)
  }

  /// An exact seek.
  @discardableResult
  func seekExactly(to time: MediaTime) throws -> MediaTime {
    try seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
  }

  /// Reads everything that is left; `samples` has it, even when the file breaks off.
  func readToEnd(into samples: inout [Float]) throws {
    let piece = UnsafeMutablePointer<Float>.allocate(capacity: 4_096 * format.channelCount)
    defer { piece.deallocate() }
    var expected = position
    while case .frames(let count, let position) = try read(into: piece, capacityFrames: 4_096) {
      #expect(position == expected, "positions are contiguous")
      expected += Int64(count)
      samples += UnsafeBufferPointer(start: piece, count: count * format.channelCount)
    }
  }

  /// Reads everything that is left.
  func readToEnd() throws -> [Float] { try readFrames(.max / 64, pieceFrames: 4_096).samples }
}

/// Runs `body` and answers the number of the error that it throws; 0 when it throws none.
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

/// Opens an asset that is a file.
func openFile(_ asset: Asset, interrupt: Interrupt) throws -> Demuxer {
  guard case .file(let demuxer, _) = try MediaFile.open(asset, interrupt: interrupt) else {
    throw MediaError(.unknownFormat, "a stream is no file")
  }
  return demuxer
}
