import CFFmpeg
import MediaCore

/// What the container says about one of its streams, as values.
public struct StreamInfo: Sendable, Hashable {
  public enum MediaType: Sendable, Hashable {
    case audio, video, subtitle
    /// A picture that belongs to the file, such as a cover; FFmpeg has it as video.
    case attachedPicture
    case other
  }

  /// Position among the file's streams, from 0.
  public let index: Int
  /// The container's own number for the stream.
  public let containerID: Int
  public let mediaType: MediaType
  /// FFmpeg's name of the codec, such as `flac`; `none` when FFmpeg does not know it.
  public let codecName: String
  /// Whether this FFmpeg has a decoder for it that `FormatAllowList` contains.
  public let hasDecoder: Bool
  /// Its packets are ID3 tags (`AV_CODEC_ID_TIMED_ID3`).
  public var isTimedID3: Bool { mediaType == .other && codecName == "timed_id3" }
  /// Of timestamps and durations.
  public let timeBase: TimeBase
  /// First timestamp, in ticks.
  public let startTicks: Int64?
  /// In ticks; may be an estimate.
  public let durationTicks: Int64?
  public let bitRate: Int64?
  /// BCP 47 or ISO 639 code, as the file has it.
  public let languageCode: String?
  /// Marked by the file as the stream of its type to choose; in MP4 and its kin: enabled.
  public let isDefault: Bool
  /// What the stream is for, as far as the file says.
  public let roles: Set<Role>
  /// A name for people; at most 1,024 bytes of it.
  public let title: String?
  /// The container's four characters for the codec, such as `mp4a`; nil when it has none that can be printed.
  public let codecTag: String?

  /// Frames a second; nil for what is not sound, or not yet known.
  public let sampleRateHz: Int?
  public let channelCount: Int?
  /// Speakers in native order, as `AV_CH_*` bits.
  public let channelMask: UInt64?
  /// FFmpeg's name of the channels' places, such as `stereo`, `5.1(side)` or `6 channels`.
  public let channelLayoutName: String?
  /// FFmpeg's name of what samples decode to, such as `s16` or `fltp`.
  public let sampleFormatName: String?
  /// Bits of a sample before coding, for lossless codecs: 16, 24, ...
  public let bitsPerSample: Int?
  /// Bytes of one block that decodes on its own (PCM: one frame).
  public let blockByteCount: Int?
  /// Frames that such a block decodes to; nil when not constant or not known.
  public let blockFrameCount: Int?
  /// Decoded frames begin at multiples of so many frames after the first, whatever their sizes; nil when not known.
  public let frameStepCount: Int?
  /// Frames that the encoder put before the first true one.
  public let initialPaddingFrames: Int64?
  /// Frames to decode before a seek's target until output is right, as the container says.
  public let seekPrerollFrames: Int64?

  /// Picture size in pixels; nil for what is not video.
  public let width: Int?
  public let height: Int?
  /// `width` at square pixels.
  public let naturalWidth: Int?
  /// What a video frame lasts on average, in seconds; nil for what is not video, or not known.
  public let videoFrameDuration: TimeBase?
  /// All that is to be known of pictures; nil for what is not video.
  public let video: FormatDescription.Video?

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

  /// What the codec's header says. Opus: 2.5 ms at 48 kHz (RFC 6716, 2.1.4). Vorbis: a packet gives a quarter of the sum
  /// of two block sizes, each one of two powers of two (Vorbis I, 4.2.2 and 4.3.8).
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
  /// What a stream is for: some of FFmpeg's dispositions.
  public enum Role: Sendable, Hashable, CaseIterable {
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
  /// `AV_TIME_BASE_Q`: the container's own times.
  public static var microseconds: TimeBase { TimeBase(unchecked: 1, 1_000_000) }

  /// For constants only.
  private init(unchecked numerator: Int32, _ denominator: Int32) {
    self.numerator = numerator
    self.denominator = denominator
  }
}
