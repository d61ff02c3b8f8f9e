// The file of one recording: the audio that is kept, the file's location, and the result at the end.
import Glibc
import MediaAssets
import MediaCore
import RealtimeAudio
import WholeFiles

/// Writes captured audio to a file. Used only on the recording's thread.
final class RecordingTrack {
  private let place: RecordingLocation
  private let format: AudioFormat
  private let writer: AssetWriter
  private let input: AssetWriterInput
  private let sampleFormat: FormatDescription
  private let shared: WakeSignal<AudioRecorder.Shared>
  private let options: AudioRecorder.Options
  private let journalEntry: String?
  private var gate: RecordingGate?
  private var meter: RecordingMeter

  /// Frames that were kept.
  private var frameCount: Int64 = 0
  private var lostFrameCount: Int64 = 0
  /// All lost frames of which this track knows, including those before it kept any audio.
  private var toldLossCount: Int64 = 0
  /// Audio that was captured before this time is skipped.
  private var earliest: HostTime?
  /// The frame at which the recording ends; nil: no limit.
  private var lastFrame: Int64?
  /// Why recording cannot continue.
  private(set) var error: MediaError?

  /// Creates the file.
  ///
  /// - Throws: the errors of `AudioRecorder.prepareToRecord`. No file remains then.
  init(
    _ place: RecordingLocation, _ resolved: RecordingSettings.Resolved, _ format: AudioFormat,
    _ options: AudioRecorder.Options, _ shared: WakeSignal<AudioRecorder.Shared>
  ) throws(MediaError) {
    (self.place, self.format, self.shared, self.options) = (place, format, shared, options)
    var writing = AssetWriter.Options()
    writing.replacesFile = place.file.replaces
    writing.movieFragmentInterval = RecordingSession.fragmentInterval
    writing.flushInterval = RecordingSession.flushInterval
    writing.metadata = options.metadata
    writer = AssetWriter(file: place.file, container: resolved.container, options: writing)
    input = Self.input(resolved, format)
    sampleFormat = input.sourceFormat
    try writer.add(input)
    // The journal entry comes before the file: an entry without a file is harmless.
    let entry = try options.journal?.add(place.unfinishedPath)
    journalEntry = entry
    let gateSettings = RecordingGate.Settings(
      startLevel: options.startLevel, silenceLevel: options.silenceLevel, longestSilence: options.longestSilence)
    gate = gateSettings.isOpen ? nil : RecordingGate(gateSettings, format: format)
    meter = RecordingMeter(format: format)
    do throws(MediaError) {
      try writer.startWriting()
      try writer.startSession(atSourceTime: .zero)
    } catch {
      writer.cancelWriting()
      if let entry { options.journal?.remove(entry) }
      throw error
    }
  }

  /// Checks the settings without a file and a source. No I/O.
  ///
  /// - Throws: `invalidArgument` for settings that the codec or the container does not support.
  static func check(
    _ resolved: RecordingSettings.Resolved, _ place: RecordingLocation, _ format: AudioFormat
  ) throws(MediaError) {
    try AssetWriter(file: place.file, container: resolved.container).add(input(resolved, format))
  }

  private static func input(_ resolved: RecordingSettings.Resolved, _ format: AudioFormat) -> AssetWriterInput {
    AssetWriterInput(
      settings: resolved.output,
      sourceFormat: .pcm(.float32, sampleRateHz: format.sampleRateHz, channelCount: format.channelCount),
      expectsMediaDataInRealTime: true)
  }

  /// Whether no more audio is kept.
  var isOver: Bool { error != nil || lastFrame.map { frameCount >= $0 } ?? false }

  private var time: MediaTime { MediaTime(value: frameCount, timescale: Int32(clamping: format.sampleRateHz)) }

  // MARK: - Audio

  /// Starts or resumes recording.
  func begin(_ start: AudioRecorder.StartRequest) {
    earliest = start.hostTime
    // Rounded up, so that the full duration is recorded.
    lastFrame = start.duration.map { duration in
      frameCount
        + max(1, duration.convertScale(Int32(clamping: format.sampleRateHz), method: .towardPositiveInfinity).value)
    }
  }

  /// Adds a part of a captured chunk.
  func add(_ samples: UnsafePointer<Float>, frameCount count: Int, piece: CaptureQueue.Piece, isFirst: Bool) {
    var skip = 0
    if isFirst { toldLossCount += piece.lostFrameCount }
    if let earliest {
      let offset = isFirst ? 0 : piece.frameCount - count
      let begin = piece.hostTime.advanced(
        byNanoseconds: Int64(Double(offset) * 1e9 / Double(format.sampleRateHz)))
      let wait = Double(earliest.nanoseconds(since: begin)) * Double(format.sampleRateHz) / 1e9
      if wait > 0 { skip = Int(min(wait.rounded(.up), Double(count))) }
      guard skip < count else { return }
      self.earliest = nil
    } else if isFirst, piece.lostFrameCount > 0 {
      addSilence(frameCount: piece.lostFrameCount)
    }
    let channelCount = format.channelCount
    keep(UnsafeBufferPointer(start: samples + skip * channelCount, count: (count - skip) * channelCount))
  }

  /// Adds silence for lost frames at the end, after all captured audio was added. `lostFrameCount` is the source's
  /// total.
  func addRest(lostFrameCount: Int64) {
    let rest = lostFrameCount - toldLossCount
    if rest > 0, earliest == nil { addSilence(frameCount: rest) }
  }

  /// Replaces lost frames with silence, so that later audio keeps its time.
  private func addSilence(frameCount count: Int64) {
    lostFrameCount += count
    let time = time
    shared.withState { $0.untold.append(.lost(frameCount: count, at: time)) }
    shared.tell(options.onEvent)
    let silence = [Float](repeating: 0, count: Int(min(count, 8_192)) * format.channelCount)
    var rest = count
    while rest > 0, !isOver {
      let part = Int(min(rest, 8_192))
      silence.withUnsafeBufferPointer { keep(UnsafeBufferPointer(rebasing: $0[..<(part * format.channelCount)])) }
      rest -= Int64(part)
    }
  }

  private func keep(_ samples: UnsafeBufferPointer<Float>) {
    measure(samples)
    if gate == nil { write(samples) } else { gate?.add(samples) { write($0) } }
  }

  private func write(_ samples: UnsafeBufferPointer<Float>) {
    guard !isOver else { return }
    let channelCount = format.channelCount
    let room = lastFrame.map { Int($0 - frameCount) } ?? .max
    let count = min(samples.count / channelCount, room)
    guard count > 0 else { return }
    do throws(MediaError) {
      let bytes = [UInt8](
        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(samples)[..<(count * channelCount * 4)]))
      try input.append(waiting: SampleBuffer(pcm: bytes, format: sampleFormat, presentationTime: time))
      frameCount += Int64(count)
    } catch { self.error = error }
  }

  // MARK: - Observable state

  private func measure(_ samples: UnsafeBufferPointer<Float>) {
    var windows: [RecordingMeter.Sum] = []
    meter.add(samples) { windows.append($0) }
    guard !windows.isEmpty else { return }
    let (rate, channelCount, time) = (format.sampleRateHz, format.channelCount, time)
    let told = shared.withState { shared in
      var told: [(body: @Sendable (MeterLevels, MediaTime) -> Void, levels: MeterLevels)] = []
      for window in windows {
        var unread = shared.unread ?? RecordingMeter.Sum(channelCount: channelCount)
        unread.add(window)
        shared.unread = unread
        for (number, observer) in shared.meters.sorted(by: { $0.key < $1.key }) {
          var sum = observer.sum ?? RecordingMeter.Sum(channelCount: channelCount)
          sum.add(window)
          if sum.frameCount >= observer.intervalFrames(rate) {
            told.append((observer.body, sum.levels))
            sum.removeAll()
          }
          shared.meters[number]?.sum = sum
        }
      }
      return told
    }
    for (body, levels) in told { body(levels, time) }
  }

  /// Publishes the progress in the recorder's status.
  func publish(lostFrameCount: Int64) {
    let (time, gate) = (time, gate)
    shared.update { shared in
      shared.status.currentTime = time
      shared.status.lostFrameCount = lostFrameCount
      shared.status.skippedFrameCount = gate?.skippedFrameCount ?? 0
      shared.status.isWaitingForLevel = gate?.isWaitingForLevel ?? false
    }
  }

  // MARK: - The end

  /// Reads the size and the duration of a recording that was cut short. Values that cannot be read stay unknown.
  private static func measure(_ path: [UInt8], _ outcome: inout AudioRecorder.Outcome) {
    let descriptor = open(path.map(CChar.init(bitPattern:)) + [0], O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    var status = stat()
    if fstat(descriptor, &status) == 0 { outcome.byteCount = Int64(status.st_size) }
    let file: OpenDescriptor
    do throws(MediaError) { file = try OpenDescriptor(descriptor, name: "recording") } catch {
      close(descriptor)
      return
    }
    do throws(MediaError) {
      let asset = Asset(location: .descriptor(file), prefersPreciseDuration: true)
      outcome.duration = try asset.load().duration
    } catch {
      outcome.duration = .invalid
    }
  }

  /// Finishes the file, for any reason of the end.
  func finish(_ failure: MediaError?) -> AudioRecorder.Outcome {
    gate?.finish { write($0) }
    var outcome = AudioRecorder.Outcome(
      path: place.path, duration: time, byteCount: 0, lostFrameCount: lostFrameCount,
      skippedFrameCount: gate?.skippedFrameCount ?? 0, error: failure ?? error)
    do throws(MediaError) {
      try writer.finishWriting()
      outcome.byteCount = writer.byteCount
    } catch {
      outcome.error = outcome.error ?? error
      outcome.duration = .invalid
      // The file stays playable as far as it was written.
      do throws(MediaError) { outcome.path = try place.recover()?.path } catch { outcome.path = nil }
      if let path = outcome.path { Self.measure(path, &outcome) }
      // Recovery at the next start tries again to rename the file.
      if outcome.path == nil, !place.isUnfinishedGone { return outcome }
    }
    if let journalEntry { options.journal?.remove(journalEntry) }
    return outcome
  }
}
