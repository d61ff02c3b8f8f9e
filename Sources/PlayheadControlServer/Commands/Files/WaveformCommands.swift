import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadWaveforms
import PlayheadWireProtocol

extension WaveformCommand: WaitingHandler {
  /// Replies when the waveform is computed or written, or when the command was cancelled.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let (server, command) = (context.server, try arguments.waveform())
    let output = try output(command.output, context)
    let asset = server.registry.makeAsset(
      command.path, server.registry.httpOptions(command.network), precise: false, for: context.client.peer?.userID)
    let scan = WaveformScan(asset, scanRequest(command), output: output, cache: server.waveformCache)
    context.client.startOperation(request, form: context.form, on: command.path) {
      scan.cancel()
    } start: {
      scan.start(progress: $0, completion: $1)
    } reply: { [limit = server.limits.outputByteCount / 2] number, result throws(MediaError) in
      if command.output == nil { try checkReply(result.waveform, byteLimit: limit) }
      return Reply(result, scan: number, command)
    }
  }

  private static func scanRequest(_ command: WaveformFileRequest) -> WaveformRequest {
    let scale = command.binCount.map { WaveformScale.bins($0) } ?? command.framesPerBin.map { .framesPerBin($0) }
    return WaveformRequest(
      scale: scale, start: command.start, end: command.end, mixesChannels: command.mixesChannels)
  }

  private static func output(
    _ output: WaveformFileRequest.Output?, _ context: RequestContext
  ) throws(MediaError) -> WaveformOutput? {
    guard let output, let format = WaveformFormat(rawValue: output.format.rawValue) else { return nil }
    var style = WaveformStyle()
    style.width = output.width ?? style.width
    style.height = output.height ?? style.height
    if let color = output.color { style.color = try RGBColor(color) }
    if let background = output.background { style.background = try RGBColor(background) }
    (style.hasAxis, style.bits) = (output.hasAxis, output.bits)
    let file = try context.server.registry.outputFile(
      output.file, replaces: output.replaces, for: context.client.peer?.userID)
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
}

extension WaveformCommand.Reply {
  fileprivate init(_ result: WaveformResult, scan: Int, _ command: WaveformFileRequest) {
    let waveform = result.waveform
    let sampleRateHz = waveform.sampleRateHz
    func time(ofFrame frame: Int64) -> MediaTime { MediaTime(frame: waveform.firstFrame + frame, rate: sampleRateHz) }
    func row(_ bin: Int) -> WaveformCommand.Row {
      let points = bin * waveform.channelCount..<(bin + 1) * waveform.channelCount
      func values(_ values: [Float]) -> [Double] {
        values[points].map { (Double($0) * 1_000_000).rounded() / 1_000_000 }
      }
      return WaveformCommand.Row(
        bin: bin, start: time(ofFrame: waveform.edge(bin)), minima: values(waveform.minima),
        maxima: values(waveform.maxima), rms: values(waveform.rms))
    }
    self.init(
      scan: scan, path: command.path.redacted, sampleRateHz: sampleRateHz, channelCount: waveform.channelCount,
      binCount: waveform.binCount, start: time(ofFrame: 0), duration: waveform.duration, isCached: result.isCached,
      file: command.output?.file, fault: result.fault,
      rows: command.output == nil ? (0..<waveform.binCount).map(row) : [])
  }
}

extension ServerContext {
  /// The cache of waveforms, next to the saved state. Nil if no state is saved.
  var waveformCache: WaveformCache? {
    guard let status = stateWriter?.store.status, status.isSaving, !status.folder.isEmpty else { return nil }
    return WaveformCache(folder: "\(status.folder)/waveforms")
  }
}
