// The audio of one track of a composition: its segments one after another, each read from its source in the
// composition's format. One source is open at a time, from its first frame to the first frame of another source.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO

/// Reads the audio of one track of a composition as float32, from any frame.
///
/// Threading: one thread at a time, which may block; the interrupt ends blocking calls.
final class CompositionTrackAudio {
  /// A source that is being read.
  private struct Open {
    let source: CompositionTrack.Source
    let audio: FormattedAudio
    /// The current segment, for the times of faults.
    var segment: CompositionTrack.Segment
  }

  /// A fault of a source that did not stop reading, at its time in the composition.
  typealias Fault = (time: MediaTime, error: MediaError)

  private let track: CompositionTrack
  private let format: AudioFormat
  private let interrupt: Interrupt
  private let log: NetworkLog?
  private var open: Open?
  /// The index of the segment that was read last.
  private var index = 0
  private var skipped: (count: Int, time: MediaTime, error: MediaError)?
  private var warning: Fault?

  init(_ track: CompositionTrack, _ format: AudioFormat, interrupt: Interrupt, log: NetworkLog?) {
    self.track = track
    self.format = format
    self.interrupt = interrupt
    self.log = log
  }

  /// The reason why the position of the last seek in the source is only an estimate; nil if it is exact.
  var positionDoubt: PositionDoubt? { open?.audio.reader.positionDoubt }

  // MARK: - Faults

  /// As in `AudioReader`.
  func popSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    noteFaults()
    defer { skipped = nil }
    return skipped
  }

  /// As in `AudioReader`.
  func popWarning() -> Fault? {
    noteFaults()
    defer { warning = nil }
    return warning
  }

  private func noteFaults() {
    guard let open else { return }
    if let found = open.audio.reader.popSkippedPackets() {
      let total = skipped ?? (0, open.segment.time(ofSourceTime: found.time), found.error)
      skipped = (total.count + found.count, total.time, total.error)
    }
    while let found = open.audio.reader.popWarning() {
      warning = warning ?? (open.segment.time(ofSourceTime: found.time), found.error)
    }
  }

  // MARK: - Reading

  /// Fills memory with the frames of the composition from frame `first`, and with silence where there is no audio.
  /// Blocks.
  func fill(_ output: UnsafeMutablePointer<Float>, frameCount: Int, from first: Int64) -> AudioMixer.FillResult {
    var filled = AudioMixer.FillResult(count: 0, hasAudio: false)
    do throws(MediaError) {
      while filled.count < frameCount {
        let position = first + Int64(filled.count)
        let buffer = output + filled.count * format.channelCount
        let remainingCount = frameCount - filled.count
        guard let index = segmentIndex(at: position) else {
          close()
          filled.count += silence(buffer, remainingCount)
          break
        }
        let segment = track.segments[index]
        let count = Int(min(Int64(remainingCount), frame(segment.timeRange.end) - position))
        if segment.isEmpty {
          close()
          filled.count += silence(buffer, count)
        } else {
          filled.count += try read(segment, from: position, into: buffer, count)
          filled.hasAudio = true
        }
      }
    } catch {
      filled.error = error
    }
    return filled
  }

  private func silence(_ output: UnsafeMutablePointer<Float>, _ count: Int) -> Int {
    output.update(repeating: 0, count: count * format.channelCount)
    return count
  }

  /// Returns the frame nearest to a time. Boundaries of segments are at these frames.
  private func frame(_ time: MediaTime) -> Int64 {
    time.frameIndex(rate: format.sampleRateHz, rounding: .halfAwayFromZero) ?? Int64.max / 8
  }

  /// Returns the index of the segment with a frame; nil after the last segment.
  private func segmentIndex(at position: Int64) -> Int? {
    func contains(_ index: Int) -> Bool {
      let range = track.segments[index].timeRange
      return frame(range.start) <= position && position < frame(range.end)
    }
    for candidate in [index, index + 1] where candidate < track.segments.count && contains(candidate) {
      index = candidate
      return candidate
    }
    // The search compares frames, because a segment may be shorter than a frame.
    var (low, high) = (0, track.segments.count)
    while low < high {
      let middle = (low + high) / 2
      if frame(track.segments[middle].timeRange.end) <= position { low = middle + 1 } else { high = middle }
    }
    guard low < track.segments.count else { return nil }
    index = low
    return low
  }

  /// Reads at least one frame of a segment. After the end of its source, the frames are silent.
  private func read(
    _ segment: CompositionTrack.Segment, from position: Int64, into output: UnsafeMutablePointer<Float>, _ count: Int
  ) throws(MediaError) -> Int {
    guard let source = segment.source else { return silence(output, count) }
    do throws(MediaError) {
      let audio = try audio(of: source, segment)
      try audio.move(to: frame(segment.sourceRange.start) + (position - frame(segment.timeRange.start)))
      let readCount = try audio.read(into: output, capacityFrames: count)
      return readCount > 0 ? readCount : silence(output, count)
    } catch {
      if error.code == .cancelled { throw error }
      throw named(error, source)
    }
  }

  /// Returns the source's audio. Opens the source if it is not open, and closes the previous one.
  private func audio(
    of source: CompositionTrack.Source, _ segment: CompositionTrack.Segment
  ) throws(MediaError) -> FormattedAudio {
    if let current = open, current.source.isSame(as: source) {
      open?.segment = segment
      return current.audio
    }
    close()
    let reader = try AudioTrackReader(
      asset: source.asset, interrupt: interrupt, kinds: .regularFiles, trackID: source.trackID, log: log)
    let audio = try FormattedAudio(reader, as: format)
    open = Open(source: source, audio: audio, segment: segment)
    return audio
  }

  /// Closes the source.
  private func close() {
    noteFaults()
    open = nil
  }

  private func named(_ error: MediaError, _ source: CompositionTrack.Source) -> MediaError {
    var error = error
    let name = source.asset.displayPath
    if !error.message.contains(name) { error.message = "\(error.message), of \(name)" }
    error.message = "a part of a composition cannot be read: \(error.message)"
    return error
  }
}
