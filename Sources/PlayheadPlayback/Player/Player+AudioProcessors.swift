/// Processing of the audio of all items of a player.
extension PlayerControl {
  /// The processors of all items, after those of the item. Default: none.
  public var audioProcessors: [AudioProcessorFactory] { control.core.itemSettings.audioProcessorSlot.own }

  /// Sets the processors of all items, now and later.
  ///
  /// <!-- listing: set-processors -->
  /// ```swift
  /// let narrow = AudioProcessorFactory { Narrow() }
  /// item.audioProcessors = [narrow]
  /// await player.setAudioProcessors([narrow])
  /// ```
  ///
  /// A processor continues across items of one format that follow each other without a gap and have no processors of
  /// their own. A change is heard as soon as the audio is decoded again from the current position, with a crossfade of
  /// 5 ms.
  public func setAudioProcessors(_ processors: [AudioProcessorFactory]) {
    control.core.itemSettings.setAudioProcessors(processors)
  }
}
