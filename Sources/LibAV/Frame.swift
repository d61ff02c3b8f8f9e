import CFFmpeg

/// One owner of an `AVFrame`: a piece of decoded sound, or a picture. Reused from frame to frame; the samples are counted by FFmpeg.
///
/// Used by one thread at a time.
public final class Frame {
  let pointer: UnsafeMutablePointer<AVFrame>

  public init() throws(AVFailure) { pointer = try check(av_frame_alloc(), "av_frame_alloc") }

  deinit {
    var released: UnsafeMutablePointer<AVFrame>? = pointer
    av_frame_free(&released)
  }

  /// Presentation time of the first sample in the stream's ticks, after what the file says to skip was cut off.
  public var pts: Int64? { optionalTimestamp(pointer.pointee.pts) }
  /// Frames of sound in it; 0 when empty.
  public var frameCount: Int { Int(max(0, pointer.pointee.nb_samples)) }
  /// The samples' shape; nil for an empty frame or one that is not sound.
  public var layout: SampleLayout? {
    guard let format = SampleFormat(rawValue: pointer.pointee.format), pointer.pointee.sample_rate > 0,
      pointer.pointee.ch_layout.nb_channels > 0
    else { return nil }
    let mask = shim_channel_layout_mask(&pointer.pointee.ch_layout)
    return SampleLayout(
      format: format, sampleRateHz: Int(pointer.pointee.sample_rate),
      channelCount: Int(pointer.pointee.ch_layout.nb_channels), channelMask: mask == 0 ? nil : mask)
  }

  /// Lets go of the samples.
  public func clear() { av_frame_unref(pointer) }
}
