import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The audio processors of items, between the decoder and the converter.
extension StreamWriter {
  /// Makes or resets the processors of `item`.
  ///
  /// - Parameter continuing: Whether the audio is continuous with what the processors processed. Then they are not
  ///   reset.
  func prepareProcessors(for item: ItemDecoder, continuing: Bool = false) throws(MediaError) {
    // Other processors were set since `processorsContinue`: the audio will be decoded again.
    if continuing, processors?.holdsFrames(of: item.format) == true { return }
    let factories = item.audioProcessors
    guard let processors, processors.matches(factories, format: item.format) else {
      processors =
        factories.isEmpty
        ? nil
        : try AudioProcessorChain(
          factories, format: item.format, playbackRate: playbackRate, maximumFrameCount: Self.chunkFrames)
      return
    }
    if !continuing || !processors.continuesAudio { processors.restart(playbackRate: playbackRate) }
  }

  /// Whether a pass of `item` continues the audio of the processors.
  func processorsContinue(with item: ItemDecoder) -> Bool {
    processors?.matches(item.audioProcessors, format: item.format) ?? true
  }

  /// Passes the audio before the position of `item` to the processors, as much as they need.
  func readHistory(of item: ItemDecoder) throws(MediaError) {
    guard let processors, processors.historyFrameCount > 0 else { return }
    let rate = item.format.sampleRateHz
    let first = item.position
    let start = max(0, first - Int64(processors.historyFrameCount))
    guard start < first else { return }
    // The end of an earlier pass.
    _ = item.setEnd(nil)
    _ = try item.seek(to: MediaTime(frame: start, rate: rate), before: .zero, after: .zero)
    while item.position < first {
      let count = Int(min(Int64(Self.chunkFrames), first - item.position))
      let result = try withScratch(frameCount: count, of: item.format) { samples throws(MediaError) in
        let result = try item.read(into: samples, capacityFrames: count)
        if case .frames(let count, let position) = result {
          _ = processors.process(samples, frameCount: count, position: position, isHistory: true)
        }
        return result
      }
      guard case .frames = result else { break }
    }
    item.discardReportsBeforePosition()
    if item.position != first {
      _ = try item.seek(to: MediaTime(frame: first, rate: rate), before: .zero, after: .zero)
    }
    expectedPosition = first
  }

  /// Processes frames in place. Returns the number of frames to write.
  func process(_ samples: UnsafeMutablePointer<Float>, frameCount: Int, position: Int64) -> Int {
    guard let processors else { return frameCount }
    defer { recordNonFinite() }
    return processors.process(samples, frameCount: frameCount, position: position)
  }

  /// Records the first sample of each item that was not finite.
  private func recordNonFinite() {
    guard let time = processors?.popNonFiniteTime(), nonFiniteItemID != itemID else { return }
    nonFiniteItemID = itemID
    nonFiniteSample = (itemID, time)
  }

  /// Writes the frames that are still in the processors. Returns false if the stream had no space for all of them: call
  /// again.
  func flushProcessors() throws(MediaError) -> Bool {
    guard let processors else { return true }
    while processors.hasFramesInside {
      if converter == nil {
        guard let region = writableRegion(atMost: Self.chunkFrames) else { return false }
        commit(processors.flush(into: region.samples, capacityFrames: region.count))
      } else {
        try withScratch(frameCount: Self.chunkFrames, of: sourceFormat) { samples throws(MediaError) in
          let count = processors.flush(into: samples, capacityFrames: Self.chunkFrames)
          try convert(samples, frameCount: count)
        }
      }
    }
    recordNonFinite()
    processors.endAudio()
    return true
  }

  /// Removes and returns the item and the time of a sample that was not finite; nil without one.
  func popNonFiniteSample() -> (itemID: PlayerItem.ID, time: MediaTime)? {
    defer { nonFiniteSample = nil }
    return nonFiniteSample
  }
}
