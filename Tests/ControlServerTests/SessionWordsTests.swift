import MediaCore
import Playback
import Testing
import WireProtocol

@testable import ControlServer

/// The protocol's words for sessions are those of the engine.
@Suite struct SessionWordsTests {
  @Test func categoriesModesAndOptionsMatchTheEngine() {
    #expect(SessionCommand.Category.allCases.map(\.rawValue) == AudioSessionCategory.allCases.map(\.rawValue))
    #expect(SessionCommand.Mode.allCases.map(\.rawValue) == AudioSessionMode.allCases.map(\.rawValue))
    #expect(SessionCommand.Option.allCases.map(\.rawValue) == AudioSessionOptions.named.map(\.name))
    #expect(SessionCommand.Outcome.allCases.map(\.rawValue) == InterruptionPolicy.Outcome.allCases.map(\.rawValue))
  }

  @Test func sessionSettingsAreConvertedToThoseOfTheEngine() throws {
    for category in SessionCommand.Category.allCases {
      let setting = try AudioSessionSetting(SessionCommand.Setting(category))
      #expect(setting.category.rawValue == category.rawValue && setting.mode == .default && setting.options == [])
    }
    let setting = try AudioSessionSetting(
      SessionCommand.Setting(.playAndRecord, mode: .videoChat, options: [.allowBluetooth, .duckOthers]))
    #expect(setting.mode == .videoChat && setting.options == [.allowBluetooth, .duckOthers, .mixWithOthers])
    #expect(setting.options.names == ["mixWithOthers", "duckOthers", "allowBluetooth"])
    let speech = try AudioSessionSetting(
      SessionCommand.Setting(.playback, options: [.interruptSpokenAudioAndMixWithOthers]))
    #expect(speech.options.names == ["interruptSpokenAudioAndMixWithOthers"])
  }
}
