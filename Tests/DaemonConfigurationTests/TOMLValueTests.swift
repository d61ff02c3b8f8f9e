import Testing

@testable import PlayheadDaemonConfiguration

@Suite struct TOMLValueTests {
  /// A value in one line: its contents and its location.
  private func text(_ value: TOMLValue) -> String {
    let contents =
      switch value.contents {
      case .table(let members):
        "{"
          + members.map { "\($0.name)@\($0.location.line):\($0.location.column)=\(text($0.value))" }
          .joined(separator: " ") + "}"
      case .array(let elements): "[" + elements.map(text).joined(separator: " ") + "]"
      case .string(let text): "'\(text)'"
      case .integer(let number): "\(number)"
      case .float(let text): "float \(text)"
      case .boolean(let value): "\(value)"
      case .date(let text): "date \(text)"
      }
    return "\(contents)@\(value.location.line):\(value.location.column)"
  }

  @Test func valuesHaveTheirLocations() throws {
    let rows = [
      ("", "{}@1:1"), ("\u{FEFF}a = 1\n", "{a@1:1=1@1:5}@1:1"),
      ("a = 1\r\nb = 0x10 # é\r\n", "{a@1:1=1@1:5 b@2:1=16@2:5}@1:1"),
      ("a = 'é\u{1F3B5}'\nb.c = 1\n", "{a@1:1='é\u{1F3B5}'@1:5 b@2:1={c@2:3=1@2:7}@2:1}@1:1"),
      ("[a.b]\nc = [1,\n 'x']\n", "{a@1:2={b@1:4={c@2:1=[1@2:6 'x'@3:2]@2:5}@1:1}@1:1}@1:1"),
      ("a = [[1], { b = true }]\n", "{a@1:1=[[1@1:7]@1:6 {b@1:13=true@1:17}@1:11]@1:5}@1:1"),
      ("[[a]]\nb = 1\n[[a]]\n", "{a@1:3=[{b@2:1=1@2:5}@1:1 {}@3:1]@1:1}@1:1"),
      (
        "a = 5.0\nb = -inf\nc = 1979-05-27\n",
        "{a@1:1=float 5.0@1:5 b@2:1=float -inf@2:5 c@3:1=date 1979-05-27@3:5}@1:1"
      ),
      ("'a.b' = '''\n[[[ # . é\n''''' # '''\n", "{a.b@1:1='[[[ # . é\n'''@1:9}@1:1"),
      ("a = [\"\"\"x\"\"\"\"\", \"é\"]\n", "{a@1:1=['x\"\"'@1:6 'é'@1:17]@1:5}@1:1"),
    ]
    for (toml, expected) in rows {
      let found = text(try TOMLValue.parse(Array(toml.utf8)))
      print("toml: \(toml.debugDescription): \(found.debugDescription)")
      #expect(found == expected)
    }
  }

  /// Texts that are not TOML, and texts beyond the limits of the parser. None may end the process.
  @Test func errorsHaveTheirLocations() throws {
    let deep = String(repeating: "a.", count: 65)
    let rows: [(toml: String, location: String)] = [
      ("[[[", "1:3"), ("a = [\n[1]]\n[ .b]\n", "3:3"), ("[[a]\n", "1:5"), ("[]\n", "1:2"), ("[", "1:2"),
      ("[a", "1:3"), ("a..b = 1\n", "1:3"), ("a = 1\na = 2\n", "2:5"), ("a = 1\n[a]\n", "2:1"),
      ("[a]\n[a]\n", "2:1"), ("a = 99999999999999999999\n", "1:25"), ("a = 2022-13-01\n", "1:12"),
      ("a = \"\n", "1:7"), ("a = '''x", "1:9"), ("a = \"\\", "1:7"), ("a = \"\u{0}\"\n", "1:6"), ("\u{0}", "1:1"),
      ("#\u{0}", "1:2"), ("a = 'é' é\n", "1:9"), ("é = 1\n", "1:1"),
      ("a = " + String(repeating: "[", count: 1_000_000), "1:13"), (String(repeating: "[", count: 1_000_000), "1:3"),
      ("a = " + String(repeating: "{a=", count: 100_000), "1:29"),
      ("[\(deep)a]\n", "1:131"), ("a = { \(deep)a = 1 }\n", "1:136"),
    ]
    for (toml, location) in rows { expectError(toml, Array(toml.utf8), location) }
    expectError("invalid UTF-8", [0xFF], "1:1")
    expectError("invalid UTF-8 in a string", Array("a = 'é".utf8) + [0xFF, 0x27], "1:6")
  }

  private func expectError(_ name: String, _ toml: [UInt8], _ location: String) {
    do throws(TOMLValue.ParseError) {
      let value = try TOMLValue.parse(toml)
      Issue.record("\(name.prefix(40)): \(text(value).prefix(100))")
    } catch {
      let found = error.location.map { "\($0.line):\($0.column)" } ?? "none"
      print("toml: \(name.prefix(24).debugDescription): \(found): \(error.message)")
      #expect(found == location && !error.message.isEmpty && !error.message.contains("\n"))
    }
  }

  @Test func deepestTextIsRead() throws {
    let name = String(repeating: "a.", count: 63) + "a"
    var toml = "[\(name)]\n\(name) = "
    for _ in 0..<3 { toml += "[\n{ \(name) = " }
    toml += "1" + String(repeating: "}\n]", count: 3) + "\n"
    let value = try TOMLValue.parse(Array(toml.utf8))
    #expect(text(value).count { $0 == "{" } == 1 + 5 * 64 - 1)
  }

  /// The time for many names and values is not quadratic: otherwise the test would not end.
  @Test func longTextsAreRead() throws {
    let lines = (0..<60_000).map { "k\($0) = \($0)\n" }.joined()
    #expect(try members(lines).count == 60_000)
    let list = "a = [" + String(repeating: "1,", count: 400_000) + "]\n"
    guard case .array(let elements)? = try members(list).first?.value.contents else {
      Issue.record("no list")
      return
    }
    #expect(elements.count == 400_000)
  }

  private func members(_ toml: String) throws -> [TOMLValue.Member] {
    if case .table(let members) = try TOMLValue.parse(Array(toml.utf8)).contents { members } else { [] }
  }

  /// Every start of a text is read or has an error.
  @Test func truncatedTextsAreRead() {
    let toml = Array("[a.\"b\"]\nc = [ { d = '''x\n\\\"\"\"''' }, 1 ]\n\"\u{e4}\" = \"\\\"\" # é\n".utf8)
    let validCounts = (0...toml.count).filter { (try? TOMLValue.parse(Array(toml.prefix($0)))) != nil }
    print("toml: of these lengths a start is valid: \(validCounts)")
    #expect(validCounts.contains(0) && validCounts.contains(8) && validCounts.contains(toml.count))
  }
}
