import CPlayheadPulse
import Glibc

/// Reports when a path appears or is replaced, with inotify on the nearest existing folder.
///
/// Threading: one thread.
final class FolderWatch {
  /// Readable when something changed; -1 when inotify is unavailable.
  let descriptor: Int32
  private let path: String
  private var watchDescriptor: Int32 = -1
  private var watchedFolder = ""

  init(path: String) {
    self.path = path
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Reads the pending events and watches the nearest existing folder. The caller checks the path afterwards, then
  /// waits for `descriptor`. Returns false when no folder can be watched.
  func prepare() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while read(descriptor, &buffer, buffer.count) > 0 {}
    // A folder may appear or disappear between the check and the watch; the next iteration finds it.
    for _ in 0..<64 {
      let folder = nearestFolder()
      if folder == watchedFolder, watchDescriptor >= 0 { return true }
      if watchDescriptor >= 0 { inotify_rm_watch(descriptor, watchDescriptor) }
      let mask = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
      watchDescriptor = inotify_add_watch(descriptor, folder, UInt32(mask))
      watchedFolder = watchDescriptor >= 0 ? folder : ""
      if watchDescriptor < 0, errno != ENOENT, errno != ENOTDIR { return false }
    }
    return false
  }

  private func nearestFolder() -> String {
    var folder = path[...]
    while let slash = folder.lastIndex(of: "/") {
      folder = folder[..<slash]
      var status = stat()
      if !folder.isEmpty, stat(String(folder), &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
        return String(folder)
      }
    }
    return "/"
  }
}
