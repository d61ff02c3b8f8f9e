import Articles
import Foundation
import Playback
import Playhead
import PlayheadTesting

// Imports Foundation and Playhead in one target, and uses names of both.
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("playhead-consumer-\(getpid())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let tone = folder.appendingPathComponent("tone.caf").path
let film = folder.appendingPathComponent("film.mp4").path

/// Writes a second of a tone.
func writeTone() throws {
  let format = FormatDescription.pcm(.signed16, sampleRateHz: 48_000, channelCount: 1)
  let writer = AssetWriter(path: tone, container: .caf)
  let input = AssetWriterInput(settings: AudioOutputSettings(.ima4), sourceFormat: format)
  try writer.add(input)
  try writer.startWriting()
  try writer.startSession(atSourceTime: .zero)
  let bytes = (0..<48_000).flatMap { index -> [UInt8] in
    let sample = UInt16(bitPattern: Int16(8_000 * sin(Double(index) / 20)))
    return [UInt8(sample & 0xFF), UInt8(sample >> 8)]
  }
  try input.append(waiting: SampleBuffer(pcm: bytes, format: format, presentationTime: .zero))
  try writer.finishWriting()
}

/// Writes ten black frames of H.264.
func writeFilm() throws {
  let writer = AssetWriter(path: film, container: .mp4)
  let input = AssetWriterInput(
    settings: VideoOutputSettings(.h264), sourceFormat: .pixels(.bgra, width: 64, height: 64))
  let adaptor = try AssetWriterInputPixelBufferAdaptor(assetWriterInput: input)
  try writer.add(input)
  try writer.startWriting()
  try writer.startSession(atSourceTime: .zero)
  for number in 0..<10 {
    let pixels = try PixelBuffer(.bgra, width: 64, height: 64, data: Array(repeating: 0, count: 64 * 64 * 4))
    try adaptor.append(waiting: pixels, withPresentationTime: MediaTime(value: Int64(number), timescale: 25))
  }
  try writer.finishWriting()
}

// The argument is the trait with which the program was built.
let hasRubberBand = CommandLine.arguments.dropFirst().first != "none"
require(AudioTimePitchAlgorithm.spectral.isAvailable == hasRubberBand, "the trait RubberBand differs from the request")

try writeTone()
try writeFilm()

// Values of assets, with their types.
let asset = Asset(path: tone)
let (duration, tracks, warnings) = try await asset.load(.duration, .tracks, .metadataWarnings)
require(duration.seconds >= 1 && tracks.count == 1 && warnings.isEmpty, "loaded \(duration), \(tracks), \(warnings)")
let status = asset.status(of: .tracks)
require(status.value?.count == 1, "the status is \(status)")
_ = try await asset.load(.artwork)
let formats = try await asset.load(.availableMetadataFormats)
for format in formats { _ = try await asset.loadMetadata(for: format) }

// Waveforms and images, into files.
let drawing = folder.appendingPathComponent("tone.svg").path
_ = try await WaveformScan(asset, output: WaveformOutput(path: drawing, .svg)).result()
let images = [(time: MediaTime.zero, path: folder.appendingPathComponent("film.png").path)]
try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
  ImageExport(Asset(path: film), .images(images)).start { result in
    continuation.resume(with: result.map { _ in }.mapError { $0 as any Error })
  }
}
for path in [drawing, images[0].path] { require(FileManager.default.fileExists(atPath: path), "no \(path)") }

// An error, as Foundation prints it.
func text(of error: any Error) -> String { error.localizedDescription }
do {
  _ = try Asset(path: "/nowhere.wav").load()
  require(false, "a file that does not exist is loaded")
} catch {
  require(text(of: error).contains("/nowhere.wav"), "the error is \(text(of: error))")
}

// An engine on a virtual clock, and its session, from the main actor.
let clock = VirtualControlLoop(base: ThreadControlLoop(name: "consumer"))
let sink = VirtualSink(
  format: AudioFormat(sampleRateHz: 48_000, channelCount: 2), now: { [unowned clock] in clock.now })
let engine = PlaybackEngine(loop: clock, output: OutputConfiguration(makeSink: { sink }))
clock.execute { clock.attach(sink) }
engine.open()
try await engine.session.setCategory(.playback)
try await engine.session.setActive(true)
let player = try AudioPlayer(path: tone, engine: engine)
require(player.play(), "the player does not play")
await withCheckedContinuation { continuation in
  clock.execute { clock.advance(byNanoseconds: 2_000_000_000) { continuation.resume() } }
}
require(!player.isPlaying, "the player does not end")
await engine.close()
// The tests of the article about the virtual clock.
try await testQueue(folder: folder.path)
let test = try await PlaybackEngine.virtual()
try await settle(test: test, item: PlayerItem(path: folder.appendingPathComponent("one.wav").path))
await test.engine.close()
print("consumer: ok, \(URL(fileURLWithPath: tone).lastPathComponent) of \(player.duration.seconds) s")
