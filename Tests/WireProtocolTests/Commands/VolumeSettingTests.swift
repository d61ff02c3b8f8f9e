import Testing

@testable import PlayheadWireProtocol

/// The forms of a volume.
@Suite struct VolumeSettingTests {
  /// Each text with the volume that follows from 0.5.
  @Test(arguments: [
    ("0", 0), ("1", 1), ("0.25", 0.25), (".25", 0.25), ("1e-1", 0.1), ("0%", 0), ("50%", 0.5), ("100%", 1),
    ("12.5%", 0.125), ("+5%", 0.55), ("-5%", 0.45), ("+0.1", 0.6), ("-0.1", 0.4), ("+1", 1), ("-100%", 0),
    ("+.25", 0.75), ("-6dB", 0.250594), ("+6dB", 0.997631), ("+20dB", 1), ("-0dB", 0.5), ("-200dB", 0),
  ])
  func volumeFollowsFromTheText(_ row: (text: String, volume: Double)) throws {
    let line = "volume \(row.text)"
    let setting = try #require(try Lines.arguments(line, of: VolumeCommand.self).volume)
    #expect(abs(setting.volume(from: 0.5) - row.volume) < 1e-6)
    let json = #"{"jsonrpc":"2.0","id":1,"method":"volume","params":{"volume":"\#(row.text)"}}"#
    #expect(try Lines.arguments(json) == Lines.arguments(line))
    #expect(try Lines.arguments("fade \(row.text) 2s", of: FadeCommand.self).volume == setting)
  }

  @Test(arguments: [
    "2", "50", "101%", "+101%", "-2", "6dB", "+201dB", "5 %", "%", "+", "-", "dB", "+dB", "+%", "--5%", "+-5%",
    "5%%", "0x1", "inf", "nan", "-6db", "1,5", "+1e400%",
  ])
  func otherTextIsAnError(_ text: String) throws {
    let error = try Lines.rejection("volume '\(text)'").error.error
    #expect(error.code == .badArguments)
    #expect(error.message.contains("volume must be a number from 0 to 1, a percentage such as 50%, or a change"))
    let json = #"{"jsonrpc":"2.0","id":1,"method":"volume","params":{"volume":"\#(text)"}}"#
    #expect(try Lines.rejection(json).error.error.code == .badArguments)
  }

  @Test func numberInJSONIsAVolume() throws {
    let json = #"{"jsonrpc":"2.0","id":1,"method":"volume","params":{"volume":0.5}}"#
    let arguments = try Lines.arguments(json, of: VolumeCommand.self)
    #expect(arguments.volume == .absolute(0.5) && arguments.player == .one("main"))
    #expect(try Lines.rejection(json.replacing("0.5", with: "-0.5")).error.error.code == .badArguments)
  }
}
