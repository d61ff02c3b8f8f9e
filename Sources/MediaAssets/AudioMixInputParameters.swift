import MediaCore

/// A volume that moves in a straight line over a range of time; a set point is a ramp of no duration.
public struct VolumeRamp: Sendable, Hashable {
  public var startVolume: Float
  public var endVolume: Float
  public var timeRange: TimeRange
}

/// How loud a track is, at which time: volume ramps and set points. As AVAudioMixInputParameters.
///
/// Before the first of them the volume is 1; within a ramp it moves in a straight line; after a ramp or a point it stays
/// what that ended with until the next begins.
public struct AudioMixInputParameters: Sendable, Hashable {
  /// In order of their starts; none reaches into the next.
  public private(set) var volumeRamps: [VolumeRamp] = []

  /// A volume of 1.
  public init() {}

  /// From `time` on the volume is `volume`. A point at the start of a ramp, or at that of another point, takes its place.
  ///
  /// Errors: `invalidArgument` for a volume that is not from 0 to 1, or a time within a ramp; `invalidTime`.
  public mutating func setVolume(_ volume: Float, at time: MediaTime) throws(MediaError) {
    try insert(
      VolumeRamp(startVolume: volume, endVolume: volume, timeRange: TimeRange(start: time, duration: .zero)))
  }

  /// Within `timeRange` the volume goes from `startVolume` to `endVolume`, which it keeps.
  ///
  /// Errors: `invalidArgument` for a volume that is not from 0 to 1, or a range that overlaps another ramp; `invalidTime`
  /// for a range that is not numeric or not positive, or begins before 0.
  public mutating func setVolumeRamp(
    fromStartVolume startVolume: Float, toEndVolume endVolume: Float, timeRange: TimeRange
  ) throws(MediaError) {
    guard timeRange.duration.isNumeric, timeRange.duration > .zero else {
      throw MediaError(.invalidTime, "a ramp lasts longer than 0, not \(timeRange.duration)", operation: "audioMix")
    }
    try insert(VolumeRamp(startVolume: startVolume, endVolume: endVolume, timeRange: timeRange))
  }

  /// The ramp or point that holds at `time`: the one that contains it, or else the next; nil when there is none.
  public func volumeRamp(at time: MediaTime) -> VolumeRamp? {
    volumeRamps.first { $0.timeRange.start >= time || $0.timeRange.end > time }
  }

  /// The volume at a time.
  public func volume(at time: MediaTime) -> Float {
    guard let ramp = volumeRamps.last(where: { $0.timeRange.start <= time }) else { return 1 }
    guard time < ramp.timeRange.end else { return ramp.endVolume }
    let part = (time - ramp.timeRange.start).seconds / ramp.timeRange.duration.seconds
    return ramp.startVolume + (ramp.endVolume - ramp.startVolume) * Float(part)
  }

  private mutating func insert(_ ramp: VolumeRamp) throws(MediaError) {
    for volume in [ramp.startVolume, ramp.endVolume] where !(volume >= 0 && volume <= 1) {
      throw MediaError(.invalidArgument, "a volume is from 0 to 1, not \(volume)", operation: "audioMix")
    }
    let range = ramp.timeRange
    guard range.start.isNumeric, range.start >= .zero, range.end.isNumeric else {
      throw MediaError(.invalidTime, "nothing has a time \(range.start)", operation: "audioMix")
    }
    var others = volumeRamps
    others.removeAll { $0.timeRange.start == range.start }
    for other in others.map(\.timeRange) where other.start < range.end && range.start < other.end {
      throw MediaError(
        .invalidArgument, "there is a ramp from \(other.start) s to \(other.end) s already", operation: "audioMix")
    }
    others.insert(ramp, at: others.firstIndex { $0.timeRange.start > range.start } ?? others.count)
    volumeRamps = others
  }
}

extension AudioMixInputParameters {
  /// Multiplies interleaved frames, the first of which has the number `firstFrame`, each with the volume at its time.
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
      let held = min(next, end)
      if ramp.endVolume != 1, frame < held {
        for sample in Int(frame - firstFrame) * channelCount..<Int(held - firstFrame) * channelCount {
          samples[sample] *= ramp.endVolume
        }
      }
      frame = max(frame, held)
    }
  }

  /// The first frame at or after `time`.
  private static func frame(of time: MediaTime, _ sampleRateHz: Int) -> Int64 {
    time.frameIndex(rate: sampleRateHz, rounding: .towardPositiveInfinity) ?? .max
  }
}
