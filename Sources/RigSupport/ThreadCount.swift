import Glibc

/// Returns the number of threads of this process with a name of at most 15 characters; -1 without `/proc`.
package func threadCount(named name: String) -> Int {
  guard let folder = opendir("/proc/self/task") else { return -1 }
  defer { closedir(folder) }
  var count = 0
  while let entry = readdir(folder) {
    let id = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    guard let file = fopen("/proc/self/task/\(id)/comm", "r") else { continue }
    defer { fclose(file) }
    var line = [UInt8](repeating: 0, count: 32)
    let length = fread(&line, 1, line.count, file)
    if String(decoding: line[..<length], as: UTF8.self) == name + "\n" { count += 1 }
  }
  return count
}
