import Dispatch
import Foundation
import PlayheadFoundation
import PlayheadTesting
import Testing

/// A folder for the files of one test. Removed with its last reference.
final class Folder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("playhead-examples-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Returns the path of a file in the folder.
  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Writes a file of time codes and returns its path.
  func timeCodes(_ name: String, file: Int = 1, seconds: Double) throws -> String {
    try TimeCode.writeWAV(path: path(name), file: file, frameCount: Int(48_000 * seconds))
    return path(name)
  }

  /// Writes a file in which every sample has one value, and returns its path.
  func constant(_ name: String, _ value: Int16, seconds: Double) throws -> String {
    try TimeCode.writeWAV(path: path(name), frameCount: Int(48_000 * seconds)) { _ in
      StereoFrame(left: value, right: value)
    }
    return path(name)
  }

  /// Writes a tone of 1 kHz and returns its path.
  func tone(_ name: String, amplitude: Double = 8_192, seconds: Double) throws -> String {
    try TimeCode.writeWAV(path: path(name), frameCount: Int(48_000 * seconds)) { index in
      let sample = Int16(amplitude * sin(2 * .pi * Double(index % 48) / 48))
      return StereoFrame(left: sample, right: sample)
    }
    return path(name)
  }
}

/// The result of a program.
struct Output {
  let status: Int32
  let data: Data
  let error: String

  /// The lines on standard output.
  var lines: [String] { String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init) }
}

/// Runs the built program of an example, without a sound server. Ends it after a minute.
func run(_ name: String, _ arguments: String...) async throws -> Output {
  try await run(name, arguments)
}

func run(_ name: String, _ arguments: [String]) async throws -> Output {
  let folder = try Folder()
  let (output, error) = (folder.url.appendingPathComponent("output"), folder.url.appendingPathComponent("error"))
  for file in [output, error] { try Data().write(to: file) }
  let process = Process()
  // The programs are in the folder of the test bundle.
  process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appendingPathComponent(name)
  process.arguments = arguments
  process.environment = ProcessInfo.processInfo.environment.merging(["PULSE_SERVER": "unix:/nonexistent"]) { $1 }
  process.standardInput = FileHandle.nullDevice
  process.standardOutput = try FileHandle(forWritingTo: output)
  process.standardError = try FileHandle(forWritingTo: error)
  let watchdog = DispatchWorkItem { process.terminate() }
  DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: watchdog)
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
    process.terminationHandler = { _ in continuation.resume() }
    do { try process.run() } catch { continuation.resume(throwing: error) }
  }
  watchdog.cancel()
  return Output(
    status: process.terminationStatus, data: try Data(contentsOf: output),
    error: String(decoding: try Data(contentsOf: error), as: UTF8.self))
}

/// Runs the program of an example, which must succeed, without a message on standard error.
func succeed(_ name: String, _ arguments: String...) async throws -> Output {
  let output = try await run(name, arguments)
  try #require(output.status == 0 && output.error.isEmpty, "\(name): status \(output.status), \(output.error)")
  return output
}

/// Returns all samples of a file, interleaved, as 32-bit floats.
func samples(of path: String, channelCount: Int? = nil) throws -> [Float] {
  let reader = AssetReader(asset: Asset(path: path))
  let output = AssetReaderTrackOutput(settings: AudioReadSettings(.float32, channelCount: channelCount))
  try reader.add(output)
  try reader.startReading()
  var samples: [Float] = []
  while let buffer = output.copyNextSampleBuffer() { samples += floats(Data(buffer)) }
  if let error = reader.error { throw error }
  return samples
}

/// Returns the 32-bit floats that consecutive bytes encode.
func floats(_ data: Data) -> [Float] {
  data.withUnsafeBytes { bytes in
    stride(from: 0, to: bytes.count - 3, by: 4).map { bytes.loadUnaligned(fromByteOffset: $0, as: Float.self) }
  }
}

/// Returns the continuous ranges of time codes in stereo samples.
func timeCodeRuns(_ samples: [Float]) -> [TimeCode.Run] { TimeCode.runs(in: StereoFrame.frames(of: samples)) }
