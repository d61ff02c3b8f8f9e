import Loudness
import MediaAssets
import MediaCore
import Playback
import WireProtocol

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

/// Commands that measure the loudness of files.
extension Connection {
  /// Starts a scan. Replies when all files are measured, or when the scan was cancelled. If the command has a player,
  /// the gains are applied to its entries before the reply.
  func start(_ command: AssetCommand.Scan, _ request: AnyWaitingRequest) throws(MediaError) {
    let target = if let name = command.player { try server.registry.player(name) } else { nil as NamedPlayer? }
    let paths = Array(command.paths)
    let options = server.registry.httpOptions(command.network)
    let scan = LoudnessScan(
      paths.map { server.registry.makeAsset($0, options, precise: false, for: peer?.userID) },
      measuresAlbum: command.measuresAlbum)
    let id = operations.add { scan.cancel() }
    let loop = server.loop
    let form = request.request.address.form
    request.onEnd { [weak self] in
      scan.cancel()
      self?.operations.remove(id)
    }
    scan.start { [weak self] progress in
      loop.execute { [weak self] in
        // No progress event may come after the reply.
        guard let self, self.operations.contains(id) else { return }
        self.send(
          .scanProgress(
            Event.ScanProgress(
              scan: id, file: progress.fileIndex + 1, count: progress.fileCount,
              path: .path(paths[progress.fileIndex].redacted), done: progress.fraction)), form: form)
      }
    } completion: { result in
      loop.execute {
        do throws(MediaError) {
          let report = try result.get()
          guard let target else { return request.finish(Self.reply(report, id, paths, applied: nil)) }
          Self.apply(report, paths, to: target) { applied in
            request.finish(Self.reply(report, id, paths, applied: applied))
          }
        } catch {
          request.fail(error)
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

  private static func reply(
    _ report: LoudnessReport, _ id: Int, _ paths: [FilePath], applied: Int?
  ) -> Reply {
    let rows = zip(paths, report.files).enumerated().map { index, file in
      let fields: Fields = ["file": .int(index + 1), "path": .path(file.0.redacted)]
      return row(fields, file.1)
    }
    let failedCount = report.files.count { if case .failure = $0 { true } else { false } }
    var fields: Fields = ["scan": .int(id), "count": .int(rows.count), "failed": .int(failedCount)]
    if let album = report.album {
      fields.append("albumLoudness", rounded(album.integratedLoudness))
      fields.append("albumGain", rounded(album.gainDecibels))
      fields.append("albumTruePeak", decibels(album.truePeak))
      fields.append("albumSamplePeak", decibels(album.samplePeak))
      fields.append("albumPeak", peak(album.samplePeak))
    }
    fields.append("applied", ifPresent: applied.map { .int($0) })
    return .ok(fields, rows: rows)
  }

  private static func row(_ fields: Fields, _ result: Result<LoudnessMeasurement, MediaError>) -> Fields {
    var fields = fields
    switch result {
    case .failure(let error):
      fields.append("status", "failed")
      append(error, to: &fields)
    case .success(let measurement):
      fields.append("status", .string(measurement.kind.rawValue))
      fields.append("loudness", rounded(measurement.integratedLoudness))
      fields.append("range", rounded(measurement.loudnessRange))
      fields.append("truePeak", decibels(measurement.truePeak))
      fields.append("samplePeak", decibels(measurement.samplePeak))
      fields.append("gain", rounded(measurement.gainDecibels))
      fields.append("peak", peak(measurement.samplePeak))
      fields.append("duration", .time(measurement.duration))
      if let fault = measurement.fault {
        fields.append("fault", .string(fault.code.name))
        fields.append("message", .string(fault.message))
      }
    }
    return fields
  }

  /// The value rounded to two decimals. Nil becomes `none`.
  static func rounded(_ value: Double?) -> FieldValue {
    value.map { .float(($0 * 100).rounded() / 100) } ?? FieldValue.none
  }

  /// A peak in dB, rounded to two decimals. `none` for digital silence.
  private static func decibels(_ peak: Double) -> FieldValue { rounded(LoudnessMeasurement.decibels(peak)) }

  /// A peak in the scale of ReplayGain, rounded to six decimals.
  private static func peak(_ value: Double) -> FieldValue { .float((value * 1_000_000).rounded() / 1_000_000) }
}
