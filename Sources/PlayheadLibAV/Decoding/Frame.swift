import CPlayheadFFmpeg

/// An owner of an `AVFrame`: a block of decoded audio, or a video frame. The object is reused for each frame; FFmpeg
/// counts the references to the data.
///
/// Threading: one thread at a time.
package final class Frame {
  let pointer: UnsafeMutablePointer<AVFrame>

  package init() throws(AVFailure) { pointer = try check(av_frame_alloc(), "av_frame_alloc") }

  deinit {
    var released: UnsafeMutablePointer<AVFrame>? = pointer
    av_frame_free(&released)
  }

  /// The presentation time of the first sample, in the stream's ticks, after the samples to skip have been removed.
  package var pts: Int64? { optionalTimestamp(pointer.pointee.pts) }
  /// The number of audio frames; 0 when empty.
  package var frameCount: Int { Int(max(0, pointer.pointee.nb_samples)) }
  /// The layout of the samples; nil for an empty frame or one without audio.
  package var layout: SampleLayout? {
    guard let format = SampleFormat(rawValue: pointer.pointee.format), pointer.pointee.sample_rate > 0,
      pointer.pointee.ch_layout.nb_channels > 0
    else { return nil }
    let mask = shim_channel_layout_mask(&pointer.pointee.ch_layout)
    return SampleLayout(
      format: format, sampleRateHz: Int(pointer.pointee.sample_rate),
      channelCount: Int(pointer.pointee.ch_layout.nb_channels), channelMask: mask == 0 ? nil : mask)
  }

  /// Whether the decoder concealed a part of the frame that could not be decoded, or its packet is marked as damaged.
  package var isDamaged: Bool {
    pointer.pointee.decode_error_flags != 0 || pointer.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
  }

  /// Removes the timestamp. Readers then treat the samples as a continuation of the previous frame.
  package func clearTimestamp() { pointer.pointee.pts = shim_AV_NOPTS_VALUE() }

  /// Moves the content of `other` into this frame; `other` is empty afterwards.
  package func move(from other: Frame) {
    clear()
    av_frame_move_ref(pointer, other.pointer)
  }

  /// Releases the samples.
  package func clear() { av_frame_unref(pointer) }
}
