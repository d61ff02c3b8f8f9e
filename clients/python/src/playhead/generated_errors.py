"""The numbers and names of errors.

Written by clients/python/generate from protocol.md; do not change it by hand.
"""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """Every error that the daemon answers, by its number."""

    INVALID_ARGUMENT = 1001
    """The arguments are well formed but make no sense here."""
    INVALID_TIME = 1002
    """No time, or one of a form or range that is not taken here."""
    INVALID_STATE = 1003
    """Not possible in the present state."""
    NO_CURRENT_ITEM = 1004
    """The player has no current item."""
    UNSUPPORTED_RATE = 1005
    """The item cannot be played at this rate."""
    NO_SUCH_PLAYER = 1006
    """No player has this name."""
    PLAYER_EXISTS = 1007
    """A player has this name already."""
    NO_SUCH_OBSERVER = 1008
    """This connection has no subscription of this kind with that id."""
    NO_SUCH_PROPERTY = 1009
    """Nothing to observe has this name."""
    ITEM_IN_USE = 1010
    """The item belongs to a queue already."""
    VERSION_MISMATCH = 1011
    """The queue has changed since the version that was named: list it and decide again."""
    NO_SUCH_TRACK = 1012
    """The file has no such track, or none of that kind."""
    NO_SUCH_CHAPTER = 1013
    """There is no such chapter: before the first, behind the last, or there are none."""
    NO_SUCH_ASSET = 1014
    """This connection has no asset with that number open."""
    WRONG_CONFIGURATION = 1015
    """The configuration file is wrong, and nothing of it was taken; the message says where."""
    NO_SUCH_RECORDER = 1021
    """There is no recorder of this number, or none at all."""
    SESSION_MISMATCH = 1030
    """A mode or an option that does not go with the session's category."""
    SESSION_BUSY = 1031
    """The session was deactivated while something played or recorded: it is not active any more, and players are paused."""
    SESSION_INTERRUPTED = 1032
    """Something else is heard on the device, and that has to end first: `session.resume`."""
    SESSION_FORBIDS_RECORDING = 1033
    """The session's category does not allow to record."""
    FILE_NOT_FOUND = 2001
    """There is no such file."""
    NOT_A_FILE = 2002
    """A folder, a device, or something else that is no regular file."""
    PERMISSION_DENIED = 2003
    """The daemon may not read it."""
    NO_SUCH_ITEM = 2004
    """No queue entry has this id, or it is not the current one."""
    READ_FAILED = 2005
    """Reading failed."""
    WRITE_FAILED = 2006
    """Writing failed."""
    UNSUPPORTED_PLACE = 2007
    """A URL of a kind that is not played."""
    OUTSIDE_ROOTS = 2008
    """It lies in no folder that files may be read in, or written to; or a link or `..` leads out of it."""
    NETWORK_NOT_ALLOWED = 2030
    """The item was loaded with the network forbidden."""
    NETWORK_UNAVAILABLE = 2031
    """No network leads to the server, the interface that is to be used is not there, or libcurl is not."""
    HOST_NOT_FOUND = 2032
    """There is no such host, or no name server answers."""
    CONNECTION_REFUSED = 2033
    """Nobody answers at the server's address."""
    CONNECTION_LOST = 2034
    """The connection broke, and all further attempts did."""
    NETWORK_TIMED_OUT = 2035
    """The server did not answer, or sent too little, in time; or an entry stalled for too long."""
    TLS_FAILED = 2036
    """No trusted connection: the certificate is not believed, is of another host, or is over."""
    TOO_MANY_REDIRECTS = 2037
    """The server sends on more than 10 times."""
    BAD_HTTP_RESPONSE = 2038
    """The answer makes no sense."""
    RANGES_NOT_SUPPORTED = 2039
    """The server gives it from its beginning only, and what is wanted is too far away."""
    RESOURCE_CHANGED = 2040
    """The server has something else there by now."""
    HTTP_UNAUTHORIZED = 2041
    """HTTP status 401."""
    HTTP_FORBIDDEN = 2042
    """HTTP status 403."""
    HTTP_NOT_FOUND = 2043
    """HTTP status 404."""
    HTTP_GONE = 2044
    """HTTP status 410."""
    HTTP_RANGE_NOT_SATISFIABLE = 2045
    """HTTP status 416."""
    HTTP_REFUSED = 2046
    """Another HTTP status from 400 to 499."""
    HTTP_SERVER_ERROR = 2047
    """An HTTP status from 500 on."""
    OPENING_TIMED_OUT = 2048
    """Finding out what an entry is takes longer than 30 s; from a server, than its time-outs allow together."""
    ONLY_IN_ORDER = 2049
    """A pipe or socket does not go back, and what is over does not come again."""
    NOT_READABLE = 2050
    """A descriptor of what cannot be played: a folder, a terminal, another device, not open for reading; or a message
    without one."""
    NO_SUCH_DESCRIPTOR = 2051
    """No descriptor of this number waits: taken already, or closed."""
    TOO_MANY_DESCRIPTORS = 2052
    """As many as may wait to be taken, or be open."""
    SILENCE_LEFT_OUT = 2053
    """A CUE sheet asks for silence that is not in the file; it is not played."""
    INSECURE_REDIRECT = 2054
    """An `https` server redirects to an `http` address."""
    ADDRESS_NOT_ALLOWED = 2055
    """The daemon's rules of the network do not allow the server's name or address."""
    BAD_STREAM_PLAYLIST = 2060
    """An HLS playlist that makes no sense; the message says where."""
    STREAM_LIMIT_EXCEEDED = 2061
    """An HLS playlist of more than 8 MiB, 100,000 segments, 512 variants, or that does not end; a key or section that is too
    long."""
    STREAM_PLAYLIST_CYCLE = 2062
    """A playlist that names itself, or a list of variants that names another one."""
    STREAM_PLACE_NOT_ALLOWED = 2063
    """A playlist of a server's that names a file of this machine, or a place that is neither `http` nor `https`."""
    SEGMENT_UNAVAILABLE = 2064
    """A segment that could not be had in three attempts: silence stands for it; the fifth in a row ends the item."""
    UNSUPPORTED_ENCRYPTION = 2065
    """Segments that are encrypted in another way than AES-128, such as `SAMPLE-AES`."""
    DECRYPTION_FAILED = 2066
    """A key that is none, or a segment that it does not open."""
    SEGMENTS_LEFT_WINDOW = 2067
    """What should have been heard next is not in the live window any more: it goes on with what is."""
    NO_PLAYABLE_VARIANT = 2068
    """None of the variants has sound that can be played."""
    STREAM_NOT_UPDATED = 2069
    """A live playlist has brought nothing new for three target durations; it is asked for again."""
    NO_SUCH_DATE = 2070
    """The item has no dates, or nothing of that one."""
    LOUDNESS_UNAVAILABLE = 2080
    """Libebur128, which measures loudness, cannot be loaded."""
    FILE_EXISTS = 2090
    """There is a file of that name, and it is not to be replaced."""
    NO_SUCH_PICTURE = 2091
    """The tags have no picture of that number, or none at all."""
    PICTURE_TOO_LARGE = 2092
    """A picture, or other data in a tag, of more than 16 MiB: listed, not read."""
    TAG_DATA_LIMIT = 2093
    """The assets that are open hold as much of pictures, data and long texts as they may, 64 MiB: listed, not held; a
    picture is read again when it is asked for."""
    STATE_UNAVAILABLE = 2110
    """The folder or file of the saved state cannot be used."""
    STATE_IN_USE = 2111
    """Another daemon saves its state in the folder; this one saves nothing."""
    STATE_DAMAGED = 2112
    """The saved state was damaged: it was put aside, and another begun."""
    STATE_TOO_NEW = 2113
    """The saved state is a newer version's: it is left as it is, and nothing is saved."""
    STATE_FOREIGN = 2114
    """What lies in the place of the saved state is another program's database: it is left as it is, and nothing is saved."""
    STATE_DISK_FULL = 2115
    """There is no room for the saved state; what has changed is written when there is."""
    STATE_NOT_SAVED = 2116
    """The daemon runs without saving its state."""
    NOT_RESTORABLE = 2117
    """The entry was a descriptor or standard input of a daemon that has ended since."""
    NO_SUCH_SAVED_QUEUE = 2118
    """No queue was saved under this name."""
    TOO_MANY_SAVED_QUEUES = 2119
    """As many queues are saved as may be, 1,000."""
    NO_SUCH_BOOKMARK = 2120
    """There is no bookmark with this number, or none with this name in the current entry."""
    TOO_MANY_BOOKMARKS = 2121
    """As many bookmarks were put by hand as may be, 1,000."""
    CRASHED_WHILE_OPENING = 2122
    """The daemon died while it opened the entry, before this start; append the entry again to retry (*State that lasts*)."""
    WORKER_UNAVAILABLE = 2140
    """The process that reads untrusted bytes cannot be started, or 64 of them are busy."""
    EMPTY_FILE = 3001
    """The file has no bytes."""
    UNKNOWN_FORMAT = 3002
    """No media file of a known format."""
    NO_PLAYABLE_TRACKS = 3003
    """Neither audio nor video in it."""
    DAMAGED_FILE = 3004
    """The container is damaged."""
    MEDIA_LIMIT_EXCEEDED = 3005
    """Beyond what is played: channels, sample rate, number of streams."""
    WRONG_LENGTH = 3006
    """The file is longer than it says; all of it plays. Or a server says a wrong length."""
    IRREGULAR_TIMESTAMPS = 3007
    """Timestamps jump ahead or back; time goes on without a jump, or with silence where sound may be missing."""
    UNSUPPORTED_EDIT = 3008
    """An edit list asks for another speed than 1, or holds a moment: media plays at its own speed, a moment that is held is
    silence; in writing, what is coded is to be cut where the container cannot say it."""
    IRREGULAR_CHAPTERS = 3009
    """Chapters overlap, are out of order or lie behind the end: they are sorted, shortened or left out."""
    NOT_A_PLAYLIST = 3021
    """No list of a known format; an HLS stream is none."""
    DAMAGED_PLAYLIST = 3022
    """The list cannot be read as what it is; the message says where."""
    PLAYLIST_LIMIT_EXCEEDED = 3023
    """A list that is too long, names too much, or names lists that name lists, too deep."""
    PLAYLIST_CYCLE = 3024
    """A list that names itself, directly or by others."""
    EMPTY_PLAYLIST = 3025
    """A list that names nothing, or would; where it names only what cannot be played, the error says what that is."""
    UNKNOWN_CODEC = 4001
    """No decoder for it."""
    DECODE_FAILED = 4002
    """The decoder failed."""
    UNSUPPORTED_AUDIO_FORMAT = 4003
    """Sound of a form that cannot be converted."""
    CONVERSION_FAILED = 4004
    """Converting the sound failed."""
    OUTPUT_UNAVAILABLE = 5001
    """The output cannot be opened."""
    OUTPUT_LOST = 5002
    """The output went away; the position is kept."""
    OUTPUT_CONFIGURATION = 5003
    """The output cannot be had in this way."""
    NOT_VIRTUAL_CLOCK = 5004
    """The daemon does not run on the virtual clock."""
    DEVICE_LOST = 5011
    """The output's device went away, and its sound server is there."""
    NO_SUCH_DEVICE = 5012
    """The sound server has no output device of that name."""
    SOURCE_UNAVAILABLE = 5021
    """The source cannot be opened: no sound server answers, or it has no such source."""
    SOURCE_LOST = 5022
    """The source went away; what had been recorded is in the file."""
    SOURCE_CONFIGURATION = 5023
    """The source cannot be had in this way."""
    UNKNOWN_COMMAND = 6001
    """There is no such command."""
    BAD_ARGUMENTS = 6002
    """Missing, excess or unreadable arguments; the message says which and what is taken."""
    LINE_TOO_LONG = 6003
    """Longer than the limit; left out."""
    INVALID_UTF8 = 6004
    """Not UTF-8."""
    BAD_QUOTING = 6005
    """A quote or escape that cannot be read; the message has the column."""
    ID_IN_USE = 6006
    """A waiting request has this id."""
    TOO_MANY_CONNECTIONS = 6007
    """The daemon has as many connections as it takes."""
    TOO_MANY_SUBSCRIPTIONS = 6008
    """This connection has as many as it may, or all together have as much to be told."""
    OUTPUT_OVERFLOW = 6009
    """More than a connection may have waiting: it did not read its replies, or asked for too long a list at once."""
    NOT_ALLOWED = 6010
    """This peer may not do this."""
    TIMED_OUT = 6011
    """What was waited for did not happen in time."""
    WAIT_ENDED = 6012
    """What was waited for cannot happen any more."""
    QUEUE_TOO_LONG = 6013
    """The queue would have more entries, or more bytes of paths and options, than its limit."""
    TOO_MANY_PLAYERS = 6014
    """The daemon has as many players as it takes."""
    CANCELLED = 6015
    """Ended before it was done, because the connection or player was, or by `cancel`."""
    INVALID_JSON = 6016
    """Not JSON, or no JSON-RPC 2.0 request."""
    SHUTTING_DOWN = 6017
    """The daemon is ending."""
    EDIT_TOO_LARGE = 6018
    """More was gathered behind `queue.begin` than is allowed, here or on all connections together; what was gathered before
    stays."""
    TOO_MANY_ASSETS = 6019
    """This connection has as many assets open as it may."""
    NO_SUCH_REQUEST = 6020
    """No request of that id waits on this connection."""
    TOO_MANY_RECORDERS = 6022
    """The daemon has as many recorders at work as it takes."""
    BATCH_TOO_LARGE = 6023
    """The replies of the batch are too large already; this request of it was not run."""
    OTHER_INSTANCE = 6030
    """The daemon is another one than that which the number is of: begin anew."""
    NO_SUCH_EVENT = 6031
    """No event has had this number yet."""

    @property
    def wire_name(self) -> str:
        """The name that the daemon gives it, such as `no-such-item`."""
        return self.name.lower().replace("_", "-")

__all__ = [
    "ErrorCode",
]
