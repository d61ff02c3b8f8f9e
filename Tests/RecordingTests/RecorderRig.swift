import Foundation
import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadRecording

/// A recorder of a source that the test controls, with a separate folder.
final class RecorderRig: Sendable {
  let folder: TemporaryDirectory
  /// The newest source.
  var source: ManualSource { made.withState { $0 } }
  private let made: ConditionMutex<ManualSource>
  let recorder: AudioRecorder
  let events = ConditionMutex<[AudioRecorder.Event]>([])
  var format: AudioFormat { source.format }

  init(
    _ name: String = "memo.wav", in folder: TemporaryDirectory? = nil, rate: Int = 48_000, channels: Int = 2,
    replaces: Bool = false, settings: RecordingSettings = RecordingSettings(), openingError: MediaError? = nil,
    options change: (inout AudioRecorder.Options) -> Void = { _ in }
  ) throws {
    let folder = try folder ?? TemporaryDirectory("recorder")
    self.folder = folder
    let format = AudioFormat(sampleRateHz: rate, channelCount: channels)
    let made = ConditionMutex(ManualSource(format: format, openingError: openingError))
    self.made = made
    var options = AudioRecorder.Options()
    options.onEvent = { [events] event in events.update { $0.append(event) } }
    change(&options)
    recorder = AudioRecorder(
      location: RecordingLocation(path: folder.file(name), replaces: replaces), settings: settings,
      options: options
    ) {
      made.update { source in
        // A source can be opened once.
        if source.isClosed { source = ManualSource(format: format, openingError: openingError) }
        return source
      }
    }
  }

  /// Prepares the recorder and starts recording.
  func begin() throws {
    try recorder.prepareToRecord()
    try recorder.record()
  }

  /// Delivers time codes and waits until they are processed.
  func deliver(_ indices: Range<Int>, file: Int = 1) {
    let count = indices.count
    for start in stride(from: 0, to: count, by: 2_400) {
      let part = indices.lowerBound + start..<min(indices.lowerBound + start + 2_400, indices.upperBound)
      source.deliver(part.flatMap { Self.samples(file, $0) })
    }
  }

  static func samples(_ file: Int, _ index: Int) -> [Float] {
    let frame = TimeCode.frame(file: file, index: index)
    return [Float(frame.left) / 32_768, Float(frame.right) / 32_768]
  }

  /// Waits until `frameCount` frames have been recorded.
  func waitUntilRecorded(_ frameCount: Int) {
    let shared = recorder
    while shared.currentTime.value < frameCount, shared.status.state != .stopped { sched_yield() }
  }

  var path: String { recorder.location.path }
}

/// Decodes files with FFmpeg's program.
enum Decoded {
  /// 16-bit frames; a mono channel is duplicated.
  static func frames(_ path: String) throws -> [StereoFrame] {
    let folder = try TemporaryDirectory("decoded")
    let raw = folder.file("raw")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-xerror", "-err_detect", "explode", "-i", path, "-ac", "2", "-f", "s16le",
      raw,
    ])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: raw))
    return bytes.withUnsafeBytes { StereoFrame.frames(of: $0) }
  }

  static func runs(_ path: String) throws -> [TimeCode.Run] { TimeCode.runs(in: try frames(path)) }
}
