import Foundation
import PlayheadMediaCore
import PlayheadWholeFiles
import RigSupport
import Testing

/// A descriptor that is closed with this object.
private final class OwnedDescriptor: Sendable {
  let descriptor: Int32
  init(_ descriptor: Int32) { self.descriptor = descriptor }
  deinit { close(descriptor) }
}

/// Files that are written completely or not at all.
@Suite struct WholeFileTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory("whole") }

  private func wholeFile(_ path: String, replaces: Bool = false) -> WholeFile {
    WholeFile(path: Array(path.utf8), replaces: replaces, hint: "say so")
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  private func text(_ name: String) throws -> String { try String(contentsOfFile: folder.file(name), encoding: .utf8) }

  @Test func writeCreatesTheFileAndNothingElse() throws {
    let file = wholeFile(folder.file("a.txt"))
    #expect(file.name == Array("a.txt".utf8) && file.folder == Array(folder.path.utf8))
    try file.write(Array("all of it".utf8))
    try wholeFile(folder.file("empty")).write([])
    #expect(try names == ["a.txt", "empty"] && text("a.txt") == "all of it" && text("empty").isEmpty)
    #expect(wholeFile("/a").folder == Array("/".utf8) && wholeFile("/a").name == Array("a".utf8))
  }

  @Test func incrementallyWrittenFileAppearsAtCommit() throws {
    let file = try wholeFile(folder.file("a")).create()
    #expect(pwrite(file.descriptor, "bc", 2, 1) == 2 && pwrite(file.descriptor, "a", 1, 0) == 1)
    #expect(try names.allSatisfy { $0 != "a" })
    try file.commit()
    #expect(try text("a") == "abc" && names == ["a"])
    // Files that are released, given up, or committed too late do not exist.
    _ = try wholeFile(folder.file("b")).create()
    let discarded = try wholeFile(folder.file("c")).create()
    discarded.discard()
    let late = try wholeFile(folder.file("d")).create()
    try wholeFile(folder.file("d")).write([1])
    expectError(.fileExists) { try late.commit() }
    #expect(try names == ["a", "d"])
    expectError(.fileExists) { try wholeFile(folder.file("a")).create() }
  }

  @Test func unnamedFileAppearsAtCommit() throws {
    func create(_ name: String, replaces: Bool = false) throws -> UnfinishedFile {
      try wholeFile(folder.file(name), replaces: replaces).unnamedUntilComplete().create()
    }
    let file = try create("a")
    try file.append(Array("abc".utf8))
    #expect(try names.isEmpty)
    try file.commit()
    _ = try create("b")
    #expect(try text("a") == "abc" && names == ["a"])
    expectError(.fileExists) { try create("a") }
    let replacement = try create("a", replaces: true)
    try replacement.append(Array("d".utf8))
    try replacement.commit()
    let late = try create("c")
    try wholeFile(folder.file("c")).write([])
    expectError(.fileExists) { try late.commit() }
    #expect(try text("a") == "d" && text("c").isEmpty && names == ["a", "c"])
  }

  @Test func openedFileIsWrittenInPlaceAndEmptyAfterAFailure() throws {
    func opened(_ name: String, _ flags: Int32 = O_RDWR) throws -> OpenedFile {
      let owner = OwnedDescriptor(open(folder.file(name), flags | O_CREAT | O_CLOEXEC, 0o600))
      try #require(owner.descriptor >= 0)
      // The offset of the descriptor has no effect.
      lseek(owner.descriptor, 100, SEEK_SET)
      return OpenedFile(owner.descriptor, of: owner, name: name)
    }
    let file = WholeFile(try opened("a"))
    try file.check()
    try file.write(Array("all of it".utf8))
    #expect(try text("a") == "all of it" && names == ["a"])
    let unfinished = try WholeFile(try opened("b")).create()
    try unfinished.append(Array("a part".utf8))
    #expect(try text("b") == "a part")
    unfinished.discard()
    #expect(try text("b").isEmpty && names == ["a", "b"])
    for (name, flags) in [("a", O_RDWR), ("b", O_RDONLY), ("b", O_WRONLY), ("b", O_RDWR | O_APPEND)] {
      let file = WholeFile(try opened(name, flags))
      expectError(.writeFailed) { try file.check() }
      expectError(.writeFailed) { try file.write([1]) }
    }
    expectError(.writeFailed) { try WholeFile(OpenedFile(-1, of: OwnedDescriptor(-1), name: "none")).check() }
  }

  @Test func existingFileIsKeptUnlessItIsToBeReplaced() throws {
    let path = folder.file("a")
    try wholeFile(path).write(Array("mine".utf8))
    expectError(.fileExists) { try wholeFile(path).check() }
    expectError(.fileExists) { try wholeFile(path).write([1]) }
    #expect(try text("a") == "mine" && names == ["a"])
    try wholeFile(path, replaces: true).check()
    try wholeFile(path, replaces: true).write(Array("yours".utf8))
    #expect(try text("a") == "yours" && names == ["a"])
  }

  /// Dangling links too.
  @Test func linkIsReplacedAndNotFollowed() throws {
    try wholeFile(folder.file("target")).write(Array("mine".utf8))
    for target in ["target", "nowhere"] {
      let path = folder.file("link")
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file(target))
      expectError(.fileExists, "\(target)") { try wholeFile(path).write([1]) }
      try wholeFile(path, replaces: true).write(Array("yours".utf8))
      #expect(try text("target") == "mine" && text("link") == "yours" && names == ["link", "target"], "\(target)")
      try FileManager.default.removeItem(atPath: path)
    }
  }

  @Test func nameMayHave255Bytes() throws {
    let name = String(repeating: "n", count: 255)
    try wholeFile(folder.file(name)).write([65])
    #expect(try names == [name] && text(name) == "A")
    expectError(.writeFailed) { try wholeFile(folder.file(name + "n")).write([65]) }
    #expect(try names == [name])
  }

  @Test func failedWriteLeavesNoFile() throws {
    try FileManager.default.createDirectory(atPath: folder.file("folder"), withIntermediateDirectories: false)
    for path in [folder.file("folder"), folder.file("no/a"), folder.path + "/"] {
      expectError(.writeFailed, "\(path)") { try wholeFile(path, replaces: true).write([65]) }
    }
    #expect(try names == ["folder"])
  }

  @Test func onlyOneOfSeveralConcurrentWritesSucceeds() async throws {
    let path = folder.file("a")
    let written = await withTaskGroup(of: String?.self) { group in
      for number in 0..<16 {
        group.addTask {
          let text = String(repeating: "\(number) ", count: 10_000)
          let file = WholeFile(path: Array(path.utf8), replaces: false, hint: "")
          return (try? file.write(Array(text.utf8))) == nil ? nil : text
        }
      }
      return await group.reduce(into: [String]()) { if let text = $1 { $0.append(text) } }
    }
    #expect(try written.count == 1 && written.first == text("a") && names == ["a"])
  }
}
