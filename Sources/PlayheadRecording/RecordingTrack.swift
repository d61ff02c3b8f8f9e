// The file of one recording: the audio that is kept, the file's location, and the result at the end.
import Glibc
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadWholeFiles

/// Writes captured audio to a file. Used only on the recording's thread.
final class RecordingTrack {
  private let location: RecordingLocation
  private let format: AudioFormat
  private let writer: AssetWriter
  private let input: AssetWriterInput
  private let sampleFormat: FormatDescription
  private let shared: ConditionMutex<AudioRecorder.Shared>
  private let options: AudioRecorder.Options
  private let journalEntry: String?
  private var gate: RecordingGate?
  private var meter: RecordingMeter

  /// Frames that were kept.
  private var frameCount: Int64 = 0
  private var lostFrameCount: Int64 = 0
  /// The number of lost frames that were reported to this track, including those before it kept any audio.
  private var reportedLossCount: Int64 = 0
  /// Audio that was captured before this time is skipped.
  private var startHostTime: HostTime?
  /// The frame at which the recording ends; nil: no limit.
  private var endFrame: Int64?
  /// Why recording cannot continue.
  private(set) var error: MediaError?

  /// Creates the file.
  ///
  /// - Throws: the errors of `AudioRecorder.prepareToRecord`. No file remains then.
  init(
    _ location: RecordingLocation, _ resolved: RecordingSettings.Resolved, _ format: AudioFormat,
    _ options: AudioRecorder.Options, _ shared: ConditionMutex<AudioRecorder.Shared>
  ) throws(MediaError) {
    (self.location, self.format, self.shared, self.options) = (location, format, shared, options)
    var writing = AssetWriter.Options()
    writing.replacesFile = location.file.replaces
    writing.movieFragmentInterval = RecordingSession.fragmentInterval
    writing.flushInterval = RecordingSession.flushInterval
    writing.metadata = options.metadata
    writer = AssetWriter(file: location.file, container: resolved.container, options: writing)
    input = Self.makeInput(resolved, format)
    sampleFormat = input.sourceFormat
    try writer.add(input)
    // The journal entry is written before the file is created: an entry without a file is harmless.
    // A file that another process has opened is repaired by that process.
    let entry = location.isOpened ? nil : try options.journal?.add(location.unfinishedPath)
    journalEntry = entry
    let gateSettings = RecordingGate.Settings(
      startLevel: options.startLevel, silenceLevel: options.silenceLevel, longestSilence: options.longestSilence)
    gate = gateSettings.keepsAllAudio ? nil : RecordingGate(gateSettings, format: format)
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
    _ resolved: RecordingSettings.Resolved, _ location: RecordingLocation, _ format: AudioFormat
  ) throws(MediaError) {
    try AssetWriter(file: location.file, container: resolved.container).add(makeInput(resolved, format))
  }

  private static func makeInput(_ resolved: RecordingSettings.Resolved, _ format: AudioFormat) -> AssetWriterInput {
    AssetWriterInput(
      settings: resolved.output,
      sourceFormat: .pcm(.float32, sampleRateHz: format.sampleRateHz, channelCount: format.channelCount),
      expectsMediaDataInRealTime: true)
  }

  /// Whether the recording is complete or has failed, so that no more audio is written.
  var isOver: Bool { error != nil || endFrame.map { frameCount >= $0 } ?? false }

  private var time: MediaTime { MediaTime(value: frameCount, timescale: Int32(clamping: format.sampleRateHz)) }

  // MARK: - Audio

  /// Starts or resumes recording.
  func start(_ request: AudioRecorder.StartRequest) {
    startHostTime = request.hostTime
    // Rounded up, so that the full duration is recorded.
    endFrame = request.duration.map { duration in
      frameCount
        + max(1, duration.convertScale(Int32(clamping: format.sampleRateHz), method: .towardPositiveInfinity).value)
    }
  }

  /// Adds a part of a captured chunk.
  func add(_ samples: UnsafePointer<Float>, frameCount count: Int, chunk: CaptureQueue.Chunk, isFirst: Bool) {
    var skip = 0
    if isFirst { reportedLossCount += chunk.lostFrameCount }
    if let startHostTime {
      let offset = isFirst ? 0 : chunk.frameCount - count
      let captureTime = chunk.hostTime.advanced(
        byNanoseconds: Int64(Double(offset) * 1e9 / Double(format.sampleRateHz)))
      let earlyFrames = Double(startHostTime.nanoseconds(since: captureTime)) * Double(format.sampleRateHz) / 1e9
      if earlyFrames > 0 { skip = Int(min(earlyFrames.rounded(.up), Double(count))) }
      guard skip < count else { return }
      self.startHostTime = nil
    } else if isFirst, chunk.lostFrameCount > 0 {
      addSilence(frameCount: chunk.lostFrameCount)
    }
    let channelCount = format.channelCount
    keep(UnsafeBufferPointer(start: samples + skip * channelCount, count: (count - skip) * channelCount))
  }

  /// Adds silence for lost frames at the end, after all captured audio was added. `lostFrameCount` is the source's
  /// total.
  func addTrailingSilence(lostFrameCount: Int64) {
    let rest = lostFrameCount - reportedLossCount
    if rest > 0, startHostTime == nil { addSilence(frameCount: rest) }
  }

  /// Replaces lost frames with silence, so that later audio keeps its time.
  private func addSilence(frameCount count: Int64) {
    lostFrameCount += count
    let time = time
    shared.withState { $0.pendingEvents.append(.lost(frameCount: count, at: time)) }
    shared.deliverEvents(to: options.onEvent)
    let silence = [Float](repeating: 0, count: Int(min(count, 8_192)) * format.channelCount)
    var rest = count
    while rest > 0, !isOver {
      let chunkCount = Int(min(rest, 8_192))
      silence.withUnsafeBufferPointer { keep(UnsafeBufferPointer(rebasing: $0[..<(chunkCount * format.channelCount)])) }
      rest -= Int64(chunkCount)
    }
  }

  private func keep(_ samples: UnsafeBufferPointer<Float>) {
    measure(samples)
    if gate == nil { write(samples) } else { gate?.add(samples) { write($0) } }
  }

  private func write(_ samples: UnsafeBufferPointer<Float>) {
    guard !isOver else { return }
    let channelCount = format.channelCount
    let remaining = endFrame.map { Int($0 - frameCount) } ?? .max
    let count = min(samples.count / channelCount, remaining)
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
    let due = shared.withState { shared in
      var due: [(body: @Sendable (MeterLevels, MediaTime) -> Void, levels: MeterLevels)] = []
      for window in windows {
        var unreadSum = shared.unreadSum ?? RecordingMeter.Sum(channelCount: channelCount)
        unreadSum.add(window)
        shared.unreadSum = unreadSum
        for (number, observer) in shared.meterObservers.sorted(by: { $0.key < $1.key }) {
          var sum = observer.sum ?? RecordingMeter.Sum(channelCount: channelCount)
          sum.add(window)
          if sum.frameCount >= observer.intervalFrames(rate) {
            due.append((observer.body, sum.levels))
            sum.removeAll()
          }
          shared.meterObservers[number]?.sum = sum
        }
      }
      return due
    }
    for (body, levels) in due { body(levels, time) }
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

  // MARK: - Finishing

  /// Reads the size and the duration of a recording that was cut short. Values that cannot be read stay unknown.
  private func readSizeAndDuration(_ path: [UInt8], _ outcome: inout AudioRecorder.Outcome) {
    let descriptor = location.open(path)
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

  /// Finishes the file.
  ///
  /// - Parameter failure: The error that ended the recording; nil if it was stopped or reached its limit.
  func finish(_ failure: MediaError?) -> AudioRecorder.Outcome {
    defer { location.release() }
    gate?.finish { write($0) }
    var outcome = AudioRecorder.Outcome(
      pathBytes: location.pathBytes, duration: time, byteCount: 0, lostFrameCount: lostFrameCount,
      skippedFrameCount: gate?.skippedFrameCount ?? 0, error: failure ?? error)
    do throws(MediaError) {
      try writer.finishWriting()
      outcome.byteCount = writer.byteCount
    } catch {
      outcome.error = outcome.error ?? error
      outcome.duration = .invalid
      // The repaired file is playable up to the last complete part.
      do throws(MediaError) { outcome.pathBytes = try location.recover()?.pathBytes } catch { outcome.pathBytes = nil }
      if let path = outcome.pathBytes { readSizeAndDuration(path, &outcome) }
      // The journal entry stays, so that the recovery at the next start tries to rename the file again.
      if outcome.pathBytes == nil, !location.isUnfinishedNameFree { return outcome }
    }
    if let journalEntry { options.journal?.remove(journalEntry) }
    return outcome
  }
}
