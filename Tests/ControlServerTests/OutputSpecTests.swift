import PlayheadControlServer
import PlayheadMediaCore
import RigSupport
import Testing

@Suite struct OutputSpecTests {
  @Test(arguments: [
    ("auto", OutputSpec(.auto)), ("null", OutputSpec(.null)), ("pulse", OutputSpec(.pulse(sink: nil))),
    ("pulse:alsa_output.usb", OutputSpec(.pulse(sink: "alsa_output.usb"))),
    ("pulse:a,rate=44100,channels=1", OutputSpec(.pulse(sink: "a"), sampleRateHz: 44_100, channelCount: 1)),
    ("wav:/x.wav", OutputSpec(.wav(path: "/x.wav"))), ("wav:x", OutputSpec(.wav(path: "x"))),
    (
      "wav:/x.wav,rate=96000,channels=6,format=s24",
      OutputSpec(.wav(path: "/x.wav"), sampleRateHz: 96_000, channelCount: 6, encoding: .s24)
    ),
    ("pipe:/run/p,format=f32", OutputSpec(.pipe(path: "/run/p"), encoding: .f32)),
    ("wav:/a,b/c:d.wav,format=s16", OutputSpec(.wav(path: "/a,b/c:d.wav"))),
    ("null,rate=8000", OutputSpec(.null, sampleRateHz: 8_000)),
  ])
  func validSpecsAreParsed(_ text: String, _ expected: OutputSpec) throws {
    #expect(try OutputSpec(parsing: text) == expected)
  }

  @Test(arguments: [
    "", "nul", "null:x", "auto:x", "pulse:", "wav", "wav:", "pipe", "pipe:,rate=1", "wav:/x,rate=0", "wav:/x,rate=fast",
    "wav:/x,channels=65", "wav:/x,format=mp3", "wav:/x,rte=48000", "pulse,format=s16", "auto,format=f32",
    "wav:/x,rate=99999999999999999999", "NULL",
  ])
  func invalidSpecsAreRejected(_ text: String) {
    expectError(.outputConfiguration) { try OutputSpec(parsing: text) }
  }

  @Test func formatWithoutADeviceIsStereoAt48kHzByDefault() {
    #expect(OutputSpec(.null).format == AudioFormat(sampleRateHz: 48_000, channelCount: 2))
    #expect(OutputSpec(.null, sampleRateHz: 8_000, channelCount: 1).format.sampleRateHz == 8_000)
  }
}
