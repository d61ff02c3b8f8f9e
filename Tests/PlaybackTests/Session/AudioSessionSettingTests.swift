import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadPlayback

/// The valid combinations of a session's setting, and their effects.
@Suite struct AudioSessionSettingTests {
  private static func row(
    _ category: AudioSession.Category, _ mode: AudioSession.Mode, _ options: AudioSession.CategoryOptions
  )
    -> String
  {
    do throws(MediaError) {
      let setting = try AudioSession.Setting(category, mode: mode, options: options)
      return "role=\(setting.role.rawValue) others=\(setting.otherAudio.rawValue)"
        + " options=\(setting.options.names.joined(separator: ","))"
    } catch {
      return "\(error.code.name): \(error.message)"
    }
  }

  @Test func everyCategoryModeAndOptionMatchesTheGolden() throws {
    var lines: [String] = []
    for category in AudioSession.Category.allCases {
      lines.append(
        "== \(category.rawValue) playback=\(category.allowsPlayback) recording=\(category.allowsRecording)")
      for mode in AudioSession.Mode.allCases {
        lines.append("\(mode.rawValue): \(Self.row(category, mode, []))")
        guard category.modes.contains(mode) else { continue }
        for (name, option) in AudioSession.CategoryOptions.named {
          lines.append("\(mode.rawValue)+\(name): \(Self.row(category, mode, option))")
        }
      }
    }
    try expectGolden(lines.joined(separator: "\n") + "\n", "session-settings")
  }

  @Test func duckingImpliesMixingAndRawValuesEqualAVFoundation() throws {
    let setting = try AudioSession.Setting(.playback, options: .duckOthers)
    #expect(setting.options == [.duckOthers, .mixWithOthers])
    #expect(
      AudioSession.CategoryOptions.named.map(\.option.rawValue) == [0x1, 0x2, 0x4, 0x8, 0x11, 0x20, 0x40])
    #expect(AudioSession.CategoryOptions.interruptSpokenAudioAndMixWithOthers.contains(.mixWithOthers))
    #expect(try AudioSession.Setting(.playback, options: .interruptSpokenAudioAndMixWithOthers).otherAudio == .mixed)
  }

  @Test func optionsThatTheCategoryLacksAreNamedInTheError() {
    let error = expectError(.sessionMismatch) {
      try AudioSession.Setting(.ambient, options: [.mixWithOthers, .defaultToSpeaker])
    }
    #expect(error?.message == "the category ambient has no option mixWithOthers, defaultToSpeaker")
  }
}
