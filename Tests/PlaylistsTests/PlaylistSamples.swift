import PlayheadMediaCore

@testable import PlayheadPlaylists

/// Parses a list at `/music/lists/NAME`.
func parse(_ text: String, at name: String = "list.m3u") throws(MediaError) -> Playlist {
  try parse(Array(text.utf8), at: name)
}

func parse(_ bytes: [UInt8], at name: String = "list.m3u") throws(MediaError) -> Playlist {
  try Playlist(parsing: bytes, at: .file(Array("/music/lists/\(name)".utf8)))
}

extension PlaylistLocation {
  static func path(_ text: String) -> Self { .file(Array(text.utf8)) }
}

extension Playlist {
  /// The locations as text.
  var locationTexts: [String] { entries.map(\.location.displayText) }
}

/// A time in the form `MM:SS:FF` of CUE sheets.
func cueTime(_ minutes: Int64, _ seconds: Int64, _ frames: Int64) -> MediaTime {
  MediaTime(value: (minutes * 60 + seconds) * 75 + frames, timescale: 75)
}

/// Playlists as written by other programs.
enum Sample {
  static let winampM3U = """
    #EXTM3U\r
    #EXTINF:123,Sample Artist - Sample title\r
    Sample.mp3\r
    #EXTINF:321,Example Artist - Example title\r
    Greatest Hits\\Example.ogg\r
    #EXTINF:-1,Radio, "the" station\r
    http://radio.example/stream?x=1&y=2\r
    C:\\Music\\Drive.mp3\r
    \\\\nas\\share\\Nas.mp3\r

    """
  static let iptvM3U = """
    #EXTM3U url-tvg="http://epg.example/x.xml"
    #EXTENC: UTF-8
    #PLAYLIST:Évening
    #EXTALB:Album
    #EXTART:Artist
    #EXTGENRE:Jazz
    #EXTINF:-1 tvg-id="a,b" group-title="Ne,ws",Channel, one
    #EXTGRP:News
    #EXTVLCOPT:http-user-agent=x
    #KODIPROP:inputstream=y
    ../one.flac
    # a comment
    #EXTINF:10.25,
    ./two#2.flac
    /abs/three 100%.flac
    file:///abs/caf%C3%A9%20four.flac
    """
  static let winampPLS = """
    [playlist]
    NumberOfEntries=4

    Title3=Three
    File3=/abs/three.flac
    Length3=30
    File1=http://stream.example:8000/
    Title1=(#1 - 2/200) Radio = good
    Length1=-1
    file12=sub/twelve.ogg
    LENGTH12=12
    Title7=no file
    Version=2
    """
  static let xspf = """
    <?xml version="1.0" encoding="UTF-8"?>
    <playlist version="1" xmlns="http://xspf.org/ns/0/">
      <!-- a comment -->
      <title>80s &amp; <![CDATA[<more>]]></title>
      <creator>Jane Doe</creator>
      <annotation>My favorite songs</annotation>
      <extension application="x"><title>not this</title><trackList><track/></trackList></extension>
      <trackList>
        <track>
          <location>smb://nas/one.flac</location>
          <location>file:///mp3s/song_1%20%C3%A9.mp3</location>
          <title> Against
            All </title>
          <creator>Phil &#67;ollins</creator>
          <album>Hits</album>
          <trackNum>3</trackNum>
          <duration>271066</duration>
          <extension application="http://www.videolan.org/vlc/playlist/0"><title>no</title></extension>
        </track>
        <track><location>song_2.mp3</location></track>
        <track><location>sub%20dir/100%.mp3</location><title/></track>
        <track><title>nowhere</title></track>
      </trackList>
    </playlist>
    """
  static let cue = """
    REM GENRE Electronica
    REM DATE 1998
    REM DISCID 9D0B1F0C
    REM COMMENT "ExactAudioCopy v0.95b4"
    REM REPLAYGAIN_ALBUM_GAIN -7.50 dB
    CATALOG 0724384566524
    PERFORMER "Faithless"
    TITLE "Live in Berlin, "the" one"
    FILE "Faithless - Live in Berlin.flac" WAVE
      TRACK 01 AUDIO
        FLAGS DCP PRE
        ISRC GBAAA9800001
        TITLE "Reverence"
        PERFORMER "Faithless & friend"
        SONGWRITER "Someone"
        PREGAP 00:02:00
        REM REPLAYGAIN_TRACK_GAIN -6.20 dB
        INDEX 01 00:00:00
      TRACK 02 AUDIO
        TITLE "She's My Baby"
        INDEX 00 06:40:50
        INDEX 01 06:42:00
        INDEX 02 07:00:00
      TRACK 03 AUDIO
        TITLE "Take the Long Way Home"
        INDEX 01 10:54:74
        POSTGAP 00:01:00
    """
}
