import PlayheadMediaCore

/// `item.log`: shows the network log of an entry.
package enum ItemLogCommand: ImmediateCommand {
  package typealias Parameters = EntryAndPlayer

  /// An entry of the access log or the error log.
  package struct Row: ReplyFields {
    /// The part of a row that depends on its kind.
    package enum Content: Sendable {
      case access(Access)
      /// `status` is the HTTP status or curl's code, and 0 for other errors.
      case error(status: Int, isRetried: Bool, MediaError)
    }

    /// The transfers for one opening of the item.
    package struct Access: Sendable {
      /// `file`, `vod` or `live`. Empty before the first response.
      package var type: String
      /// The time from the request to the first byte of the body, in nanoseconds. Nil before that byte.
      package var startupNanoseconds: Int64?
      package var requestCount: UInt64
      /// The received bytes.
      package var byteCount: Int64
      /// In bits per second. Nil if it is unknown.
      package var observedBitrate: Int64?
      /// In bits per second. Nil if it is unknown.
      package var indicatedBitrate: Int64?
      /// The number of new connections after an interruption.
      package var reconnectCount: Int
      /// The number of changes of the server address.
      package var addressChangeCount: Int
      /// The number of changes of the HLS variant.
      package var switchCount: Int
      /// The number of times that playback stalled.
      package var stallCount: Int
      /// The total duration of the stalls.
      package var stallNanoseconds: Int64

      package init(
        type: String, startupNanoseconds: Int64?, requestCount: UInt64, byteCount: Int64, observedBitrate: Int64?,
        indicatedBitrate: Int64?, reconnectCount: Int, addressChangeCount: Int, switchCount: Int, stallCount: Int,
        stallNanoseconds: Int64
      ) {
        (self.type, self.startupNanoseconds, self.requestCount) = (type, startupNanoseconds, requestCount)
        (self.byteCount, self.observedBitrate) = (byteCount, observedBitrate)
        (self.indicatedBitrate, self.reconnectCount) = (indicatedBitrate, reconnectCount)
        (self.addressChangeCount, self.switchCount) = (addressChangeCount, switchCount)
        (self.stallCount, self.stallNanoseconds) = (stallCount, stallNanoseconds)
      }
    }

    /// The URL, without user name and password.
    package var uri: String
    /// The network address of the server. Empty before its first response.
    package var address: String
    package var content: Content

    package init(uri: String, address: String, content: Content) {
      (self.uri, self.address, self.content) = (uri, address, content)
    }

    private var access: Access? { if case .access(let access) = content { access } else { nil } }
    private var error: MediaError? { if case .error(_, _, let error) = content { error } else { nil } }
    private var status: Int? { if case .error(let status, _, _) = content { status } else { nil } }
    private var isRetried: Bool? { if case .error(_, let isRetried, _) = content { isRetried } else { nil } }

    package static let fields: [Field<Self>] = [
      Field(.kindOfLogEntry) { $0.access != nil ? "access" : "error" }, Field(.uri) { $0.uri },
      Field(.address) { $0.address },
      Field(optional: .resourceType) { $0.access?.type },
      Field(optional: .startup) { $0.access?.startupNanoseconds.map(MediaTime.init(nanoseconds:)) },
      Field(optional: .requests) { $0.access?.requestCount },
      Field(optional: .bytesTransferred) { $0.access?.byteCount },
      Field(optional: .observedBitrate) { $0.access?.observedBitrate },
      Field(optional: .indicatedBitrate) { $0.access?.indicatedBitrate },
      Field(optional: .reconnects) { $0.access?.reconnectCount },
      Field(optional: .addressChanges) { $0.access?.addressChangeCount },
      Field(optional: .switches) { $0.access?.switchCount }, Field(optional: .stalls) { $0.access?.stallCount },
      Field(optional: .stallDuration) { ($0.access?.stallNanoseconds).map(MediaTime.init(nanoseconds:)) },
      Field(optional: .statusCode) { $0.status }, Field(optional: .retried) { $0.isRetried },
      Field(optional: .code) { $0.error?.code.rawValue }, Field(optional: .name) { $0.error?.code.name },
      Field(optional: .message) { $0.error?.message },
    ]
  }

  package struct Reply: ReplyRows {
    package var item: UInt64
    /// Nil: the item is not a station.
    package var station: Station?
    /// The bit rate that the station announces, in bits per second. Nil if it is unknown.
    package var stationBitrate: Int64?
    package var rows: [Row]

    /// The description of a station. Values are nil if the station does not announce them.
    package struct Station: Sendable {
      /// The name of the station.
      package var name: String?
      package var genre: String?
      package var description: String?
      /// The URL of the station's website.
      package var url: String?

      package init(name: String?, genre: String?, description: String?, url: String?) {
        (self.name, self.genre, self.description, self.url) = (name, genre, description, url)
      }
    }

    package init(item: UInt64, station: Station?, stationBitrate: Int64?, rows: [Row]) {
      (self.item, self.station, self.stationBitrate, self.rows) = (item, station, stationBitrate, rows)
    }

    package static let fields: [Field<Self>] = [
      Field(.item) { $0.item }, Field(.count) { $0.rows.count }, Field(optional: .stationName) { $0.station?.name },
      Field(optional: .stationGenre) { $0.station?.genre },
      Field(optional: .stationDescription) { $0.station?.description },
      Field(optional: .stationUrl) { $0.station?.url }, Field(optional: .stationBitrate) { $0.stationBitrate },
    ]
  }

  package static let name: CommandName = "item.log"

  package static let definition = CommandDefinition<Self>(
    .items, "Show the network log of an entry.",
    details: """
      Corresponds to AVPlayerItem's access log and error log. For a station, the reply also has its description. The \
      rows have two kinds, of which the newest 64 are retained:

      - `access`: a row for each time that the entry was opened for playback. It has the URL (without user name and \
      password), the address of the server, and the type (`file`, `vod` for HLS, or `live`). It also has the time \
      until the first byte, the numbers of requests, bytes, new connections and stalls, the bit rates, and the \
      duration of the stalls.
      - `error`: a row for each error. It has the HTTP status or curl's code (0 for other errors), and whether the \
      request was repeated.
      """,
    right: .read, errors: [.noSuchItem, .noSuchPlayer],
    example: [
      "> item.log 2",
      "< | kind=access uri=http://radio.example/live address=192.0.2.7 type=live startup=0.25 requests=1 bytes=81920"
        + " observedBitrate=131072 indicatedBitrate=128000 reconnects=0 addressChanges=0 switches=0 stalls=0"
        + " stallDuration=0",
      "< ok item=2 count=1 stationName=Example stationBitrate=128000",
    ])
}

extension MediaTime {
  /// A duration in nanoseconds.
  fileprivate init(nanoseconds: Int64) { self.init(value: nanoseconds, timescale: 1_000_000_000) }
}
