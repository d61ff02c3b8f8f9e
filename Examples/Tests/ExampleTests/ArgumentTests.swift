import Testing

/// The messages of the examples about wrong arguments.
@Suite struct ArgumentTests {
  static let names = [
    "capture", "composition", "custom-sink", "equalizer", "export", "looper", "metadata", "movie", "player", "queue",
    "samples", "session", "voice-memo", "waveform",
  ]

  @Test(arguments: names) func missingArgumentsPrintTheUsage(name: String) async throws {
    let output = try await run(name)
    #expect(output.status == 1 && output.error.hasPrefix("usage: \(name) "), "\(output)")
    #expect(output.data.isEmpty)
  }

  @Test(arguments: [
    ["composition", "FILE", "FILE", "OUTPUT.wav", "1"], ["custom-sink", "FILE"],
    ["equalizer", "FILE", "OUTPUT.wav", "1000", "3"], ["export", "FILE", "OUTPUT.wav", "0", "1"],
    ["looper", "FILE", "FILE", "FILE"], ["metadata", "FILE"], ["player", "FILE"], ["queue", "FILE", "FILE"],
    ["samples", "FILE"], ["session", "FILE"], ["waveform", "FILE", "OUTPUT.svg"],
  ])
  func missingFilesAreNamed(command: [String]) async throws {
    let folder = try Folder()
    let arguments = command.dropFirst().map { argument in
      argument == "FILE" ? folder.path("missing.wav") : argument.hasPrefix("OUTPUT") ? folder.path(argument) : argument
    }
    let output = try await run(command[0], arguments)
    #expect(output.status == 1 && output.error.hasPrefix("\(command[0]): "), "\(output)")
    #expect(output.error.contains(folder.path("missing.wav")), "\(output.error)")
  }

  @Test(arguments: [["capture", "OUTPUT.wav", "0.1"], ["movie", "OUTPUT.mp4"], ["voice-memo", "list", "OUTPUT"]])
  func missingFoldersAreErrors(command: [String]) async throws {
    let arguments = command.dropFirst().map { $0.hasPrefix("OUTPUT") ? "/nonexistent/\($0)" : $0 }
    let output = try await run(command[0], arguments)
    #expect(output.status == 1 && output.error.hasPrefix("\(command[0]): "), "\(output)")
  }
}
