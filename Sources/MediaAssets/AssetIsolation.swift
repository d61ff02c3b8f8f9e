// Where untrusted bytes are parsed. FFmpeg and TagLib are large, written in C and C++, and parse what anybody may have made. With
// isolation, a worker process opens each file first and decodes its beginning, and reads its tags: a file that crashes these
// libraries there costs that process, and is an error of the file here.
import Isolation
import LibAV
import MediaCore
import Synchronization
import Tags

extension Asset {
  /// Whether bytes are parsed in this process at once, or by a worker process first.
  public enum Isolation: Sendable, Hashable {
    /// In this process.
    case none
    /// A worker process (`playhead-worker`, beside the program or in `../lib/playhead`) opens the asset, decodes the beginning of its
    /// audio, and reads its tags. The asset is decoded in this process once that has ended without a fault.
    ///
    /// Loading fails with `damagedFile` where the worker crashes, and with `workerUnavailable` where there is no program.
    case worker

    private static let present = Mutex(Isolation.none)

    /// The isolation of assets that are made without one. Default: `none`. Threading: any.
    public static var standard: Isolation {
      get { present.withLock { $0 } }
      set { present.withLock { $0 = newValue } }
    }
  }
}

extension Asset.Isolation {
  /// The workers to use; nil without isolation.
  private func pool() throws(AVFailure) -> WorkerPool? {
    guard self == .worker else { return nil }
    guard let pool = WorkerPool.shared else {
      throw AVFailure(
        MediaError(.workerUnavailable, "the program \(WorkerProgram.name) is missing", operation: "worker"))
    }
    return pool
  }

  /// Opens a container in this process, after a worker has. Blocks. Throws as `Demuxer.init`, and what the worker found.
  func demuxer(
    _ source: FileSource, options: Demuxer.Options = Demuxer.Options(), trials: TrialRecord? = nil
  ) throws(AVFailure) -> Demuxer {
    // A pipe's bytes cannot be read twice.
    if let pool = try pool(), source.byteSource != nil || source.byteCount != nil {
      let identity = try source.identity()
      if trials?.contains(source, identity) != true {
        try pool.tryOpening(source, options: options)
        trials?.note(source, identity)
      }
    }
    return try Demuxer(source: source, options: options)
  }

  /// Reads tags. Blocks. Throws what reading the source throws, and what the worker found.
  func tags(_ container: TagContainer, of source: FileSource, byteCount: Int64) throws(AVFailure) -> TagReading {
    if let pool = try pool() { return try pool.tags(container, of: source) }
    return try TagReader.read(container, byteCount: byteCount) { (buffer, offset) throws(AVFailure) -> Int in
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
