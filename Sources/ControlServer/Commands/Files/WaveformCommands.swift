import MediaAssets
import MediaCore
import Waveforms
import WireProtocol

/// The waveform command. Another thread computes the waveform. The reply comes when the waveform is complete.
extension Connection {
  /// Starts to compute a waveform. Replies when the waveform is computed or written, or when the command was cancelled.
  func start(_ command: AssetCommand.Waveform, _ request: AnyWaitingRequest) throws(MediaError) {
    let output = try waveformOutput(command.output)
    let asset = server.registry.makeAsset(
      command.path, server.registry.httpOptions(command.network), precise: false, for: peer?.userID)
    let scan = WaveformScan(
      asset, Self.request(command), output: output, cache: server.waveformCache)
    startOperation(request, on: command.path) {
      scan.cancel()
    } start: {
      scan.start(progress: $0, completion: $1)
    } reply: { [limit = server.limits.outputByteCount / 2] id, result throws(MediaError) in
      if command.output == nil { try Self.checkReply(result.waveform, byteLimit: limit) }
      return Self.reply(result, id, command)
    }
  }

  private static func request(_ command: AssetCommand.Waveform) -> WaveformRequest {
    let scale = command.binCount.map { WaveformScale.bins($0) } ?? command.framesPerBin.map { .framesPerBin($0) }
    return WaveformRequest(
      scale: scale, start: command.start, end: command.end, mixesChannels: command.mixesChannels)
  }

  private func waveformOutput(_ output: AssetCommand.Waveform.Output?) throws(MediaError) -> WaveformOutput? {
    guard let output, let format = WaveformFormat(rawValue: output.format.rawValue) else { return nil }
    var style = WaveformStyle()
    style.width = output.width ?? style.width
    style.height = output.height ?? style.height
    if let color = output.color { style.color = try WaveformColor(color) }
    if let background = output.background { style.background = try WaveformColor(background) }
    (style.hasAxis, style.bits) = (output.hasAxis, output.bits)
    let file = try server.registry.outputFile(output.file, replaces: output.replaces, for: peer?.userID)
    return WaveformOutput(file, format, style)
  }

  /// The maximum number of points in a reply: two channels with 1,000 bins. The limit bounds the time for encoding on
  /// the control loop.
  private static let replyPointLimit = 2_000

  /// Checks the size of a reply.
  ///
  /// - Throws: `media-limit-exceeded` if there are too many rows or bytes.
  private static func checkReply(_ waveform: Waveform, byteLimit: Int) throws(MediaError) {
    let points = waveform.binCount * waveform.channelCount
    // A row has approximately 64 bytes, and 30 bytes for the three numbers of each point.
    guard points <= replyPointLimit, waveform.binCount * 64 + points * 30 <= byteLimit else {
      throw MediaError(
        .mediaLimitExceeded,
        "\(waveform.binCount) bins of \(waveform.channelCount) channels are too many for a reply: use fewer, `mono` or"
          + " `file`")
    }
  }

  private static func reply(_ result: WaveformResult, _ id: Int, _ command: AssetCommand.Waveform) -> Reply {
    let waveform = result.waveform
    let sampleRateHz = waveform.sampleRateHz
    var fields: Fields = [
      "scan": .int(id), "path": .path(command.path.redacted), "sampleRate": .int(sampleRateHz),
      "channels": .int(waveform.channelCount),
      "bins": .int(waveform.binCount), "start": .time(MediaTime(frame: waveform.firstFrame, rate: sampleRateHz)),
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
        "bin": .int(bin),
        "start": .time(MediaTime(frame: waveform.firstFrame + waveform.edge(bin), rate: sampleRateHz)),
        "min": values(waveform.minima), "max": values(waveform.maxima), "rms": values(waveform.rms),
      ]
      return row
    }
    return .ok(fields, rows: rows)
  }
}

extension ServerContext {
  /// The cache of waveforms, next to the saved state. Nil if no state is saved.
  var waveformCache: WaveformCache? {
    guard let status = stateWriter?.store.status, status.isSaving, !status.folder.isEmpty else { return nil }
    return WaveformCache(folder: "\(status.folder)/waveforms")
  }
}
