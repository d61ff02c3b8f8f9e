import CPlayheadFFmpeg

/// Converts samples of any format, rate and channel layout to interleaved samples, through an `SwrContext`. Default:
/// float32.
///
/// At equal rates there is no delay, filter or dither: 8-, 16- and 24-bit integers (the latter in 32 bits) and float32
/// are converted exactly.
///
/// Threading: one thread at a time.
package final class Resampler {
  /// The layout of the input.
  package let input: SampleLayout
  package let outputSampleRateHz: Int
  package let outputChannelCount: Int
  /// The sample format of the output; not planar.
  package let outputFormat: SampleFormat
  private let context: OpaquePointer
  /// The number of frames that one drain call requests.
  private static let drainFrames = 4_096

  /// Creates a conversion.
  ///
  /// - Parameters:
  ///   - matrix: The gains, `matrix[output * inputChannels + input]`, without normalization; nil keeps every channel,
  ///     which requires equal counts.
  ///   - interpolates: Whether the filter interpolates between its phases. The rates may then be any numbers up to
  ///     `largestRates`, instead of audio sample rates.
  /// - Throws: A failure for unsupported values: channel counts outside 1...64, rates of 0.
  package init(
    input: SampleLayout, outputSampleRateHz: Int, outputChannelCount: Int, matrix: [Double]? = nil,
    interpolates: Bool = false, outputFormat: SampleFormat = .float32
  ) throws(AVFailure) {
    _ = LibAV.discardLogByDefault
    guard let inputRate = Int32(exactly: input.sampleRateHz), let outputRate = Int32(exactly: outputSampleRateHz),
      inputRate > 0, outputRate > 0, !outputFormat.isPlanar, (1...64).contains(input.channelCount),
      (1...64).contains(outputChannelCount),
      matrix.map({ $0.count == input.channelCount * outputChannelCount }) ?? (input.channelCount == outputChannelCount)
    else { throw AVFailure(errno: EINVAL, call: "swr_alloc_set_opts2") }
    self.input = input
    self.outputSampleRateHz = outputSampleRateHz
    self.outputChannelCount = outputChannelCount
    self.outputFormat = outputFormat

    // swresample must not interpret the channels: the matrix defines the mix.
    var inputLayout = AVChannelLayout()
    var outputLayout = AVChannelLayout()
    shim_channel_layout_unspecified(&inputLayout, Int32(clamping: input.channelCount))
    shim_channel_layout_unspecified(&outputLayout, Int32(clamping: outputChannelCount))
    var made: OpaquePointer?
    try check(
      swr_alloc_set_opts2(
        &made, &outputLayout, outputFormat.avFormat, outputRate, &inputLayout, input.format.avFormat, inputRate, 0, nil),
      "swr_alloc_set_opts2")
    let context = try check(made, "swr_alloc_set_opts2")
    do throws(AVFailure) {
      if let matrix {
        try check(swr_set_matrix(context, matrix, Int32(clamping: input.channelCount)), "swr_set_matrix")
      }
      if interpolates {
        // The product of the input rate and the number of phases must stay below 2^30 (resample.c: `av_reduce`).
        let shift = max(0, min(10, inputRate.leadingZeroBitCount - 2))
        try check(
          av_opt_set_int(UnsafeMutableRawPointer(context), "phase_shift", Int64(shift), 0), "av_opt_set_int")
        try check(av_opt_set_int(UnsafeMutableRawPointer(context), "linear_interp", 1, 0), "av_opt_set_int")
      }
      try check(swr_init(context), "swr_init")
    } catch {
      var released: OpaquePointer? = context
      swr_free(&released)
      throw error
    }
    self.context = context
  }

  /// The largest rates for `interpolates`.
  package static let largestRates: (input: Int64, output: Int64) = (1 << 25 - 1, 1 << 29)

  deinit {
    var released: OpaquePointer? = context
    swr_free(&released)
  }

  /// Converts a part of a frame. At equal rates, returns exactly as many frames as the input has, without an
  /// intermediate copy.
  ///
  /// - Parameters:
  ///   - frame: A frame of the `input` layout.
  ///   - range: The audio frames to convert.
  ///   - output: Memory for `capacityFrames` frames; the excess is kept for the next call.
  /// - Returns: The number of frames written.
  package func convert(
    _ frame: Frame, range: Range<Int>, into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(AVFailure) -> Int {
    precondition(frame.layout == input, "the layout of the frame must be the resampler's input layout")
    precondition(range.lowerBound >= 0 && range.upperBound <= frame.frameCount, "the range must be within the frame")
    guard let planes = frame.pointer.pointee.extended_data else { return 0 }
    let format = input.format
    let planeCount = format.isPlanar ? input.channelCount : 1
    let offset = range.lowerBound * format.byteCount * (format.isPlanar ? 1 : input.channelCount)
    // AVFrame has 8 pointers inline; more are in extended_data. The advanced copies are on the stack.
    let result = withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: planeCount) { pointers in
      for index in 0..<planeCount { pointers.initializeElement(at: index, to: planes[index].map { $0 + offset }) }
      return run(UnsafeMutablePointer(pointers.baseAddress), range.count, output, capacityFrames)
    }
    return Int(try check(result, "swr_convert"))
  }

  /// Converts `frameCount` frames of interleaved or one-channel samples at `samples`, as
  /// ``convert(_:range:into:capacityFrames:)`` does.
  package func convert(
    _ samples: UnsafeRawPointer, frameCount: Int, into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(AVFailure) -> Int {
    precondition(!input.format.isPlanar || input.channelCount == 1, "planar samples have more than one pointer")
    var plane: UnsafePointer<UInt8>? = samples.assumingMemoryBound(to: UInt8.self)
    return Int(try check(run(&plane, frameCount, output, capacityFrames), "swr_convert"))
  }

  /// Returns the remaining frames; call it until it returns 0. Further input then requires `reset()`.
  package func drain(into output: UnsafeMutableRawPointer, capacityFrames: Int) throws(AVFailure) -> Int {
    Int(try check(run(nil, 0, output, min(capacityFrames, Self.drainFrames)), "swr_convert"))
  }

  /// The input that has not been returned yet, in input frames, rounded up.
  package var delayInputFrames: Int { Int(max(0, swr_get_delay(context, Int64(input.sampleRateHz)))) }

  /// Returns the maximum number of output frames after `inputFrameCount` more input frames.
  package func outputFrameBound(inputFrameCount: Int) -> Int {
    Int(max(0, swr_get_out_samples(context, Int32(clamping: inputFrameCount))))
  }

  /// Returns the number of output frames to request for `frameCount` more input frames: at most the possible output,
  /// because swresample allocates and clears twice the requested space, regardless of the output.
  func requestedFrameCount(forInput frameCount: Int, capacityFrames: Int) -> Int {
    min(capacityFrames, outputFrameBound(inputFrameCount: frameCount))
  }

  /// Returns the number of input frames after which an output frame coincides with an input frame again, and the
  /// filter's phase is 0 again. Rates in Hz, above 0.
  package static func phasePeriodFrames(from inputRateHz: Int, to outputRateHz: Int) -> Int {
    var (larger, smaller) = (inputRateHz, outputRateHz)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    return inputRateHz / larger
  }

  /// Returns a lower bound for the number of input frames before an output frame that contribute to it. It consists of
  /// the whole filter length, half of which is before the frame, and a margin of two periods of its shortest form. The
  /// filter has 32 taps at the lower of the two rates, with swresample's default cutoff of 0.97
  /// (libswresample/options.c, resample.c: `filter_size`, `cutoff`).
  package static func filterFrames(from inputRateHz: Int, to outputRateHz: Int) -> Int {
    let taps = 32 * max(1, (Double(inputRateHz) / (Double(outputRateHz) * 0.97)).rounded(.up))
    return Int(taps) + 64
  }

  /// Discards all buffered audio and restarts at phase 0.
  package func reset() throws(AVFailure) {
    swr_close(context)
    try check(swr_init(context), "swr_init")
  }

  private func run(
    _ planes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ frameCount: Int, _ output: UnsafeMutableRawPointer,
    _ capacityFrames: Int
  ) -> Int32 {
    var written: UnsafeMutablePointer<UInt8>? = output.assumingMemoryBound(to: UInt8.self)
    let requested =
      planes == nil ? capacityFrames : requestedFrameCount(forInput: frameCount, capacityFrames: capacityFrames)
    return swr_convert(
      context, &written, Int32(clamping: requested), planes, Int32(clamping: frameCount))
  }
}
