// The sound of one track of a composition: its segments one behind the other, each read from its source at the composition's rate and
// with its channels. One source is open at a time: it is opened when its first frame is read, and closed when another one's is.
import LibAV
import MediaCore
import NetworkIO

/// Reads the sound of one track of a composition, as float32, from any frame on.
///
/// Threading: one thread at a time, which may block; the interrupt ends what blocks.
final class CompositionTrackSound {
  /// A source that is being read.
  private struct Open {
    let source: CompositionTrack.Source
    let sound: FormattedSound
    /// The segment that it is read for.
    var segment: CompositionTrack.Segment
  }

  /// Something that was wrong with a source, though it was read; at its time in the composition.
  typealias Fault = (time: MediaTime, error: MediaError)

  private let track: CompositionTrack
  private let format: AudioFormat
  private let interrupt: Interrupt
  private let log: NetworkLog?
  private var open: Open?
  /// The segment that was read last.
  private var index = 0
  private var skipped: (count: Int, time: MediaTime, error: MediaError)?
  private var warning: Fault?

  init(_ track: CompositionTrack, _ format: AudioFormat, interrupt: Interrupt, log: NetworkLog?) {
    self.track = track
    self.format = format
    self.interrupt = interrupt
    self.log = log
  }

  /// Where the last seek in the source went is known only by an estimate.
  var positionDoubt: PositionDoubt? { open?.sound.reader.positionDoubt }

  // MARK: - What is wrong

  /// As `SoundReader`'s.
  func takeSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    noteFaults()
    defer { skipped = nil }
    return skipped
  }

  /// As `SoundReader`'s.
  func takeWarning() -> Fault? {
    noteFaults()
    defer { warning = nil }
    return warning
  }

  private func noteFaults() {
    guard let open else { return }
    if let found = open.sound.reader.takeSkippedPackets() {
      let known = skipped ?? (0, open.segment.time(ofSourceTime: found.time), found.error)
      skipped = (known.count + found.count, known.time, known.error)
    }
    while let found = open.sound.reader.takeWarning() {
      warning = warning ?? (open.segment.time(ofSourceTime: found.time), found.error)
    }
  }

  // MARK: - Reading

  /// Fills room for so many frames with those from a frame of the composition on; silence where there is nothing. Blocks.
  func fill(_ output: UnsafeMutablePointer<Float>, frameCount: Int, from first: Int64) -> SoundMixer.Filled {
    var filled = SoundMixer.Filled(count: 0, hasSound: false)
    do throws(MediaError) {
      while filled.count < frameCount {
        let place = first + Int64(filled.count)
        let room = output + filled.count * format.channelCount
        let left = frameCount - filled.count
        guard let index = segmentIndex(at: place) else {
          close()
          filled.count += silence(room, left)
          break
        }
        let segment = track.segments[index]
        let count = Int(min(Int64(left), frame(segment.timeRange.end) - place))
        if segment.isEmpty {
          close()
          filled.count += silence(room, count)
        } else {
          filled.count += try read(segment, from: place, into: room, count)
          filled.hasSound = true
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

  /// The frame that a time is nearest to: where one segment ends and the next begins.
  private func frame(_ time: MediaTime) -> Int64 {
    time.frameIndex(rate: format.sampleRateHz, rounding: .halfAwayFromZero) ?? Int64.max / 8
  }

  /// The segment that has a frame: mostly the one before, or the next.
  private func segmentIndex(at place: Int64) -> Int? {
    func contains(_ index: Int) -> Bool {
      let range = track.segments[index].timeRange
      return frame(range.start) <= place && place < frame(range.end)
    }
    for candidate in [index, index + 1] where candidate < track.segments.count && contains(candidate) {
      index = candidate
      return candidate
    }
    // By frames, for a segment may be shorter than one.
    var (low, high) = (0, track.segments.count)
    while low < high {
      let middle = (low + high) / 2
      if frame(track.segments[middle].timeRange.end) <= place { low = middle + 1 } else { high = middle }
    }
    guard low < track.segments.count else { return nil }
    index = low
    return low
  }

  /// Some of a segment's frames, at least one; silence where its source has ended.
  private func read(
    _ segment: CompositionTrack.Segment, from place: Int64, into output: UnsafeMutablePointer<Float>, _ count: Int
  ) throws(MediaError) -> Int {
    guard let source = segment.source else { return silence(output, count) }
    do throws(MediaError) {
      let sound = try sound(of: source, segment)
      try sound.go(to: frame(segment.sourceRange.start) + (place - frame(segment.timeRange.start)))
      let got = try sound.read(into: output, capacityFrames: count)
      return got > 0 ? got : silence(output, count)
    } catch {
      if error.code == .cancelled { throw error }
      throw named(error, source)
    }
  }

  /// The source, opened if it is another one than before.
  private func sound(
    of source: CompositionTrack.Source, _ segment: CompositionTrack.Segment
  ) throws(MediaError) -> FormattedSound {
    if let present = open, present.source.isSame(as: source) {
      open?.segment = segment
      return present.sound
    }
    close()
    let reader = try AudioTrackReader(
      asset: source.asset, interrupt: interrupt, kinds: .regularFiles, trackID: source.trackID, log: log)
    let sound = try FormattedSound(reader, as: format)
    open = Open(source: source, sound: sound, segment: segment)
    return sound
  }

  /// Lets go of the source.
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
