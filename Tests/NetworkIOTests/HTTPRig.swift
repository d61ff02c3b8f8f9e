import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadNetworkIO

extension ManualTime: NetworkClock {}

/// A web server, and reads of its resources.
final class HTTPRig {
  let server: HTTPServer
  var clock = ManualTime()

  init() throws { server = try HTTPServer() }

  /// The bytes read, and the error that ended the read.
  struct Outcome {
    var bytes: [UInt8] = []
    var error: MediaError?
    var maximumBufferedCount = 0
    var log = NetworkLog()
  }

  /// A byte pattern in which each byte depends on its offset.
  static func pattern(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      var index = 0
      while index < count {
        buffer[index] = UInt8(truncatingIfNeeded: (index &* 2_654_435_761) >> 13 ^ index >> 3)
        index &+= 1
      }
      filled = count
    }
  }

  func resource(
    _ path: String, options: HTTPOptions = HTTPOptions(), log: NetworkLog = NetworkLog()
  ) throws -> HTTPResource {
    HTTPResource(url: try HTTPURL(server.address + path), options: options, log: log, clock: clock)
  }

  /// Opens a resource and reads from `offset` to the end, or at most `limit` bytes.
  func read(
    _ path: String, from offset: Int64 = 0, limit: Int = .max, options: HTTPOptions = HTTPOptions()
  ) throws -> Outcome {
    var outcome = Outcome()
    let resource = try resource(path, options: options, log: outcome.log)
    do throws(MediaError) {
      try resource.open()
      try Self.read(resource, from: offset, limit: limit, into: &outcome)
    } catch {
      outcome.error = error
    }
    return outcome
  }

  static func read(
    _ resource: HTTPResource, from offset: Int64, limit: Int = .max, into outcome: inout Outcome
  ) throws(MediaError) {
    var offset = offset
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while outcome.bytes.count < limit {
      let requestedCount = min(buffer.count, limit - outcome.bytes.count)
      let count: Int
      do {
        count = try buffer.withUnsafeMutableBytes {
          try resource.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<requestedCount]), at: offset)
        }
      } catch let error as MediaError { throw error } catch { preconditionFailure("only MediaErrors are thrown") }
      if count == 0 { return }
      outcome.bytes += buffer[..<count]
      outcome.maximumBufferedCount = max(outcome.maximumBufferedCount, resource.bufferedByteCount)
      offset += Int64(count)
    }
  }
}
