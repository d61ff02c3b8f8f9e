// Where untrusted bytes are parsed. FFmpeg and TagLib are large, written in C and C++, and parse what anybody may have made. With
// isolation, a worker process does that: a file that crashes these libraries there costs that process, and is an error of the file here.
import Isolation
import LibAV
import MediaCore
import Synchronization
import Tags

extension Asset {
  /// Where bytes are parsed: in this process, or in worker processes (`playhead-worker`, beside the program or in `../lib/playhead`).
  ///
  /// With workers, loading fails with `damagedFile` where a worker crashes, and with `workerUnavailable` where the program is missing.
  public enum Isolation: Sendable, Hashable {
    /// In this process.
    case none
    /// Workers open assets, read their tags, decode their audio, make the images of ``ImageExport``, and export files
    /// (``AssetExportSession``).
    ///
    /// This process decodes the audio of players, after a worker has opened the asset and decoded its beginning without a
    /// fault. This process also reads the video and the stored samples of ``AssetReader``, the video of
    /// ``AssetImageGenerator``, and the video of compositions.
    case worker
    /// As `worker`, and the audio that a player plays is decoded in a worker, too.
    case playback

    private static let present = Mutex(Isolation.none)

    /// The isolation of assets that are made without one. Default: `none`. Threading: any.
    public static var standard: Isolation {
      get { present.withLock { $0 } }
      set { present.withLock { $0 = newValue } }
    }
  }
}

extension Asset.Isolation {
  /// Packets of audio that a worker decodes before this process decodes a file.
  private static let localPacketCount = 32
  /// The same of a stream whose bytes arrive with the time.
  private static let streamPacketCount = 4
  /// Bytes that a worker may ask for to open a file: what FFmpeg may read, and 128 MiB for everything else.
  static let openingByteCount = OpeningLimits.byteCount + 128 << 20

  /// A worker for the caller; nil without isolation.
  func lease() throws(MediaError) -> WorkerLease? { self == .none ? nil : try Self.pool().lease() }

  /// The workers of this process. Errors: `workerUnavailable` where their program is missing.
  static func pool() throws(MediaError) -> WorkerPool {
    guard let pool = WorkerPool.shared else {
      throw MediaError(.workerUnavailable, "the program \(WorkerProgram.name) is missing", operation: "worker")
    }
    return pool
  }

  /// A worker that reads audio; nil where this process reads it.
  func readingLease(isPlayback: Bool) throws(MediaError) -> WorkerLease? {
    isPlayback && self == .worker ? nil : try lease()
  }

  /// Has a worker perform one task on a file; nil without isolation. Blocks. Throws what the function throws, and what the worker finds.
  func run<Result: Decodable>(
    _ function: AssetWorkerFunction, _ parameters: some Encodable, on source: FileSource, named name: String,
    byteLimit: Int? = openingByteCount, as type: Result.Type
  ) throws(MediaError) -> Result? {
    guard let lease = try lease() else { return nil }
    return try lease.open(
      source, displayName: name, function.rawValue, parameters, byteLimit: byteLimit, as: type)
  }

  /// How many packets of a source a worker decodes before this process does.
  static func trialPacketCount(of source: FileSource) -> Int {
    source.byteSource == nil ? localPacketCount : streamPacketCount
  }

  /// Opens a container in this process, after a worker has. Blocks. Throws as `Demuxer.init`, and what the worker found.
  func demuxer(
    _ source: FileSource, options: Demuxer.Options = Demuxer.Options(), trials: TrialRecord? = nil
  ) throws(AVFailure) -> Demuxer {
    // A pipe's bytes cannot be read twice.
    if self != .none, source.byteSource != nil || source.byteCount != nil {
      let identity = try source.identity()
      if trials?.contains(source, identity) != true {
        let parameters = TrialParameters(options: options, packetCount: Self.trialPacketCount(of: source))
        let name = String(decoding: source.path, as: UTF8.self)
        do throws(MediaError) {
          _ = try run(.tryContainer, parameters, on: source, named: name, as: Bool.self)
        } catch {
          throw AVFailure(error)
        }
        trials?.note(source, identity)
      }
    }
    return try Demuxer(source: source, options: options)
  }

  /// Reads tags with TagLib. Blocks. Throws what reading the source throws, and what the worker found.
  func tags(
    _ container: TagContainer, of source: FileSource, byteCount: Int64, charset: TextCharset
  ) throws(AVFailure) -> TagReading {
    let reading: TagReading?
    do throws(MediaError) {
      let name = String(decoding: source.path, as: UTF8.self)
      let parameters = TagParameters(container: container, charset: charset)
      reading = try run(.readTags, parameters, on: source, named: name, as: TagReading.self)
    } catch {
      throw AVFailure(error)
    }
    if let reading { return reading }
    return try TagReader.read(container, byteCount: byteCount, charset: charset.converterName) {
      (buffer, offset) throws(AVFailure) -> Int in
      try source.read(into: buffer, at: offset)
    }
  }
}

/// Which bytes of an asset a worker has opened without a fault, so that it does so once. Threading: any.
final class TrialRecord: Sendable {
  private struct State {
    var identity: FileIdentity?
    weak var byteSource: (any ByteSource)?
  }

  private let state = Mutex(State())

  /// Whether these are the bytes that were opened: an unchanged local file, or the same source.
  func contains(_ source: FileSource, _ identity: FileIdentity?) -> Bool {
    state.withLock { state in
      if let byteSource = source.byteSource { return state.byteSource === byteSource }
      return identity != nil && state.identity == identity
    }
  }

  func note(_ source: FileSource, _ identity: FileIdentity?) {
    state.withLock { state in
      if let byteSource = source.byteSource { state.byteSource = byteSource } else { state.identity = identity }
    }
  }
}
