import CPlayheadMediaShims
import Glibc
import PlayheadMediaCore
import PlayheadWholeFiles
import Synchronization

/// A file descriptor that the caller opened: a file, or a pipe or socket whose bytes arrive once.
///
/// This object owns the descriptor. The descriptor is closed when the last reference is released. Threading: any.
package final class OpenDescriptor: Sendable {
  /// The type of the open file.
  package enum Kind: Sendable {
    /// A regular file. It is read from its first byte, regardless of the descriptor's offset.
    case file
    /// A pipe or a connected stream socket. It is read in order, as the bytes arrive.
    case stream
  }

  /// The name in messages.
  package let name: String
  /// Whether the descriptor is a file or a stream.
  package let kind: Kind
  /// The descriptor of a file. For a stream, `DescriptorStream` closes it.
  let descriptor: Int32
  /// The received bytes of a stream; nil for a file.
  let stream: DescriptorStream?

  /// Takes ownership of a descriptor. If this throws, the caller still owns it. Does not block.
  ///
  /// - Throws: `notReadable` for a descriptor that cannot be read as media. Examples are folders, terminals and other
  ///   devices, and descriptors opened for writing or with `O_PATH`. Sockets must be connected stream sockets.
  package init(_ descriptor: Int32, name: String) throws(MediaError) {
    var status = stat()
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, media_shims_fstat(descriptor, &status) == 0 else {
      throw Self.notReadable(name, "is not an open descriptor")
    }
    guard flags & Self.pathOnlyFlag == 0, flags & O_ACCMODE != O_WRONLY else {
      throw Self.notReadable(name, "is not open for reading")
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFIFO: kind = .stream
    case S_IFSOCK:
      guard Self.isConnectedStream(descriptor) else { throw Self.notReadable(name, "is not a connected stream socket") }
      // The creator of the socket may have set `SO_LINGER`, with which `close` blocks until all
      // unsent data has been sent.
      var lingers = linger(l_onoff: 0, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingers, socklen_t(MemoryLayout<linger>.size))
      kind = .stream
    case S_IFDIR: throw Self.notReadable(name, "is a folder")
    case S_IFCHR where isatty(descriptor) == 1: throw Self.notReadable(name, "is a terminal")
    default: throw Self.notReadable(name, "is not a file, pipe or socket")
    }
    self.name = name
    self.descriptor = descriptor
    stream = kind == .stream ? DescriptorStream(descriptor: descriptor, name: name) : nil
    Self.openCount.add(1, ordering: .relaxed)
  }

  deinit {
    Self.openCount.subtract(1, ordering: .relaxed)
    if stream == nil { close(descriptor) }
  }

  /// The same file, for writing.
  package var openedFile: OpenedFile { OpenedFile(descriptor, of: self, name: name) }

  private static let openCount = Atomic<Int>(0)

  /// The number of instances in the process.
  package static var count: Int { openCount.load(ordering: .relaxed) }

  /// `O_PATH`, which Glibc declares only with `_GNU_SOURCE`.
  private static let pathOnlyFlag: Int32 = 0o10_000_000

  private static func notReadable(_ name: String, _ reason: String) -> MediaError {
    MediaError(.notReadable, "\(name) \(reason)", operation: "fd")
  }

  private static func isConnectedStream(_ descriptor: Int32) -> Bool {
    func option(_ option: Int32) -> Int32? {
      var value: Int32 = 0
      var byteCount = socklen_t(MemoryLayout<Int32>.size)
      return getsockopt(descriptor, SOL_SOCKET, option, &value, &byteCount) == 0 ? value : nil
    }
    var address = sockaddr_storage()
    var byteCount = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &byteCount) == 0 }
    }
    return option(SO_TYPE) == Int32(SOCK_STREAM.rawValue) && option(SO_ACCEPTCONN) == 0 && isConnected
  }
}

extension Asset {
  /// Creates an asset for an open descriptor of a file, a pipe or a socket. No I/O.
  ///
  /// The asset takes ownership of the descriptor, and closes it after its last reader. To keep the descriptor, pass a
  /// duplicate (dup(2)). If this throws, the caller still owns it.
  ///
  /// - A file is played from its first byte, regardless of the descriptor's offset, and supports seeking.
  /// - A pipe or socket plays as its bytes arrive, with unknown duration and without seeking. The asset ends when the
  ///   writer closes its end.
  /// - The bytes of a pipe or socket arrive once, and only the newest 2 MiB are kept. The asset can be opened again
  ///   only while its first byte is among them.
  ///
  /// - Throws: `notReadable` for a descriptor that cannot be read as media, such as a folder or a terminal.
  public convenience init(
    fileDescriptor: Int32, name: String? = nil, prefersPreciseDuration: Bool = false
  ) throws(MediaError) {
    let descriptor = try OpenDescriptor(fileDescriptor, name: name ?? "descriptor \(fileDescriptor)")
    self.init(location: .descriptor(descriptor), prefersPreciseDuration: prefersPreciseDuration)
  }

  /// The descriptor, if the asset was created from one.
  package var descriptor: OpenDescriptor? { if case .descriptor(let descriptor) = location { descriptor } else { nil } }
}
