import PlayheadLibAV
import PlayheadMediaCore

/// A frame of a video track and its time on the asset's timeline.
struct VideoFrame {
  /// The pixels of a frame.
  enum Pixels {
    /// Decoded in this process.
    case decoded(Frame)
    /// Decoded in a worker process, which converts its current frame.
    case inWorker(IsolatedVideo)
  }

  /// The pixels. Valid until the reader reads another frame or seeks, because it reuses frames.
  let pixels: Pixels
  let properties: Frame.VideoProperties
  /// The track's description of its frames.
  let format: FormatDescription.Video
  var time: MediaTime
  /// The time to the next frame. For the last frame, the duration of its packet or of the previous frame. Zero if
  /// unknown.
  var duration: MediaTime
  /// Whether the container states the time. Otherwise the time follows from the previous frame.
  let hasTimestamp: Bool

  /// The end of the frame.
  var end: MediaTime { time + duration }
}
