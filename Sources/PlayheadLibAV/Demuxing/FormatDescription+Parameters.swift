import CPlayheadFFmpeg
import PlayheadMediaCore

extension FormatDescription {
  /// Fills in the container's parameters for packets of this format.
  ///
  /// - Throws: `noEncoder` for a codec that FFmpeg does not know; `EINVAL` for invalid numbers.
  func fill(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(AVFailure) {
    guard let descriptor = avcodec_descriptor_get_by_name(codecName) else {
      throw AVFailure(code: shim_AVERROR_ENCODER_NOT_FOUND(), call: "avcodec_descriptor_get_by_name")
    }
    parameters.pointee.codec_type = descriptor.pointee.type
    parameters.pointee.codec_id = descriptor.pointee.id
    if !setupData.isEmpty {
      guard let count = Int32(exactly: setupData.count),
        let bytes = av_mallocz(setupData.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
      else { throw AVFailure(errno: ENOMEM, call: "av_mallocz") }
      bytes.copyMemory(from: setupData, byteCount: setupData.count)
      parameters.pointee.extradata = bytes.assumingMemoryBound(to: UInt8.self)
      parameters.pointee.extradata_size = count
    }
    if let audio { try audio.fill(parameters) }
    if let video { try video.fill(parameters) }
  }
}

extension FormatDescription.Audio {
  fileprivate func fill(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(AVFailure) {
    guard let rate = Int32(exactly: sampleRateHz), rate > 0, (1...64).contains(channelCount),
      let padding = Int32(exactly: initialPaddingFrames), padding >= 0,
      let preroll = Int32(exactly: seekPrerollFrames), preroll >= 0
    else { throw AVFailure(errno: EINVAL, call: "Encoder.init") }
    parameters.pointee.sample_rate = rate
    parameters.pointee.initial_padding = padding
    parameters.pointee.seek_preroll = preroll
    parameters.pointee.frame_size = Int32(clamping: framesPerPacket ?? 0)
    parameters.pointee.block_align = Int32(clamping: bytesPerPacket ?? 0)
    parameters.pointee.bits_per_raw_sample = Int32(clamping: bitsPerSample ?? 0)
    parameters.pointee.bit_rate = Int64(clamping: bitRate ?? 0)
    let bits = av_get_bits_per_sample(parameters.pointee.codec_id)
    parameters.pointee.bits_per_coded_sample = bits > 0 ? bits : Int32(clamping: bitsPerSample ?? 0)
    if let mask = channelMask ?? SampleLayout.defaultChannelMask(channelCount: channelCount) {
      try check(av_channel_layout_from_mask(&parameters.pointee.ch_layout, mask), "av_channel_layout_from_mask")
    } else {
      shim_channel_layout_unspecified(&parameters.pointee.ch_layout, Int32(channelCount))
    }
    guard Int(parameters.pointee.ch_layout.nb_channels) == channelCount else {
      throw AVFailure(errno: EINVAL, call: "av_channel_layout_from_mask")
    }
  }
}

extension FormatDescription.Video {
  fileprivate func fill(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(AVFailure) {
    guard let width = Int32(exactly: width), let height = Int32(exactly: height), width > 0, height > 0 else {
      throw AVFailure(errno: EINVAL, call: "Encoder.init")
    }
    parameters.pointee.width = width
    parameters.pointee.height = height
    if let pixelFormatName { parameters.pointee.format = av_get_pix_fmt(pixelFormatName).rawValue }
    if let ratio = pixelAspectRatio {
      parameters.pointee.sample_aspect_ratio = AVRational(
        num: Int32(clamping: ratio.horizontal), den: Int32(clamping: ratio.vertical))
    }
    parameters.pointee.color_primaries = AVColorPrimaries(rawValue: UInt32(clamping: color.primaries))
    parameters.pointee.color_trc = AVColorTransferCharacteristic(rawValue: UInt32(clamping: color.transfer))
    parameters.pointee.color_space = AVColorSpace(rawValue: UInt32(clamping: color.matrix))
    parameters.pointee.color_range =
      switch color.isFullRange {
      case true: AVCOL_RANGE_JPEG
      case false: AVCOL_RANGE_MPEG
      default: AVCOL_RANGE_UNSPECIFIED
      }
    parameters.pointee.bit_rate = Int64(clamping: bitRate ?? 0)
  }
}
