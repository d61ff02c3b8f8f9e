/// Changes of audio processors.
extension PlayerCore {
  /// Sets the processors of all items.
  func setAudioProcessors(_ processors: [AudioProcessorFactory]) {
    guard !isClosed, audioProcessorSlot.own != processors else { return }
    audioProcessorSlot.own = processors
    audioProcessorsChanged(nil)
  }

  /// Handles a change of the processors of an item; nil: of all items. The audio is decoded again.
  func audioProcessorsChanged(_ id: PlayerItem.ID?) {
    guard !isClosed else { return }
    run(machine.redecode(id, from: currentTime()), cause: .request)
  }
}
