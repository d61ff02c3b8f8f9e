import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// A transition from one item, or from one pass of an item, to the next, as it was heard.
public struct PlayerTransition: Sendable, Hashable {
  /// The item that ended.
  public var fromItemID: PlayerItem.ID
  /// Equal to `fromItemID` if an item repeats or loops.
  public var toItemID: PlayerItem.ID
  /// The start time of the following item: 0, or the beginning of a loop.
  public var time: MediaTime
  /// The instant at which `time` is heard; nil while the device is stopped.
  public var hostTime: HostTime?
  /// The audio that was trimmed after the end of the first item, in frames of the item's sample rate, and the source of
  /// this value.
  public var trimmedEnd: EdgeTrim
  /// The audio that was trimmed before the beginning of the following item.
  public var trimmedStart: EdgeTrim
  /// The number of silent output frames in between: 0, unless the following item was late.
  public var insertedFrameCount: Int64
  /// The number of output frames in which both items are heard; 0 without a cross-fade. The first one is heard at
  /// `hostTime`.
  public var overlapFrameCount: Int64 = 0
  /// The curve of the cross-fade; nil without one.
  public var curve: FadeCurve?
}
