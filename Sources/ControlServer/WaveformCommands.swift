import MediaAssets
import MediaCore
import Waveforms
import WholeFiles
import WireProtocol

/// What files look like: measured off the loop, and answered or written when that is done.
extension Connection {
  /// Begins; answers when the waveform is there, or was cancelled.
  func begin(_ command: AssetCommand.Waveform, _ request: WaitingRequest) throws(MediaError) {
    let asset = server.registry.asset(
      command.path, server.registry.httpOptions(command.network), precise: false, for: peer?.userID)
    let scan = WaveformScan(
      asset, Self.request(command), output: try output(command.output), cache: server.waveformCache)
    beginWork(request, on: command.path) {
      scan.cancel()
    } start: {
      scan.start(progress: $0, completion: $1)
    } reply: { [limit = server.limits.outputByteCount / 2] number, result throws(MediaError) in
      if command.output == nil { try Self.checkReply(result.waveform, byteLimit: limit) }
      return Self.reply(result, number, command)
    }
  }

  private static func request(_ command: AssetCommand.Waveform) -> WaveformRequest {
    let scale = command.binCount.map { WaveformScale.bins($0) } ?? command.framesPerBin.map { .framesPerBin($0) }
    return WaveformRequest(
      scale: scale, start: command.start, end: command.end, mixesChannels: command.mixesChannels)
  }

  private func output(_ output: AssetCommand.Waveform.Output?) throws(MediaError) -> WaveformOutput? {
    guard let output, let form = WaveformForm(rawValue: output.form.rawValue) else { return nil }
    var style = WaveformStyle()
    style.width = output.width ?? style.width
    style.height = output.height ?? style.height
    if let color = output.color { style.color = try WaveformColor(color) }
    if let background = output.background { style.background = try WaveformColor(background) }
    (style.hasAxis, style.bits) = (output.hasAxis, output.bits)
    let file = WholeFile(
      path: output.file.bytes, replaces: output.replaces, hint: "`replace` replaces it",
      roots: server.policy.writableRoots)
    return WaveformOutput(file, form, style)
  }

  /// Numbers of bins that go into a reply, which is written on the loop: two channels of as many bins as may be asked for.
  private static let replyPointLimit = 2_000

  /// Errors: `media-limit-exceeded` when the rows would be too many, or more bytes than a reply may have.
  private static func checkReply(_ waveform: Waveform, byteLimit: Int) throws(MediaError) {
    let points = waveform.binCount * waveform.channelCount
    // About what a row has, and each of its numbers.
    guard points <= replyPointLimit, waveform.binCount * 64 + points * 30 <= byteLimit else {
      throw MediaError(
        .mediaLimitExceeded,
        "\(waveform.binCount) bins of \(waveform.channelCount) channels are too many for a reply: say fewer, or `mono`, or have a file"
          + " written")
    }
  }

  private static func reply(_ result: WaveformResult, _ number: Int, _ command: AssetCommand.Waveform) -> Reply {
    let waveform = result.waveform
    let rate = waveform.sampleRateHz
    var fields: Fields = [
      "scan": .int(number), "path": .path(command.path), "sampleRate": .int(rate),
      "channels": .int(waveform.channelCount),
      "bins": .int(waveform.binCount), "start": .time(MediaTime(frame: waveform.firstFrame, rate: rate)),
      "duration": .time(waveform.duration), "cached": .bool(result.isCached),
    ]
    if let file = command.output?.file { fields.append("file", .path(file)) }
    if let fault = result.fault {
      fields.append("fault", .string(fault.code.name))
      fields.append("message", .string(fault.message))
    }
    guard command.output == nil else { return .ok(fields) }
    let rows = (0..<waveform.binCount).map { bin in
      let points = bin * waveform.channelCount..<(bin + 1) * waveform.channelCount
      func values(_ values: [Float]) -> FieldValue {
        .list(values[points].map { .float((Double($0) * 1_000_000).rounded() / 1_000_000) })
      }
      let row: Fields = [
        "bin": .int(bin), "start": .time(MediaTime(frame: waveform.firstFrame + waveform.edge(bin), rate: rate)),
        "min": values(waveform.minima), "max": values(waveform.maxima), "rms": values(waveform.rms),
      ]
      return row
    }
    return .ok(fields, rows: rows)
  }
}

extension ServerContext {
  /// Where waveforms are kept: beside the saved state, where there is that.
  var waveformCache: WaveformCache? {
    guard let status = keeper?.store.status, status.isSaving, !status.folder.isEmpty else { return nil }
    return WaveformCache(folder: "\(status.folder)/waveforms")
  }
}
