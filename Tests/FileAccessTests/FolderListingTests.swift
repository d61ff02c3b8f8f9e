import Glibc
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadFileAccess

/// The entries of folders, within roots and in parts.
@Suite struct FolderListingTests {
  private static func make(_ names: [[UInt8]], in folder: TemporaryDirectory) throws {
    for name in names {
      let path = (Array(folder.path.utf8) + [UInt8(ascii: "/")] + name).map(CChar.init(bitPattern:)) + [0]
      let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      try #require(descriptor >= 0)
      close(descriptor)
    }
  }

  private static func list(
    _ path: String, after previous: [UInt8]? = nil, limit: Int = 100, in roots: FileRoots = .everywhere
  ) throws(MediaError) -> FolderListing {
    try FolderListing(of: Array(path.utf8), after: previous, limit: limit, in: roots)
  }

  /// The names, with a slash after those of folders.
  private static func names(_ listing: FolderListing) -> [String] {
    listing.entries.map { String(decoding: $0.name, as: UTF8.self) + ($0.isFolder ? "/" : "") }
  }

  @Test func onlyFilesAndFoldersThatMayBeReadAreListed() throws {
    let folder = try TemporaryDirectory("listing")
    for name in ["root", "root/sub", "outside"] { try #require(mkdir(folder.file(name), 0o755) == 0) }
    for name in ["root/b", "root/a", "root/.hidden", "root/sub/c", "outside/secret"] {
      let descriptor = open(folder.file(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      try #require(descriptor >= 0)
      close(descriptor)
    }
    for (link, target) in [
      ("link", "sub/c"), ("link-sub", "sub"), ("broken", "missing"), ("loop", "loop"), ("out", "../outside"),
      ("secret", folder.file("outside/secret")), ("null", "/dev/null"),
    ] { try #require(symlink(target, folder.file("root/\(link)")) == 0) }
    try #require(mkfifo(folder.file("root/pipe"), 0o644) == 0)
    let roots = try FileRoots(folders: [folder.file("root")])
    let root = folder.file("root")
    #expect(Self.names(try Self.list(root, in: roots)) == ["a", "b", "link", "link-sub/", "sub/"])
    #expect(Self.names(try Self.list("\(root)/", in: roots)) == ["a", "b", "link", "link-sub/", "sub/"])
    #expect(Self.names(try Self.list("\(root)/link-sub", in: roots)) == ["c"])
    #expect(Self.names(try Self.list(root)) == ["a", "b", "link", "link-sub/", "out/", "secret", "sub/"])
    for (path, code) in [
      ("\(root)/out", MediaError.Code.outsideRoots), (folder.file("outside"), .outsideRoots), ("/", .outsideRoots),
      ("\(root)/..", .outsideRoots), ("\(root)/missing", .fileNotFound), ("\(root)/a", .fileNotFound),
      ("\(root)/loop", .fileNotFound),
    ] { expectError(code, "\(path)") { _ = try Self.list(path, in: roots) } }
    expectError(.outsideRoots) { _ = try Self.list(root, in: .nowhere) }
  }

  @Test(arguments: [1, 2, 7, 1_000, 5_000]) func partsHaveEachNameOnceAndInOrder(_ limit: Int) throws {
    let folder = try TemporaryDirectory("listing")
    let names = (0..<1_000).map { Array("file \($0 * 7_919 % 1_000)".utf8) } + [[0xff, 0x0a], Array("é".utf8)]
    try Self.make(names, in: folder)
    var listed: [[UInt8]] = []
    var previous: [UInt8]?
    repeat {
      let part = try Self.list(folder.path, after: previous, limit: limit)
      #expect(part.entries.count <= limit && (part.next == nil || part.next == part.entries.last?.name))
      listed += part.entries.map(\.name)
      previous = part.next
    } while previous != nil && listed.count <= names.count
    #expect(listed == names.sorted { $0.lexicographicallyPrecedes($1) })
  }

  /// New and removed files between two parts change nothing about the others.
  @Test func nextPartBeginsAfterARemovedName() throws {
    let folder = try TemporaryDirectory("listing")
    try Self.make(["a", "b", "c", "d"].map { Array($0.utf8) }, in: folder)
    let first = try Self.list(folder.path, limit: 2)
    #expect(Self.names(first) == ["a", "b"])
    unlink(folder.file("b"))
    try Self.make(["aa"].map { Array($0.utf8) }, in: folder)
    #expect(Self.names(try Self.list(folder.path, after: first.next, limit: 2)) == ["c", "d"])
  }
}
