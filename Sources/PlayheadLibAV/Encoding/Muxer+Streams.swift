import CPlayheadFFmpeg
import Glibc
import PlayheadMediaCore

extension Muxer {
  /// Adds a stream for the packets of an encoder. Call it before the header is written.
  ///
  /// - Returns: The index of the stream.
  package func addStream(_ encoder: Encoder, options: StreamOptions = StreamOptions()) throws(AVFailure) -> Int {
    let stream = try newStream(timeBase: encoder.timeBase, options: options)
    try check(
      avcodec_parameters_from_context(stream.pointee.codecpar, encoder.context), "avcodec_parameters_from_context")
    return streamCount - 1
  }

  /// Adds a stream for the packets of a video encoder. Call it before the header is written.
  ///
  /// - Returns: The index of the stream.
  package func addStream(
    _ encoder: VideoEncoder, options: StreamOptions = StreamOptions()
  ) throws(AVFailure) -> Int {
    let stream = try newStream(timeBase: encoder.settings.timeBase, options: options)
    let parameters = try check(stream.pointee.codecpar, "avformat_new_stream")
    try check(avcodec_parameters_from_context(parameters, encoder.context), "avcodec_parameters_from_context")
    if let cropping = encoder.settings.cropping {
      parameters.pointee.width -= Int32(clamping: cropping.left + cropping.right)
      parameters.pointee.height -= Int32(clamping: cropping.top + cropping.bottom)
    }
    try setVideoProperties(of: stream, options)
    return streamCount - 1
  }

  /// Adds a stream for packets that are already encoded. Call it before the header is written.
  ///
  /// - Parameter timeBase: The time base of the packets' times.
  /// - Returns: The index of the stream.
  /// - Throws: `noEncoder` for a codec that FFmpeg does not know.
  package func addStream(
    _ format: FormatDescription, timeBase: TimeBase, options: StreamOptions = StreamOptions()
  ) throws(AVFailure) -> Int {
    let stream = try newStream(timeBase: timeBase, options: options)
    let parameters = try check(stream.pointee.codecpar, "avformat_new_stream")
    try format.fill(parameters)
    if format.mediaType == .video { try setVideoProperties(of: stream, options) }
    return streamCount - 1
  }

  /// Adds artwork: an attachment if `isAttachment`, otherwise a stream of one packet (`AV_DISPOSITION_ATTACHED_PIC`).
  ///
  /// - Parameters:
  ///   - codecName: `png` or `mjpeg`.
  ///   - isAttachment: Whether to store the image as an attachment of Matroska, which has `fileName` and `mediaType`.
  ///   - role: FFmpeg's term for the content of the image, such as `Cover (front)`.
  package func addArtwork(
    _ bytes: [UInt8], codecName: String, mediaType: String, fileName: String, isAttachment: Bool, role: String,
    title: String
  ) throws(AVFailure) {
    let stream = try newStream(timeBase: .microseconds, options: StreamOptions())
    let format = FormatDescription(
      mediaType: .video, codecName: codecName, setupData: isAttachment ? bytes : [])
    let parameters = try check(stream.pointee.codecpar, "avformat_new_stream")
    try format.fill(parameters)
    if isAttachment {
      parameters.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
      stream.pointee.disposition = 0
      try Self.set(["filename": fileName, "mimetype": mediaType], in: &stream.pointee.metadata)
      if !title.isEmpty { try Self.set(["title": title], in: &stream.pointee.metadata) }
    } else {
      stream.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
      try Self.set(["comment": role, "title": title].filter { !$0.value.isEmpty }, in: &stream.pointee.metadata)
      let size = ImageSize(bytes)
      parameters.pointee.width = Int32(clamping: size?.width ?? 1)
      parameters.pointee.height = Int32(clamping: size?.height ?? 1)
      storeAttachedPicture(bytes, streamIndex: streamCount - 1)
    }
  }

  /// Sets the properties of a video stream beyond its codec.
  private func setVideoProperties(
    of stream: UnsafeMutablePointer<AVStream>, _ options: StreamOptions
  ) throws(AVFailure) {
    if let parameters = stream.pointee.codecpar {
      stream.pointee.sample_aspect_ratio = parameters.pointee.sample_aspect_ratio
    }
    if let duration = options.frameDuration {
      stream.pointee.avg_frame_rate = AVRational(num: duration.denominator, den: duration.numerator)
    }
    guard options.rotationDegrees != 0 else { return }
    let matrix = try check(
      av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, 9 * MemoryLayout<Int32>.size),
      "av_stream_new_side_data")
    matrix.withMemoryRebound(to: Int32.self, capacity: 9) {
      av_display_rotation_set($0, Double(options.rotationDegrees))
    }
  }
}
