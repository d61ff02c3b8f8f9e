import LibAV
import MediaCore

/// A picture of a video track and when it is shown, on the asset's timeline.
struct VideoShot {
  /// Holds the pixels until the reader is asked for another picture, or goes elsewhere: frames are used again.
  let frame: Frame
  let picture: Frame.Picture
  /// What the track says of its pictures.
  let format: FormatDescription.Video
  var time: MediaTime
  /// Up to the next picture; of the last one what its packet says, or as long as the one before. Zero when nobody knows.
  var duration: MediaTime
  /// The container said when it is shown; else it follows from the one before.
  let hasTimestamp: Bool

  /// The moment behind it.
  var end: MediaTime { time + duration }
}
