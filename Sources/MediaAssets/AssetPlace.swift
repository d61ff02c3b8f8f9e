import MediaCore
import NetworkIO

/// Where an asset's bytes are.
public enum AssetPlace: Sendable {
  /// A file's path, as bytes without a terminating zero; need not be UTF-8.
  case path([UInt8])
  /// The file's bytes, in memory.
  case data([UInt8])
  /// A resource of an HTTP server, and how it is asked for.
  case url(HTTPURL, HTTPOptions)
  /// A file, pipe or socket that somebody opened.
  case descriptor(OpenDescriptor)
  /// Somebody else's bytes. Each reader has a source made for itself, on the thread that opens it.
  case source(name: String, make: @Sendable () throws(MediaError) -> any ByteSource)
  /// Parts of other assets, put together.
  case composition(Composition)

  /// What stands for it in messages: a path (what is not UTF-8 shows as U+FFFD), an address without credentials, a name.
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

  /// Whether servers may be asked: a path that ends as playlists do may be one whose segments they have.
  var mayUseNetwork: Bool {
    switch self {
    case .url: true
    case .path(let path):
      [".m3u8", ".m3u"].contains { ending in
        path.count > ending.utf8.count
          && path.suffix(ending.utf8.count).elementsEqual(ending.utf8) { $0 | 0x20 == $1 | 0x20 }
      }
    case .composition(let composition): composition.assets.contains(where: \.mayUseNetwork)
    case .data, .descriptor, .source: false
    }
  }

  /// Whether reading it may take as long as somebody else wants.
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
  /// An asset for a resource of an HTTP server. No I/O.
  public convenience init(url: HTTPURL, options: HTTPOptions = HTTPOptions(), prefersPreciseDuration: Bool = false) {
    self.init(place: .url(url, options), prefersPreciseDuration: prefersPreciseDuration)
  }

  /// An asset for bytes that a library's user has: the resource loader's role. No I/O.
  ///
  /// - Parameters:
  ///   - name: what stands for it in messages; its ending hints at the format, as a file's does.
  ///   - source: makes a source for each reader, of which there may be several; called on the thread that opens it.
  public convenience init(
    name: String, prefersPreciseDuration: Bool = false,
    source: @escaping @Sendable () throws(MediaError) -> any ByteSource
  ) {
    self.init(place: .source(name: name, make: source), prefersPreciseDuration: prefersPreciseDuration)
  }

  /// The file's path; empty for other places.
  public var path: [UInt8] { if case .path(let path) = place { path } else { [] } }

  /// The file's bytes, when it is in memory.
  public var data: [UInt8]? { if case .data(let data) = place { data } else { nil } }

  /// The address, when it comes from an HTTP server.
  public var url: HTTPURL? { if case .url(let url, _) = place { url } else { nil } }

  /// The place as text for messages.
  public var displayPath: String { displayName ?? place.displayName }
}
