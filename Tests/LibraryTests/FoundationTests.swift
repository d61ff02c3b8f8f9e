import Foundation
import PlayheadFoundation
import PlayheadTesting
import RigSupport
import Testing

/// The library with the types of Foundation.
@Suite struct FoundationTests {
  private let files: TemporaryDirectory

  init() throws { files = try TemporaryDirectory("foundation") }

  /// A name with characters that a URL must encode.
  private func writeFile() throws -> URL {
    let path = files.file("Üb er #1?.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 4_800)
    return URL(fileURLWithPath: path)
  }

  @Test func urlsOfFilesAndServersAreLocations() async throws {
    let url = try writeFile()
    #expect(try await Asset(url: url).load(.duration) == .milliseconds(100))
    #expect(try PlayerItem(url: url).asset.path == url.path)
    let address = try #require(URL(string: "https://radio.example/live?x=1"))
    #expect(try Asset(url: address).isRemote)
    let other = try #require(URL(string: "ftp://radio.example/a.mp3"))
    expectError(.unsupportedLocation) { _ = try Asset(url: other) }
    expectError(.unsupportedLocation) { _ = try PlayerItem(url: other) }
    expectError(.unsupportedLocation) { _ = try AssetWriter(url: address, container: .wav) }
    expectError(.unsupportedLocation) { _ = try RecordingLocation(url: address) }
    let test = try await PlaybackEngine.virtual()
    let player = try await Player(engine: test.engine, url: url)
    await player.play()
    try await test.clock.advance(by: .milliseconds(100))
    #expect(test.output.timeCodeRuns == [TimeCode.Run(file: 1, firstIndex: 0, count: 4_800, position: 0)])
  }

  @Test func dataIsMedia() async throws {
    let data = try Data(contentsOf: writeFile())
    #expect(try await Asset(data: data).load(.duration) == .milliseconds(100))
    let test = try await PlaybackEngine.virtual()
    let engine = test.engine
    let duration = try await Task.detached { try AudioPlayer(data: data, engine: engine).duration }.value
    #expect(duration == .milliseconds(100))
  }

  @Test func filesAreWrittenAndExportedToURLs() async throws {
    let source = try writeFile()
    let url = URL(fileURLWithPath: files.file("export ä.flac"))
    let export = try AssetExportSession(Asset(url: source), to: url, ExportSettings(.flac))
    _ = try await export.outcome()
    #expect(try await Asset(url: url).load(.duration) == .milliseconds(100))
    #expect(try RecordingLocation(url: url).url == url.absoluteURL)
    let format = FormatDescription.pcm(.signed16, sampleRateHz: 48_000, channelCount: 1)
    let written = URL(fileURLWithPath: files.file("written.wav"))
    let writer = try AssetWriter(url: written, container: .wav)
    let input = AssetWriterInput(settings: AudioOutputSettings(.pcm(.signed16)), sourceFormat: format)
    try writer.add(input)
    try writer.startWriting()
    try writer.startSession(atSourceTime: .zero)
    let buffer = try SampleBuffer(pcm: [1, 0, 2, 0], format: format, presentationTime: .zero)
    try input.append(waiting: buffer)
    try await writer.finishWriting()
    #expect(Data(buffer) == Data([1, 0, 2, 0]))
    #expect(try Data(contentsOf: written).suffix(4) == Data([1, 0, 2, 0]))
  }

  @Test func pathsThatAreNotUTF8HaveURLs() throws {
    let path: [UInt8] = [0x2f, 0xff, 0x20, 0x61, 0x25]
    #expect(URL(filePath: path).absoluteString == "file:///%FF%20a%25")
    #expect(try RecordingLocation(url: URL(filePath: path)).pathBytes == path)
  }

  @Test(arguments: [
    ("2001-09-09T01:46:40Z", 1_000_000_000), ("2001-09-09T03:46:40+02:00", 1_000_000_000), ("1970", 0),
    ("1970-02", 2_678_400), ("1970-01-02", 86_400), ("1900-01-01", -2_208_988_800),
    ("2016-12-31T23:59:60Z", 1_483_228_800), ("1970-01-01T24:00Z", 86_400), ("1970-01-02T00:00:00+23:59", 60),
  ])
  func datesOfTagsAreInstants(text: String, seconds: Double) throws {
    let date = try #require(MetadataDate(text))
    #expect(Date(date) == Date(timeIntervalSince1970: seconds))
  }

  @Test(arguments: ["2001-02-29", "2001-04-31", "2001-02-30T24:00Z"])
  func daysThatAMonthDoesNotHaveAreNoDates(text: String) throws {
    #expect(Date(try #require(MetadataDate(text))) == nil)
  }

  @Test func datesConvertToNanoseconds() {
    #expect(Date(nanosecondsSince1970: 1_500_000_000) == Date(timeIntervalSince1970: 1.5))
    #expect(Date(timeIntervalSince1970: 1.5).nanosecondsSince1970 == 1_500_000_000)
    #expect(Date.distantFuture.nanosecondsSince1970 == nil)
    #expect(WallTime(Date(timeIntervalSince1970: 1.5)) == WallTime(nanosecondsSince1970: 1_500_000_000))
    #expect(WallTime(Date.distantFuture) == nil)
  }

  @Test func errorsHaveTheirTextAsLocalizedDescription() {
    let error: any Error = MediaError(.invalidTime, "time must be numeric")
    #expect(error.localizedDescription.contains("time must be numeric"))
  }
}
