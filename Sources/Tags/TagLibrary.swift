// Loads the library that reads tags with TagLib, when the first tag is read. The library stays loaded. If the daemon
// were linked with TagLib, a process that reads no tags would need 760 kB more memory (PSS).
import CTags
import Glibc

/// The library `libPlayheadTags.so`, which reads tags with TagLib.
enum TagLibrary {
  static let fileName = "libPlayheadTags.so"
  private static let functionName = "playhead_tags_read"

  /// The library's function, or the reason why it cannot be loaded. The first use loads the library, which blocks.
  static let reader: Result<tags_read_function, TagLibraryError> = find()

  /// Possible paths of the library: next to the program, in `../lib/playhead` of the program's folder, or in the
  /// system's search path.
  static func candidates(programPath: String) -> [String] {
    guard let slash = programPath.lastIndex(of: "/") else { return [fileName] }
    let folder = programPath[..<slash]
    return ["\(folder)/\(fileName)", "\(folder)/../lib/playhead/\(fileName)", fileName]
  }

  private static func find() -> Result<tags_read_function, TagLibraryError> {
    // The program may already be linked with the library.
    if let symbol = dlsym(nil, functionName) { return .success(unsafeBitCast(symbol, to: tags_read_function.self)) }
    var reasons: [String] = []
    for path in candidates(programPath: programPath()) {
      guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL), let symbol = dlsym(library, functionName) else {
        reasons.append(dlerror().map { String(cString: $0) } ?? path)
        continue
      }
      return .success(unsafeBitCast(symbol, to: tags_read_function.self))
    }
    return .failure(TagLibraryError(reason: reasons.joined(separator: "; ")))
  }

  private static func programPath() -> String {
    let name = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      count = buffer.withMemoryRebound(to: CChar.self) { name in
        name.baseAddress.map { max(0, readlink("/proc/self/exe", $0, name.count)) } ?? 0
      }
    }
    return String(decoding: name, as: UTF8.self)
  }
}

/// An error of loading the library that reads tags.
struct TagLibraryError: Error {
  /// The message of the dynamic linker.
  var reason: String
}
