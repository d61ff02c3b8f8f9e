import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel
@testable import PlayheadRealtimeAudio

/// A decode thread without a player: the stream that it writes for a start and a plan, and its reports.
final class StreamRig {
  let files: TemporaryDirectory
  init() throws { files = try TemporaryDirectory("stream") }

  struct Outcome {
    var samples: [Float]
    var reports: [DecodePipeline.Report]

    /// The stream frames at which passes ended.
    var ends: [Int64] {
      reports.compactMap { if case .ended(_, let end) = $0 { end.streamFrame } else { nil } }
    }
  }

  /// Decodes `start`, then `passes`, and then `later`, which are planned when the others have ended. All passes are of
  /// `path`, except those of items in `paths`.
  func decode(
    _ path: String, at start: PlayerStateMachine.DecodeRequest = .init(itemID: 1), then passes: [Pass] = [],
    later: [Pass] = [],
    paths: [PlayerItem.ID: String] = [:], timePitch: AudioTimePitchAlgorithm = .varispeed, to format: AudioFormat,
    open: @escaping @Sendable (DecodePipeline.Source) throws(MediaError) -> sending ItemDecoder = {
      source throws(MediaError) in try ItemDecoder(source)
    }
  ) throws -> Outcome {
    let stream = RenderStream(capacityFrames: 1 << 21, channelCount: format.channelCount)
    let reports = ConditionMutex<[DecodePipeline.Report]>([])
    let recordReport: @Sendable (DecodePipeline.Report) -> Void = { report in
      // As the engine does.
      if case .extended(_, let frame) = report { stream.reopen(endingAt: frame) }
      reports.update { $0.append(report) }
    }
    let pipeline = DecodePipeline(
      name: "test", reportsIdling: true, now: { HostTime.now }, open: open, report: recordReport)
    defer { pipeline.close() }
    func asset(_ id: PlayerItem.ID) -> Asset { Asset(path: paths[id] ?? path) }
    func source(_ id: PlayerItem.ID) -> DecodePipeline.Source {
      .init(itemID: id, asset: asset(id), audioMix: AudioMixSlot(), timePitch: TimePitchSlot(timePitch))
    }
    pipeline.prepare(
      .init(
        generation: 1,
        source: source(start.itemID),
        request: start, stream: stream,
        format: format))
    func plan(_ passes: [Pass]) {
      // While the engine has no report of a pass, each plan contains all passes.
      pipeline.setPlan(
        .init(
          begunCount: 1, currentEnd: start.end,
          passes: passes.map { .init(pass: $0, source: source($0.itemID)) }),
        generation: 1)
    }
    plan(passes)
    // The deadlines make a faulty test fail instead of hanging.
    let deadline = HostTime.now.advanced(byNanoseconds: 60_000_000_000)
    func waitUntilEnded(_ passes: [Pass]) throws {
      let haveEnded: Bool? = reports.wait(until: deadline) { reports in
        let count = reports.count { if case .ended = $0 { true } else if case .failed = $0 { true } else { false } }
        return count > passes.count ? true : nil
      }
      try #require(haveEnded == true, "the passes did not end")
    }
    try waitUntilEnded(passes)
    if !later.isEmpty {
      plan(passes + later)
      try waitUntilEnded(passes + later)
    }
    // Simulates that everything has been heard, so that the filter is drained. The ring keeps all frames.
    stream.storage.pointee.ring.release(before: stream.writtenFrame)
    pipeline.wakeForFreeSpace()
    let ended: [DecodePipeline.Report]? = reports.wait(until: deadline) { stream.endFrame != nil ? $0 : nil }
    let all = try #require(ended, "the stream did not end")
    let end = try #require(stream.endFrame)
    var samples: [Float] = []
    while Int64(samples.count / format.channelCount) < end {
      let frame = samples.count / format.channelCount
      let region = stream.storage.pointee.ring.readableRegion(from: Int64(frame), atMost: Int(end) - frame)
      samples += UnsafeBufferPointer(start: region.samples, count: region.count * format.channelCount)
    }
    return Outcome(samples: samples, reports: all.filter { if case .idle = $0 { false } else { true } })
  }

  /// Creates a file of noise, 16 bits: the frames `frames` of an endless sequence.
  func noise(_ name: String, rate: Int, channels: Int, frames: Range<Int>) throws -> String {
    let path = files.file(name)
    var bytes = Data()
    func append(_ value: Int, _ count: Int) {
      for byte in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
    }
    let byteCount = frames.count * channels * 2
    bytes += Data("RIFF".utf8)
    append(36 + byteCount, 4)
    bytes += Data("WAVEfmt ".utf8)
    for (value, count) in [
      (16, 4), (1, 2), (channels, 2), (rate, 4), (rate * channels * 2, 4), (channels * 2, 2), (16, 2),
    ] { append(value, count) }
    bytes += Data("data".utf8)
    append(byteCount, 4)
    for frame in frames {
      for channel in 0..<channels {
        append(Int(Self.sample(frame, channel)), 2)
      }
    }
    try bytes.write(to: URL(fileURLWithPath: path))
    return path
  }

  private static func sample(_ frame: Int, _ channel: Int) -> Int16 {
    var value = UInt64(frame * 2 + channel) &* 0x9E37_79B9_7F4A_7C15
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    return Int16(truncatingIfNeeded: value >> 40) / 2
  }

  /// The given frames of the endless noise, converted as one.
  static func converted(_ parts: [Range<Int>], rate: Int, channels: Int, to format: AudioFormat) throws -> [Float] {
    let input = AudioFormat(sampleRateHz: rate, channelCount: channels)
    let samples = parts.joined().flatMap { frame in
      (0..<channels).map { Float(sample(frame, $0)) / 32_768 }
    }
    let frameCount = samples.count / channels
    let exact = (frameCount * format.sampleRateHz + rate - 1) / rate
    guard input != format else { return samples }
    let converter = try AudioConverter(from: input, to: format)
    let buffer = UnsafeMutablePointer<Float>.allocate(capacity: (exact + 10_000) * format.channelCount)
    defer { buffer.deallocate() }
    var count = try samples.withUnsafeBufferPointer { samples in
      try converter.convert(
        try #require(samples.baseAddress), frameCount: frameCount, into: buffer, capacityFrames: exact + 5_000)
    }
    while count < exact {
      let more = try converter.drain(into: buffer + count * format.channelCount, capacityFrames: exact - count)
      guard more > 0 else { break }
      count += more
    }
    return Array(UnsafeBufferPointer(start: buffer, count: min(count, exact) * format.channelCount))
      + [Float](repeating: 0, count: max(0, exact - count) * format.channelCount)
  }
}
