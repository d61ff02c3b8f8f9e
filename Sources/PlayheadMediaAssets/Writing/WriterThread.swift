// The thread of a writer dequeues the appended samples, encodes and writes them. Only this thread uses the encoders,
// the muxer and the file. It waits only while all queues are empty.
import CPlayheadMediaShims
import Glibc
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadWholeFiles

/// The work of a writer thread, from opening the file to its end.
final class WriterThread {
  private let shared: ConditionMutex<AssetWriter.State>
  private let destination: AssetWriter.Destination
  private let container: WritableContainer
  private let options: AssetWriter.Options
  private let inputs: [(input: AssetWriterInput, isEnabled: Bool)]
  private var tracks: [any WriterTrack] = []

  /// The next action.
  private enum Step {
    case encode(index: Int, SampleBuffer, sessionStart: MediaTime)
    case finish, cancel
  }

  init(
    _ shared: ConditionMutex<AssetWriter.State>, _ destination: AssetWriter.Destination, _ container: WritableContainer,
    _ options: AssetWriter.Options, _ inputs: [(AssetWriterInput, Bool)]
  ) {
    (self.shared, self.destination, self.container, self.options) = (shared, destination, container, options)
    self.inputs = inputs.map { (input: $0, isEnabled: $1) }
  }

  /// Writes the file. On an error, or when cancelled, there is no file.
  func run() {
    // With the signal blocked, `write` returns an error at the limit of the file size, and the process continues.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGXFSZ)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    do throws(MediaError) {
      end(try write() ? .completed : .cancelled, nil)
    } catch {
      end(.failed, error)
    }
  }

  private func end(_ status: AssetWriter.Status, _ error: MediaError?) {
    let completion = shared.update { state in
      (state.status, state.error, state.hasEnded) = (status, error, true)
      for index in state.inputs.indices {
        state.inputs[index].queue = []
        state.inputs[index].queuedByteCount = 0
      }
      defer { state.completion = nil }
      return state.completion
    }
    completion?(status)
  }

  /// Writes the file or the descriptor. Returns false if writing was cancelled.
  private func write() throws(MediaError) -> Bool {
    let extras = try WriterExtras(options, container)
    switch destination {
    case .file(let file): return try write(file, extras)
    case .descriptor(let descriptor):
      guard try write(to: descriptor, extras), startCommit() else { return false }
      shared.update { $0.byteCount = Self.byteCount(of: descriptor) }
      return true
    }
  }

  /// Writes a file that gets its name when it is complete. Returns false if writing was cancelled.
  private func write(_ file: WholeFile, _ extras: WriterExtras) throws(MediaError) -> Bool {
    let unfinished = try file.create()
    // The muxer must be released before the file's descriptor is closed.
    let isComplete: Bool
    do throws(MediaError) { isComplete = try write(to: unfinished.descriptor, extras) } catch {
      // A file without a header is never kept.
      if !shared.withState({ $0.isHeaderWritten }) { unfinished.discard() }
      throw error
    }
    guard isComplete, startCommit() else {
      unfinished.discard()
      return false
    }
    let byteCount = Self.byteCount(of: unfinished.descriptor)
    try unfinished.commit()
    shared.update { $0.byteCount = byteCount }
    return true
  }

  private static func byteCount(of descriptor: Int32) -> Int64 {
    var status = stat()
    return media_shims_fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// Begins the phase in which writing cannot be cancelled. Returns false if it has been cancelled already.
  private func startCommit() -> Bool {
    shared.update { state in
      state.isCommitting = !state.isCancelled
      return state.isCommitting
    }
  }

  private func write(to descriptor: Int32, _ extras: WriterExtras) throws(MediaError) -> Bool {
    let output = try open(descriptor, extras)
    shared.update { $0.isHeaderWritten = true }
    while true {
      switch nextStep() {
      case .encode(let index, let buffer, let start):
        try tracks[index].append(buffer, sessionStart: start, output)
      case .finish:
        try fillToSessionEnd(output)
        guard !isCancelled else { return false }
        for track in tracks {
          try track.finish(output)
          guard !isCancelled else { return false }
        }
        try extras.check(end: tracks.map(\.endTime).max() ?? .zero)
        try output.run { () throws(AVFailure) in try output.muxer.finish() }
        return true
      case .cancel: return false
      }
    }
  }

  /// Opens the encoders and the container, and writes its header.
  private func open(_ descriptor: Int32, _ extras: WriterExtras) throws(MediaError) -> WriterOutput {
    let muxer: Muxer
    do throws(AVFailure) {
      muxer = try Muxer(
        formatName: container.muxerName, descriptor: descriptor, options: muxerOptions(extras))
    } catch { throw container.error(error) }
    let shared = shared
    let output = WriterOutput(muxer: muxer, container: container) { shared.withState { $0.isCancelled } }
    for (input, isEnabled) in inputs { tracks.append(try track(input, isEnabled, output)) }
    try output.run { () throws(AVFailure) in
      try extras.addArtwork(to: muxer)
      try muxer.writeHeader()
    }
    return output
  }

  private func track(
    _ input: AssetWriterInput, _ isEnabled: Bool, _ output: WriterOutput
  ) throws(MediaError) -> any WriterTrack {
    let muxer = output.muxer
    if let audio = try input.audioSettings?.encoderSettings(for: input.sourceFormat) {
      return try output.run { () throws(AVFailure) in try EncodedAudioTrack(input, audio, isEnabled: isEnabled, muxer) }
    }
    if case .video(let settings) = input.settings {
      return try output.run { () throws(AVFailure) in
        try EncodedVideoTrack(input, settings, isEnabled: isEnabled, muxer)
      }
    }
    return try output.run { () throws(AVFailure) in try StoredTrack(input, isEnabled: isEnabled, muxer, container) }
  }

  private var isCancelled: Bool { shared.withState { $0.isCancelled } }

  private func muxerOptions(_ extras: WriterExtras) -> Muxer.Options {
    var result = Muxer.Options()
    result.tags = options.metadata.merging(extras.artworkTags) { _, artwork in artwork }
    result.chapters = extras.chapters
    // Matroska stores only presentation times, so that negative decoding times are harmless.
    result.keepsNegativeTimes = container == .matroska || container == .webm
    if options.flushInterval.isNumeric {
      result.flushMicroseconds = options.flushInterval.convertScale(1_000_000).value
    }
    guard container.isMovie else { return result }
    result.movieTimescale = movieTimescale
    result.movesIndexToFront = options.shouldOptimizeForNetworkUse
    let interval = options.movieFragmentInterval
    if interval.isNumeric {
      // A fragmented file begins with an index already.
      result.movesIndexToFront = false
      let microseconds = interval.convertScale(1_000_000)
      result.fragmentMicroseconds = Int(clamping: min(max(microseconds.value, 1_000), 3_600_000_000 / 2))
    }
    return result
  }

  /// The timescale in which the times of all tracks are exact, if it has 32 bits.
  private var movieTimescale: Int32 {
    inputs.reduce(1) { common, entry in
      var (larger, smaller) = (Int64(common), Int64(entry.input.timescale))
      while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
      return Int32(exactly: Int64(common) / larger * Int64(entry.input.timescale)) ?? common
    }
  }

  /// Waits for the next action. Of the inputs with samples, the one with the earliest sample is next.
  private func nextStep() -> Step {
    var hasRoom = false
    let step: Step? = shared.wait { state in
      if state.isCancelled { return .cancel }
      let waiting = state.inputs.indices.filter { !state.inputs[$0].queue.isEmpty }
      let first = waiting.min {
        guard let one = state.inputs[$0].queue.first, let other = state.inputs[$1].queue.first else { return false }
        return one.orderTime < other.orderTime
      }
      if let first, let start = state.sessionStart, let buffer = state.inputs[first].queue.popFirst() {
        state.inputs[first].queuedByteCount -= buffer.data.count
        hasRoom = state.inputs[first].isHalfEmpty
        return .encode(index: first, buffer, sessionStart: start)
      }
      return state.isFinishing ? .finish : nil
    }
    // Wakes the threads that wait for room, but only when half of the queue is empty: a wake-up for each buffer would
    // cost more than the buffer's copy.
    if hasRoom { shared.update { _ in } }
    return step ?? .cancel
  }

  /// Extends the tracks to the end of the session, if it was set: with silence, or with the last video frame.
  private func fillToSessionEnd(_ output: WriterOutput) throws(MediaError) {
    let (start, end) = shared.withState { ($0.sessionStart, $0.sessionEnd) }
    guard let start, let end else { return }
    for track in tracks { try track.fill(upTo: end - start, output) }
  }
}

extension SampleBuffer {
  /// The time by which samples of all tracks are ordered in the file.
  fileprivate var orderTime: MediaTime { decodeTime.isValid ? decodeTime : presentationTime }
}
