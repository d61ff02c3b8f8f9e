/// File access rights of Landlock, with the values of the kernel's `linux/landlock.h` (`LANDLOCK_ACCESS_FS_*`).
///
/// They are defined here, because the headers of Debian 12 have only version 2 of the interface.
public struct SandboxRights: OptionSet, Sendable, Hashable {
  public let rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Executing a file.
  public static let execute = Self(rawValue: 1 << 0)
  /// Opening a file for writing.
  public static let writeFile = Self(rawValue: 1 << 1)
  /// Opening a file for reading.
  public static let readFile = Self(rawValue: 1 << 2)
  /// Opening or listing a folder.
  public static let readDirectory = Self(rawValue: 1 << 3)
  /// Removing or renaming a file.
  public static let removeFile = Self(rawValue: 1 << 5)
  /// Creating a folder.
  public static let makeDirectory = Self(rawValue: 1 << 7)
  /// Creating, renaming or linking a regular file.
  public static let makeRegularFile = Self(rawValue: 1 << 8)
  /// Creating a Unix socket.
  public static let makeSocket = Self(rawValue: 1 << 9)
  /// Creating a symbolic link.
  public static let makeSymbolicLink = Self(rawValue: 1 << 12)
  /// Truncating a file. Restricted from version 3 on.
  public static let truncate = Self(rawValue: 1 << 14)
  /// Device control (ioctl(2)) on devices that are opened later. Restricted from version 5 on.
  public static let controlDevice = Self(rawValue: 1 << 15)

  /// The rights that the kernel accepts in a rule for a file that is not a folder.
  public static let ofFiles: Self = [.execute, .writeFile, .readFile, .truncate, .controlDevice]

  /// Reading files and folders.
  public static let reading: Self = [.readFile, .readDirectory]
  /// Writing an existing file.
  public static let overwriting: Self = [.readFile, .writeFile, .truncate]
  /// Reading, and creating, writing and removing regular files. For write roots.
  public static let writing: Self = [.reading, .overwriting, .makeRegularFile, .removeFile]
  /// Writing, and creating folders and links. For the state folder with its database, recordings and waveforms.
  public static let savingState: Self = [.writing, .makeDirectory, .makeSymbolicLink]
  /// Creating and removing sockets and their lock files. Writing the lock files needs separate rules.
  public static let listening: Self = [.readDirectory, .makeRegularFile, .makeSocket, .removeFile]
}

/// A path and the rights that the sandbox allows for it. The rights for a folder apply to everything below it.
public struct SandboxRule: Sendable, Hashable {
  /// An absolute path. Symbolic links are resolved once, when the sandbox starts.
  public var path: String
  public var rights: SandboxRights
  /// Whether a missing path is logged, because it is a configured root.
  public var isConfigured: Bool

  public init(_ path: String, _ rights: SandboxRights, isConfigured: Bool = false) {
    self.path = path
    self.rights = rights
    self.isConfigured = isConfigured
  }
}
