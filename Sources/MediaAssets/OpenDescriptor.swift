import Glibc
import MediaCore
import Synchronization

/// A file descriptor that somebody opened and handed over: a file, or a pipe or socket whose bytes come once.
///
/// It belongs to this object, which closes it when nobody needs it any more. Threading: any.
public final class OpenDescriptor: Sendable {
  /// What it leads to.
  public enum Kind: Sendable {
    /// A regular file: as one that has a path, from its first byte on, wherever the descriptor stands.
    case file
    /// A pipe or a connected stream socket: it is read in order, as it comes.
    case stream
  }

  /// What stands for it in messages.
  public let name: String
  public let kind: Kind
  /// A file's; a stream closes its own.
  let descriptor: Int32
  /// What has come of a stream.
  let stream: DescriptorStream?

  /// Takes a descriptor over, to close it. When this throws, it is the caller's still.
  ///
  /// Does not block. Errors: `notReadable` for what cannot be read, or not as media: folders, terminals and other devices, descriptors
  /// that were opened for writing or for nothing (O_PATH), sockets without a connection or with datagrams.
  public init(_ descriptor: Int32, name: String) throws(MediaError) {
    var status = stat()
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, fstat(descriptor, &status) == 0 else {
      throw Self.notReadable(name, "is no open descriptor")
    }
    guard flags & Self.openedForNothing == 0, flags & O_ACCMODE != O_WRONLY else {
      throw Self.notReadable(name, "is not open for reading")
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFIFO: kind = .stream
    case S_IFSOCK:
      guard Self.isConnectedStream(descriptor) else { throw Self.notReadable(name, "is no connected stream socket") }
      // Whoever made it may have asked that closing it waits until all that is unsent has been sent.
      var lingers = linger(l_onoff: 0, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingers, socklen_t(MemoryLayout<linger>.size))
      kind = .stream
    case S_IFDIR: throw Self.notReadable(name, "is a folder")
    case S_IFCHR where isatty(descriptor) == 1: throw Self.notReadable(name, "is a terminal")
    default: throw Self.notReadable(name, "is no file, pipe or socket")
    }
    self.name = name
    self.descriptor = descriptor
    stream = kind == .stream ? DescriptorStream(descriptor: descriptor, name: name) : nil
    Self.present.add(1, ordering: .relaxed)
  }

  deinit {
    Self.present.subtract(1, ordering: .relaxed)
    if stream == nil { close(descriptor) }
  }

  private static let present = Atomic<Int>(0)

  /// How many there are in this process.
  public static var count: Int { present.load(ordering: .relaxed) }

  /// `O_PATH`, which Glibc shows to GNU programs only.
  private static let openedForNothing: Int32 = 0o10_000_000

  private static func notReadable(_ name: String, _ what: String) -> MediaError {
    MediaError(.notReadable, "\(name) \(what)", operation: "fd")
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
  /// An asset for a descriptor that is open: a file, a pipe or a socket. It takes the descriptor over, and closes it when nobody reads
  /// it any more; who wants to keep it passes a duplicate (dup(2)). When this throws, it is the caller's still. No I/O.
  ///
  /// A file is played from its first byte on, wherever the descriptor stands, and sought in as any file. A pipe or socket is
  /// heard as it comes: its duration is not known and it cannot be sought in; its end, or its writer's, is the end of the asset. Its
  /// bytes come once: it can be opened again only while its first byte is among the newest 2 MiB, which is all that is kept of it.
  ///
  /// Errors: those of `OpenDescriptor`.
  public convenience init(
    fileDescriptor: Int32, name: String? = nil, prefersPreciseDuration: Bool = false
  ) throws(MediaError) {
    let descriptor = try OpenDescriptor(fileDescriptor, name: name ?? "descriptor \(fileDescriptor)")
    self.init(place: .descriptor(descriptor), prefersPreciseDuration: prefersPreciseDuration)
  }

  /// The descriptor that it is read from, when somebody opened one.
  public var descriptor: OpenDescriptor? { if case .descriptor(let descriptor) = place { descriptor } else { nil } }
}
