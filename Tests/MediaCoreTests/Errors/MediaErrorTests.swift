import Foundation
import PlayheadMediaCore
import Testing

struct MediaErrorTests {
  /// The constants in the source: Swift name and number.
  private func declaredCodes() throws -> [(name: String, number: Int)] {
    let source = URL(filePath: #filePath)
      .appending(path: "../../../../Sources/PlayheadMediaCore/Errors/MediaError+Codes.swift").standardizedFileURL
    let text = try String(contentsOf: source, encoding: .utf8)
    return text.matches(of: /public static let (\w+) = Self\(rawValue: (\d+)\)/).compactMap { match in
      Int(match.2).map { (String(match.1), $0) }
    }
  }

  @Test func everyCodeHasAUniqueNumberAndName() throws {
    let codes = try declaredCodes()
    #expect(codes.count >= 40)
    #expect(Set(codes.map(\.number)).count == codes.count)
    #expect(Set(codes.map(\.number)) == Set(MediaError.Code.names.keys))
    #expect(Set(MediaError.Code.names.values).count == codes.count)
    for (name, number) in codes {
      let code = MediaError.Code(rawValue: number)
      #expect(code.name.filter { $0 != "-" } == name.lowercased())
      #expect(code.name.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil)
      #expect((1...6).contains(number / 1000))
    }
  }

  @Test func unknownCodesKeepTheirNumber() {
    let code = MediaError.Code(rawValue: 9999)
    #expect(code.name == "error-9999")
    #expect(code != .invalidTime)
  }

  @Test func descriptionHasCodeMessageOperationAndCause() {
    #expect(MediaError(.noSuchItem, "there is no item 7").description == "2004 no-such-item: there is no item 7")
    let full = MediaError(.readFailed, "cannot read", operation: "read", underlying: "-5")
    #expect(full.description == "2005 read-failed: cannot read [read] (-5)")
  }
}
