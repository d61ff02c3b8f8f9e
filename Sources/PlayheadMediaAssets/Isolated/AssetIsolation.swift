// Selects the process in which untrusted bytes are parsed. FFmpeg and TagLib are large, written in C and C++, and parse
// files of any origin. With isolation, a worker process parses them. A file that crashes these libraries ends only the
// worker process, and is reported as an error of the file.
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadTags
import Synchronization

extension Asset {
  /// The process in which bytes are parsed: this process, or worker processes. The worker program is `playhead-worker`,
  /// next to the program or in `../lib/playhead`.
  ///
  /// With workers, loading and reading fail with `damagedFile` if a worker crashes, and with `workerUnavailable` if the
  /// program is missing or 64 workers are busy.
  ///
  /// Each reader of a file has a worker while it exists:
  ///
  /// - each output of ``AssetReader``
  /// - each track of ``AssetReaderAudioMixOutput`` and of ``AssetReaderVideoCompositionOutput``
  /// - each ``AssetImageGenerator`` after its first image
  /// - each track of a composition that is being read; each part has the isolation of its asset
  ///
  /// With workers, this process performs the following tasks with data that workers have parsed:
  ///
  /// - It converts and mixes decoded audio.
  /// - It renders a ``VideoComposition`` from the images of its tracks, which workers make.
  /// - It encodes the exports and the images of compositions, and the exports of HLS streams.
  /// - It writes stored samples (``AssetWriter``).
  public enum Isolation: Sendable, Hashable {
    /// This process.
    case none
    /// Workers open assets, read their tags, decode their audio and video, read the stored samples of ``AssetReader``,
    /// make the images of ``ImageExport`` and ``AssetImageGenerator``, and export files (``AssetExportSession``).
    ///
    /// This process decodes the audio of players, after a worker has opened the asset and decoded its beginning without
    /// a fault.
    case opening
    /// As `opening`, and a worker also decodes the audio that a player plays.
    case playback

    private static let current = Mutex(Isolation.none)

    /// The isolation of assets that are created without one. Default: `none`. Threading: any thread.
    public static var standard: Isolation {
      get { current.withLock { $0 } }
      set { current.withLock { $0 = newValue } }
    }
  }
}

extension Asset.Isolation {
  /// Number of audio packets of a local file that a worker decodes before this process decodes the file.
  private static let localPacketCount = 32
  /// The same number for a byte source. It is smaller, because the bytes may arrive slowly.
  private static let streamPacketCount = 4
  /// Maximum number of bytes that a worker may request to open a file: FFmpeg's limit, and 128 MiB for other reads.
  static let openingByteCount = OpeningLimits.byteCount + 128 << 20

  /// Returns a worker; nil without isolation.
  func lease() throws(MediaError) -> WorkerLease? { self == .none ? nil : try Self.pool().lease() }

  /// Returns the workers of this process.
  ///
  /// - Throws: `workerUnavailable` if their program is missing.
  static func pool() throws(MediaError) -> WorkerPool {
    guard let pool = WorkerPool.shared else {
      throw MediaError(.workerUnavailable, "the worker program \(WorkerProgram.name) is missing", operation: "worker")
    }
    return pool
  }

  /// Returns a worker that reads audio; nil if this process reads it.
  func readingLease(isPlayback: Bool) throws(MediaError) -> WorkerLease? {
    isPlayback && self == .opening ? nil : try lease()
  }

  /// Performs one task on a file in a worker. Returns nil without isolation. Blocks.
  ///
  /// - Throws: The errors of the function and of the worker.
  func run<Result: Decodable>(
    _ function: AssetWorkerFunction, _ parameters: some Encodable, on source: FileSource, named name: String,
    byteLimit: Int? = openingByteCount, as type: Result.Type
  ) throws(MediaError) -> Result? {
    guard let lease = try lease() else { return nil }
    return try lease.open(
      source, displayName: name, function.rawValue, parameters, byteLimit: byteLimit, as: type)
  }

  /// Returns the number of packets of a source that a worker decodes before this process does.
  static func trialPacketCount(of source: FileSource) -> Int {
    source.byteSource == nil ? localPacketCount : streamPacketCount
  }

  /// Opens a container in this process, after a worker has opened it. Blocks.
  ///
  /// - Throws: The errors of `Demuxer.init`, and those that the worker found.
  func demuxer(
    _ source: FileSource, options: Demuxer.Options = Demuxer.Options(), trials: TrialRecord? = nil
  ) throws(AVFailure) -> Demuxer {
    // A pipe is opened without a worker, because its bytes cannot be read twice.
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

  /// Reads tags with TagLib. Blocks.
  ///
  /// - Throws: The errors of reading the source, and those that the worker found.
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

/// Records that a worker has opened the bytes of an asset without a fault, so that no worker opens them again.
/// Threading: any thread.
final class TrialRecord: Sendable {
  private struct State {
    var identity: FileIdentity?
    weak var byteSource: (any ByteSource)?
  }

  private let state = Mutex(State())

  /// Returns whether these bytes have been opened: those of an unchanged local file, or of the same source.
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
