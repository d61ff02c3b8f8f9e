import Foundation

/// Edits of media files, by `Tests/Collection/mediapatch`.
package enum MediaPatch {
  /// Edits a file. Blocks.
  ///
  /// - Parameters:
  ///   - edit: a call of a function of `mediapatch`, in which `data` is the content of the file.
  ///   - path: the file, which is replaced by the result.
  /// - Throws: `RigError` if the edit fails.
  package static func apply(_ edit: String, to path: String) throws {
    // Three levels above this file is the folder of the repository.
    let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    let program = """
      import pathlib, sys
      sys.path.insert(0, sys.argv[1])
      from mediapatch import *
      path = pathlib.Path(sys.argv[2])
      data = path.read_bytes()
      path.write_bytes(\(edit))
      """
    let folder = root.appendingPathComponent("Tests/Collection").path
    try ChildProcess.run(["/usr/bin/python3", "-B", "-c", program, folder, path])
  }
}
