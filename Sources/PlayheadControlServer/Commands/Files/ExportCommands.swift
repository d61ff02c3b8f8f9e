import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadWireProtocol

extension ExportCommand: WaitingHandler {
  /// Replies when the file is written or the export is cancelled.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let (registry, userID) = (context.server.registry, context.client.peer?.userID)
    let export = try arguments.export()
    let file = try registry.outputFile(export.file, replaces: export.replaces, for: userID)
    let options = registry.httpOptions(export.network)
    // Several inputs need exact durations.
    let hasSeveralInputs = export.paths.count > 1
    let assets = export.paths.map { registry.makeAsset($0, options, precise: hasSeveralInputs, for: userID) }
    let session = AssetExportSession(joining: assets, mixes: export.mixes, to: file, try settings(export))
    context.client.startOperation(request, form: context.form, on: export.file) {
      session.cancel()
    } start: {
      session.start(progress: $0, completion: $1)
    } reply: { number, outcome throws(MediaError) in
      Reply(
        scan: number, file: export.file, format: export.format, duration: outcome.duration,
        size: Int64(outcome.byteCount), fault: outcome.fault)
    }
  }

  /// The settings of the export.
  ///
  /// - Throws: `invalid-argument`.
  private static func settings(_ command: ExportRequest) throws(MediaError) -> ExportSettings {
    guard let container = WritableContainer(rawValue: command.format.rawValue) else {
      throw MediaError(.invalidArgument, "unknown format \(command.format.rawValue)", operation: "export")
    }
    var settings = ExportSettings(container, audio: audio(command, container), video: video(command, container))
    settings.timeRange = TimeRange(start: command.start, end: command.end ?? .positiveInfinity)
    settings.audioTrackID = command.track
    settings.metadataFilter = ExportSettings.MetadataFilter(rawValue: command.tags.rawValue) ?? .all
    settings.shouldOptimizeForNetworkUse = true
    return settings
  }

  private static func audio(
    _ command: ExportRequest, _ container: WritableContainer
  ) -> ExportSettings.Audio {
    let bits = command.bitsPerSample
    let codec: AudioOutputSettings.Codec
    switch command.codec {
    case .copy: return .passthrough
    case .omit: return .none
    case .pcm: codec = .pcm(PCMEncoding(.signedInteger, bitsPerSample: bits ?? 16))
    case .float: codec = .pcm(PCMEncoding(.float, bitsPerSample: bits ?? 32))
    case .flac: codec = .flac
    case .alac: codec = .alac
    case .aac: codec = .aac
    case .opus: codec = .opus
    case .mp3: codec = .mp3
    case .ima4: codec = .ima4
    case nil:
      let hasNoAudioOptions =
        command.sampleRateHz == nil && command.channelCount == nil && bits == nil && command.bitRate == nil
      if hasNoAudioOptions { return .encode(nil) }
      codec = container.defaultAudioCodec
    }
    var output = AudioOutputSettings(codec)
    (output.sampleRateHz, output.channelCount) = (command.sampleRateHz, command.channelCount)
    output.bitRate = command.bitRate
    if case .pcm(let encoding) = codec {
      if command.codec == nil, let bits { output.codec = .pcm(PCMEncoding(encoding.kind, bitsPerSample: bits)) }
    } else {
      output.bitsPerSample = bits
    }
    return .encode(output)
  }

  /// The video settings. Nil: the default of the container.
  private static func video(
    _ command: ExportRequest, _ container: WritableContainer
  ) -> ExportSettings.Video? {
    switch command.video {
    case .omit: return ExportSettings.Video.none
    case .copy: return .passthrough
    case .h264:
      var settings = VideoOutputSettings(.h264)
      settings.height = command.height.map { ($0 + 1) / 2 * 2 }
      settings.constantQuality = command.quality.map(Double.init)
      return .encode(settings)
    case nil:
      // With `codec=copy` the video is not transcoded either.
      return command.codec == .copy ? ExportSettings.passthrough(container).video : nil
    }
  }
}
