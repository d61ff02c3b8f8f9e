// The file of one recording while it is being made: what is kept of the sound, where it lies, and what becomes of it at the end.
import Glibc
import MediaAssets
import MediaCore
import RealtimeAudio
import WholeFiles

/// What captured sound is written to. Used by the recording's thread alone.
final class RecordingTrack {
  private let place: RecordingPlace
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
  /// The same, and what was lost before it began to keep anything.
  private var toldLossCount: Int64 = 0
  /// Nothing that was captured before is kept.
  private var earliest: HostTime?
  /// It ends when so many frames were kept.
  private var lastFrame: Int64?
  /// Why it cannot go on.
  private(set) var error: MediaError?

  /// Begins the file. Errors: as `AudioRecorder.prepareToRecord`; nothing is left then.
  init(
    _ place: RecordingPlace, _ resolved: RecordingSettings.Resolved, _ format: AudioFormat,
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
    // Noted first: what was noted and is not there is nothing.
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

  /// Checks what can be checked without a file and a source. No I/O.
  ///
  /// Errors: `invalidArgument` for settings that the codec or the container does not have.
  static func check(
    _ resolved: RecordingSettings.Resolved, _ place: RecordingPlace, _ format: AudioFormat
  ) throws(MediaError) {
    try AssetWriter(file: place.file, container: resolved.container).add(input(resolved, format))
  }

  private static func input(_ resolved: RecordingSettings.Resolved, _ format: AudioFormat) -> AssetWriterInput {
    AssetWriterInput(
      settings: resolved.output,
      sourceFormat: .pcm(.float32, sampleRateHz: format.sampleRateHz, channelCount: format.channelCount),
      expectsMediaDataInRealTime: true)
  }

  /// Nothing more is kept.
  var isOver: Bool { error != nil || lastFrame.map { frameCount >= $0 } ?? false }

  private var time: MediaTime { MediaTime(value: frameCount, timescale: Int32(clamping: format.sampleRateHz)) }

  // MARK: - Sound

  /// Recording begins, or goes on.
  func begin(_ start: AudioRecorder.StartRequest) {
    earliest = start.hostTime
    // So many that none of the time is missing.
    lastFrame = start.duration.map { duration in
      frameCount
        + max(1, duration.convertScale(Int32(clamping: format.sampleRateHz), method: .towardPositiveInfinity).value)
    }
  }

  /// Takes a part of a piece.
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

  /// All that came was added; the source has lost so many frames in all, the last of them perhaps behind what came.
  func addRest(lostFrameCount: Int64) {
    let rest = lostFrameCount - toldLossCount
    if rest > 0, earliest == nil { addSilence(frameCount: rest) }
  }

  /// Where the source lost something, so that what follows is heard when it was said.
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

  // MARK: - What can be seen

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

  /// Has everybody see how far it is.
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

  /// Reads the size and the duration of a recording that was cut short. What cannot be read stays unknown.
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
      let asset = Asset(place: .descriptor(file), prefersPreciseDuration: true)
      outcome.duration = try asset.load().duration
    } catch {
      outcome.duration = .invalid
    }
  }

  /// Makes the file whole, whatever it ended of.
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
      // What there is of it stays playable.
      do throws(MediaError) { outcome.path = try place.recover()?.path } catch { outcome.path = nil }
      if let path = outcome.path { Self.measure(path, &outcome) }
      // What could not be given its name now is tried again at the next start.
      if outcome.path == nil, !place.isUnfinishedGone { return outcome }
    }
    if let journalEntry { options.journal?.remove(journalEntry) }
    return outcome
  }
}
