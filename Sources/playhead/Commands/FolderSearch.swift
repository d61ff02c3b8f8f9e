// The media files in a folder and its subfolders.
import Glibc
import PlayheadWireProtocol

/// Finds media files below folders. Paths are bytes of the file system.
struct FolderSearch {
  /// The reason for omitting a file or folder.
  enum Reason: String, CaseIterable {
    case notMedia = "no media"
    case hidden = "hidden"
    case playlist = "playlists"
    case besidePlaylist = "beside a playlist"
    case visited = "folders already searched"
    case outside = "links that lead outside"
    case pseudoFileSystem = "folders of the system"
    case tooDeep = "folders too deep"
    case unreadable = "not readable"

    /// The reason as a statement about one file or folder.
    var statement: String {
      switch self {
      case .notMedia: "not a media file"
      case .hidden: "hidden"
      case .playlist: "a playlist"
      case .besidePlaylist: "beside a playlist"
      case .visited: "a folder that was already searched"
      case .outside: "a link that leads outside"
      case .pseudoFileSystem: "a folder of the system"
      case .tooDeep: "a folder that is too deep"
      case .unreadable: "not readable"
      }
    }
  }

  /// The maximum nesting depth of folders, which bounds the recursion.
  static let maximumDepth = 256

  /// Whether all files are included, whatever their names.
  var includesAll = false
  /// Whether a folder that contains playlists contributes only its playlists.
  var prefersPlaylists = false
  /// Whether links to folders outside the specified one are followed too.
  var followsLinks = false
  /// The specified files and the files found, in the order of the search.
  private(set) var files: [[UInt8]] = []
  /// The files and folders that were omitted, with the reason.
  private(set) var omitted: [(path: [UInt8], reason: Reason)] = []
  /// The paths below the specified folders that could not be read, and the errors (errno(3)).
  private(set) var failures: [(path: [UInt8], error: Int32)] = []
  /// Called periodically with the number of files found and the number of names inspected.
  var progress: (_ fileCount: Int, _ inspectedCount: Int) -> Void = { _, _ in }
  private var inspectedCount = 0
  /// The specified folder, as a path without links; empty when not known.
  private var root: [UInt8] = []
  private var visitedFolders: Set<Identity> = []

  init() {}

  /// The error for a path that cannot be read (errno(3)).
  struct Unreadable: Error {
    var error: Int32
    var message: String { String(cString: strerror(error)) }
  }

  /// The identity of a folder, independent of its path.
  private struct Identity: Hashable {
    var device: dev_t
    var inode: ino_t
  }

  /// Adds a specified path. A folder is searched, unless it is in procfs or sysfs. Anything else is added
  /// unconditionally.
  ///
  /// - Throws: `Unreadable` when the path does not exist, or the folder cannot be read.
  mutating func add(_ path: [UInt8]) throws(Unreadable) {
    let status = try Self.status(path)
    guard status.st_mode & S_IFMT == S_IFDIR else { return files.append(path) }
    visitedFolders = [Identity(device: status.st_dev, inode: status.st_ino)]
    root = Self.realPath(path) ?? []
    guard !Self.pseudoFileSystemDevices.contains(status.st_dev) else { return omit(path, .pseudoFileSystem) }
    try search(path, depth: 0)
  }

  /// Adds a URL unconditionally.
  mutating func add(url: [UInt8]) { files.append(url) }

  private static func status(_ path: [UInt8]) throws(Unreadable) -> stat {
    var status = stat()
    guard stat(path.map { CChar(bitPattern: $0) } + [0], &status) == 0 else { throw Unreadable(error: errno) }
    return status
  }

  /// Searches a folder and its subfolders. `depth` is the nesting depth below the specified folder.
  private mutating func search(_ folder: [UInt8], depth: Int) throws(Unreadable) {
    guard depth < Self.maximumDepth else { return omit(folder, .tooDeep) }
    let entries = try Self.names(in: folder).sorted(by: NaturalOrder.isLess).map { name in
      (name: name, path: folder + (folder.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + name)
    }
    let hasPlaylists = prefersPlaylists && entries.contains { FilePath(bytes: $0.path)?.isNamedAsPlaylist == true }
    for (name, path) in entries {
      inspectedCount += 1
      if inspectedCount % 500 == 0 { progress(files.count, inspectedCount) }
      if name.first == UInt8(ascii: "."), !includesAll {
        omit(path, .hidden)
        continue
      }
      let status: stat
      do throws(Unreadable) { status = try Self.status(path) } catch {
        omitUnreadable(path, error)
        continue
      }
      switch status.st_mode & S_IFMT {
      case S_IFDIR:
        let identity = Identity(device: status.st_dev, inode: status.st_ino)
        if Self.pseudoFileSystemDevices.contains(status.st_dev) {
          omit(path, .pseudoFileSystem)
        } else if !visitedFolders.contains(identity), !followsLinks, leadsOutside(path) {
          omit(path, .outside)
        } else if visitedFolders.insert(identity).inserted {
          do throws(Unreadable) { try search(path, depth: depth + 1) } catch { omitUnreadable(path, error) }
        } else {
          omit(path, .visited)
        }
      case S_IFREG: add(file: path, name: name, hasPlaylists: hasPlaylists)
      default: omit(path, .notMedia)
      }
    }
  }

  private mutating func add(file path: [UInt8], name: [UInt8], hasPlaylists: Bool) {
    let isPlaylist = FilePath(bytes: path)?.isNamedAsPlaylist == true
    if isPlaylist, !hasPlaylists { return omit(path, .playlist) }
    if !isPlaylist, hasPlaylists { return omit(path, .besidePlaylist) }
    guard isPlaylist || includesAll || MediaNames.canBeMedia(path, name: name) else { return omit(path, .notMedia) }
    files.append(path)
    if files.count % 500 == 0 { progress(files.count, inspectedCount) }
  }

  /// Whether the path is a link to a target outside the specified folder.
  private func leadsOutside(_ path: [UInt8]) -> Bool {
    var status = stat()
    guard lstat(path.map { CChar(bitPattern: $0) } + [0], &status) == 0, status.st_mode & S_IFMT == S_IFLNK else {
      return false
    }
    guard let target = Self.realPath(path), !root.isEmpty else { return true }
    let isBelow =
      root.count == 1 || target.count == root.count || target.dropFirst(root.count).first == UInt8(ascii: "/")
    return !target.starts(with: root) || !isBelow
  }

  private static func realPath(_ path: [UInt8]) -> [UInt8]? {
    guard let real = realpath(path.map { CChar(bitPattern: $0) } + [0], nil) else { return nil }
    defer { free(real) }
    return Array(UnsafeBufferPointer(start: real, count: strlen(real))).map(UInt8.init(bitPattern:))
  }

  /// The devices of procfs and sysfs, which contain no media and are practically endless.
  private static let pseudoFileSystemDevices: Set<dev_t> = {
    let root = try? status(Array("/".utf8)).st_dev
    return Set(["/proc", "/sys"].compactMap { try? status(Array($0.utf8)).st_dev }.filter { $0 != root })
  }()

  /// Omits a path that cannot be read. Records a failure, except for a dangling or circular symbolic link and for a
  /// file that was removed during the search.
  private mutating func omitUnreadable(_ path: [UInt8], _ unreadable: Unreadable) {
    omit(path, .unreadable)
    if unreadable.error != ENOENT, unreadable.error != ELOOP { failures.append((path, unreadable.error)) }
  }

  private mutating func omit(_ path: [UInt8], _ reason: Reason) { omitted.append((path, reason)) }

  /// All names in a folder, except `.` and `..`.
  ///
  /// - Throws: `Unreadable`, also when only some of the names can be read.
  private static func names(in folder: [UInt8]) throws(Unreadable) -> [[UInt8]] {
    guard let stream = opendir(folder.map { CChar(bitPattern: $0) } + [0]) else { throw Unreadable(error: errno) }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while true {
      // At the end of the folder, readdir(3) does not change errno.
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw Unreadable(error: errno) }
        return names
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in Array(bytes.prefix { $0 != 0 }) }
      if name != [UInt8(ascii: ".")], name != Array("..".utf8) { names.append(name) }
    }
  }
}
