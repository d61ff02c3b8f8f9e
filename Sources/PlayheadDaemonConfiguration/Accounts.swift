import Glibc
import PlayheadMediaCore

/// Looks up users and groups of the system by name or number.
package enum Accounts {
  /// The ids of users.
  ///
  /// - Throws: `invalid-argument` for an unknown user name.
  package static func users(_ names: [String]) throws(MediaError) -> Set<UInt32> {
    var numbers: Set<UInt32> = []
    for name in names { numbers.insert(try user(name)) }
    return numbers
  }

  /// The ids of groups.
  ///
  /// - Throws: `invalid-argument` for an unknown group name.
  package static func groups(_ names: [String]) throws(MediaError) -> Set<UInt32> {
    var numbers: Set<UInt32> = []
    for name in names { numbers.insert(try group(name)) }
    return numbers
  }

  /// The id of a user. A number is accepted without a lookup.
  static func user(_ name: String) throws(MediaError) -> UInt32 {
    if let number = UInt32(name) { return number }
    var (record, found) = (passwd(), nil as UnsafeMutablePointer<passwd>?)
    var memory = [CChar](repeating: 0, count: 65_536)
    guard getpwnam_r(name, &record, &memory, memory.count, &found) == 0, found != nil else {
      throw MediaError(.invalidArgument, "unknown user \(name)", operation: "users")
    }
    return record.pw_uid
  }

  /// The id of a group. A number is accepted without a lookup.
  package static func group(_ name: String) throws(MediaError) -> UInt32 {
    if let number = UInt32(name) { return number }
    var (record, found) = (Glibc.group(), nil as UnsafeMutablePointer<Glibc.group>?)
    var memory = [CChar](repeating: 0, count: 65_536)
    guard getgrnam_r(name, &record, &memory, memory.count, &found) == 0, found != nil else {
      throw MediaError(.invalidArgument, "unknown group \(name)", operation: "groups")
    }
    return record.gr_gid
  }
}

extension Accounts {
  /// Whether this process can read a file.
  static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }
}
