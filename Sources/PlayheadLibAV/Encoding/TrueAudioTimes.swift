import CPlayheadFFmpeg
import PlayheadMediaCore

/// The exact times of a Matroska file with True Audio.
///
/// A decoder must know the length of the last frame, which is usually shorter than the others. Matroska does not state
/// it: FFmpeg derives the number of samples from the duration of the file (`matroska_parse_tracks`). FFmpeg's muxer
/// rounds this duration to milliseconds, and the last frame then does not decode.
struct TrueAudioTimes {
  private struct Track {
    let rate: Int32
    /// The number of frames that the packets decode to, before trimming: of all packets, and of the last one.
    var frameCount: Int64 = 0
    var lastFrameCount: Int64 = 0
  }

  /// The tracks by the index of their stream.
  private var tracks: [Int: Track]
  private var start = MediaTime.positiveInfinity
  private var end = MediaTime.negativeInfinity

  /// Creates times for tracks of True Audio, given by the index of their stream and their sample rate. Nil without
  /// tracks.
  init?(sampleRatesHz: [Int: Int32]) {
    let rates = sampleRatesHz.filter { $0.value > 0 }
    if rates.isEmpty { return nil }
    tracks = rates.mapValues { Track(rate: $0) }
  }

  /// The number of frames in every packet except the last (`libavcodec/tta.c`): 256 / 245 seconds.
  static func packetFrameCount(sampleRateHz: Int) -> Int64 { Int64(sampleRateHz) * 256 / 245 }

  /// Counts a packet, whose times are in `timeBase`.
  mutating func append(_ packet: Packet, streamIndex: Int, timeBase: TimeBase) {
    guard let pts = packet.pts, let packetStart = Self.time(pts, timeBase) else { return }
    let duration = packet.duration ?? 0
    start = min(start, packetStart)
    guard var track = tracks[streamIndex] else {
      end = max(end, packetStart + (Self.time(duration, timeBase) ?? .zero))
      return
    }
    let frameBase = TimeBase(numerator: 1, denominator: track.rate)
    track.lastFrameCount =
      (frameBase?.ticks(from: duration, of: timeBase, rounding: .nearest) ?? 0) + packet.trimmedFrames.end
    track.frameCount += track.lastFrameCount
    tracks[streamIndex] = track
    end = max(end, packetStart + MediaTime(value: track.lastFrameCount, timescale: track.rate))
  }

  /// Returns the duration of the file from which FFmpeg derives the number of samples of each track, in milliseconds.
  ///
  /// Nil without samples.
  ///
  /// - Throws: If the file is longer than a track whose last frame is shorter than the others. The length of that frame
  ///   cannot be derived.
  func fileMilliseconds() throws(AVFailure) -> Double? {
    let tracks = tracks.values.filter { $0.frameCount > 0 }
    let duration = end - start
    guard !tracks.isEmpty, duration.isNumeric else { return nil }
    let milliseconds = Double(duration.value) * 1_000 / Double(duration.timescale)
    let nanoseconds = Int64(exactly: (milliseconds * 1_000_000).rounded(.towardZero))
    let isRepresented = tracks.allSatisfy { track in
      track.lastFrameCount == Self.packetFrameCount(sampleRateHz: Int(track.rate))
        || nanoseconds.map { av_rescale($0, Int64(track.rate), 1_000_000_000) } == track.frameCount
    }
    if isRepresented { return milliseconds }
    throw AVFailure(errno: 22, call: Muxer.unrepresentedEndCall)
  }

  private static func time(_ ticks: Int64, _ timeBase: TimeBase) -> MediaTime? {
    let (value, overflow) = ticks.multipliedReportingOverflow(by: Int64(timeBase.numerator))
    return overflow ? nil : MediaTime(value: value, timescale: timeBase.denominator)
  }
}
