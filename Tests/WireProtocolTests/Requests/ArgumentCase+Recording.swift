import PlayheadMediaCore

@testable import PlayheadWireProtocol

extension ArgumentCase {
  static let recording: [Self] = [
    Self("record.prepare '/a b'", RecordPrepareCommand.self) {
      $0.recording == RecordingRequest(try FilePath(text: "/a b"))
    },
    Self("record.prepare '/a b' container=caf", RecordPrepareCommand.self) {
      var expected = RecordingRequest(try FilePath(text: "/a b"))
      expected.container = .caf
      return $0.recording == expected
    },
    Self("record.prepare fd:0123456789abcdef0123456789abcdef container=ogg", RecordPrepareCommand.self) {
      var expected = RecordingRequest(FilePath(descriptorToken: "0123456789abcdef0123456789abcdef"))
      expected.container = .ogg
      return $0.recording == expected
    },
    Self(
      "record.prepare '/a b' source=mic format=pcm replace sample-rate=8000 channels=1 bits=32 float big-endian quality=high bit-rate=9000 start-level=-40 silence-level=-50.5 longest-silence=0.5",
      RecordPrepareCommand.self
    ) {
      var expected = RecordingRequest(try FilePath(text: "/a b"))
      (expected.source, expected.format, expected.replaces) = ("mic", .pcm, true)
      (expected.sampleRateHz, expected.channelCount, expected.bitsPerSample) = (8_000, 1, 32)
      (expected.isFloat, expected.isBigEndian) = (true, true)
      (expected.quality, expected.bitRate) = (.high, 9_000)
      (expected.startLevel, expected.silenceLevel) = (-40, -50.5)
      expected.longestSilence = try seconds("0.5")
      return $0.recording == expected
    },
    Self("record.start", RecordStartCommand.self) { $0.recorder == nil && $0.at == nil && $0.duration == nil },
    Self("record.start 3 at=+0.5 duration=1:00", RecordStartCommand.self) {
      try $0.recorder == 3 && $0.at == .after(seconds("0.5")) && $0.duration == seconds("60")
    },
    Self("record.start at=12.5", RecordStartCommand.self) { try $0.at == .instant(seconds("12.5")) },
    Self("record.pause", RecordPauseCommand.self) { $0.recorder == nil },
    Self("record.stop 2", RecordStopCommand.self) { $0.recorder == 2 },
    Self("record.delete 2", RecordDeleteCommand.self) { $0.recorder == 2 },
    Self("record.status", RecordStatusCommand.self) { $0.recorder == nil },
    Self("record.list", RecordListCommand.self),
    Self("record.watch rate=20", RecordWatchCommand.self) { $0.recorder == nil && $0.rate == 20 },
    Self("record.unwatch 5", RecordUnwatchCommand.self) { $0.id == 5 },
  ]
}
