import PlayheadMediaCore

/// The volume of an item over time: of the complete mix, and of each track before mixing. Corresponds to `AVAudioMix`.
///
/// <!-- listing: audio-mix -->
/// ```swift
/// var mix = AudioMix()
/// try mix.setVolumeRamp(fromStartVolume: 0, toEndVolume: 1, timeRange: TimeRange(start: .zero, end: .seconds(2)))
/// try mix.setVolume(0.5, at: .seconds(30))
/// item.audioMix = mix
/// ```
public struct AudioMix: Sendable, Hashable {
  /// The volume of the complete mix, multiplied with the volumes of the tracks. A player uses only this volume.
  public var output = AudioMixInputParameters()
  /// The volumes of single tracks by track ID. Other tracks have volume 1. Used by ``AssetReaderAudioMixOutput``.
  public var inputParameters: [AssetTrack.ID: AudioMixInputParameters] = [:]

  /// Creates a mix in which every volume is 1.
  public init() {}

  /// The ramps and points of the complete mix, ordered by start.
  public var volumeRamps: [VolumeRamp] { output.volumeRamps }

  /// Sets the volume of the complete mix, like ``AudioMixInputParameters/setVolume(_:at:)``.
  public mutating func setVolume(_ volume: Float, at time: MediaTime) throws(MediaError) {
    try output.setVolume(volume, at: time)
  }

  /// Adds a ramp to the complete mix, like `AudioMixInputParameters.setVolumeRamp`.
  public mutating func setVolumeRamp(
    fromStartVolume startVolume: Float, toEndVolume endVolume: Float, timeRange: TimeRange
  ) throws(MediaError) {
    try output.setVolumeRamp(fromStartVolume: startVolume, toEndVolume: endVolume, timeRange: timeRange)
  }

  /// Returns a ramp of the complete mix, like ``AudioMixInputParameters/volumeRamp(at:)``.
  public func volumeRamp(at time: MediaTime) -> VolumeRamp? { output.volumeRamp(at: time) }

  /// Returns the volume of the complete mix, like ``AudioMixInputParameters/volume(at:)``.
  public func volume(at time: MediaTime) -> Float { output.volume(at: time) }

  /// Applies the volume of the complete mix to interleaved samples.
  ///
  /// The decode thread of a player calls this before it changes the rate: the frame number then defines the exact time.
  /// The ring buffer contains the result, so that the mixer can render the same audio again.
  ///
  /// - Parameters:
  ///   - samples: The interleaved samples, which are changed in place.
  ///   - frameCount: The number of frames.
  ///   - channelCount: The number of samples of a frame.
  ///   - firstFrame: The number of the first frame in the item.
  ///   - sampleRateHz: The number of frames per second.
  public func apply(
    to samples: UnsafeMutablePointer<Float>, frameCount: Int, channelCount: Int, firstFrame: Int64, sampleRateHz: Int
  ) {
    output.apply(
      to: samples, frameCount: frameCount, channelCount: channelCount, firstFrame: firstFrame,
      sampleRateHz: sampleRateHz)
  }
}
