import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadPlayback

/// The valid combinations of a session's setting, and their effects.
@Suite struct AudioSessionSettingTests {
  private static func row(_ category: AudioSessionCategory, _ mode: AudioSessionMode, _ options: AudioSessionOptions)
    -> String
  {
    do throws(MediaError) {
      let setting = try AudioSessionSetting(category, mode: mode, options: options)
      return "role=\(setting.role.rawValue) others=\(setting.otherAudio.rawValue)"
        + " options=\(setting.options.names.joined(separator: ","))"
    } catch {
      return "\(error.code.name): \(error.message)"
    }
  }

  @Test func everyCategoryModeAndOptionMatchesTheGolden() throws {
    var lines: [String] = []
    for category in AudioSessionCategory.allCases {
      lines.append(
        "== \(category.rawValue) playback=\(category.allowsPlayback) recording=\(category.allowsRecording)")
      for mode in AudioSessionMode.allCases {
        lines.append("\(mode.rawValue): \(Self.row(category, mode, []))")
        guard category.modes.contains(mode) else { continue }
        for (name, option) in AudioSessionOptions.named {
          lines.append("\(mode.rawValue)+\(name): \(Self.row(category, mode, option))")
        }
      }
    }
    try expectGolden(lines.joined(separator: "\n") + "\n", "session-settings")
  }

  @Test func duckingImpliesMixingAndRawValuesEqualAVFoundation() throws {
    let setting = try AudioSessionSetting(.playback, options: .duckOthers)
    #expect(setting.options == [.duckOthers, .mixWithOthers])
    #expect(
      AudioSessionOptions.named.map(\.option.rawValue) == [0x1, 0x2, 0x4, 0x8, 0x11, 0x20, 0x40])
    #expect(AudioSessionOptions.interruptSpokenAudioAndMixWithOthers.contains(.mixWithOthers))
    #expect(try AudioSessionSetting(.playback, options: .interruptSpokenAudioAndMixWithOthers).otherAudio == .mixed)
  }

  @Test func optionsThatTheCategoryLacksAreNamedInTheError() {
    let error = expectError(.sessionMismatch) {
      try AudioSessionSetting(.ambient, options: [.mixWithOthers, .defaultToSpeaker])
    }
    #expect(error?.message == "the category ambient has no option mixWithOthers, defaultToSpeaker")
  }
}
