// Waveforms as data for other programs: the formats of audiowaveform (github.com/bbc/audiowaveform, doc/DataFormat.md),
// which peaks.js and wavesurfer.js read.
import PlayheadMediaCore

extension Waveform {
  /// A chunk is passed to `append` when it has at least this number of bytes.
  private static let chunkByteCount = 65_536

  /// Writes the waveform in chunks.
  ///
  /// - Throws: `invalidArgument` for an invalid style, and for `.dat` if bins are not a whole number of samples; the
  ///   errors of `append`.
  public func write(
    _ format: WaveformFormat, _ style: WaveformStyle = WaveformStyle(), to append: ([UInt8]) throws(MediaError) -> Void
  ) throws(MediaError) {
    try style.check()
    switch format {
    case .json: try writeJSON(bits: style.bits, append)
    case .dat: try writeDat(bits: style.bits, append)
    case .png: try append(image(style).png)
    case .svg: try append(Array(svg(style).utf8))
    }
  }

  /// Converts a sample to an integer of audiowaveform's formats. The 8-bit value is the 16-bit value divided by 256,
  /// truncated towards zero.
  static func quantized(_ value: Float, bits: Int) -> Int {
    let sample = Int(max(-32_768, min(32_767, (value * 32_768).rounded())))
    return bits == 8 ? sample / 256 : sample
  }

  static var nonuniformBinsError: MediaError {
    MediaError(
      .invalidArgument, "a .dat file needs a fixed number of samples per bin, not a number of bins",
      operation: "waveform")
  }

  /// Samples per bin, if all bins except the last have the same whole number; otherwise nil.
  private var wholeFramesPerBin: Int? {
    switch scale {
    case .framesPerBin(let length): length
    case .bins(let count): frameCount % Int64(count) == 0 ? Int(exactly: frameCount / Int64(count)) : nil
    }
  }

  /// Little-endian: version, flags, sample rate, samples per pixel, length, channels; then the minimum and maximum of
  /// each bin and channel.
  private func writeDat(bits: Int, _ append: ([UInt8]) throws(MediaError) -> Void) throws(MediaError) {
    guard let length = wholeFramesPerBin.flatMap({ Int32(exactly: $0) }) else {
      throw Self.nonuniformBinsError
    }
    var bytes: [UInt8] = []
    func add(_ value: some FixedWidthInteger) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    add(Int32(2))
    add(UInt32(bits == 8 ? 1 : 0))
    add(Int32(clamping: sampleRateHz))
    add(length)
    add(UInt32(clamping: binCount))
    add(Int32(clamping: channelCount))
    for (low, high) in zip(minima, maxima) {
      for value in [low, high] {
        let quantized = Self.quantized(value, bits: bits)
        if bits == 8 { add(Int8(clamping: quantized)) } else { add(Int16(clamping: quantized)) }
      }
      guard bytes.count >= Self.chunkByteCount else { continue }
      try append(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
    try append(bytes)
  }

  /// A single JSON object. `samples_per_pixel` is fractional if the bins have different lengths.
  private func writeJSON(bits: Int, _ append: ([UInt8]) throws(MediaError) -> Void) throws(MediaError) {
    let length = wholeFramesPerBin.map { "\($0)" } ?? "\(Double(frameCount) / Double(binCount))"
    var bytes = Array(
      """
      {"version":2,"channels":\(channelCount),"sample_rate":\(sampleRateHz),"samples_per_pixel":\(length),"bits":\(bits),\
      "length":\(binCount),"first_sample":\(firstFrame),"sample_count":\(frameCount),"data":[
      """.utf8)
    func add(_ value: Int, isFirst: Bool) throws(MediaError) {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      bytes.append(contentsOf: "\(value)".utf8)
      guard bytes.count >= Self.chunkByteCount else { return }
      try append(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
    for index in minima.indices {
      try add(Self.quantized(minima[index], bits: bits), isFirst: index == 0)
      try add(Self.quantized(maxima[index], bits: bits), isFirst: false)
    }
    bytes.append(contentsOf: "],\"rms\":[".utf8)
    for index in rms.indices { try add(Self.quantized(rms[index], bits: bits), isFirst: index == 0) }
    bytes.append(contentsOf: "]}\n".utf8)
    try append(bytes)
  }
}
