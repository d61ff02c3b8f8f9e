import LibAV
import MediaCore

/// A frame of a video track and its time on the asset's timeline.
struct VideoFrame {
  /// The pixels. Valid until the reader reads another frame or seeks, because it reuses frames.
  let frame: Frame
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
