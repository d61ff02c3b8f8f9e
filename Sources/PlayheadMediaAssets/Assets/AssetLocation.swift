import PlayheadMediaCore
import PlayheadNetworkIO

/// The location of an asset's bytes.
package enum AssetLocation: Sendable {
  /// The path of a file, as bytes without a terminating zero. It does not have to be UTF-8.
  case path([UInt8])
  /// The bytes of a file in memory.
  case data([UInt8])
  /// A resource of an HTTP server, with the options of its requests.
  case url(HTTPURL, HTTPOptions)
  /// An open file, pipe or socket.
  case descriptor(OpenDescriptor)
  /// A custom byte source. `make` creates a separate source for each reader, on the thread that opens it.
  case source(name: String, make: @Sendable () throws(MediaError) -> any ByteSource)
  /// A composition of parts of other assets.
  case composition(Composition)

  /// The name in messages: a path (bytes that are not UTF-8 become U+FFFD), a URL without credentials, or a name.
  var displayName: String {
    switch self {
    case .path(let path): String(decoding: path, as: UTF8.self)
    case .data(let data): "\(data.count) bytes of data"
    case .url(let url, _): url.redacted
    case .descriptor(let descriptor): descriptor.name
    case .source(let name, _): name
    case .composition: "a composition"
    }
  }

  /// Whether loading can contact a server: a path with the suffix of a playlist can name segments on a server.
  var mayUseNetwork: Bool {
    switch self {
    case .url: true
    case .path(let path):
      [".m3u8", ".m3u"].contains { suffix in
        path.count > suffix.utf8.count
          && path.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) { $0 | 0x20 == $1 | 0x20 }
      }
    case .composition(let composition): composition.assets.contains(where: \.mayUseNetwork)
    case .data, .descriptor, .source: false
    }
  }

  /// Whether a read can block for an unlimited time, because another process or host supplies the bytes.
  var isRemote: Bool {
    switch self {
    case .path, .data: false
    case .descriptor(let descriptor): descriptor.kind == .stream
    case .url, .source: true
    case .composition(let composition): composition.assets.contains(where: \.isRemote)
    }
  }
}

extension Asset {
  /// Creates an asset for a resource of an HTTP server. No I/O.
  public convenience init(url: HTTPURL, options: HTTPOptions = HTTPOptions(), prefersPreciseDuration: Bool = false) {
    self.init(location: .url(url, options), prefersPreciseDuration: prefersPreciseDuration)
  }

  /// Creates an asset for a custom byte source, in the role of AVFoundation's resource loader. No I/O.
  ///
  /// - Parameters:
  ///   - name: the name in messages. Its suffix is a hint for the format, like that of a file name.
  ///   - prefersPreciseDuration: See ``prefersPreciseDuration``. Default: false.
  ///   - source: creates a source for each reader, of which several can exist. It is called on the thread that opens
  ///     the reader.
  public convenience init(
    name: String, prefersPreciseDuration: Bool = false,
    source: @escaping @Sendable () throws(MediaError) -> any ByteSource
  ) {
    self.init(location: .source(name: name, make: source), prefersPreciseDuration: prefersPreciseDuration)
  }

  /// The path of the file; nil for other locations. Bytes that are not UTF-8 are U+FFFD.
  public var path: String? { if case .path(let path) = location { String(decoding: path, as: UTF8.self) } else { nil } }

  /// The path of the file, as bytes without a terminating zero; empty for other locations.
  package var pathBytes: [UInt8] { if case .path(let path) = location { path } else { [] } }

  /// The bytes of the file, if it is in memory.
  public var data: [UInt8]? { if case .data(let data) = location { data } else { nil } }

  /// The URL, if the asset is a resource of an HTTP server.
  public var url: HTTPURL? { if case .url(let url, _) = location { url } else { nil } }

  /// The location as text for messages.
  public var displayPath: String { displayName ?? location.displayName }
}
