// Decodes segments in a worker process. This process loads and decrypts the segments, and the worker requests their
// bytes. Frames arrive through shared memory.
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore

/// Decodes the audio of contiguous segments in a worker process.
final class IsolatedSegmentDecoder: SegmentDecoder {
  /// The time limit for a worker to stop a cancelled function.
  private static let graceMilliseconds: Int32 = 5_000

  let description: SegmentDescription
  private let lease: WorkerLease
  private let shared: SharedSamples
  private let source: FileSource
  private var tags: [TimestampedTag] = []

  /// Opens contiguous segments in a worker. Blocks.
  ///
  /// - Parameter source: The bytes of the segments. This object owns it from now on. Its interrupt cancels the worker's
  ///   functions.
  /// - Throws: The errors of `LocalSegmentDecoder` and its container; `workerUnavailable`.
  init(_ lease: WorkerLease, source: FileSource, displayName: String) throws(MediaError) {
    (shared, description) = try SharedSamples.make { (shared, descriptor) throws(MediaError) in
      source.interrupt.attach(shared)
      do throws(MediaError) {
        let description = try lease.open(
          source, displayName: displayName, AssetWorkerFunction.openSegments.rawValue, true,
          graceMilliseconds: Self.graceMilliseconds, byteLimit: Asset.Isolation.openingByteCount,
          descriptor: descriptor, as: SegmentDescription.self)
        guard description.isPlausible else { throw lease.rejectResult() }
        return (shared, description)
      } catch {
        source.interrupt.detach(shared)
        throw error
      }
    }
    (self.lease, self.source) = (lease, source)
  }

  deinit {
    source.interrupt.detach(shared)
    lease.closeFiles(AssetWorkerFunction.closeSegments.rawValue)
  }

  func properties(displayPath: String) throws(MediaError) -> AssetProperties {
    let properties = try lease.run(AssetWorkerFunction.describeSegments.rawValue, true, as: AssetProperties.self)
    guard properties.isPlausible else { throw lease.rejectResult() }
    return properties
  }

  func next(into frame: Frame) throws(AVFailure) -> SegmentDecodeResult {
    let reading: SegmentReading
    do throws(MediaError) {
      reading = try lease.run(AssetWorkerFunction.readSegments.rawValue, true, as: SegmentReading.self)
      guard tags.count + reading.tags.count <= TimestampedTag.maximumCount,
        reading.tags.allSatisfy({ $0.time?.isNumeric != false && $0.bytes.count <= SegmentTag.maximumByteCount })
      else { throw lease.rejectResult() }
    } catch {
      if error.code == .cancelled { return .cancelled }
      throw AVFailure(error)
    }
    tags += reading.tags
    switch reading.outcome {
    case .frame(let decoded):
      guard decoded.sampleByteCount != nil else { throw AVFailure(lease.rejectResult()) }
      try frame.fill(decoded.layout, frameCount: decoded.frameCount, pts: decoded.ticks, from: shared.samples)
      return .frame(fragmentEndTicks: decoded.fragmentEndTicks)
    case .undecodable(let code, let call): return .undecodable(AVFailure(code: code, call: call))
    case .failed(let code, let call): throw AVFailure(code: code, call: call)
    case .end: return .end
    case .cancelled: return .cancelled
    }
  }

  func drainTags() -> [TimestampedTag] {
    defer { tags = [] }
    return tags
  }
}
