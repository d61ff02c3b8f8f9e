import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadWaveforms

/// Waveform files, read back by other programs.
@Suite struct WaveformFormatTests {
  private let waveform = Waveform(
    sampleRateHz: 1_000, channelCount: 2, firstFrame: 500, frameCount: 2_500, scale: .framesPerBin(1_000),
    minima: [-1, -0.5, -0.25, 0, -2, .zero], maxima: [1, 0.5, 0.25, 0, 2, .infinity],
    rms: [0.5, 0.25, 0.1, 0, 1, 1])

  private func bytes(_ format: WaveformFormat, _ style: WaveformStyle = WaveformStyle()) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try waveform.write(format, style) { bytes += $0 }
    return bytes
  }

  /// The output of another program for the bytes.
  private func output(_ bytes: [UInt8], _ name: String, _ command: (String) -> [String]) throws -> String {
    let files = try TemporaryDirectory()
    let path = files.file(name)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let outputFile = files.file("said")
    try ChildProcess.run(["/bin/sh", "-c", #"out=$1; shift; exec "$@" > "$out""#, "sh", outputFile] + command(path))
    return try String(contentsOfFile: outputFile, encoding: .utf8)
  }

  @Test(arguments: [16, 8]) func datFileIsReadByAnIndependentReader(bits: Int) throws {
    let reader = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("read-dat.py").path
    var style = WaveformStyle()
    style.bits = bits
    let lines = try output(try bytes(.dat, style), "some.dat") { ["/usr/bin/python3", reader, $0] }.split(
      separator: "\n")
    #expect(lines.first == "2 \(bits == 8 ? 1 : 0) 1000 1000 3 2")
    let values = lines.dropFirst().compactMap { Int($0) }
    let exact = [-32_768, 32_767, -16_384, 16_384, -8_192, 8_192, 0, 0, -32_768, 32_767, 0, 32_767]
    #expect(values == (bits == 8 ? exact.map { $0 / 256 } : exact))
  }

  @Test func jsonHasTheValuesOfDatAndTheRMS() throws {
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(try bytes(.json))) as? [String: Any])
    #expect(object["version"] as? Int == 2 && object["channels"] as? Int == 2 && object["bits"] as? Int == 16)
    #expect(object["sample_rate"] as? Int == 1_000 && object["samples_per_pixel"] as? Int == 1_000)
    #expect(object["length"] as? Int == 3 && object["first_sample"] as? Int == 500)
    #expect(
      object["data"] as? [Int] == [-32_768, 32_767, -16_384, 16_384, -8_192, 8_192, 0, 0, -32_768, 32_767, 0, 32_767])
    #expect(object["rms"] as? [Int] == [16_384, 8_192, 3_277, 0, 32_767, 32_767])
  }

  @Test func pngIsReadByFFmpeg() throws {
    var style = WaveformStyle()
    (style.width, style.height) = (301, 97)
    style.color = try RGBColor("ff0000")
    style.background = try RGBColor("#000040")
    let text = try output(try bytes(.png, style), "some.png") {
      [
        "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,width,height,pix_fmt", "-of", "csv=p=0", $0,
      ]
    }
    #expect(text.trimmingCharacters(in: .whitespacesAndNewlines) == "png,301,97,pal8")
    // The decoded pixels: the background at the top, the colour at the top of the first channel's loudest bin.
    let files = try TemporaryDirectory()
    let (path, raw) = (files.file("some.png"), files.file("some.rgb"))
    try Data(try bytes(.png, style)).write(to: URL(fileURLWithPath: path))
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-i", path, "-pix_fmt", "rgb24", "-f", "rawvideo", raw,
    ])
    let pixels = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
    #expect(pixels.count == 301 * 97 * 3)
    let image = waveform.image(style)
    for (x, y) in [(0, 0), (5, 1), (150, 0), (150, 20), (150, 30), (0, 81), (300, 96)] {
      let expected: [[UInt8]] = [[0, 0, 0x40], [0xff, 0, 0], [0x7f, 0, 0x20], [0xe0, 0xe0, 0xe0]]
      let offset = 3 * (y * 301 + x)
      #expect(Array(pixels[offset..<offset + 3]) == expected[Int(image.colorIndex(x: x, y: y))], "\(x) \(y)")
    }
    #expect(
      image.colorIndex(x: 5, y: 0) == 1 && image.colorIndex(x: 150, y: 0) == 0 && image.colorIndex(x: 0, y: 81) == 3)
  }

  @Test func svgHasShapesForEachChannelAndTimeLabels() throws {
    /// The number of elements of each name, from a parser.
    func counts(_ style: WaveformStyle = WaveformStyle()) throws -> [String] {
      let script = """
        import sys, xml.etree.ElementTree as t
        names = [e.tag.split('}')[1] for e in t.parse(sys.argv[1]).iter()]
        print(*(names.count(n) for n in ('svg', 'path', 'text')))
        """
      return try output(try bytes(.svg, style), "some.svg") { ["/usr/bin/python3", "-c", script, $0] }.split {
        $0.isWhitespace
      }
      .map(String.init)
    }
    // Two shapes per channel, and the axis with labels at 0.5, 1, ... s.
    #expect(try counts() == ["1", "5", "5"])
    var bare = WaveformStyle()
    bare.hasAxis = false
    #expect(try counts(bare) == ["1", "4", "0"])
  }

  @Test func axisLabelsAreAtTheirTimes() {
    let axis = TimeAxis(start: 0.5, duration: 10, width: 1_000)
    #expect(axis.marks == (1...10).map { .init(x: ($0 * 1_000 - 500) / 10, label: "0:\($0 < 10 ? "0" : "")\($0)") })
    #expect(TimeAxis.label(3_723) == "1:02:03" && TimeAxis.label(0.25, isFine: true) == "0:00.250")
    #expect(TimeAxis(start: 0, duration: 36_000, width: 900).marks.map(\.label).prefix(2) == ["0:00", "1:00:00"])
    #expect(TimeAxis(start: 0, duration: 0, width: 900).marks.isEmpty)
  }

  @Test func invalidStylesFormsAndColorsAreRejected() throws {
    func code(_ format: WaveformFormat, _ change: (inout WaveformStyle) -> Void) -> MediaError.Code? {
      var style = WaveformStyle()
      change(&style)
      return #expect(throws: MediaError.self) { try waveform.write(format, style) { _ in } }?.code
    }
    #expect(code(.png) { $0.width = 0 } == .invalidArgument)
    #expect(code(.svg) { $0.height = 1 << 20 } == .invalidArgument)
    #expect(code(.json) { $0.bits = 12 } == .invalidArgument)
    let uneven = Waveform(
      sampleRateHz: 1_000, channelCount: 1, firstFrame: 0, frameCount: 5, scale: .bins(2), minima: [0, 0],
      maxima: [0, 0], rms: [0, 0])
    expectError(.invalidArgument) { try uneven.write(.dat) { _ in } }
    for text in ["", "12345", "1234567", "+12345", "gggggg", "#", "1234é"] {
      expectError(.invalidArgument) { try RGBColor(text) }
    }
  }
}
