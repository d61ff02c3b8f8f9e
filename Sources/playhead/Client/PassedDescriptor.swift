import CPlayheadMediaShims
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

/// Transfers open descriptors to the daemon.
enum PassedDescriptor {
  /// Transfers a descriptor, and returns its path on the wire.
  ///
  /// - Parameter name: The name in messages.
  /// - Throws: `ErrorReply`, or `Unreachable`, also for a daemon whose user the client does not trust.
  static func pass(_ descriptor: Int32, named name: String, socketPath: String) throws -> String {
    let handoffPath = SocketLocation.path(of: .handoff, nextTo: socketPath)
    var connection = try DaemonConnection(path: handoffPath, usesPackets: true)
    try connection.requireTrustedPeer()
    guard media_shims_send_descriptor(connection.descriptor, descriptor) == 0 else {
      throw Unreachable(message: "\(name) cannot be passed to the daemon: \(String(cString: strerror(errno)))")
    }
    guard let path = try connection.waitForReply().fields["path"] else {
      throw Unreachable(message: "the daemon at \(connection.path) returned no token for \(name)")
    }
    return path
  }
}

/// A file that the client has opened and the daemon writes.
protocol PassedOutput {
  /// The path of the descriptor on the wire.
  var descriptorPath: String { get }
  /// The path of the file on the wire.
  var path: String { get }
}

extension PassedOutput {
  /// Replaces the path of the descriptor by that of the file.
  func naming(_ text: String) -> String {
    text.split(separator: descriptorPath, omittingEmptySubsequences: false).joined(separator: path)
  }
}
