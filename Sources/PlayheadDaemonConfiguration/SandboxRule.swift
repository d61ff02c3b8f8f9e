/// File access rights of Landlock, with the values of the kernel's `linux/landlock.h` (`LANDLOCK_ACCESS_FS_*`).
///
/// They are defined here, because the headers of Debian 12 have only version 2 of the interface.
package struct SandboxRights: OptionSet, Sendable, Hashable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Executing a file.
  package static let execute = Self(rawValue: 1 << 0)
  /// Opening a file for writing.
  package static let writeFile = Self(rawValue: 1 << 1)
  /// Opening a file for reading.
  package static let readFile = Self(rawValue: 1 << 2)
  /// Opening or listing a folder.
  package static let readDirectory = Self(rawValue: 1 << 3)
  /// Removing or renaming a file.
  package static let removeFile = Self(rawValue: 1 << 5)
  /// Creating a folder.
  package static let makeDirectory = Self(rawValue: 1 << 7)
  /// Creating, renaming or linking a regular file.
  package static let makeRegularFile = Self(rawValue: 1 << 8)
  /// Creating a Unix socket.
  package static let makeSocket = Self(rawValue: 1 << 9)
  /// Creating a symbolic link.
  package static let makeSymbolicLink = Self(rawValue: 1 << 12)
  /// Truncating a file. Restricted from version 3 on.
  package static let truncate = Self(rawValue: 1 << 14)
  /// Device control (ioctl(2)) on devices that are opened later. Restricted from version 5 on.
  package static let controlDevice = Self(rawValue: 1 << 15)

  /// The rights that the kernel accepts in a rule for a file that is not a folder.
  package static let ofFiles: Self = [.execute, .writeFile, .readFile, .truncate, .controlDevice]

  /// Reading files and folders.
  package static let reading: Self = [.readFile, .readDirectory]
  /// Writing an existing file.
  package static let overwriting: Self = [.readFile, .writeFile, .truncate]
  /// Reading, and creating, writing and removing regular files. For write roots.
  package static let writing: Self = [.reading, .overwriting, .makeRegularFile, .removeFile]
  /// Writing, and creating folders and links. For the state folder with its database, recordings and waveforms.
  package static let savingState: Self = [.writing, .makeDirectory, .makeSymbolicLink]
  /// Creating and removing sockets and their lock files. Writing the lock files needs separate rules.
  package static let listening: Self = [.readDirectory, .makeRegularFile, .makeSocket, .removeFile]
}

/// A path and the rights that the sandbox allows for it. The rights for a folder apply to everything below it.
package struct SandboxRule: Sendable, Hashable {
  /// An absolute path. Symbolic links are resolved once, when the sandbox starts.
  package var path: String
  package var rights: SandboxRights
  /// Whether a missing path is logged, because it is a configured root.
  package var isConfigured: Bool

  package init(_ path: String, _ rights: SandboxRights, isConfigured: Bool = false) {
    self.path = path
    self.rights = rights
    self.isConfigured = isConfigured
  }
}
