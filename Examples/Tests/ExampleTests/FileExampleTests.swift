import Foundation
import PlayheadFoundation
import PlayheadTesting
import Testing

/// Examples that read and write files.
@Suite struct FileExampleTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  @Test func metadataIsPrintedAndTheCopyHasAnotherTitle() async throws {
    let png = try #require(
      Data(
        base64Encoded:
          "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="))
    var options = AssetWriter.Options()
    options.metadata = ["title": "Prelude", "artist": "Ensemble", "track": "3"]
    options.artwork = [Artwork([UInt8](png))]
    let (source, copy) = (folder.path("a.flac"), folder.path("b.flac"))
    let writer = AssetWriter(path: source, container: .flac, options: options)
    let format = FormatDescription.pcm(.signed16, sampleRateHz: 48_000, channelCount: 1)
    let input = AssetWriterInput(settings: AudioOutputSettings(.flac), sourceFormat: format)
    try writer.add(input)
    try writer.startWriting()
    try writer.startSession(atSourceTime: .zero)
    try input.append(
      waiting: SampleBuffer(pcm: Array(repeating: 1, count: 48_000), format: format, presentationTime: .zero))
    try await writer.finishWriting()

    let lines = try await succeed("metadata", source, copy, "Fugue").lines
    #expect(lines.contains("title: Prelude") && lines.contains("artist: Ensemble"))
    #expect(lines.contains("artwork: frontCover, image/png, \(png.count) bytes"), "\(lines)")
    #expect(lines.contains { $0.lowercased() == "vorbis/title = prelude" }, "\(lines)")
    #expect(lines.last == "wrote 0.5 s to b.flac")
    let copied = try await succeed("metadata", copy).lines
    #expect(copied.contains("title: Fugue") && copied.contains("artist: Ensemble"))
    #expect(copied.contains("artwork: frontCover, image/png, \(png.count) bytes"))
    #expect(try samples(of: copy) == samples(of: source))
  }

  @Test func samplesAreCountedAndDrawn() async throws {
    let path = folder.path("steps.wav")
    try TimeCode.writeWAV(path: path, frameCount: 4_000) { index in
      let value = Int16(index < 2_000 ? 16_384 : -8_192)
      return StereoFrame(left: value, right: value)
    }
    let lines = try await succeed("samples", path, "4").lines
    let (loud, quiet) = (String(repeating: "#", count: 30) + " 16384", String(repeating: "#", count: 15) + " 8192")
    #expect(lines == ["4000 samples, status: completed", loud, loud, quiet, quiet])
  }

  @Test func movieHasEveryFrameAndItsAudio() async throws {
    let path = folder.path("movie.mp4")
    #expect(try await succeed("movie", path).lines.first?.hasPrefix("completed: ") == true)
    let asset = Asset(path: path)
    let (tracks, duration) = try await asset.load(.tracks, .duration)
    #expect(tracks.map(\.codecName) == ["h264", "aac"] && abs(duration.seconds - 2) < 0.05)

    let reader = AssetReader(asset: asset)
    let output = AssetReaderVideoOutput(settings: VideoReadSettings(.bgra))
    try reader.add(output)
    try reader.startReading()
    var times: [MediaTime] = []
    while let buffer = output.copyNextSampleBuffer() {
      let pixels = try #require(buffer.pixels)
      #expect(pixels.width == 320 && pixels.height == 180)
      // The middle of the bar is white, in row 90.
      let column = 6 * times.count + 10
      if column < 320 { #expect(pixels.data[4 * (90 * 320 + column)] > 200, "frame \(times.count)") }
      times.append(buffer.presentationTime)
    }
    #expect(reader.error == nil)
    #expect(times == (0..<50).map { MediaTime(value: $0, timescale: 25) })
    #expect(try samples(of: path).count >= 95_000)
  }

  @Test func compositionFadesFromOneFileToTheOther() async throws {
    let first = try folder.constant("a.wav", 16_384, seconds: 0.3)
    let second = try folder.constant("b.wav", 8_192, seconds: 0.3)
    let output = folder.path("joined.wav")
    let lines = try await succeed("composition", first, second, output, "0.1").lines
    #expect(lines == ["wrote 0.5 s, cross-fade from 0.2 to 0.3 s"])
    let left = try samples(of: output, channelCount: 1)
    #expect(left.count == 24_000)
    #expect(left[0] == 0.5 && left[9_599] == 0.5 && left[14_400] == 0.25 && left[23_999] == 0.25)
    // In the middle of the fade both files have half of their volume.
    #expect(abs(left[12_000] - 0.375) < 0.001)
  }

  @Test func exportHasExactlyTheRange() async throws {
    let source = try folder.timeCodes("a.wav", seconds: 1)
    let (part, copy) = (folder.path("part.flac"), folder.path("copy.wav"))
    let lines = try await succeed("export", source, part, "0.25", "0.5").lines
    #expect(lines.contains("100 %") && lines.last?.hasPrefix("wrote 0.5 s, ") == true, "\(lines)")
    #expect(
      try timeCodeRuns(samples(of: part)) == [TimeCode.Run(file: 1, firstIndex: 12_000, count: 24_000, position: 0)])
    let comments = try await Asset(path: part).load(.metadata).compactMap(\.stringValue)
    #expect(comments.contains("A part of a.wav"), "\(comments)")
    #expect(
      try await succeed("export", source, copy, "0.5", "9", "--passthrough").lines.last?.hasPrefix("wrote 0.5 s")
        == true)
    #expect(
      try timeCodeRuns(samples(of: copy)) == [TimeCode.Run(file: 1, firstIndex: 24_000, count: 24_000, position: 0)])
  }

  @Test func waveformIsAnImage() async throws {
    let image = folder.path("wave.svg")
    let lines = try await succeed("waveform", try folder.tone("a.wav", amplitude: 16_384, seconds: 0.5), image).lines
    #expect(lines == ["600 bins of 24000 frames, peak 0.5"])
    let svg = try String(contentsOfFile: image, encoding: .utf8)
    #expect(svg.contains("<svg") && svg.contains("width=\"600\"") && svg.contains("#c04030"))
  }
}
