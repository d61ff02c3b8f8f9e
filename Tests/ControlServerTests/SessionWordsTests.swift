import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol
import Testing

@testable import PlayheadControlServer

/// The protocol's words for sessions are those of the engine.
@Suite struct SessionWordsTests {
  @Test func categoriesModesAndOptionsMatchTheEngine() {
    #expect(SessionCategory.allCases.map(\.rawValue) == AudioSessionCategory.allCases.map(\.rawValue))
    #expect(SessionMode.allCases.map(\.rawValue) == AudioSessionMode.allCases.map(\.rawValue))
    #expect(SessionOption.allCases.map(\.rawValue) == AudioSessionOptions.named.map(\.name))
    #expect(InterruptionOutcome.allCases.map(\.rawValue) == InterruptionPolicy.Outcome.allCases.map(\.rawValue))
  }

  @Test func sessionSettingsAreConvertedToThoseOfTheEngine() throws {
    for category in SessionCategory.allCases {
      let setting = try AudioSessionSetting(category, mode: .default, options: [])
      #expect(setting.category.rawValue == category.rawValue && setting.mode == .default && setting.options == [])
    }
    let setting = try AudioSessionSetting(
      SessionCategory.playAndRecord, mode: .videoChat, options: [.allowBluetooth, .duckOthers])
    #expect(setting.mode == .videoChat && setting.options == [.allowBluetooth, .duckOthers, .mixWithOthers])
    #expect(setting.options.names == ["mixWithOthers", "duckOthers", "allowBluetooth"])
    let speech = try AudioSessionSetting(
      SessionCategory.playback, mode: .default, options: [.interruptSpokenAudioAndMixWithOthers])
    #expect(speech.options.names == ["interruptSpokenAudioAndMixWithOthers"])
  }
}
