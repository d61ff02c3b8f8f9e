import DaemonTesting
import Foundation
import RigSupport

/// The pages of docs/protocol/reference.
enum ProtocolReference {
  private static let folder =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/docs/protocol/reference/"

  static func page(_ name: String) throws -> String {
    String(decoding: try Files.read("\(folder)\(name).md"), as: UTF8.self)
  }

  /// The sections of all commands, each from `## \`NAME\``.
  static func commands() throws -> String {
    let pages = [
      "connection", "playback", "queue", "items", "assets", "watching", "players-and-outputs", "recording",
      "audio-session", "saved-state",
    ]
    return try pages.map(page).joined(separator: "\n")
  }
}
