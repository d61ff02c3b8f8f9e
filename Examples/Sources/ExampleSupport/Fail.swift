import Foundation

/// Ends the program with a message on standard error, and status 1.
public func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("\(message)\n".utf8))
  exit(1)
}

/// The URL of a file whose path is an argument of the program.
public func url(_ path: String) -> URL { URL(fileURLWithPath: path) }
