/// Accesses to files that Landlock can allow, numbered as in the kernel's `linux/landlock.h` (`LANDLOCK_ACCESS_FS_*`).
///
/// The headers of Debian 12 describe version 2 of the interface, so the numbers are defined here.
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
  /// Making a folder.
  public static let makeDirectory = Self(rawValue: 1 << 7)
  /// Making, renaming or linking a regular file.
  public static let makeRegularFile = Self(rawValue: 1 << 8)
  /// Making a Unix socket.
  public static let makeSocket = Self(rawValue: 1 << 9)
  /// Making a symbolic link.
  public static let makeSymbolicLink = Self(rawValue: 1 << 12)
  /// Truncating a file; restricted from version 3 on.
  public static let truncate = Self(rawValue: 1 << 14)
  /// Device control (ioctl(2)) on a device that was opened later; restricted from version 5 on.
  public static let controlDevice = Self(rawValue: 1 << 15)

  /// The rights that the kernel accepts in a rule for a file that is not a folder.
  public static let ofFiles: Self = [.execute, .writeFile, .readFile, .truncate, .controlDevice]

  /// Reading files and folders.
  public static let reading: Self = [.readFile, .readDirectory]
  /// Writing an existing file.
  public static let overwriting: Self = [.readFile, .writeFile, .truncate]
  /// Reading, and making, writing and removing regular files: write roots.
  public static let writing: Self = [.reading, .overwriting, .makeRegularFile, .removeFile]
  /// Writing, and making folders and links: the state folder with its database, recordings and waveforms.
  public static let savingState: Self = [.writing, .makeDirectory, .makeSymbolicLink]
  /// Making and removing sockets and their lock files, whose contents have rules of their own.
  public static let listening: Self = [.readDirectory, .makeRegularFile, .makeSocket, .removeFile]
}

/// A path, and the accesses that the sandbox allows to it and, for a folder, to everything below it.
public struct SandboxRule: Sendable, Hashable {
  /// An absolute path. Links in it are followed once, when the sandbox starts.
  public var path: String
  public var rights: SandboxRights
  /// Whether the absence of the path is to be logged, because the path is a root of the configuration.
  public var isConfigured: Bool

  public init(_ path: String, _ rights: SandboxRights, isConfigured: Bool = false) {
    self.path = path
    self.rights = rights
    self.isConfigured = isConfigured
  }
}
