// The file of `record -o`. The client opens it and the daemon writes it. Therefore the daemon needs no writable folder.
import Glibc
import PlayheadMediaCore
import PlayheadRecordingFiles
import PlayheadWholeFiles
import PlayheadWireProtocol

/// A file that the daemon records to: NAME.recording until the recording is complete, then NAME.
///
/// The file is locked (flock(2)) as long as the client or the daemon has it open. After the end of both, the next
/// recording to the same name repairs the file.
struct OutputRecording: PassedOutput {
  let descriptorPath: String
  let path: String
  private let location: RecordingLocation
  private let file: UnfinishedFile

  /// Opens the file and transfers it to the daemon. An unfinished recording of that name is repaired first.
  ///
  /// - Throws: `Unreachable`, or `ErrorReply`, also for a file that exists or cannot be written. No new file remains.
  init(_ recording: RecordingRequest, socketPath: String) throws {
    let location = RecordingLocation(
      path: recording.file.bytes, replaces: recording.replaces, hint: "--replace replaces it")
    let path = recording.file.text
    if let recovered = try OutputFile.reporting({ () throws(MediaError) in try location.recover() })?.pathBytes {
      let name = FilePath(bytes: recovered)?.text ?? path
      Terminal.printDiagnostic("an unfinished recording was repaired: \(name)")
      // Otherwise the new recording would replace the repaired file.
      guard !recording.replaces || recovered != recording.file.bytes else {
        throw ErrorReply(
          error: MediaError(
            .fileExists, "\(name) is the repaired recording; repeat the command to replace it", operation: "record"))
      }
    }
    file = try OutputFile.reporting { () throws(MediaError) in try location.file.create() }
    do {
      descriptorPath = try PassedDescriptor.pass(file.descriptor, named: path, socketPath: socketPath)
    } catch {
      file.discard()
      throw error
    }
    (self.location, self.path) = (location, path)
  }

  /// Whether the file contains no bytes. False if its size is unknown.
  var isEmpty: Bool {
    var status = stat()
    return fstat(file.descriptor, &status) == 0 && status.st_size == 0
  }

  /// Removes the file.
  func discard() { file.discard() }

  /// Gives the complete file its name.
  ///
  /// - Throws: `ErrorReply`, for example if another file has been created meanwhile and must not be replaced. The
  ///   recording then keeps its unfinished name.
  func commit() throws {
    do { try OutputFile.reporting { () throws(MediaError) in try file.commit() } } catch var reply as ErrorReply {
      reply.error.message += "; the recording is \(unfinishedPath)"
      throw reply
    }
  }

  private var unfinishedPath: String { FilePath(bytes: location.unfinishedPath)?.text ?? path }

  /// Repairs the file after the daemon has closed it, and gives it its name. Waits for the daemon for at most 2 s.
  ///
  /// - Returns: A sentence about the result.
  func recover() -> String {
    file.closeAndKeep()
    let isFree = FileLock.waitUntilFree(location.unfinishedPath, milliseconds: 2_000)
    do throws(MediaError) {
      if isFree, let recovered = try location.recover() {
        return recovered.pathBytes.map { "the part that was recorded is in \(FilePath(bytes: $0)?.text ?? path)" }
          ?? "nothing was recorded"
      }
    } catch { return "\(unfinishedPath) cannot be repaired: \(error.message)" }
    guard !location.isUnfinishedNameFree else { return "\(unfinishedPath) was removed" }
    return "the daemon still writes \(unfinishedPath)"
  }
}
