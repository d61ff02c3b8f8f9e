import Glibc
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadFileAccess

/// Files that can and cannot be opened below a folder.
@Suite struct FileRootsTests {
  /// A path to a file. `{root}` and `{outside}` are sibling folders.
  struct Case: CustomStringConvertible, Sendable {
    var path: String
    /// The expected error; 0 for success.
    var errno: Int32
    /// The expected error without openat2, where no links are followed.
    var walked: Int32?
    var description: String { "\(path) -> \(errno)" }
  }

  static let cases = [
    Case(path: "{root}/a", errno: 0), Case(path: "{root}/sub/b", errno: 0), Case(path: "{root}//sub/./b", errno: 0),
    Case(path: "{root}/../root/a", errno: EXDEV), Case(path: "{root}/sub/../a", errno: 0, walked: EXDEV),
    Case(path: "{root}/../outside/secret", errno: EXDEV), Case(path: "{root}/sub/../../outside/secret", errno: EXDEV),
    Case(path: "{root}/../../../../../../../../etc/passwd", errno: EXDEV),
    Case(path: "{outside}/secret", errno: EXDEV), Case(path: "{outside}/missing", errno: EXDEV),
    Case(path: "/etc/passwd", errno: EXDEV), Case(path: "{root}-more/secret", errno: EXDEV),
    Case(path: "{root}/link-out", errno: EXDEV), Case(path: "{root}/link-absolute", errno: EXDEV),
    Case(path: "{root}/link-nowhere", errno: EXDEV),
    Case(path: "{root}/folder-out/secret", errno: EXDEV, walked: ENOTDIR),
    Case(path: "{root}/link-in", errno: 0, walked: EXDEV), Case(path: "{root}/loop", errno: ELOOP, walked: EXDEV),
    Case(path: "{root}/a/", errno: ENOTDIR), Case(path: "{root}/a/..", errno: ENOTDIR),
    Case(path: "{root}/missing", errno: ENOENT), Case(path: "{root}/missing/../../outside/secret", errno: ENOENT),
    Case(path: "root/a", errno: EXDEV), Case(path: "", errno: ENOENT),
    Case(path: "/proc/self/root{root}/a", errno: EXDEV), Case(path: "/proc/self/fd/0", errno: EXDEV),
  ]

  private let folder: TemporaryDirectory
  private var root: String { folder.file("root") }
  private var outside: String { folder.file("outside") }

  init() throws {
    folder = try TemporaryDirectory("roots")
    for name in ["root", "root/sub", "outside", "root-more"] { try #require(mkdir(folder.file(name), 0o755) == 0) }
    for name in ["root/a", "root/sub/b", "outside/secret", "root-more/secret"] {
      let descriptor = open(folder.file(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      try #require(descriptor >= 0)
      close(descriptor)
    }
    for (link, target) in [
      ("link-out", "../outside/secret"), ("link-absolute", folder.file("outside/secret")), ("link-in", "sub/b"),
      ("link-nowhere", "../outside/missing"), ("folder-out", "../outside"), ("loop", "loop"),
    ] { try #require(symlink(target, folder.file("root/\(link)")) == 0) }
  }

  private func expanded(_ path: String) -> [UInt8] {
    // Replace only the first occurrence of each placeholder: the name of a folder may contain one.
    var text = path
    for (word, value) in [("{root}", root), ("{outside}", outside)] {
      if let range = text.firstRange(of: word) { text.replaceSubrange(range, with: value) }
    }
    return Array(text.utf8)
  }

  private func opened(_ roots: FileRoots, _ path: [UInt8]) -> Int32 {
    let descriptor = roots.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor >= 0 { close(descriptor) }
    return descriptor
  }

  @Test(arguments: cases) func onlyFilesBelowARootAreOpened(_ row: Case) throws {
    let result = opened(try FileRoots(folders: [root]), expanded(row.path))
    print("roots: \(row)")
    #expect(min(result, 0) == -row.errno)
  }

  /// The same checks on a kernel without openat2.
  @Test(arguments: cases.filter { $0.path.hasPrefix("{root}/") && $0.path != "{root}/../root/a" })
  func walkWithoutOpenat2OpensOnlyFilesBelowARoot(_ row: Case) throws {
    let descriptor = open(root, FileRoots.pathOnlyFlag | O_DIRECTORY | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let rest = Array(row.path.dropFirst("{root}/".count).utf8)
    let result = FileRoots.openFolderByFolder(descriptor, rest, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
    if result >= 0 { close(result) }
    #expect(min(result, 0) == -(row.walked ?? row.errno))
  }

  @Test func everyRootIsTriedAndNoRootOpensNothing() throws {
    let both = try FileRoots(folders: [root + "/", outside])
    #expect(opened(both, expanded("{outside}/secret")) >= 0)
    #expect(opened(both, expanded("{root}/a")) >= 0)
    // Links from one root into another are rejected.
    #expect(opened(both, expanded("{root}/link-out")) == -EXDEV)
    #expect(opened(.nowhere, expanded("{root}/a")) == -EXDEV)
    #expect(opened(try FileRoots(folders: [folder.file("missing")]), expanded("{root}/../missing/a")) == -EXDEV)
    #expect(opened(try FileRoots(folders: [folder.file("missing")]), Array(folder.file("missing/a").utf8)) == -ENOENT)
    #expect(opened(try FileRoots(folders: ["/"]), expanded("{root}/a")) >= 0)
  }

  @Test func everywhereOpensAllFilesExceptOpenDescriptors() throws {
    #expect(opened(.everywhere, expanded("{root}/../outside/secret")) >= 0)
    #expect(opened(.everywhere, expanded("{root}/link-absolute")) >= 0)
    let file = open(folder.file("root/a"), O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    #expect(opened(.everywhere, Array("/proc/self/fd/\(file)".utf8)) == -ELOOP)
    #expect(opened(.everywhere, Array("/dev/fd/\(file)".utf8)) == -ELOOP)
  }

  @Test(arguments: ["music", "", "/music/../etc", "/music\0/x"]) func invalidRootPathIsRejected(_ path: String) {
    expectError(.invalidArgument) { try FileRoots(folders: [path]) }
  }

  /// Another thread repeatedly replaces a folder by a link that leads outside, while a file in it is opened. The
  /// opened file is always the one inside.
  @Test func folderSwappedForALinkDoesNotExposeOutsideFiles() throws {
    for name in ["root/real", "root/swapped"] { try #require(mkdir(folder.file(name), 0o755) == 0) }
    for name in ["root/swapped/secret", "root/real/secret"] {
      let descriptor = open(folder.file(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      try #require(descriptor >= 0)
      close(descriptor)
    }
    try #require(symlink("../outside", folder.file("root/way-out")) == 0)
    var forbidden = stat()
    try #require(stat(folder.file("outside/secret"), &forbidden) == 0)
    let roots = try FileRoots(folders: [root])
    let (one, other) = (folder.file("root/swapped"), folder.file("root/way-out"))
    let swapper = Swapper(one, other)
    defer { swapper.stop() }
    var (insideCount, refusedCount, count) = (0, 0, 0)
    // Continue until both outcomes have occurred many times. Neither can fail to occur while the other thread runs.
    while insideCount < 200 || refusedCount < 200, count < 5_000_000 {
      count += 1
      let descriptor = roots.open(expanded("{root}/swapped/secret"), O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        // Between the two renames the name does not exist.
        if descriptor == -EXDEV { refusedCount += 1 } else { try #require(descriptor == -ENOENT) }
        continue
      }
      var found = stat()
      fstat(descriptor, &found)
      close(descriptor)
      try #require(found.st_ino != forbidden.st_ino)
      insideCount += 1
    }
    #expect(insideCount >= 200 && refusedCount >= 200, "\(insideCount) inside, \(refusedCount) refused")
  }
}

/// Gives one name alternately to two folders, on a separate thread.
private final class Swapper: @unchecked Sendable {
  // `@unchecked Sendable`: the thread uses one end of the pipe, and `stop` uses the other.
  private var ends: [Int32] = [-1, -1]
  private var thread = pthread_t()
  private let names: (String, String)

  init(_ one: String, _ other: String) {
    names = (one, other)
    pipe(&ends)
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Swapper>.fromOpaque(context).takeUnretainedValue().run()
        return nil
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func run() {
    var byte: UInt8 = 0
    let aside = names.0 + "-aside"
    while read(ends[0], &byte, 1) != 0 {
      rename(names.0, aside)
      rename(names.1, names.0)
      rename(names.0, names.1)
      rename(aside, names.0)
    }
  }

  func stop() {
    close(ends[1])
    pthread_join(thread, nil)
    close(ends[0])
  }
}
