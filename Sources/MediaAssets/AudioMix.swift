import MediaCore

/// How loud something is that is played or read, at which of its times: all of it together, and each of its tracks before they are
/// mixed. As AVAudioMix.
public struct AudioMix: Sendable, Hashable {
  /// How loud all of it is together; it is multiplied with what its tracks are. A player goes by this alone.
  public var output = AudioMixInputParameters()
  /// How loud single tracks are, by their numbers; the others are so at a volume of 1. For `AssetReaderAudioMixOutput`.
  public var inputParameters: [AssetTrack.ID: AudioMixInputParameters] = [:]

  /// Everything at a volume of 1.
  public init() {}

  /// Ramps and points of all together, in order of their starts.
  public var volumeRamps: [VolumeRamp] { output.volumeRamps }

  /// As `AudioMixInputParameters.setVolume`, for all together.
  public mutating func setVolume(_ volume: Float, at time: MediaTime) throws(MediaError) {
    try output.setVolume(volume, at: time)
  }

  /// As `AudioMixInputParameters.setVolumeRamp`, for all together.
  public mutating func setVolumeRamp(
    fromStartVolume startVolume: Float, toEndVolume endVolume: Float, timeRange: TimeRange
  ) throws(MediaError) {
    try output.setVolumeRamp(fromStartVolume: startVolume, toEndVolume: endVolume, timeRange: timeRange)
  }

  /// As `AudioMixInputParameters.volumeRamp(at:)`, for all together.
  public func volumeRamp(at time: MediaTime) -> VolumeRamp? { output.volumeRamp(at: time) }

  /// As `AudioMixInputParameters.volume(at:)`, for all together.
  public func volume(at time: MediaTime) -> Float { output.volume(at: time) }

  /// As `AudioMixInputParameters.apply`, for all together.
  ///
  /// A player does so on the decode side, before anything changes the item's rate: there a frame's time is its number, and the result
  /// is exact to the frame through every resampler. What its mixer renders again it finds in the ring as it was.
  public func apply(
    to samples: UnsafeMutablePointer<Float>, frameCount: Int, channelCount: Int, firstFrame: Int64, sampleRateHz: Int
  ) {
    output.apply(
      to: samples, frameCount: frameCount, channelCount: channelCount, firstFrame: firstFrame,
      sampleRateHz: sampleRateHz)
  }
}
