import CPlayheadFFmpeg
import PlayheadMediaCore

/// The format of a stream, as a value.
extension Demuxer {
  /// The maximum size of setup data that is kept; larger data is a font or an image.
  private static let maximumSetupByteCount = 1 << 20

  /// Returns the format of a stream's packets, with all that a container needs; nil if there is no such stream.
  package func format(ofStream index: Int) -> FormatDescription? {
    guard streams.indices.contains(index), let stream = context.pointee.streams[index],
      let parameters = stream.pointee.codecpar
    else { return nil }
    let info = streams[index]
    var format = FormatDescription(
      mediaType: info.mediaType.formatMediaType, codecName: info.codecName, setupData: Self.setupData(parameters),
      languageCode: info.languageCode)
    format.audio = Self.audio(info, parameters)
    format.video = info.video
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
}

extension StreamInfo.MediaType {
  /// The media type of a format description. An image that belongs to the file is video; an unknown type is metadata.
  fileprivate var formatMediaType: FormatDescription.MediaType {
    switch self {
    case .audio: .audio
    case .video, .attachedPicture: .video
    case .subtitle: .subtitle
    case .other: .metadata
    }
  }
}
