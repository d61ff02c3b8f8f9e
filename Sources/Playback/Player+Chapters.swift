import MediaAssets
import MediaCore

/// Chapters of the current item.
extension PlayerControl {
  /// The chapter that is heard; nil before the first one, and where there are none.
  public var currentChapter: PlayerChapter? { control.core.currentChapter }

  /// Calls `handler` with `crossed` whenever the start of a chapter is reached by playing, of whichever item is current, or of `itemID`
  /// only: the observation has the chapter. As `addBoundaryTimeObserver` with those times, `includesSeeks` and all, of each item as it
  /// becomes current; an item without chapters calls nobody. Played backwards a start is reached where the chapter is left.
  /// `removeTimeObserver` ends it; `onEnd` as for `addBoundaryTimeObserver`. The handlers must not block: see `PlaybackEngine.loop`.
  /// Errors: `noSuchItem`, `invalidState` when the player is closed.
  public func addChapterTimeObserver(
    itemID: PlayerItem.ID? = nil, includesSeeks: Bool = false, onEnd: (@Sendable () -> Void)? = nil,
    using handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken {
    try control.core.addChapterTimeObserver(
      itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
  }

  /// Goes to the beginning of the chapter behind the current one, or behind where a seek that is under way goes. Exact; as
  /// `seek`. Errors: `noSuchChapter` behind the last one, and where there are none; `invalidState` for an item that is not ready;
  /// `noCurrentItem`, or the current item's own. Then nothing changes and `completion` is not called.
  public func seekToNextChapter(completion: @escaping @Sendable (SeekResult) -> Void) throws(MediaError) {
    try control.core.seekToChapter(next: true, completion: completion)
  }

  /// Goes to the beginning of the current chapter when that began more than 3 s before, else to that of the one before it; in
  /// the first one to its beginning. Errors: likewise, before the first one.
  public func seekToPreviousChapter(completion: @escaping @Sendable (SeekResult) -> Void) throws(MediaError) {
    try control.core.seekToChapter(next: false, completion: completion)
  }
}
