import CPlayheadFFmpeg

/// The container formats and codecs of FFmpeg that files may use.
///
/// FFmpeg has about 300 demuxers and 500 decoders. Many parse the files of one video game, have no maintainer, or
/// belong to a library that emulates a processor (libgme, libopenmpt). A file selects its demuxer and decoders by its
/// bytes, so each of them is code that an attacker can reach. Playhead uses only the formats and codecs below.
///
/// docs/protocol/sources.md (*Formats*) has the same lists; a test compares them.
package enum FormatAllowList {
  /// A group of formats or codecs, by FFmpeg's names, and the reason for supporting them.
  package struct Group: Sendable, Hashable {
    package let reason: String
    package let names: [String]

    init(_ reason: String, _ names: String) {
      self.reason = reason
      self.names = names.split(separator: " ").map(String.init)
    }
  }

  /// Container formats (`AVInputFormat.name`).
  package static let demuxers = [
    Group("music collections", "aac ac3 aiff ape caf eac3 flac mp3 mpc mpc8 ogg tak tta w64 wav wv"),
    Group("high-resolution and multichannel audio", "dsf dts dtshd iff mlp truehd wsd"),
    Group(
      "films, downloads and video from phones and cameras", "avi flv matroska,webm mov,mp4,m4a,3gp,3g2,mj2 nut obu ivf"),
    Group("broadcast, discs and HLS segments", "dv gxf loas mpeg mpegts mpegvideo mxf spdif wtv"),
    Group("video without a container", "av1 h261 h263 h264 hevc m4v mjpeg vc1"),
    Group("old collections from Windows, RealPlayer and Flash", "aea asf oma rm swf vqf xwma"),
    Group("voice recordings and telephony", "amr amrnb amrwb dss g722 g723_1 g729 gsm ilbc qcp sbc sln"),
    Group("older sample formats and archives", "au avr hcom ircam mmf nistsphere paf pvf sds shn sox smjpeg voc"),
  ]

  /// Decoders (`AVCodec.name`). All are native to FFmpeg, except libdav1d for AV1.
  package static let decoders = [
    Group(
      "MPEG audio and AAC",
      "aac aac_latm als mp1 mp1float mp2 mp2float mp3 mp3float mp3adu mp3adufloat mp3on4 mp3on4float"),
    Group("lossless audio", "alac ape flac mlp shorten sonic tak truehd tta wavpack wmalossless ralf"),
    Group("Ogg, Matroska and Musepack", "mpc7 mpc8 opus speex vorbis"),
    Group("cinema and discs", "ac3 ac3_fixed dca dolby_e dst dvaudio eac3 s302m pcm_bluray pcm_dvd"),
    Group("DSD", "dsd_lsbf dsd_lsbf_planar dsd_msbf dsd_msbf_planar"),
    Group("Windows Media and RealAudio", "cook real_144 real_288 sipr wmapro wmav1 wmav2 wmavoice xma1 xma2"),
    Group(
      "MiniDisc, QuickTime, Flash and other old music",
      "atrac1 atrac3 atrac3al atrac3plus atrac3plusal atrac9 imc iac mace3 mace6 metasound nellymoser on2avc qdm2 qdmc twinvq"
    ),
    Group("voice", "acelp.kelvin amrnb amrwb dss_sp evrc g723_1 g729 gsm gsm_ms ilbc msnsiren qcelp siren truespeech"),
    Group("Bluetooth", "aptx aptx_hd sbc"),
    Group(
      "samples",
      "pcm_alaw pcm_f16le pcm_f24le pcm_f32be pcm_f32le pcm_f64be pcm_f64le pcm_mulaw pcm_s16be pcm_s16be_planar pcm_s16le"
        + " pcm_s16le_planar pcm_s24be pcm_s24daud pcm_s24le pcm_s24le_planar pcm_s32be pcm_s32le pcm_s32le_planar"
        + " pcm_s64be pcm_s64le pcm_s8 pcm_s8_planar pcm_u16be pcm_u16le pcm_u24be pcm_u24le pcm_u32be pcm_u32le pcm_u8"
        + " pcm_vidc 8svx_exp 8svx_fib"),
    Group(
      "ADPCM",
      "adpcm_ct adpcm_ima_oki adpcm_ima_qt adpcm_ima_smjpeg adpcm_ima_wav adpcm_ms adpcm_sbpro_2"
        + " adpcm_sbpro_3 adpcm_sbpro_4 adpcm_swf adpcm_yamaha g722 g726 g726le hcom"),
    Group("video of today", "h264 hevc libdav1d vp8 vp9 mpeg1video mpeg2video mpegvideo mpeg4 theora vc1"),
    Group(
      "older video",
      "cinepak dvvideo flv h261 h263 h263i h263p indeo2 indeo3 indeo4 indeo5 msmpeg4 msmpeg4v1 msmpeg4v2 msrle msvideo1"
        + " qtrle rpza rv10 rv20 rv30 rv40 smc svq1 svq3 vp3 vp5 vp6 vp6a vp6f wmv1 wmv2 wmv3"),
    Group("video for editing", "cfhd dnxhd ffv1 ffvhuff huffyuv prores rawvideo r10k r210 utvideo v210 v308 v408 v410"),
    Group(
      "subtitles, so that they can be selected",
      "ass cc_dec dvbsub dvdsub mov_text pgssub ssa srt subrip text webvtt xsub"),
    Group("artwork and video of still images", "bmp gif mjpeg mjpegb png webp"),
  ]

  private static let demuxerNames = Set(demuxers.flatMap(\.names))
  private static let decoderNames = Set(decoders.flatMap(\.names))
  /// The value of FFmpeg's option `codec_whitelist`.
  static let decoderList = decoders.flatMap(\.names).joined(separator: ",")

  /// Returns whether files of this format are opened.
  static func contains(_ format: UnsafePointer<AVInputFormat>) -> Bool {
    demuxerNames.contains(String(cString: format.pointee.name))
  }

  /// Returns FFmpeg's preferred decoder for a codec; nil when FFmpeg has none, or the list does not contain it.
  static func decoder(for codec: AVCodecID) -> UnsafePointer<AVCodec>? {
    guard let decoder = avcodec_find_decoder(codec), decoderNames.contains(String(cString: decoder.pointee.name)) else {
      return nil
    }
    return decoder
  }
}
