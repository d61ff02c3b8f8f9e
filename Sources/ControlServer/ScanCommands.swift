import Loudness
import MediaAssets
import MediaCore
import Playback
import WireProtocol

/// The scans that one connection waits for, by their numbers.
struct RunningScans {
  /// What ends each.
  private var scans: [Int: @Sendable () -> Void] = [:]
  private var nextNumber = 1

  /// Gives a number to a scan; none is given twice.
  mutating func add(cancel: @escaping @Sendable () -> Void) -> Int {
    defer { nextNumber += 1 }
    scans[nextNumber] = cancel
    return nextNumber
  }

  func contains(_ number: Int) -> Bool { scans[number] != nil }

  mutating func remove(_ number: Int) { scans[number] = nil }

  /// Ends one, or all; answers how many there were. Who waits for it hears of it in a later turn of the loop.
  func cancel(_ number: Int?) -> Int {
    let chosen = scans.filter { number == nil || $0.key == number }
    for cancel in chosen.values { cancel() }
    return chosen.count
  }
}

/// Commands that measure how loud files are.
extension Connection {
  /// Begins a scan; answers when all of it is measured, or it was cancelled.
  func begin(_ command: AssetCommand.Scan, _ request: WaitingRequest) throws(MediaError) {
    let target = if let name = command.player { try server.registry.player(name) } else { nil as NamedPlayer? }
    let paths = Array(command.paths)
    let options = server.registry.httpOptions(command.network)
    let scan = LoudnessScan(
      paths.map { server.registry.asset($0, options, precise: false, for: peer?.userID) },
      measuresAlbum: command.measuresAlbum)
    let number = scans.add { scan.cancel() }
    let loop = server.loop
    let form = request.request.address.form
    request.onEnd { [weak self] in
      scan.cancel()
      self?.scans.remove(number)
    }
    scan.start { [weak self] progress in
      loop.execute { [weak self] in
        // None comes behind the reply.
        guard let self, self.scans.contains(number) else { return }
        self.send(
          .scanProgress(
            Event.ScanProgress(
              scan: number, file: progress.fileIndex + 1, count: progress.fileCount,
              path: .path(paths[progress.fileIndex]), done: progress.fraction)), form: form)
      }
    } completion: { result in
      loop.execute {
        do throws(MediaError) {
          let report = try result.get()
          guard let target else { return request.finish(Self.reply(report, number, paths, applied: nil)) }
          Self.apply(report, paths, to: target) { applied in
            request.finish(Self.reply(report, number, paths, applied: applied))
          }
        } catch {
          request.fail(error)
        }
      }
    }
  }

  /// Has entries of measured files played by what was measured; says how many there are. Files in which nothing could be measured
  /// are as if they had no tags.
  private static func apply(
    _ report: LoudnessReport, _ paths: [FilePath], to target: NamedPlayer, completion: @escaping @Sendable (Int) -> Void
  ) {
    var gains: [[UInt8]: ReplayGain] = [:]
    for (path, result) in zip(paths, report.files) where path.isFile {
      guard case .success(let found) = result else { continue }
      var gain = ReplayGain()
      gain.trackGainDecibels = found.gainDecibels
      gain.trackPeak = found.samplePeak
      gain.albumGainDecibels = report.album?.gainDecibels
      gain.albumPeak = report.album?.samplePeak
      gains[path.bytes] = gain
    }
    let found = gains
    target.player.onLoop { player in
      player.setMeasuredReplayGains(
        { item in if case .path(let path) = item.asset.place { found[path] } else { nil } }, completion: completion)
    }
  }

  private static func reply(
    _ report: LoudnessReport, _ number: Int, _ paths: [FilePath], applied: Int?
  ) -> Reply {
    let rows = zip(paths, report.files).enumerated().map { index, file in
      let fields: Fields = ["file": .int(index + 1), "path": .path(file.0)]
      return row(fields, file.1)
    }
    let failedCount = report.files.count { if case .failure = $0 { true } else { false } }
    var fields: Fields = ["scan": .int(number), "count": .int(rows.count), "failed": .int(failedCount)]
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
    case .success(let found):
      fields.append("status", .string(found.kind.rawValue))
      fields.append("loudness", rounded(found.integratedLoudness))
      fields.append("range", rounded(found.loudnessRange))
      fields.append("truePeak", decibels(found.truePeak))
      fields.append("samplePeak", decibels(found.samplePeak))
      fields.append("gain", rounded(found.gainDecibels))
      fields.append("peak", peak(found.samplePeak))
      fields.append("duration", .time(found.duration))
      if let fault = found.fault {
        fields.append("fault", .string(fault.code.name))
        fields.append("message", .string(fault.message))
      }
    }
    return fields
  }

  /// To two places; nothing is `none`.
  static func rounded(_ value: Double?) -> FieldValue {
    value.map { .float(($0 * 100).rounded() / 100) } ?? FieldValue.none
  }

  /// A peak in dB; that of digital silence, which has none, is `none`.
  private static func decibels(_ peak: Double) -> FieldValue { rounded(LoudnessMeasurement.decibels(peak)) }

  /// A peak as ReplayGain has it, to six places.
  private static func peak(_ value: Double) -> FieldValue { .float((value * 1_000_000).rounded() / 1_000_000) }
}
