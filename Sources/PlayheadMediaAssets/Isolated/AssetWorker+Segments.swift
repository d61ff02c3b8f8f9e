import Glibc
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore

/// Decodes contiguous segments in a worker process, and shares the frames with the parent process.
struct WorkerSegmentDecoder {
  private let decoder: LocalSegmentDecoder
  private let frame: Frame
  private let shared: SharedSamples
  private let name: String

  /// - Throws: The errors of `Demuxer.init` and `LocalSegmentDecoder`.
  init(_ file: SourceFile, _ descriptor: Int32) throws(MediaError) {
    shared = try SharedSamples(mapping: descriptor)
    name = file.displayName
    let demuxer: Demuxer
    do throws(AVFailure) {
      frame = try Frame()
      let source = try file.open(interrupt: Interrupt(sharedFlag: shared.cancellation))
      demuxer = try Demuxer(source: source, options: LocalSegmentDecoder.options)
    } catch {
      throw MediaError(error, path: name)
    }
    decoder = try LocalSegmentDecoder(demuxer, name: name)
  }

  var description: SegmentDescription { decoder.description }

  func properties() throws(MediaError) -> AssetProperties { try decoder.properties(displayPath: name) }

  /// Decodes the next frame.
  ///
  /// - Throws: The errors of the byte source.
  func read() throws(MediaError) -> SegmentReading {
    let outcome: SegmentReading.Outcome
    do throws(AVFailure) {
      switch try decoder.next(into: frame) {
      case .frame(let fragmentEndTicks): outcome = share(fragmentEndTicks)
      case .undecodable(let failure): outcome = .undecodable(code: failure.code, call: failure.call)
      case .end: outcome = .end
      case .cancelled: outcome = .cancelled
      }
    } catch {
      if let error = error.sourceError { throw error }
      outcome = .failed(code: error.code, call: error.call)
    }
    return SegmentReading(outcome: outcome, tags: decoder.drainTags())
  }

  /// Copies the frame into the shared memory. A frame that does not fit is undecodable.
  private func share(_ fragmentEndTicks: Int64?) -> SegmentReading.Outcome {
    guard let layout = frame.layout, frame.sampleByteCount <= SharedSamples.sampleByteCount else {
      let failure = AVFailure(errno: ENOMEM, call: "avcodec_receive_frame")
      return .undecodable(code: failure.code, call: failure.call)
    }
    frame.copyPlanes(into: shared.samples)
    return .frame(
      SegmentFrame(
        layout: layout, frameCount: frame.frameCount, ticks: frame.pts, fragmentEndTicks: fragmentEndTicks))
  }
}
