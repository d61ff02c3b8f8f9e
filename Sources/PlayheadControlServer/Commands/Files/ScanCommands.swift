import PlayheadLoudness
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

/// The running operations on media files of one connection, by id: scans, exports, waveforms and images.
struct RunningOperations {
  /// The closures that cancel the operations.
  private var cancellations: [Int: @Sendable () -> Void] = [:]
  private var nextID = 1

  /// Adds an operation and returns its id. Ids are not reused.
  mutating func add(cancel: @escaping @Sendable () -> Void) -> Int {
    defer { nextID += 1 }
    cancellations[nextID] = cancel
    return nextID
  }

  func contains(_ id: Int) -> Bool { cancellations[id] != nil }

  mutating func remove(_ id: Int) { cancellations[id] = nil }

  /// Cancels the operation with this id, or all if nil. Returns the number of cancelled operations. Their requests get
  /// the reply in a later loop iteration.
  func cancel(_ id: Int?) -> Int {
    let cancelled = cancellations.filter { id == nil || $0.key == id }
    for cancel in cancelled.values { cancel() }
    return cancelled.count
  }
}

extension ScanCommand: WaitingHandler {
  /// Replies when all files are measured, or when the scan was cancelled. With a player, the gains are applied to its
  /// entries before the reply.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let (server, client, form) = (context.server, context.client, context.form)
    let target = arguments.apply ? try server.registry.player(arguments.player) : nil
    let (paths, loop) = (Array(arguments.paths), server.loop)
    let options = server.registry.httpOptions(arguments.network)
    let scan = LoudnessScan(
      paths.map { server.registry.makeAsset($0, options, precise: false, for: client.peer?.userID) },
      measuresAlbum: arguments.album)
    let id = client.operations.add { scan.cancel() }
    request.onEnd { [weak client] in
      scan.cancel()
      client?.operations.remove(id)
    }
    scan.start { [weak client] progress in
      loop.execute { [weak client] in
        // No progress event may come after the reply.
        guard let client, client.operations.contains(id) else { return }
        client.send(
          ScanProgressEvent(
            scan: id, file: progress.fileIndex + 1, count: progress.fileCount,
            path: paths[progress.fileIndex].redacted, done: progress.fraction), form: form)
      }
    } completion: { result in
      loop.execute {
        request.resume(with: result) { report throws(MediaError) in
          guard let target else { return request.finish(Reply(report, scan: id, paths, applied: nil)) }
          apply(report, paths, to: target) { request.finish(Reply(report, scan: id, paths, applied: $0)) }
        }
      }
    }
  }

  /// Applies the measured gains to the player's entries of these files. Calls `completion` with the number of changed
  /// entries. A file without a gain, such as a silent file, counts as a file without tags. The entries of a file that
  /// could not be measured are unchanged.
  private static func apply(
    _ report: LoudnessReport, _ paths: [FilePath], to target: NamedPlayer, completion: @escaping @Sendable (Int) -> Void
  ) {
    var gains: [[UInt8]: ReplayGain] = [:]
    for (path, result) in zip(paths, report.files) where path.isFile {
      guard case .success(let measurement) = result else { continue }
      var gain = ReplayGain()
      gain.trackGainDecibels = measurement.gainDecibels
      gain.trackPeak = measurement.samplePeak
      gain.albumGainDecibels = report.album?.gainDecibels
      gain.albumPeak = report.album?.samplePeak
      gains[path.bytes] = gain
    }
    let measuredGains = gains
    target.player.onLoop { player in
      player.setMeasuredReplayGains(
        { item in if case .path(let path) = item.asset.location { measuredGains[path] } else { nil } },
        completion: completion)
    }
  }
}

extension ScanCommand.Reply {
  fileprivate init(_ report: LoudnessReport, scan: Int, _ paths: [FilePath], applied: Int?) {
    let rows = zip(paths, report.files).enumerated().map { index, file in
      ScanCommand.Row(file: index + 1, path: file.0.redacted, result: file.1.map { ScanCommand.Row.Measurement($0) })
    }
    let album = report.album.map { album in
      Album(
        loudness: album.integratedLoudness?.roundedToHundredths, gain: album.gainDecibels?.roundedToHundredths,
        truePeak: LoudnessMeasurement.decibels(album.truePeak)?.roundedToHundredths,
        samplePeak: LoudnessMeasurement.decibels(album.samplePeak)?.roundedToHundredths,
        peak: album.samplePeak.roundedToMillionths)
    }
    self.init(scan: scan, rows: rows, album: album, applied: applied)
  }
}

extension ScanCommand.Row.Measurement {
  fileprivate init(_ measurement: LoudnessMeasurement) {
    self.init(
      status: measurement.kind.rawValue, loudness: measurement.integratedLoudness?.roundedToHundredths,
      range: measurement.loudnessRange?.roundedToHundredths,
      truePeak: LoudnessMeasurement.decibels(measurement.truePeak)?.roundedToHundredths,
      samplePeak: LoudnessMeasurement.decibels(measurement.samplePeak)?.roundedToHundredths,
      gain: measurement.gainDecibels?.roundedToHundredths, peak: measurement.samplePeak.roundedToMillionths,
      duration: measurement.duration, fault: measurement.fault)
  }
}

extension ScanCancelCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    Reply(cancelled: context.client.operations.cancel(arguments.scan))
  }
}

extension Double {
  /// A value in dB, LU or LUFS.
  var roundedToHundredths: Double { (self * 100).rounded() / 100 }
  /// A peak in the scale of ReplayGain.
  fileprivate var roundedToMillionths: Double { (self * 1_000_000).rounded() / 1_000_000 }
}
