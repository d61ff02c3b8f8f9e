import CFFmpeg
import MediaCore

/// What the samples of a stream are, as a value.
extension Demuxer {
  /// Setup data that is kept: more is a font or a picture.
  private static let maximumSetupByteCount = 1 << 20

  /// What a stream's packets are: all that a container has to be told of them. Nil for a stream that there is not.
  public func format(ofStream index: Int) -> FormatDescription? {
    guard streams.indices.contains(index), let stream = context.pointee.streams[index],
      let parameters = stream.pointee.codecpar
    else { return nil }
    let info = streams[index]
    var format = FormatDescription(
      mediaType: info.mediaType.formatMediaType, codecName: info.codecName, setupData: Self.setupData(parameters),
      languageCode: info.languageCode)
    format.audio = Self.audio(info, parameters)
    if format.mediaType == .video { format.video = Self.video(info, stream, parameters) }
    return format
  }

  private static func setupData(_ parameters: UnsafePointer<AVCodecParameters>) -> [UInt8] {
    let count = Int(parameters.pointee.extradata_size)
    guard let data = parameters.pointee.extradata, count > 0, count <= maximumSetupByteCount else { return [] }
    return Array(UnsafeBufferPointer(start: data, count: count))
  }

  private static func audio(
    _ info: StreamInfo, _ parameters: UnsafePointer<AVCodecParameters>
  ) -> FormatDescription.Audio? {
    guard info.mediaType == .audio, let rate = info.sampleRateHz, let channelCount = info.channelCount else {
      return nil
    }
    // Blocks of a constant size, or packets of a constant length.
    let blockFrames = info.blockFrameCount
    let isConstant = ["aac", "mp1", "mp2", "mp3", "ac3"].contains(info.codecName)
    let packetFrames = isConstant && parameters.pointee.frame_size > 1 ? Int(parameters.pointee.frame_size) : nil
    return FormatDescription.Audio(
      sampleRateHz: rate, channelCount: channelCount, channelMask: info.channelMask,
      pcm: PCMEncoding(codecName: info.codecName), framesPerPacket: blockFrames ?? packetFrames,
      bytesPerPacket: blockFrames == nil ? nil : info.blockByteCount, bitsPerSample: info.bitsPerSample,
      initialPaddingFrames: Int(info.initialPaddingFrames ?? 0), seekPrerollFrames: Int(info.seekPrerollFrames ?? 0),
      bitRate: info.bitRate.map { Int(clamping: $0) })
  }

  private static func video(
    _ info: StreamInfo, _ stream: UnsafePointer<AVStream>, _ parameters: UnsafePointer<AVCodecParameters>
  ) -> FormatDescription.Video {
    let values = parameters.pointee
    var video = FormatDescription.Video(width: info.width ?? 0, height: info.height ?? 0)
    video.pixelFormatName = av_get_pix_fmt_name(AVPixelFormat(values.format)).map { String(cString: $0) }
    // What the container says goes before what is coded, as in FFmpeg's players.
    let ratios = [stream.pointee.sample_aspect_ratio, values.sample_aspect_ratio]
    video.pixelAspectRatio = ratios.first { $0.num > 0 && $0.den > 0 }
      .map { .init(horizontal: Int($0.num), vertical: Int($0.den)) }
    video.rotationDegrees = rotation(of: stream)
    video.color.primaries = Int(values.color_primaries.rawValue)
    video.color.transfer = Int(values.color_trc.rawValue)
    video.color.matrix = Int(values.color_space.rawValue)
    video.color.isFullRange =
      switch values.color_range {
      case AVCOL_RANGE_JPEG: true
      case AVCOL_RANGE_MPEG: false
      default: nil
      }
    if let duration = info.videoFrameDuration {
      video.frameDuration = MediaTime(value: Int64(duration.numerator), timescale: duration.denominator)
    }
    video.bitRate = info.bitRate.map { Int(clamping: $0) }
    return video
  }

  /// FFmpeg's matrix turns the other way round.
  private static func rotation(of stream: UnsafePointer<AVStream>) -> Int {
    var byteCount = 0
    guard let data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &byteCount), byteCount >= 36 else {
      return 0
    }
    let angle = data.withMemoryRebound(to: Int32.self, capacity: 9) { av_display_rotation_get($0) }
    guard angle.isFinite else { return 0 }
    let quarters = Int((-angle / 90).rounded())
    return ((quarters % 4) + 4) % 4 * 90
  }
}

extension StreamInfo.MediaType {
  /// As a description has it; an attached picture is video, and what is nothing else is about the others.
  fileprivate var formatMediaType: FormatDescription.MediaType {
    switch self {
    case .audio: .audio
    case .video, .attachedPicture: .video
    case .subtitle: .subtitle
    case .other: .metadata
    }
  }
}
