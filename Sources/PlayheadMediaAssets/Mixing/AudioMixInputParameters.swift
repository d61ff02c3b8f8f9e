import PlayheadMediaCore

/// A linear change of the volume over a time range. A volume point is a ramp with duration 0.
public struct VolumeRamp: Sendable, Hashable {
  /// The volume at the start of the range, from 0 to 1.
  public var startVolume: Float
  /// The volume at the end of the range, from 0 to 1.
  public var endVolume: Float
  /// The range of the change, in time of the item.
  public var timeRange: TimeRange
}

/// The volume of a track over time, as ramps and points. Corresponds to `AVAudioMixInputParameters`.
///
/// Before the first ramp or point the volume is 1. Within a ramp it changes linearly. After a ramp or a point the
/// volume stays until the next begins.
public struct AudioMixInputParameters: Sendable, Hashable {
  /// The ramps and points, ordered by start and without overlaps.
  public private(set) var volumeRamps: [VolumeRamp] = []

  /// Creates a constant volume of 1.
  public init() {}

  /// Sets the volume from `time` on. Replaces a ramp or point that starts at the same time.
  ///
  /// - Throws: `invalidArgument` for a volume outside 0…1, or a time within a ramp; `invalidTime`.
  public mutating func setVolume(_ volume: Float, at time: MediaTime) throws(MediaError) {
    try insert(
      VolumeRamp(startVolume: volume, endVolume: volume, timeRange: TimeRange(start: time, duration: .zero)))
  }

  /// Adds a ramp from `startVolume` to `endVolume`. The volume then stays at `endVolume`.
  ///
  /// - Throws: `invalidArgument` for a volume outside 0…1, or a range that overlaps another ramp; `invalidTime` for a
  ///   range that is not numeric or not positive, or begins before 0.
  public mutating func setVolumeRamp(
    fromStartVolume startVolume: Float, toEndVolume endVolume: Float, timeRange: TimeRange
  ) throws(MediaError) {
    guard timeRange.duration.isNumeric, timeRange.duration > .zero else {
      throw MediaError(
        .invalidTime, "the duration of a ramp must be positive (got \(timeRange.duration))", operation: "audioMix")
    }
    try insert(VolumeRamp(startVolume: startVolume, endVolume: endVolume, timeRange: timeRange))
  }

  /// Returns the ramp or point that contains `time`, or else the next one; nil if there is none.
  public func volumeRamp(at time: MediaTime) -> VolumeRamp? {
    volumeRamps.first { $0.timeRange.start >= time || $0.timeRange.end > time }
  }

  /// Returns the volume at a time.
  public func volume(at time: MediaTime) -> Float {
    guard let ramp = volumeRamps.last(where: { $0.timeRange.start <= time }) else { return 1 }
    guard time < ramp.timeRange.end else { return ramp.endVolume }
    let part = (time - ramp.timeRange.start).seconds / ramp.timeRange.duration.seconds
    return ramp.startVolume + (ramp.endVolume - ramp.startVolume) * Float(part)
  }

  private mutating func insert(_ ramp: VolumeRamp) throws(MediaError) {
    for volume in [ramp.startVolume, ramp.endVolume] where !(volume >= 0 && volume <= 1) {
      throw MediaError(.invalidArgument, "volume must be between 0 and 1 (got \(volume))", operation: "audioMix")
    }
    let range = ramp.timeRange
    guard range.start.isNumeric, range.start >= .zero, range.end.isNumeric else {
      throw MediaError(
        .invalidTime, "the range of a ramp must be numeric and start at 0 or later (got \(range.start))",
        operation: "audioMix")
    }
    var others = volumeRamps
    others.removeAll { $0.timeRange.start == range.start }
    for other in others.map(\.timeRange) where other.start < range.end && range.start < other.end {
      throw MediaError(
        .invalidArgument, "the ramp overlaps another one from \(other.start) s to \(other.end) s", operation: "audioMix"
      )
    }
    others.insert(ramp, at: others.firstIndex { $0.timeRange.start > range.start } ?? others.count)
    volumeRamps = others
  }
}

extension AudioMixInputParameters {
  /// Multiplies each interleaved frame with the volume at its time. `firstFrame` is the number of the first frame.
  public func apply(
    to samples: UnsafeMutablePointer<Float>, frameCount: Int, channelCount: Int, firstFrame: Int64, sampleRateHz: Int
  ) {
    var frame = firstFrame
    let end = firstFrame + Int64(frameCount)
    for (index, ramp) in volumeRamps.enumerated() {
      let start = Self.frame(of: ramp.timeRange.start, sampleRateHz)
      let next =
        index + 1 < volumeRamps.count ? Self.frame(of: volumeRamps[index + 1].timeRange.start, sampleRateHz) : .max
      guard next > frame, start < end else { continue }
      frame = max(frame, start)
      let rampEnd = min(Self.frame(of: ramp.timeRange.end, sampleRateHz), next)
      let origin = ramp.timeRange.start.seconds * Double(sampleRateHz)
      let slope = Double(ramp.endVolume - ramp.startVolume) / (ramp.timeRange.duration.seconds * Double(sampleRateHz))
      while frame < min(rampEnd, end) {
        let volume = Float(Double(ramp.startVolume) + (Double(frame) - origin) * slope)
        let sample = Int(frame - firstFrame) * channelCount
        for channel in 0..<channelCount { samples[sample + channel] *= volume }
        frame += 1
      }
      let constantEnd = min(next, end)
      if ramp.endVolume != 1, frame < constantEnd {
        for sample in Int(frame - firstFrame) * channelCount..<Int(constantEnd - firstFrame) * channelCount {
          samples[sample] *= ramp.endVolume
        }
      }
      frame = max(frame, constantEnd)
    }
  }

  /// Returns the first frame at or after `time`.
  private static func frame(of time: MediaTime, _ sampleRateHz: Int) -> Int64 {
    time.frameIndex(rate: sampleRateHz, rounding: .towardPositiveInfinity) ?? .max
  }
}
