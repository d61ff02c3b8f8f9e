import Glibc
// Exports in a worker process. The worker receives the descriptors of the files, or requests their bytes. It writes to
// the descriptor of a new file, which this process moves to its final path.
import PlayheadFileAccess
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore

/// Parameters of an export.
struct ExportParameters: Codable {
  var settings: ExportSettings
  /// As `ExportSource.mixes`.
  var mixes: Bool
  /// As `Asset.prefersPreciseDuration`, for each file.
  var prefersPreciseDurations: [Bool]
}

/// The reports of a worker during an export.
enum ExportReport: Codable {
  /// The export advanced during the last second.
  case alive
  /// As `ExportControl.report`.
  case progress(Int?)
}

/// An export in a worker process.
struct IsolatedExport {
  /// The memory limit of a worker that encodes video, in bytes: x264 retains about 60 frames.
  private static let encodingByteCount: UInt64 = 1_536 << 20

  private let source: ExportSource
  private let settings: ExportSettings
  private let pool: WorkerPool?

  /// - Parameter pool: The workers; nil for those of this process.
  init(_ source: ExportSource, _ settings: ExportSettings, pool: WorkerPool? = nil) {
    (self.source, self.settings, self.pool) = (source, settings, pool)
  }

  /// Exports as `LocalExport.run` does. Returns nil if an asset has no isolation, or is a stream or a composition: this
  /// process exports those.
  ///
  /// - Throws: The errors of `LocalExport.run`; `damagedFile` if the worker crashes; `workerUnavailable`.
  func run(
    writingTo descriptor: Int32, _ control: ExportControl
  ) throws(MediaError) -> AssetExportSession.Outcome? {
    let assets = source.assets
    guard assets.allSatisfy({ $0.isolation != .none && $0.composition == nil && $0.streamSession == nil }) else {
      return nil
    }
    let pool = if let pool { pool } else { try Asset.Isolation.pool() }
    let lease = try pool.lease(limits: limits(descriptor))
    let interrupt = Interrupt()
    try control.addCancellation { interrupt.cancel() }
    let parameters = ExportParameters(
      settings: settings, mixes: source.mixes, prefersPreciseDurations: assets.map(\.prefersPreciseDuration))
    var isStream = false
    var progress = ExportProgress()
    var failure: MediaError?
    do throws(MediaError) {
      let outcome = try lease.open(
        assets.count, displayName: source.name, AssetWorkerFunction.export.rawValue, parameters,
        graceMilliseconds: 0, descriptor: descriptor, as: AssetExportSession.Outcome.self
      ) { (index) throws(MediaError) in
        guard case .bytes(let file) = try MediaFile.openLocation(of: assets[index], interrupt: interrupt) else {
          isStream = true
          throw MediaError(.unsupportedLocation, "streams cannot be read in a worker process", operation: "export")
        }
        if let bytes = file.byteSource { assets[index].noteReading(bytes) }
        if index > 0 { try control.check() }
        return (file, assets[index].displayPath)
      } handleReport: { report in
        do throws(MediaError) {
          try control.check()
          try checkSpace(descriptor)
          guard let report = try? MessageDecoder.value(ExportReport.self, from: report), progress.allows(report) else {
            throw damaged
          }
          if case .progress(let part) = report { control.report(part) }
          return true
        } catch {
          failure = error
          return false
        }
      }
      guard outcome.isPlausible(Self.byteCount(of: descriptor)) else { throw damaged }
      return outcome
    } catch {
      if isStream { return nil }
      if let failure { throw failure }
      // The worker may have reached its limit of the file size, which follows from the reserved space.
      if error.code == .writeFailed { try checkSpace(descriptor) }
      throw error
    }
  }

  private func limits(_ descriptor: Int32) -> WorkerLimits {
    var limits = WorkerLimits()
    limits.openFileCount = 4_096
    limits.fileByteCount = WritableSpace.byteCount(forNew: descriptor) ?? .max
    if case .encode = settings.video { limits.dataByteCount = Self.encodingByteCount }
    return limits
  }

  /// - Throws: `writeFailed` if a longer file would leave less free space than is reserved.
  private func checkSpace(_ descriptor: Int32) throws(MediaError) {
    let end = Self.byteCount(of: descriptor) + Int64(Muxer.bufferByteCount)
    if !WritableSpace.allows(growing: descriptor, to: end) {
      throw settings.container.error(AVFailure(errno: EDQUOT, call: "write"))
    }
  }

  private var damaged: MediaError {
    MediaError(.damagedFile, "the file is damaged: \(source.name)", operation: "worker")
  }

  private static func byteCount(of descriptor: Int32) -> Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
  }
}

/// Checks that progress reports increase, so that a compromised worker cannot flood clients with events.
private struct ExportProgress {
  private var part = -1

  mutating func allows(_ report: ExportReport) -> Bool {
    guard case .progress(let next) = report else { return true }
    // The first report may have no number.
    guard let next else {
      defer { part = 0 }
      return part < 0
    }
    guard (part + 1...20).contains(next) else { return false }
    part = next
    return true
  }
}

extension AssetExportSession.Outcome {
  /// Whether a worker can have written such a file.
  fileprivate func isPlausible(_ byteCount: Int64) -> Bool {
    self.byteCount == byteCount && duration.isNumeric && duration >= .zero
  }
}
