import CPlayheadFFmpeg
import PlayheadMediaCore

/// The container's description of one of its streams.
package struct StreamInfo: Sendable, Hashable {
  package enum MediaType: Sendable, Hashable {
    case audio, video, subtitle
    /// An image that belongs to the file, such as a cover; FFmpeg reports it as video.
    case attachedPicture
    case other
  }

  /// The position among the file's streams, from 0.
  package let index: Int
  /// The container's ID of the stream.
  package let containerID: Int
  package let mediaType: MediaType
  /// FFmpeg's name of the codec, such as `flac`; `none` when FFmpeg does not know it.
  package let codecName: String
  /// Whether this FFmpeg has a decoder for the codec that `FormatAllowList` contains.
  package let hasDecoder: Bool
  /// Whether the packets are ID3 tags (`AV_CODEC_ID_TIMED_ID3`).
  package var isTimedID3: Bool { mediaType == .other && codecName == "timed_id3" }
  /// The time base of timestamps and durations.
  package let timeBase: TimeBase
  /// The first timestamp, in ticks.
  package let startTicks: Int64?
  /// The duration, in ticks; may be an estimate.
  package let durationTicks: Int64?
  package let bitRate: Int64?
  /// The BCP 47 or ISO 639 code, as stored in the file.
  package let languageCode: String?
  /// Whether the file marks the stream as the default of its type; in the MP4 family: as enabled.
  package let isDefault: Bool
  /// The purposes of the stream that the file states.
  package let roles: Set<Role>
  /// The display name, at most 1,024 bytes.
  package let title: String?
  /// The container's four-character code of the codec, such as `mp4a`; nil when it is not printable ASCII.
  package let codecTag: String?

  /// The sample rate, in Hz; nil for other media, or when unknown.
  package let sampleRateHz: Int?
  package let channelCount: Int?
  /// The speakers in native order, as `AV_CH_*` bits.
  package let channelMask: UInt64?
  /// FFmpeg's name of the channel layout, such as `stereo`, `5.1(side)` or `6 channels`.
  package let channelLayoutName: String?
  /// FFmpeg's name of the decoded sample format, such as `s16` or `fltp`.
  package let sampleFormatName: String?
  /// The bits of a sample before encoding, for lossless codecs: 16, 24, ...
  package let bitsPerSample: Int?
  /// The bytes of one independently decodable block (PCM: one frame).
  package let blockByteCount: Int?
  /// The frames that such a block decodes to; nil when not constant or unknown.
  package let blockFrameCount: Int?
  /// The granularity of positions, in audio frames: the decoder's frames begin at multiples of this number after the
  /// first one, even if their sizes differ. Nil when unknown.
  package let frameStepCount: Int?
  /// The number of frames that the encoder inserted before the first audio frame.
  package let initialPaddingFrames: Int64?
  /// The number of frames to decode before a seek's target until the output is correct, as the container states.
  package let seekPrerollFrames: Int64?

  /// The size in pixels; nil for media without video.
  package let width: Int?
  package let height: Int?
  /// The width in square pixels.
  package let naturalWidth: Int?
  /// The average duration of a video frame, in seconds; nil for media without video, or when unknown.
  package let videoFrameDuration: TimeBase?
  /// The video properties; nil for media without video.
  package let video: FormatDescription.Video?

  init(_ stream: UnsafePointer<AVStream>) {
    let parameters = stream.pointee.codecpar.pointee
    index = Int(stream.pointee.index)
    containerID = Int(stream.pointee.id)
    switch parameters.codec_type {
    case AVMEDIA_TYPE_AUDIO: mediaType = .audio
    case AVMEDIA_TYPE_VIDEO: mediaType = shim_stream_is_attached_picture(stream) != 0 ? .attachedPicture : .video
    case AVMEDIA_TYPE_SUBTITLE: mediaType = .subtitle
    default: mediaType = .other
    }
    codecName = String(cString: avcodec_get_name(parameters.codec_id))
    hasDecoder = FormatAllowList.decoder(for: parameters.codec_id) != nil
    timeBase = TimeBase(stream.pointee.time_base) ?? .microseconds
    startTicks = optionalTimestamp(stream.pointee.start_time)
    durationTicks = optionalTimestamp(stream.pointee.duration).flatMap(optionalCount)
    bitRate = optionalCount(parameters.bit_rate)
    languageCode = TagText.value("language", in: stream.pointee.metadata)
    isDefault = stream.pointee.disposition & AV_DISPOSITION_DEFAULT != 0
    roles = Set(Role.allCases.filter { stream.pointee.disposition & $0.disposition != 0 })
    title = TagText.value("title", in: stream.pointee.metadata)
    codecTag = Self.fourCharacters(parameters.codec_tag)

    let isAudio = parameters.codec_type == AVMEDIA_TYPE_AUDIO
    sampleRateHz = isAudio && parameters.sample_rate > 0 ? Int(parameters.sample_rate) : nil
    channelCount = isAudio && parameters.ch_layout.nb_channels > 0 ? Int(parameters.ch_layout.nb_channels) : nil
    let mask = withUnsafePointer(to: parameters.ch_layout, shim_channel_layout_mask)
    channelMask = isAudio && mask != 0 ? mask : nil
    channelLayoutName = channelCount == nil ? nil : Self.name(of: parameters.ch_layout)
    sampleFormatName =
      isAudio ? av_get_sample_fmt_name(AVSampleFormat(parameters.format)).map { String(cString: $0) } : nil
    bitsPerSample = parameters.bits_per_raw_sample > 0 ? Int(parameters.bits_per_raw_sample) : nil
    blockByteCount = isAudio && parameters.block_align > 0 ? Int(parameters.block_align) : nil
    var copy = parameters
    let blockFrames =
      isAudio && parameters.block_align > 0 ? av_get_audio_frame_duration2(&copy, parameters.block_align) : 0
    blockFrameCount = blockFrames > 0 ? Int(blockFrames) : nil
    frameStepCount = Self.frameStepCount(parameters)
    initialPaddingFrames = optionalCount(Int64(parameters.initial_padding))
    seekPrerollFrames = optionalCount(Int64(parameters.seek_preroll))
    let isVideo = parameters.codec_type == AVMEDIA_TYPE_VIDEO
    width = isVideo && parameters.width > 0 ? Int(parameters.width) : nil
    height = isVideo && parameters.height > 0 ? Int(parameters.height) : nil
    // The container's ratio overrides the codec's, as in FFmpeg (`av_guess_sample_aspect_ratio`).
    let ofContainer = stream.pointee.sample_aspect_ratio
    let aspect = ofContainer.num > 0 && ofContainer.den > 0 ? ofContainer : parameters.sample_aspect_ratio
    naturalWidth = width.map { width in
      guard aspect.num > 0, aspect.den > 0 else { return width }
      return Int(clamping: av_rescale(Int64(width), Int64(aspect.num), Int64(aspect.den)))
    }
    let rate = stream.pointee.avg_frame_rate
    videoFrameDuration = isVideo ? TimeBase(numerator: rate.den, denominator: rate.num) : nil
    video = isVideo ? FormatDescription.Video(stream) : nil
  }

  /// Returns the granularity of a codec, from its header. Opus: 2.5 ms at 48 kHz (RFC 6716, 2.1.4). Vorbis: a packet
  /// decodes to a quarter of the sum of two block sizes, which are powers of two (Vorbis I, 4.2.2 and 4.3.8).
  private static func frameStepCount(_ parameters: AVCodecParameters) -> Int? {
    switch parameters.codec_id {
    case AV_CODEC_ID_OPUS: return 120
    case AV_CODEC_ID_VORBIS:
      let headers = UnsafeBufferPointer(start: parameters.extradata, count: max(0, Int(parameters.extradata_size)))
      return VorbisBlocks.sizes(headers).map { Int($0.short) / 4 }
    default: return nil
    }
  }
}

extension StreamInfo {
  /// The purpose of a stream: some of FFmpeg's dispositions.
  package enum Role: Sendable, Hashable, CaseIterable {
    case dub, original, comment, forced, hearingImpaired, visualImpaired, captions, descriptions

    fileprivate var disposition: Int32 {
      switch self {
      case .dub: AV_DISPOSITION_DUB
      case .original: AV_DISPOSITION_ORIGINAL
      case .comment: AV_DISPOSITION_COMMENT
      case .forced: AV_DISPOSITION_FORCED
      case .hearingImpaired: AV_DISPOSITION_HEARING_IMPAIRED
      case .visualImpaired: AV_DISPOSITION_VISUAL_IMPAIRED
      case .captions: AV_DISPOSITION_CAPTIONS
      case .descriptions: AV_DISPOSITION_DESCRIPTIONS
      }
    }
  }

  private static func fourCharacters(_ tag: UInt32) -> String? {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: tag >> (8 * $0)) }
    guard bytes.allSatisfy({ (0x20..<0x7f).contains($0) }) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func name(of layout: AVChannelLayout) -> String? {
    var name = [CChar](repeating: 0, count: 256)
    let count = withUnsafePointer(to: layout) { av_channel_layout_describe($0, &name, name.count) }
    guard count > 0 else { return nil }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension TimeBase {
  /// `AV_TIME_BASE_Q`: the time base of container times.
  package static var microseconds: TimeBase { TimeBase(unchecked: 1, 1_000_000) }

  /// For constants only.
  private init(unchecked numerator: Int32, _ denominator: Int32) {
    self.numerator = numerator
    self.denominator = denominator
  }
}
