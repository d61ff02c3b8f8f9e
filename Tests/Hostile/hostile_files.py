"""Hostile media files, made by number: the same seed and number give the same file.

A file is one of: the magic bytes of a container format before random bytes, a real file that is cut or has bits flipped, a bomb (gzip,
zip, compressed tags, cover images), zeros after good audio, or a sparse file. Expensive files are made once and linked.
"""

import os
import random
import struct
import subprocess
import zlib

# The magic bytes of container formats that FFmpeg knows, as (name, offset, bytes); names occur again where a format has several.
MAGICS: list[tuple[str, int, bytes]] = [
    # Emulators and music modules, by libgme, libopenmpt and libmodplug.
    ("hes", 0, b"HESM\xf0"), ("gbs", 0, b"GBS\x01"), ("ay", 0, b"ZXAYEMUL"), ("nsf", 0, b"NESM\x1a\x01"), ("nsfe", 0, b"NSFE"),
    ("kss", 0, b"KSCC"), ("kssx", 0, b"KSSX"), ("sap", 0, b"SAP\r\n"), ("spc", 0, b"SNES-SPC700 Sound File Data"), ("vgm", 0, b"Vgm "),
    ("gym", 0, b"GYMX"), ("vgz", 0, b"\x1f\x8b\x08\0"), ("mod", 1080, b"M.K."), ("xm", 0, b"Extended Module: "), ("s3m", 44, b"SCRM"),
    ("it", 0, b"IMPM"), ("mtm", 0, b"MTM"), ("ult", 0, b"MAS_UTrack_V00"), ("669", 0, b"if"), ("psm", 0, b"PSM "),
    ("okt", 0, b"OKTASONG"), ("med", 0, b"MMD1"), ("far", 0, b"FAR\xfe"), ("amf", 0, b"AMF\x0e"), ("sid", 0, b"PSID\0\2"),
    # Audio.
    ("wav", 0, b"RIFF\x24\0\0\0WAVEfmt "), ("rf64", 0, b"RF64\xff\xff\xff\xffWAVEds64"), ("bw64", 0, b"BW64\xff\xff\xff\xffWAVEds64"),
    ("w64", 0, b"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0"), ("aiff", 0, b"FORM\0\0\1\0AIFFCOMM"), ("aifc", 0, b"FORM\0\0\1\0AIFCCOMM"),
    ("flac", 0, b"fLaC\0\0\0\x22"), ("mp3", 0, b"\xff\xfb\x90\x64"), ("id3", 0, b"ID3\3\0\0\0\0\x0f\x76"), ("id3v24", 0, b"ID3\4\0\x40\0\0\x7f\x7f"),
    ("ogg", 0, b"OggS\0\2"), ("opus", 28, b"OpusHead\1"), ("speex", 28, b"Speex   1.2"), ("aac", 0, b"\xff\xf1\x50\x80"), ("loas", 0, b"\x56\xe0\x20"),
    ("ac3", 0, b"\x0b\x77"), ("eac3", 0, b"\x0b\x77\x02\xff\x3f"), ("dts", 0, b"\x7f\xfe\x80\x01"), ("dtshd", 0, b"DTSHDHDR\0\0\0\0"),
    ("truehd", 4, b"\xf8\x72\x6f\xba"), ("mlp", 4, b"\xf8\x72\x6f\xbb"), ("ape", 0, b"MAC \x96\x0f"), ("tak", 0, b"tBaK"), ("tta", 0, b"TTA1\1\0"),
    ("wv", 0, b"wvpk"), ("mpc", 0, b"MP+\7"), ("mpc8", 0, b"MPCKSH"), ("ofr", 0, b"OFR "), ("shn", 0, b"ajkg\2"), ("la", 0, b"LA04"),
    ("dsf", 0, b"DSD \x1c\0\0\0"), ("dff", 0, b"FRM8\0\0\0\0\0\0\1\0DSD "), ("wsd", 0, b"1bit"), ("caf", 0, b"caff\0\1\0\0"), ("au", 0, b".snd\0\0\0\x18"),
    ("amr", 0, b"#!AMR\n"), ("amrwb", 0, b"#!AMR-WB\n"), ("qcp", 0, b"RIFF\0\0\1\0QLCMfmt "), ("ilbc", 0, b"#!iLBC30\n"), ("voc", 0, b"Creative Voice File\x1a"),
    ("avr", 0, b"2BIT"), ("ircam", 0, b"\x64\xa3\x01\0"), ("nist", 0, b"NIST_1A\n   1024\n"), ("paf", 0, b" paf"), ("pvf", 0, b"PVF1\n"), ("sds", 0, b"\xf0\x7e\0\1"),
    ("sox", 0, b".SoX"), ("hcom", 65, b"FSSD"), ("mmf", 0, b"MMMD"), ("aea", 0, b"\0\x08\0\0"), ("oma", 0, b"ea3\3"), ("oma", 0, b"EA3\1"), ("vqf", 0, b"TWIN97012000"),
    ("xwma", 0, b"RIFF\0\0\1\0XWMAfmt "), ("sbc", 0, b"\x9c\xbd"), ("dss", 0, b"\2dss"), ("3gp", 4, b"ftyp3gp5"), ("spdif", 0, b"\x72\xf8\x1f\x4e"),
    # Video.
    ("mp4", 4, b"ftypisom"), ("m4a", 4, b"ftypM4A "), ("mov", 4, b"moov"), ("mdat", 4, b"mdat"), ("heif", 4, b"ftypheic"), ("avif", 4, b"ftypavif"),
    ("mkv", 0, b"\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x1f\x42\x82\x88matroska"), ("webm", 0, b"\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm"),
    ("avi", 0, b"RIFF\0\0\1\0AVI LIST"), ("asf", 0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce\x6c"), ("flv", 0, b"FLV\1\5\0\0\0\x09"),
    ("swf", 0, b"FWS\5"), ("cws", 0, b"CWS\5"), ("rm", 0, b".RMF\0\0\0\x12"), ("ra", 0, b".ra\xfd"), ("nut", 0, b"nut/multimedia container\0"), ("ivf", 0, b"DKIF"),
    ("mpegps", 0, b"\0\0\1\xba\x44"), ("mpegvideo", 0, b"\0\0\1\xb3"), ("m4v", 0, b"\0\0\1\xb0\1\0\0\1\xb5"), ("h264", 0, b"\0\0\0\1\x67\x42"), ("hevc", 0, b"\0\0\0\1\x40\1"),
    ("mpegts", 0, b"\x47\x40\0\x10" + b"\xff" * 184 + b"\x47\x40\0\x11"), ("m2ts", 4, b"\x47\x40\0\x10"), ("vc1", 0, b"\0\0\1\x0f"), ("dv", 0, b"\x1f\x07\0\x3f"),
    ("mxf", 0, b"\x06\x0e\x2b\x34\2\5\1\1\x0d\1\2\1\1\2"), ("gxf", 0, b"\0\0\0\0\1\xbc"), ("wtv", 0, b"\xb7\xd8\0\x20\x37\x49\xda\x11"), ("obu", 0, b"\x12\0\x0a\x0b"),
    ("h261", 0, b"\0\1\0"), ("yuv4mpeg", 0, b"YUV4MPEG2 W8192 H8192 F25:1 Ip A1:1\nFRAME\n"), ("rcv", 3, b"\xc5\4\0\0\0"), ("ty", 0, b"\xf5\x46\x7a\xbd"),
    ("pva", 0, b"AV\1\0\x55"), ("nsv", 0, b"NSVf"), ("nsv", 0, b"NSVs"), ("nuv", 0, b"NuppelVideo\0"), ("mjpeg", 0, b"\xff\xd8\xff\xe0"), ("smjpeg", 0, b"\0\nSMJPEG"),
    ("dirac", 0, b"BBCD"), ("lxf", 0, b"LEITCH\0\0"), ("viv", 0, b"\0\xff\xffVersion:Vivo/"), ("mtv", 0, b"AMV"), ("txd", 0, b"\x16\0\0\0"),
    # Games.
    ("4xm", 0, b"RIFF\0\0\1\x004XMV"), ("adp", 0, b"\0\1\2\3"), ("adx", 0, b"\x80\0\0\x20\3\x12\4"), ("aax", 0, b"@UTF"), ("aix", 0, b"AIXF"), ("afc", 0, b"AFC "),
    ("alp", 0, b"ALP "), ("anm", 0, b"LPF \0\1"), ("apc", 0, b"CRYO_APC1.20"), ("apm", 20, b"vs12"), ("ast", 0, b"STRM\0\0"), ("bfi", 0, b"BF&I"), ("bfstm", 0, b"FSTM\xfe\xff"),
    ("bcstm", 0, b"CSTM\xff\xfe"), ("brstm", 0, b"RSTM\xfe\xff"), ("bethsoftvid", 0, b"VID\0\2"), ("bink", 0, b"BIKi"), ("binka", 0, b"1FCB"), ("boa", 0, b"BOA "),
    ("bmv", 0, b"BMV\0"), ("c93", 0, b"\1\0\1\1"), ("cdg", 0, b"\x09\1"), ("cdxl", 0, b"\1\0\0\0\0\0\x01\0"), ("cine", 0, b"CI\x2c\0"), ("codec2", 0, b"\xc0\xde\xc2"),
    ("derf", 0, b"DERF\1"), ("dsicin", 0, b"\x55\xaa\0\0"), ("dxa", 0, b"DEXA"), ("ea", 0, b"SCHl\x28\0\0\0"), ("ea", 0, b"MVhd\x20\0\0\0"), ("ea", 0, b"kVGT"),
    ("ea_cdata", 0, b"\4\0\x34\0\x20"), ("epaf", 0, b"fap "), ("fwse", 0, b"FWSE\1"), ("flic", 4, b"\x11\xaf"), ("frm", 0, b"FRM\1"), ("fsb", 0, b"FSB4"), ("film_cpk", 0, b"FILM"),
    ("genh", 0, b"GENH"), ("hca", 0, b"HCA\0\2"), ("hnm", 0, b"HNM4"), ("idcin", 0, b"\x40\1\0\0\xc8\0\0\0\x22\x56\0\0"), ("idf", 0, b"\x04\x31\x2e\x34"), ("iff", 0, b"FORM\0\0\1\x008SVX"),
    ("iff", 0, b"FORM\0\0\1\0ILBM"), ("ifv", 0, b"\x11\xd2\xd3\xab\xba\xa9\xcf\x11\x8e\xe6\0\xc0\x0c\x20\x53\x65\x44"), ("imf", 0, b"IMF\1"), ("interplay", 0, b"Interplay MVE File\x1a\0\x1a\0"),
    ("ipu", 0, b"ipum"), ("iss", 0, b"IMA_ADPCM_Sound"), ("jv", 0, b"JV\1\0Compression by John M Phillips"), ("kux", 0, b"KDK\0\0"), ("kvag", 0, b"KVAG"), ("lmlm4", 0, b"\0\0\0\0\0\0\1\0"),
    ("luodat", 0, b"luodat\0\0"), ("lvf", 0, b"LVFF"), ("mca", 0, b"MADP"), ("mcc", 0, b"File Format=MacCaption_MCC V1.0"), ("mgsts", 0, b"\0\0\0\x0e\0\0\0\x50"), ("mlv", 0, b"MLVI\x34\0\0\0v2.0"),
    ("mm", 0, b"\0\0\x16\0\0\0"), ("mods", 0, b"MODSN3\n\0"), ("moflex", 0, b"\x4c\x32\xaa\xab"), ("mpsub", 0, b"FORMAT=TIME\n"), ("msf", 0, b"MSF\2"), ("msnwctcp", 0, b"\x18\0\x40\1\xf0\0"),
    ("msp", 0, b"DanM"), ("mtaf", 0, b"MTAF"), ("musx", 0, b"MUSX"), ("mv", 0, b"MOVI\0\3"), ("mvi", 0, b"\7\0"), ("nc", 0, b"\0\0\1\xa5"), ("nistsphere", 0, b"NIST_1A"), ("pmp", 0, b"pmpm\1"),
    ("pp_bnk", 20, b"\x02\0\0\0"), ("psxstr", 0, b"\0" + b"\xff" * 10 + b"\0"), ("r3d", 4, b"RED1"), ("redspark", 0, b"RedSpark"), ("rl2", 0, b"FORM\0\0\1\0RLV2"), ("roq", 0, b"\x84\x10\xff\xff\xff\xff"),
    ("rpl", 0, b"ARMovie\n"), ("rsd", 0, b"RSD4"), ("rso", 0, b"\1\0\0\xff"), ("s337m", 0, b"\x72\xf8\x1f\x4e"), ("scc", 0, b"Scenarist_SCC V1.0"), ("sdr2", 0, b"SRA1"), ("sdx", 0, b"SDX:"),
    ("sga", 0, b"SGA "), ("siff", 0, b"SIFF\0\0\1\0VBV1"), ("smk", 0, b"SMK2"), ("smush", 0, b"ANIM\0\0\1\0AHDR"), ("sol", 0, b"\x0d\0SOL\0"), ("svag", 0, b"Svag"), ("svs", 0, b"SVS\0"), ("thp", 0, b"THP\0"),
    ("tiertexseq", 0, b"\0" * 254), ("tmv", 0, b"TMAV"), ("vag", 0, b"VAGp"), ("vmd", 0, b"\x2e\3"), ("vpk", 0, b" KPV"), ("wc3movie", 0, b"FORM\0\0\1\0MOVE"), ("wsaud", 0, b"\x22\x56\0\1\0\0\0\1\0\0\3\x63"),
    ("wsvqa", 0, b"FORM\0\0\1\0WVQA"), ("wve", 0, b"ALawSoundFile**\0\x0f\x10"), ("xa", 0, b"XA\0\0"), ("xmv", 12, b"xobX"), ("xvag", 0, b"XVAG"), ("yop", 0, b"YO\x0a\x0a"),
    # Still images.
    ("png", 0, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x20\0\0\0\x20\0\x08\2\0\0\0"), ("gif", 0, b"GIF89a\xff\xff\xff\xff"), ("bmp", 0, b"BM\xff\xff\xff\x7f\0\0\0\0\x36\0\0\0\x28"), ("jpeg", 0, b"\xff\xd8\xff\xdb"),
    ("jpegls", 0, b"\xff\xd8\xff\xf7"), ("tiff", 0, b"II\x2a\0"), ("webp", 0, b"RIFF\0\0\1\0WEBPVP8 "), ("psd", 0, b"8BPS\0\1"), ("pcx", 0, b"\x0a\5\1\x08"), ("dpx", 0, b"SDPX"), ("exr", 0, b"\x76\x2f\x31\1"),
    ("j2k", 0, b"\xff\x4f\xff\x51"), ("jp2", 4, b"jP  \r\n\x87\n"), ("jxl", 0, b"\xff\x0a"), ("jxl", 4, b"JXL \r\n\x87\n"), ("pam", 0, b"P7\nWIDTH 65535\nHEIGHT 65535\nDEPTH 4\n"), ("ppm", 0, b"P6\n32768 32768\n255\n"),
    ("pfm", 0, b"PF\n16384 16384\n-1.0\n"), ("hdr", 0, b"#?RADIANCE\n"), ("qoi", 0, b"qoif\0\0\xff\xff\0\0\xff\xff\4\0"), ("sgi", 0, b"\1\xda\1\1"), ("sunrast", 0, b"\x59\xa6\x6a\x95"), ("xbm", 0, b"#define x_width 65535\n"),
    ("xpm", 0, b"/* XPM */"), ("xwd", 0, b"\0\0\0\x64\0\0\0\7"), ("dds", 0, b"DDS \x7c\0\0\0"), ("cri", 0, b"\1\0\0\0\4\0\0\0DVCC"), ("gem", 0, b"\0\1\0\x08\0\2"), ("photocd", 0, b"PCD_OPA"), ("vbn", 0, b"VBN\1"),
    ("svg", 0, b"<?xml version=\"1.0\"?><svg width=\"65535\" height=\"65535\"><use href=\"#a\"/></svg>"), ("ico", 0, b"\0\0\1\0\xff\0"), ("fits", 0, b"SIMPLE  =                    T"), ("dcm", 128, b"DICM"),
    # Texts that name other files.
    ("ffconcat", 0, b"ffconcat version 1.0\nfile /dev/zero\n"), ("hls", 0, b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///dev/zero\n"), ("m3u", 0, b"#EXTM3U\n/dev/zero\n"),
    ("pls", 0, b"[playlist]\nFile1=/dev/zero\n"), ("asx", 0, b"<asx><entry><ref href=\"/dev/zero\"/></entry></asx>"), ("xspf", 0, b"<?xml version=\"1.0\"?><playlist xmlns=\"http://xspf.org/ns/0/\"><trackList>"),
    ("dash", 0, b"<?xml version=\"1.0\"?><MPD profiles=\"urn:mpeg:dash:profile:isoff-on-demand:2011\">"), ("sdp", 0, b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 0\r\n"), ("cue", 0, b"FILE \"/dev/zero\" WAVE\n TRACK 01 AUDIO\n"),
    ("ffmetadata", 0, b";FFMETADATA1\n"), ("sami", 0, b"<SAMI>"), ("srt", 0, b"1\n00:00:00,000 --> 00:00:01,000\n"), ("webvtt", 0, b"WEBVTT\n"), ("ass", 0, b"[Script Info]\n"), ("lrc", 0, b"[ti:x]\n[00:00.00]"),
    ("tty", 0, b"\x1b[2J\x1b[0m"), ("ansi", 0, b"SAUCE00"), ("bin", 0, b"XBIN\x1a"), ("idx", 0, b"# VobSub index file, v7"),
    # No media.
    ("zip", 0, b"PK\3\4"), ("gzip", 0, b"\x1f\x8b\x08\0\0\0\0\0\0\3"), ("elf", 0, b"\x7fELF\2\1\1"), ("sqlite", 0, b"SQLite format 3\0"), ("pdf", 0, b"%PDF-1.7\n"), ("xz", 0, b"\xfd7zXZ\0"), ("none", 0, b""),
]

EXTENSIONS = ("mp3 flac wav ogg opus m4a mp4 mkv webm aac ac3 dts ape wv tta mpc aiff au caf wma avi mov ts mpg flv amr hes gbs nsf spc vgm mod xm it"
              " s3m adx brstm thp png jpg gif svg g722 sln gsm vob m3u8 m3u cue txt bin").split() + [""]

# What ffmpeg makes real files of, as arguments.
REAL = {
    "wav": [], "flac": [], "mp3": ["-c:a", "libmp3lame"], "ogg": ["-c:a", "libvorbis"], "opus": ["-c:a", "libopus"], "m4a": ["-c:a", "aac"], "mka": ["-c:a", "flac"], "aiff": [], "aac": ["-c:a", "aac"],
    "ac3": [], "eac3": [], "dts": ["-c:a", "dca", "-strict", "-2"], "wv": ["-c:a", "wavpack"], "tta": ["-c:a", "tta"], "caf": [], "au": [], "w64": [], "wma": ["-c:a", "wmav2"], "mp2": [], "thd": ["-c:a", "truehd", "-strict", "-2"],
    "voc": [], "amr": ["-ar", "8000", "-ac", "1", "-c:a", "libopencore_amrnb"], "gsm": ["-ar", "8000", "-ac", "1", "-c:a", "libgsm"], "spx": ["-c:a", "libspeex"],
}
VIDEO = {
    "mp4": ["-c:v", "mpeg4", "-c:a", "aac"], "mkv": ["-c:v", "mpeg4", "-c:a", "flac"], "avi": ["-c:v", "mpeg4", "-c:a", "mp3"], "mov": ["-c:v", "mjpeg", "-c:a", "pcm_s16le"], "ts": ["-c:v", "mpeg2video", "-c:a", "mp2"],
    "mpg": ["-c:v", "mpeg2video", "-c:a", "mp2"], "flv": ["-c:v", "flv", "-ar", "44100", "-c:a", "mp3"], "webm": ["-c:v", "libvpx", "-c:a", "libvorbis"], "nut": ["-c:v", "ffv1", "-c:a", "pcm_s16le"], "asf": ["-c:v", "wmv2", "-c:a", "wmav2"],
}

GIGABYTE = 1 << 30


def zero_deflate(byte_count: int) -> bytes:
    """A raw deflate stream of so many zeros, a multiple of 16 MB; made in constant time per megabyte of output."""
    block = 1 << 24
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    # The same bytes again and again: each part ends at a byte and refers to nothing before it.
    part = packer.compress(bytes(block)) + packer.flush(zlib.Z_FULL_FLUSH)
    return part * (byte_count // block) + b"\3\0"


def gzip_bomb(byte_count: int) -> bytes:
    """A gzip file of zeros. Its checksum, which a reader compares last, is wrong."""
    return b"\x1f\x8b\x08\0\0\0\0\0\0\3" + zero_deflate(byte_count) + struct.pack("<II", 0, byte_count & 0xFFFFFFFF)


def zip_bomb(byte_count: int) -> bytes:
    """A zip file with one entry of zeros."""
    data, name = zero_deflate(byte_count), b"a.wav"
    fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 0, len(data), byte_count & 0xFFFFFFFF, len(name), 0)
    local = b"PK\3\4" + fields + name
    central = b"PK\1\2" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    return local + data + central + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local) + len(data), 0)


def png(side: int) -> bytes:
    """A black image, `side` pixels wide and high, of about 1/1000 of its memory."""
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    packer = zlib.compressobj(9)
    row = bytes(1 + 3 * side)
    body = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def synchsafe(number: int) -> bytes:
    return bytes(number >> shift & 0x7F for shift in (21, 14, 7, 0))


def id3(frames: list[tuple[bytes, bytes, bytes]]) -> bytes:
    """A tag of ID3v2.3 of these frames: id, flags, body."""
    body = b"".join(kind + struct.pack(">I", len(data)) + flags + data for kind, flags, data in frames)
    return b"ID3\3\0\0" + synchsafe(len(body)) + body


def covers(count: int, image: bytes) -> bytes:
    return id3([(b"APIC", b"\0\0", b"\0image/png\0" + bytes([3 + number % 15]) + b"%d\0" % number + image) for number in range(count)])


def compressed_frame(byte_count: int) -> bytes:
    """A tag with one text frame that unpacks to so many zeros (the flag "compressed" of ID3v2.3)."""
    packed = b"\x78\xda" + zero_deflate(byte_count) + b"\0\0\0\1"
    return id3([(b"TIT2", b"\0\x80", struct.pack(">I", byte_count) + packed)])


class Corpus:
    """Files below a folder.

    `expensive`: whether bombs, giant images and sparse files are among those that `make` gives. They are always there by name.
    """

    def __init__(self, folder: str, seed: int, expensive: bool = True):
        self.folder, self.seed, self.expensive = folder, seed, expensive
        self.real: dict[str, bytes] = {}
        self.special_paths: dict[str, str] = {}
        os.makedirs(folder, exist_ok=True)
        self._make_real()

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _write(self, name: str, data: bytes, zeros: int = 0) -> str:
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(data)
            if zeros:
                file.truncate(len(data) + zeros)
        return path

    def _make_real(self) -> None:
        audio = ["-f", "lavfi", "-i", "sine=frequency=441:sample_rate=48000:duration=0.4"]
        video = ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=0.4"]
        rows = [(ending, audio + more) for ending, more in REAL.items()] + [(ending, video + audio + more) for ending, more in VIDEO.items()]
        for ending, arguments in rows:
            path = self.path("real." + ending)
            command = ["ffmpeg", "-nostdin", "-v", "quiet", "-y", *arguments, "-map_metadata", "-1", "-fflags", "+bitexact", path]
            # Encoders that this FFmpeg was built without are left out.
            if subprocess.run(command, check=False).returncode == 0:
                with open(path, "rb") as file:
                    self.real[ending] = file.read()
        if not {"wav", "mp3", "ac3"} <= self.real.keys():
            raise SystemExit("hostile: ffmpeg made no files; is it installed?")

    def _film(self, name: str, side: int) -> str:
        """A movie of one black video frame."""
        source = self._write("film.png", png(side))
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", source, "-c", "copy", self.path(name)], check=True)
        return self.path(name)

    def special(self, name: str) -> str:
        """The path of an expensive file by its name, which is one of `SPECIAL`; made once."""
        if name not in self.special_paths:
            self.special_paths[name] = SPECIAL[name](self)
        return self.special_paths[name]

    def make(self, number: int) -> tuple[str, str]:
        """Makes the file of a number; its kind and path."""
        random_ = random.Random("%d:%d" % (self.seed, number))
        extension = random_.choice(EXTENSIONS)
        name = "%06d%s" % (number, "." + extension if extension else "")
        choice = random_.random()
        if choice < 0.55:
            magic, offset, data = MAGICS[number % len(MAGICS)]
            return "magic:" + magic, self._write(name, self._body(random_, offset, data))
        if choice < 0.97 or not self.expensive:
            ending = random_.choice(sorted(self.real))
            keeps = random_.random() < 0.7
            name = "%06d.%s" % (number, ending) if keeps else name
            return "damaged:" + ending, self._write(name, self._damage(random_, self.real[ending]))
        special = random_.choice(sorted(SPECIAL))
        source, path = self.special(special), self.path(name if random_.random() < 0.3 else "%06d%s" % (number, os.path.splitext(self.special(special))[1]))
        os.link(source, path)
        return special, path

    @staticmethod
    def _body(random_: random.Random, offset: int, magic: bytes) -> bytes:
        length = random_.choice([0, 16, 28, 100, 300, 1_000, 4_096, 20_000])
        kind = random_.randrange(3)
        body = random_.randbytes(length) if kind == 0 else bytes(length) if kind == 1 else random_.randbytes(64) * (length // 64) + bytes(length % 64)
        front = bytes(offset) if random_.random() < 0.5 else random_.randbytes(offset)
        return front + magic + body

    @staticmethod
    def _damage(random_: random.Random, data: bytes) -> bytes:
        damaged = bytearray(data)
        kind = random_.randrange(4)
        # Half of the damage is where headers are.
        area = min(len(damaged), 2_000) if random_.random() < 0.5 else len(damaged)
        if kind == 0:
            return bytes(damaged[:random_.randrange(1, len(damaged))])
        if kind == 1:
            for _ in range(random_.choice([1, 4, 32, 256])):
                damaged[random_.randrange(area)] ^= 1 << random_.randrange(8)
        elif kind == 2:
            start = random_.randrange(area)
            damaged[start:start + random_.choice([4, 8, 64, 1_000])] = random_.choice([b"\xff", b"\x7f", b"\0", b"\x80"]) * random_.choice([4, 8, 64])
        else:
            start = random_.randrange(area)
            damaged[start:start] = damaged[start:start + random_.randrange(1, 2_000)] * random_.choice([1, 2, 8])
        return bytes(damaged)


# The expensive files, and how they are made.
SPECIAL = {
    "gzip-4g": lambda corpus: corpus._write("gzip-4g.flac", gzip_bomb(4 * GIGABYTE)),
    "gzip-1g": lambda corpus: corpus._write("gzip-1g.mp3", gzip_bomb(GIGABYTE)),
    "zip-1g": lambda corpus: corpus._write("zip-1g.wav", zip_bomb(GIGABYTE)),
    "id3-compressed": lambda corpus: corpus._write("id3-compressed.mp3", compressed_frame(GIGABYTE) + corpus.real["mp3"]),
    "sparse-2g": lambda corpus: corpus._write("sparse-2g.mp3", b"", 2 * GIGABYTE),
    "mp3-zeros": lambda corpus: corpus._write("mp3-zeros.mp3", corpus.real["mp3"] * 40, 2 * GIGABYTE - 1),
    "ac3-zeros": lambda corpus: corpus._write("ac3-zeros.ac3", corpus.real["ac3"] * 40, 2 * GIGABYTE - 1),
    "dts-zeros": lambda corpus: corpus._write("dts-zeros.dts", corpus.real.get("dts", corpus.real["ac3"]) * 40, 2 * GIGABYTE - 1),
    "covers-8": lambda corpus: corpus._write("covers-8.mp3", covers(8, png(8_192)) + corpus.real["mp3"]),
    "covers-40": lambda corpus: corpus._write("covers-40.mp3", covers(40, png(8_192)) + corpus.real["mp3"]),
    "video-8192": lambda corpus: corpus._film("video-8192.mkv", 8_192),
    "png-8192": lambda corpus: corpus._write("png-8192.png", png(8_192)),
}
