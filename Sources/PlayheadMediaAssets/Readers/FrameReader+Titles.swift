import PlayheadLibAV

extension FrameReader {
  /// Reports stream titles. A title applies from the first packet that begins at or after the title's byte.
  func recordTitles() {
    guard let source = demuxer.source.byteSource, let byte = packet.bytePosition,
      let position = packetFrame ?? countedFrame
    else { return }
    for title in source.popTitles(before: byte + 1) { reports.note(title, at: position) }
  }
}
