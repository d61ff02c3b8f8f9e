// The thread of a writer: takes what is appended, encodes it and writes it. It alone touches encoders, the muxer and the file; it waits
// for nothing but the monitor, and never for one input while another has something.
import Glibc
import LibAV
import MediaCore
import RealtimeAudio
import WholeFiles

/// What the thread of a writer does, from its first to its last.
final class WriterThread {
  private let shared: WakeSignal<AssetWriter.State>
  private let file: WholeFile
  private let container: WritableContainer
  private let options: AssetWriter.Options
  private let inputs: [AssetWriterInput]
  private var tracks: [WriterTrack] = []

  /// What is to be done next.
  private enum Step {
    case encode(index: Int, SampleBuffer, sessionStart: MediaTime)
    case finish, cancel
  }

  init(
    _ shared: WakeSignal<AssetWriter.State>, _ file: WholeFile, _ container: WritableContainer,
    _ options: AssetWriter.Options, _ inputs: [AssetWriterInput]
  ) {
    (self.shared, self.file, self.container, self.options, self.inputs) = (shared, file, container, options, inputs)
  }

  /// Writes the file; on an error, or when it is cancelled, there is none.
  func run() {
    // A limit on the size of files is an error of `write`, and no end of the process.
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

  /// False when it was cancelled.
  private func write() throws(MediaError) -> Bool {
    let unfinished = try file.begin()
    // The muxer is gone before the file's descriptor is.
    let isWhole = try write(to: unfinished.descriptor)
    guard isWhole else { return false }
    var status = stat()
    let byteCount = fstat(unfinished.descriptor, &status) == 0 ? Int64(status.st_size) : 0
    try unfinished.commit()
    shared.update { $0.byteCount = byteCount }
    return true
  }

  private func write(to descriptor: Int32) throws(MediaError) -> Bool {
    let muxer: Muxer
    do throws(AVFailure) {
      muxer = try Muxer(formatName: container.muxerName, descriptor: descriptor, options: muxerOptions)
    } catch { throw failure(error) }
    for input in inputs {
      let settings = try input.settings.encoderSettings(for: input.sourceFormat)
      do throws(AVFailure) { tracks.append(try WriterTrack(input, settings, muxer)) } catch { throw failure(error) }
    }
    do throws(AVFailure) { try muxer.writeHeader() } catch { throw failure(error) }
    shared.update { $0.isHeaderWritten = true }
    while true {
      switch nextStep() {
      case .encode(let index, let buffer, let start):
        try encode(buffer, at: index, sessionStart: start, muxer)
      case .finish:
        try fillUp(muxer)
        guard !isCancelled else { return false }
        do throws(AVFailure) {
          for track in tracks { try track.finish(muxer) }
          try muxer.finish()
        } catch { throw failure(error) }
        return true
      case .cancel: return false
      }
    }
  }

  private var isCancelled: Bool { shared.withState { $0.isCancelled } }

  private var muxerOptions: Muxer.Options {
    var result = Muxer.Options()
    result.tags = options.metadata
    guard container.isMovie else { return result }
    result.movesIndexToFront = options.shouldOptimizeForNetworkUse
    let interval = options.movieFragmentInterval
    if interval.isNumeric {
      // Fragments begin with an index already.
      result.movesIndexToFront = false
      let microseconds = interval.convertScale(1_000_000)
      result.fragmentMicroseconds = Int(clamping: min(max(microseconds.value, 1_000), 3_600_000_000 / 2))
    }
    return result
  }

  /// Waits for something to do: of the inputs that have something, the one whose turn is first.
  private func nextStep() -> Step {
    let step: Step? = shared.wait { state in
      if state.isCancelled { return .cancel }
      let waiting = state.inputs.indices.filter { !state.inputs[$0].queue.isEmpty }
      let first = waiting.min {
        guard let one = state.inputs[$0].queue.first, let other = state.inputs[$1].queue.first else { return false }
        return one.presentationTime < other.presentationTime
      }
      if let first, let start = state.sessionStart, let buffer = state.inputs[first].queue.popFirst() {
        state.inputs[first].queuedByteCount -= buffer.data.count
        return .encode(index: first, buffer, sessionStart: start)
      }
      return state.isFinishing ? .finish : nil
    }
    // Room has come: whoever waits for it is to hear.
    shared.update { _ in }
    return step ?? .cancel
  }

  private func encode(
    _ buffer: SampleBuffer, at index: Int, sessionStart: MediaTime, _ muxer: Muxer
  ) throws(MediaError) {
    let track = tracks[index]
    guard let placed = track.timeline.place(buffer, sessionStart: sessionStart) else {
      throw MediaError(.invalidTime, "a gap of more than a day between samples", operation: "append")
    }
    do throws(AVFailure) {
      try track.appendSilence(frameCount: placed.silence, muxer) { isCancelled }
      try track.append(buffer, frames: placed.frames, muxer)
    } catch { throw failure(error) }
  }

  /// Silence up to the end of the session, when that was said.
  private func fillUp(_ muxer: Muxer) throws(MediaError) {
    let (start, end) = shared.withState { ($0.sessionStart, $0.sessionEnd) }
    guard let start, let end else { return }
    for track in tracks {
      guard let silence = track.timeline.fill(upTo: end - start) else {
        throw MediaError(.invalidTime, "a gap of more than a day before the end", operation: "endSession")
      }
      do throws(AVFailure) {
        try track.appendSilence(frameCount: silence, muxer) { isCancelled }
      } catch { throw failure(error) }
    }
  }

  /// The one place where a failure of FFmpeg's in writing becomes an error with a public number.
  private func failure(_ failure: AVFailure) -> MediaError {
    let (code, message): (MediaError.Code, String) =
      switch failure.call {
      case "write": (.writeFailed, "the file cannot be written")
      case "avformat_write_header", "avcodec_open2", "Encoder.init":
        (.invalidArgument, "the settings are refused by \(container.rawValue) or its encoder")
      case "swr_init", "swr_convert", "swr_alloc_set_opts2", "av_channel_layout_from_mask":
        (.conversionFailed, "the sound cannot be converted")
      default: (.writeFailed, "the sound cannot be encoded or written")
      }
    return MediaError(code, message, operation: failure.call, underlying: failure.reason)
  }
}
