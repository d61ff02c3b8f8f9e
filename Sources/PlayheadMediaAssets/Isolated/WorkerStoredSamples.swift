import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore

/// Reads the stored samples of a track in a worker process, and shares them with the parent process.
final class WorkerStoredSamples {
  /// The maximum size of a packet in bytes, of which the worker's memory contains several copies.
  static let maximumPacketByteCount = 64 << 20
  /// The number of bytes after which no further sample is added to a result.
  static let batchByteCount = 1 << 19

  private let source: any StoredSampleSource
  private let shared: SharedSamples
  private let batchCount: Int
  private var bytes = PendingBytes()

  /// Opens a track of an asset. This process parses the file.
  ///
  /// - Throws: The errors of `AssetReaderStoredOutput`.
  init(_ asset: Asset, _ parameters: StoredParameters, _ descriptor: Int32) throws(MediaError) {
    shared = try SharedSamples(mapping: descriptor)
    batchCount = parameters.batchCount
    source = try StoredSampleSources.openLocally(
      asset, trackID: parameters.trackID, isCounted: parameters.isCounted,
      interrupt: Interrupt(sharedFlag: shared.cancellation), maximumPacketByteCount: Self.maximumPacketByteCount)
  }

  /// The format of the samples.
  var format: FormatDescription { source.format }

  func perform(_ command: StoredCommand) -> StoredReply {
    do throws(MediaError) {
      switch command {
      case .start(let range):
        bytes = PendingBytes()
        try source.start(range)
        return .started
      case .read: return read()
      case .readBytes: return .bytes(bytes.copyNext(into: shared))
      case .popFault: return .fault(source.popFault())
      }
    } catch {
      return .failed(error)
    }
  }

  private func read() -> StoredReply {
    bytes = PendingBytes()
    var samples: [StoredSample] = []
    var data: [UInt8] = []
    var end: StoredEnd?
    do throws(MediaError) {
      while samples.isEmpty || samples.count < batchCount && data.count < Self.batchByteCount {
        guard let buffer = try source.read() else {
          end = StoredEnd()
          break
        }
        samples.append(StoredSample(buffer))
        if data.isEmpty { data = buffer.data } else { data += buffer.data }
      }
    } catch {
      end = StoredEnd(error: error)
    }
    bytes = PendingBytes(data)
    return .samples(samples, end: end)
  }
}
