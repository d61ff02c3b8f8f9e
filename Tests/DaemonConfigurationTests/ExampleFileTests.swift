import FoundationEssentials
import Testing

@testable import PlayheadDaemonConfiguration

/// The installed example file.
@Suite struct ExampleFileTests {
  static let packaging: String = {
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/packaging"
  }()

  /// `UPDATE_EXAMPLE=1 swift test --filter ExampleFileTests` regenerates the file.
  @Test func exampleFileMatchesTheOptionTable() throws {
    let path = Self.packaging + "/playheadd.toml.example"
    if ProcessInfo.processInfo.environment["UPDATE_EXAMPLE"] != nil {
      try ExampleFile.text.write(toFile: path, atomically: false, encoding: .utf8)
    }
    let data = try #require(FileManager.default.contents(atPath: path))
    #expect(String(decoding: data, as: UTF8.self) == ExampleFile.text)
  }

  @Test func exampleFileContainsEveryOptionOnceInItsTable() {
    let lines = ExampleFile.text.split(separator: "\n").map(String.init)
    for option in OptionTable.all {
      #expect(OptionTable.tables.contains { $0.name == option.table }, "\(option.name)")
      let line = "#\(option.key) = \(option.value(in: DaemonOptions()))"
      let begin = lines.firstIndex(of: "[\(option.table)]") ?? lines.count
      let section = lines.dropFirst(begin + 1).prefix { !$0.hasPrefix("[") }
      #expect(section.count { $0 == line } == 1, "\(option.name)")
    }
  }
}
