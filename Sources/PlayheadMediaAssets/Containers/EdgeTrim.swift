/// The number of frames cut off one edge of a track as an encoder's padding, and its source in the file.
///
/// At the start it is the encoder's delay (priming). At the end it is the padding of the encoder's last frame. Unit:
/// frames of the track's sample rate.
public struct EdgeTrim: Sendable, Hashable, Codable {
  /// The part of the file that states how much to cut.
  public enum Source: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing was cut, and the file states no padding.
    case none
    /// The LAME extension of a Xing or Info header (MP3).
    case lameTag = "lame-tag"
    /// The `iTunSMPB` comment (MP4, MP3).
    case iTunSMPB
    /// An edit list (ISO/IEC 14496-12, 8.6.6).
    case editList = "edit-list"
    /// The pre-skip of an Opus header (RFC 7845, 5.1).
    case opusPreSkip = "opus-pre-skip"
    /// The granule position of the last page (Ogg).
    case granulePosition = "granule-position"
    /// `CodecDelay` (Matroska).
    case codecDelay = "codec-delay"
    /// `DiscardPadding` (Matroska).
    case discardPadding = "discard-padding"
    /// The duration of the track (MP4 without an edit list, `fact` in WAV).
    case trackDuration = "track-duration"
  }

  /// The number of frames, 0 or more.
  public var frameCount: Int64
  /// The field of the file that states the number.
  public var source: Source

  /// No frames are cut off.
  public static let none = EdgeTrim(frameCount: 0, source: .none)

  /// Creates a trim.
  public init(frameCount: Int64, source: Source) {
    self.frameCount = frameCount
    self.source = source
  }
}
