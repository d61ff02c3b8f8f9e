// Reads the stored samples of a track that a worker process parses. The bytes arrive through shared memory in chunks,
// and everything else in messages. This process checks every number that the worker reports.
import DequeModule
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore

/// Reads ranges of a stored track in a worker process.
///
/// Threading: one thread at a time, which may block. `cancel` may be called on any thread.
final class IsolatedStoredSource: StoredSampleSource, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only the interrupt, which is Sendable.

  /// The time limit for a worker to stop a cancelled function.
  private static let graceMilliseconds: Int32 = 5_000
  /// The maximum number of samples of one result. The samples of a byte source may arrive slowly, and are read one by
  /// one.
  private static let batchCount = 64

  let format: FormatDescription
  private let lease: WorkerLease
  private let shared: SharedSamples
  private let source: FileSource
  private let batchCount: Int
  /// The samples that the worker has read ahead.
  private var ready: Deque<SampleBuffer> = []
  private var end: StoredEnd?

  /// Opens a track of a file in a worker. Blocks.
  ///
  /// - Parameters:
  ///   - source: The file. This object owns it from now on. Its interrupt cancels the worker's functions.
  ///   - isCounted: Whether the positions of the samples are counted in audio frames.
  /// - Throws: The errors of `AssetReaderStoredOutput`; `workerUnavailable`; `damagedFile` if the worker crashes.
  init(
    _ pool: WorkerPool, source: FileSource, displayName: String, trackID: AssetTrack.ID, isCounted: Bool
  ) throws(MediaError) {
    let lease = try pool.lease()
    let parameters = StoredParameters(
      trackID: trackID, isCounted: isCounted, batchCount: source.byteSource == nil ? Self.batchCount : 1)
    (shared, format) = try SharedSamples.make { (shared, descriptor) throws(MediaError) in
      source.interrupt.attach(shared)
      do throws(MediaError) {
        let format = try lease.open(
          source, displayName: displayName, AssetWorkerFunction.openStored.rawValue, parameters,
          graceMilliseconds: Self.graceMilliseconds, descriptor: descriptor, as: FormatDescription.self)
        guard format.isPlausible else { throw lease.rejectResult() }
        return (shared, format)
      } catch {
        source.interrupt.detach(shared)
        throw error
      }
    }
    (self.lease, self.source, batchCount) = (lease, source, parameters.batchCount)
  }

  deinit {
    source.interrupt.detach(shared)
    lease.closeFiles(AssetWorkerFunction.closeStored.rawValue)
  }

  func cancel() { source.interrupt.cancel() }

  /// Returns nil if the worker has ended: its error is reported already.
  func popFault() -> MediaError? {
    guard case .fault(let fault)? = try? perform(.popFault) else { return nil }
    return fault
  }

  func start(_ range: TimeRange) throws(MediaError) {
    (ready, end) = ([], nil)
    guard case .started = try perform(.start(range)) else { throw lease.rejectResult() }
  }

  func read() throws(MediaError) -> SampleBuffer? {
    if ready.isEmpty, end == nil { try fill() }
    if let buffer = ready.popFirst() { return buffer }
    if let error = end?.error { throw error }
    return nil
  }

  private func fill() throws(MediaError) {
    guard case .samples(let samples, let end) = try perform(.read),
      (end == nil ? 1 : 0)...batchCount ~= samples.count, samples.allSatisfy(\.isPlausible)
    else { throw lease.rejectResult() }
    let byteCount = samples.reduce(0) { $0 + $1.byteCount }
    // Only the last sample may exceed the size after which a worker adds no sample.
    guard byteCount - (samples.last?.byteCount ?? 0) < WorkerStoredSamples.batchByteCount else {
      throw lease.rejectResult()
    }
    let received = try shared.receive(byteCount) { () throws(MediaError) in
      guard case .bytes(let count) = try perform(.readBytes) else { throw lease.rejectResult() }
      return count
    }
    guard let received else { throw lease.rejectResult() }
    var offset = 0
    for sample in samples {
      let data = samples.count == 1 ? received : Array(received[offset..<offset + sample.byteCount])
      offset += sample.byteCount
      do throws(MediaError) { ready.append(try sample.buffer(format, data)) } catch { throw lease.rejectResult() }
    }
    self.end = end
  }

  private func perform(_ command: StoredCommand) throws(MediaError) -> StoredReply {
    let reading = try lease.run(AssetWorkerFunction.performOnStored.rawValue, command, as: StoredReply.self)
    if case .failed(let error) = reading { throw error }
    return reading
  }
}
