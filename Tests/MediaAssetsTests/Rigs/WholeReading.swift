import PlayheadMediaCore

@testable import PlayheadMediaAssets

/// Everything that a reader returns.
struct WholeReading: Equatable, CustomStringConvertible {
  var buffers: [SampleBuffer] = []
  var format: FormatDescription?
  var status = AssetReader.Status.unknown
  var error: MediaError?
  var fault: MediaError?

  init(
    _ asset: Asset, _ output: AssetReaderOutput, _ range: TimeRange? = nil, ranges: [TimeRange] = []
  ) throws {
    let reader = AssetReader(asset: asset)
    if let range { try reader.setTimeRange(range) }
    try reader.add(output)
    do throws(MediaError) { try reader.startReading() } catch { self.error = error }
    buffers = output.remainder()
    for range in ranges {
      try output.reset(forReadingTimeRanges: [range])
      buffers += output.remainder()
    }
    if !ranges.isEmpty { output.markConfigurationAsFinal() }
    (status, fault, error) = (reader.status, output.fault, error ?? reader.error)
    format = (output as? AssetReaderStoredOutput)?.format
  }

  var description: String {
    let times = buffers.prefix(2).map(\.presentationTime.decimalDescription)
    return "\(buffers.count) buffers at \(times)... \(status) \(error?.description ?? "") \(fault?.description ?? "")"
  }
}
