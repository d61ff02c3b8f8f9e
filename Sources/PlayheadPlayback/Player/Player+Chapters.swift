import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// Chapters of the current item.
extension PlayerControl {
  /// The chapter that is heard; nil before the first one, and for items without chapters.
  public var currentChapter: PlayerChapter? { control.core.chapters.current }

  /// Calls `handler` with `crossed` whenever playback reaches the start of a chapter. The observation contains the
  /// chapter.
  ///
  /// The observer acts like `addBoundaryTimeObserver` with the start times of the chapters of each current item, also
  /// for `includesSeeks`. For an item without chapters there are no calls. In reverse playback a start time is reached
  /// when playback leaves the chapter. Remove it with `removeTimeObserver`. The handlers must not block: see
  /// `PlaybackEngine.loop`.
  ///
  /// - Parameters:
  ///   - itemID: The only item to observe. Nil: each item while it is current.
  ///   - includesSeeks: Whether seeks that jump over a start time are observed. Default: false.
  ///   - onEnd: As for `addBoundaryTimeObserver`.
  ///   - handler: Called on the control loop.
  /// - Throws: `noSuchItem`; `invalidState` if the player is closed.
  public func addChapterTimeObserver(
    itemID: PlayerItem.ID? = nil, includesSeeks: Bool = false, onEnd: (@Sendable () -> Void)? = nil,
    using handler: @escaping @Sendable (TimeObservation) -> Void
  ) throws(MediaError) -> ObserverToken {
    try control.core.timeObservers.addChapters(
      itemID: itemID, includesSeeks: includesSeeks, onEnd: onEnd, handler)
  }

  /// Seeks exactly to the beginning of the next chapter, counted from the current one or from the target of a pending
  /// seek.
  ///
  /// - Parameter completion: As for `seek`.
  /// - Throws: `noSuchChapter` after the start of the last chapter, and for items without chapters; `invalidState` if
  ///   the item is not ready; `noCurrentItem`; the error of the current item. Then nothing changes, and `completion` is
  ///   not called.
  public func seekToNextChapter(completion: @escaping @Sendable (SeekResult) -> Void) throws(MediaError) {
    try control.core.chapters.seek(next: true, completion: completion)
  }

  /// Seeks exactly to the beginning of the current chapter if it began more than 3 s before, else of the previous
  /// chapter. In the first chapter it always seeks to its beginning.
  ///
  /// - Throws: the errors of ``seekToNextChapter(completion:)``; `noSuchChapter` before the first chapter.
  public func seekToPreviousChapter(completion: @escaping @Sendable (SeekResult) -> Void) throws(MediaError) {
    try control.core.chapters.seek(next: false, completion: completion)
  }
}
