import Fuzzing
import Glibc
import PlayheadLibAV
import PlayheadLoudness
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadWaveforms

// Measures, draws and exports any bytes as a media file. The first byte of an input selects the task. A task must not
// trap, hang or read out of bounds, and its result must be within the limits that it was given. An export writes a file
// that can be opened, or no file.

let folder = makeScratchFolder()
let path = "\(folder)/input"
let exported = "\(folder)/output"

/// Waits for the completion of a task.
func outcome<Value: Sendable>(
  _ start: (@escaping @Sendable (Result<Value, MediaError>) -> Void) -> Void
) -> Value? {
  let signal = ConditionMutex<Result<Value, MediaError>?>(nil)
  start { result in signal.update { $0 = result } }
  return try? signal.wait { $0 }?.get()
}

func scan(_ asset: Asset) {
  guard let report = outcome({ LoudnessScan([asset]).start(completion: $0) }) else { return }
  precondition(report.files.count == 1, "\(report.files.count) results for one file")
  guard let loudness = try? report.files[0].get() else { return }
  let values = [loudness.integratedLoudness, loudness.loudnessRange, loudness.truePeak, loudness.samplePeak]
  precondition(values.allSatisfy { $0?.isFinite != false }, "a value is not finite: \(loudness)")
  precondition(loudness.duration > .zero, "the duration is \(loudness.duration)")
}

func measure(_ asset: Asset) {
  let request = WaveformRequest(scale: .bins(100), end: MediaTime(value: 10, timescale: 1))
  guard let waveform = outcome({ WaveformScan(asset, request).start(completion: $0) })?.waveform else { return }
  precondition((1...100).contains(waveform.binCount), "\(waveform.binCount) bins")
  let count = waveform.binCount * waveform.channelCount
  precondition(
    waveform.minima.count == count && waveform.maxima.count == count && waveform.rms.count == count,
    "\(waveform.minima.count) values, not \(count)")
}

func draw(_ asset: Asset) {
  let generator = AssetImageGenerator(asset: asset)
  generator.maximumSize = .init(width: 64, height: 64)
  for seconds in 0...1 {
    guard let image = try? generator.image(at: MediaTime(value: Int64(seconds), timescale: 1)).image else { return }
    precondition((1...64).contains(image.width) && (1...64).contains(image.height), "\(image.width) x \(image.height)")
  }
}

func export(_ asset: Asset, _ settings: ExportSettings) {
  var settings = settings
  settings.timeRange = TimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 2))
  let session = AssetExportSession(asset, to: Array(exported.utf8), settings)
  if let outcome = outcome({ session.start(completion: $0) }) {
    precondition(outcome.byteCount > 0, "an empty file was exported")
    let asset = Asset(path: exported)
    precondition((try? asset.load()) != nil, "the exported file cannot be opened")
    precondition(unlink(exported) == 0, "no file was exported")
  } else {
    precondition(access(exported, F_OK) != 0, "a failed export wrote a file")
  }
}

func check(_ input: UnsafeRawBufferPointer) {
  guard let task = input.first else { return }
  // FFmpeg 5.1 leaks the tags of a VQF header when it rejects the rest of the header (libavformat/vqf.c).
  guard !input.dropFirst().starts(with: "TWIN".utf8) else { return }
  write(input.dropFirst(), to: path)
  let asset = Asset(path: path)
  switch task % 6 {
  case 0: scan(asset)
  case 1: measure(asset)
  case 2: draw(asset)
  case 3: export(asset, ExportSettings(.wav))
  case 4: export(asset, .passthrough(.matroska))
  default: export(asset, .passthrough(.mp4))
  }
}

LibAV.discardLog()

fuzz(check)
