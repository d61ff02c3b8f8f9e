import PlayheadMediaCore
import PlayheadPlayerModel

/// Cross-fades between items.
extension PlayerControl {
  /// The cross-fade between items; nil: the next item begins with the frame after the last one of the previous item.
  public var crossfade: Crossfade? { control.core.machine.intent.crossfade }

  /// Sets ``crossfade``. Default: nil.
  ///
  /// The end of an item is then heard together with the beginning of the next one, or of its own repeat. The next item
  /// becomes current at the first frame of the overlap. Its duration and the fades are exact, for items of any formats.
  /// It is at most half of what is played of each item. Loops of a part of an item, seeks and skips are not
  /// cross-faded, and neither are items that cannot seek, such as stations and pipes.
  ///
  /// The next item is opened before the overlap begins. If that takes longer than the audio that is decoded ahead,
  /// about 4 s, playback waits for it at the beginning of the overlap.
  ///
  /// - Throws: `invalidTime`: see ``Crossfade/validate()``; `invalidState` if the player is closed.
  public func setCrossfade(_ crossfade: Crossfade?) throws(MediaError) { try control.core.setCrossfade(crossfade) }
}
