import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol
import Testing

@testable import PlayheadControlServer

/// The protocol's words for sessions are those of the engine.
@Suite struct SessionWordsTests {
  @Test func categoriesModesAndOptionsMatchTheEngine() {
    #expect(SessionCategory.allCases.map(\.rawValue) == AudioSession.Category.allCases.map(\.rawValue))
    #expect(SessionMode.allCases.map(\.rawValue) == AudioSession.Mode.allCases.map(\.rawValue))
    #expect(SessionOption.allCases.map(\.rawValue) == AudioSession.CategoryOptions.named.map(\.name))
    #expect(
      InterruptionOutcome.allCases.map(\.rawValue) == AudioSession.InterruptionPolicy.Outcome.allCases.map(\.rawValue))
  }

  @Test func sessionSettingsAreConvertedToThoseOfTheEngine() throws {
    for category in SessionCategory.allCases {
      let setting = try AudioSession.Setting(category, mode: .default, options: [])
      #expect(setting.category.rawValue == category.rawValue && setting.mode == .default && setting.options == [])
    }
    let setting = try AudioSession.Setting(
      SessionCategory.playAndRecord, mode: .videoChat, options: [.allowBluetooth, .duckOthers])
    #expect(setting.mode == .videoChat && setting.options == [.allowBluetooth, .duckOthers, .mixWithOthers])
    #expect(setting.options.names == ["mixWithOthers", "duckOthers", "allowBluetooth"])
    let speech = try AudioSession.Setting(
      SessionCategory.playback, mode: .default, options: [.interruptSpokenAudioAndMixWithOthers])
    #expect(speech.options.names == ["interruptSpokenAudioAndMixWithOthers"])
  }
}
