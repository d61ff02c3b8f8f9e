import PlayheadMediaCore

/// The tracks of an export: what is read from each, and the format in which it is written.
struct ExportTracks {
  private let properties: AssetProperties
  private let settings: ExportSettings
  private let path: String

  init(_ opened: ExportSource.OpenedSource, _ settings: ExportSettings, path: String) {
    (properties, self.settings, self.path) = (opened.properties, settings, path)
  }

  /// Returns all tracks: video first, as players expect.
  ///
  /// - Throws: `noPlayableTracks`, `noSuchTrack`, `unsupportedAudioFormat`.
  func all() throws(MediaError) -> [ExportPlan.Track] {
    let tracks = try video() + audio()
    guard !tracks.isEmpty else {
      throw MediaError(.noPlayableTracks, "no track to export in \(path)", operation: "export")
    }
    return tracks
  }

  private func missingError(_ track: AssetTrack) -> MediaError? {
    guard settings.timeRange.start == .zero, settings.timeRange.end >= properties.duration else { return nil }
    return MediaError(
      .damagedFile, "track \(track.id) (\(track.codecName)) of \(path) has no samples", operation: "export")
  }

  // MARK: - Audio

  private func audio() throws(MediaError) -> [ExportPlan.Track] {
    switch settings.audio {
    case .none: return []
    case .passthrough:
      return try audioTracks(allowsSeveral: settings.container.maximumTrackCount > 1).map { track in
        stored(track, isPreferred: track.id == properties.audioTrackID)
      }
    case .encode(let requested):
      var tracks: [ExportPlan.Track] = []
      for track in try audioTracks(allowsSeveral: false) { tracks.append(try encoded(track, requested)) }
      return tracks
    }
  }

  private func audioTracks(allowsSeveral: Bool) throws(MediaError) -> [AssetTrack] {
    let tracks = properties.tracks.filter { $0.mediaType == .audio }
    if let id = settings.audioTrackID {
      guard let track = tracks.first(where: { $0.id == id }) else {
        throw MediaError(.noSuchTrack, "unknown audio track in \(path)", operation: "export")
      }
      return [track]
    }
    if !allowsSeveral, let fault = properties.audioFault { throw fault }
    return allowsSeveral ? tracks : tracks.filter { $0.id == properties.audioTrackID }
  }

  private func encoded(_ track: AssetTrack, _ requested: AudioOutputSettings?) throws(MediaError) -> ExportPlan.Track {
    guard track.isAudible, let format = track.audioFormat else {
      throw MediaError(.unsupportedAudioFormat, "the audio of \(path) cannot be decoded", operation: "export")
    }
    let encoding = Self.encoding(of: track)
    let output = requested ?? Self.defaultAudioSettings(settings.container, track)
    return ExportPlan.Track(
      // Without a requested track, a composition is read as the mix of all its tracks.
      output: AssetReaderTrackOutput(
        trackID: settings.audioTrackID,
        settings: AudioReadSettings(
          encoding, sampleRateHz: format.sampleRateHz, channelCount: format.channelCount)),
      missingError: missingError(track)
    ) { first, _ in AssetWriterInput(settings: output, sourceFormat: first.format, languageCode: track.languageCode) }
  }

  private static func defaultAudioSettings(_ container: WritableContainer, _ track: AssetTrack) -> AudioOutputSettings {
    if case .pcm = container.defaultAudioCodec, let bits = track.bitsPerSample, bits > 16 {
      return AudioOutputSettings(.pcm(.signed24))
    }
    return AudioOutputSettings(container.defaultAudioCodec)
  }

  /// Returns the PCM encoding between the decoder and the encoder: lossless, with as little conversion as possible.
  private static func encoding(of track: AssetTrack) -> PCMEncoding {
    // The decoder of these codecs returns floating-point samples, even if the container states otherwise.
    if ["mp1", "mp2"].contains(track.codecName) { return .float32 }
    return switch track.sampleFormatName {
    case "u8", "u8p", "s16", "s16p": .signed16
    case "s32", "s32p": .signed32
    case "dbl", "dblp": PCMEncoding(.float, bitsPerSample: 64)
    default: .float32
    }
  }

  // MARK: - Video

  private func video() throws(MediaError) -> [ExportPlan.Track] {
    guard let track = properties.tracks.first(where: { $0.mediaType == .video && $0.isEnabled }) else { return [] }
    switch settings.video {
    case .none: return []
    case .passthrough: return [stored(track, isPreferred: true)]
    case .encode(let requested): return [try encoded(track, requested)]
    }
  }

  private func encoded(_ track: AssetTrack, _ requested: VideoOutputSettings?) throws(MediaError) -> ExportPlan.Track {
    guard let codec = requested?.codec ?? settings.container.defaultVideoCodec else {
      throw MediaError(
        .invalidArgument, "\(settings.container.rawValue) supports no video that can be encoded", operation: "export")
    }
    guard track.isDecodable, !track.isProtected else {
      throw MediaError(.unknownCodec, "the video of \(path) cannot be decoded", operation: "export")
    }
    var reading = VideoReadSettings(.i420)
    // Only MP4, M4A and MOV can store the rotation of video.
    reading.appliesPreferredTrackTransform = !settings.container.isMovie
    let output = AssetReaderVideoOutput(trackID: track.id, settings: reading)
    return ExportPlan.Track(output: output, missingError: missingError(track)) { first, _ in
      AssetWriterInput(
        settings: Self.fitted(requested ?? VideoOutputSettings(codec), to: first.format.video),
        sourceFormat: first.format, languageCode: track.languageCode)
    }
  }

  /// Fills in the missing dimensions. They keep the aspect ratio of the source, and are even, as 4:2:0 chroma requires.
  private static func fitted(
    _ settings: VideoOutputSettings, to video: FormatDescription.Video?
  ) -> VideoOutputSettings {
    guard let video, video.width > 0, video.height > 0 else { return settings }
    var fitted = settings
    func even(_ value: Int, _ whole: Int, of other: Int) -> Int { max(2, (value * whole / other + 1) / 2 * 2) }
    switch (settings.width, settings.height) {
    case (nil, let height?): fitted.width = even(height, video.width, of: video.height)
    case (let width?, nil): fitted.height = even(width, video.height, of: video.width)
    case (nil, nil):
      guard video.width % 2 != 0 || video.height % 2 != 0 else { return settings }
      (fitted.width, fitted.height) = (even(video.width, 1, of: 1), even(video.height, 1, of: 1))
    case (_?, _?): break
    }
    return fitted
  }

  // MARK: - Passthrough

  /// Returns the timescale of the source, in which all times are exact; nil if these samples do not state it.
  private static func timescale(_ first: SampleBuffer) -> Int32? {
    guard first.format.mediaType == .video else { return nil }
    let scale = max(first.presentationTime.timescale, first.decodeTime.isNumeric ? first.decodeTime.timescale : 0)
    return scale >= 1_000 ? scale : nil
  }

  private func stored(_ track: AssetTrack, isPreferred: Bool) -> ExportPlan.Track {
    let container = settings.container
    return ExportPlan.Track(output: AssetReaderStoredOutput(trackID: track.id), missingError: missingError(track)) {
      first, start in
      AssetWriterInput(
        settings: .passthrough,
        sourceFormat: container.isMovie ? first.format : Self.skipping(to: start, first),
        languageCode: track.languageCode, marksOutputTrackAsEnabled: isPreferred,
        mediaTimescale: Self.timescale(first))
    }
  }

  /// Sets the number of skipped frames in the Opus header (RFC 7845, section 5.1) to the audio before the start.
  private static func skipping(to start: MediaTime, _ first: SampleBuffer) -> FormatDescription {
    var format = first.format
    let skipped = (start - first.presentationTime).frameIndex(rate: 48_000, rounding: .halfAwayFromZero)
    guard format.codecName == "opus", format.setupData.count >= 19, let skipped, (0...65_535).contains(skipped) else {
      return format
    }
    format.setupData[10] = UInt8(truncatingIfNeeded: skipped)
    format.setupData[11] = UInt8(truncatingIfNeeded: skipped >> 8)
    format.audio?.initialPaddingFrames = Int(skipped)
    return format
  }
}
