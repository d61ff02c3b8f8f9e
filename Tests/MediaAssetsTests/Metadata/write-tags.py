# Makes a file of each format with the same tags, by ffmpeg and mutagen, and says for each in JSON what was written,
# and what mutagen and ffprobe read, into FOLDER/files.json. usage: write-tags.py FOLDER
import base64
import json
import struct
import subprocess
import sys
import zlib

from mutagen.aiff import AIFF
from mutagen.apev2 import APEBinaryValue, APETextValue, APEv2, APEv2File
from mutagen.asf import ASF, ASFByteArrayAttribute
from mutagen.flac import FLAC, Picture
from mutagen.id3 import (APIC, COMM, ID3, POPM, TALB, TCOM, TCON, TCOP, TDRC, TIT2, TPE1, TPE2, TPOS, TRCK, TXXX, UFID, USLT)
from mutagen.mp4 import MP4, MP4Cover, MP4FreeForm
from mutagen.oggflac import OggFLAC
from mutagen.oggopus import OggOpus
from mutagen.oggvorbis import OggVorbis
from mutagen.trueaudio import TrueAudio
from mutagen.wave import WAVE
from mutagen.wavpack import WavPack

folder = sys.argv[1]
reports = []

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
JPEG = subprocess.run(
    ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "color=red:s=16x16", "-frames:v", "1", "-f", "mjpeg", "-"],
    check=True, capture_output=True).stdout

# What every format that can is given.
WRITTEN = {
    "title": ["Grüße, 世界 🎵"], "artist": ["Erste", "Zweite"], "album": ["Das Album"], "albumArtist": ["Verschiedene"],
    "composer": ["Bach"], "genre": ["Ambient", "Noise"], "date": ["2003-05-17"], "track": ["3/12"], "disc": ["1/2"],
    "comment": ["Ein Wort dazu"], "lyrics": ["Zeile 1\nZeile 2"], "copyright": ["2003 Wer"], "MOOD": ["heiter", "hell"],
    "trackGain": ["-6.54 dB"], "trackPeak": ["0.987654"], "albumGain": ["+1.25 dB"], "albumPeak": ["1.000000"],
}
GAINS = {"trackGain": "replaygain_track_gain", "trackPeak": "replaygain_track_peak", "albumGain": "replaygain_album_gain",
         "albumPeak": "replaygain_album_peak"}


def image_text(kind, data):
    form = "png" if data[1:4] == b"PNG" else "jpeg"
    return f"{kind} {form} {len(data)} {zlib.crc32(data):08x}"


BOTH = [image_text(3, PNG), image_text(4, JPEG)]


def make(name, *options):
    path = f"{folder}/{name}"
    subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=1",
                    *options, "-map_metadata", "-1", "-bitexact", path], check=True)
    return path


def ffprobe(path):
    answer = json.loads(subprocess.run(["ffprobe", "-loglevel", "error", "-show_format", "-show_streams", "-of", "json", path],
                                       check=True, capture_output=True).stdout)
    tags = {}
    for part in [answer["format"]] + answer["streams"]:
        if part.get("disposition", {}).get("attached_pic"):
            continue
        for key, value in part.get("tags", {}).items():
            tags.setdefault(key.lower(), value)
    names = {"albumArtist": ["album_artist", "albumartist"], "MOOD": ["mood"], "lyrics": ["lyrics-eng", "lyrics", "lyrics-deu"],
             "comment": ["comment", "description"], **{key: [value] for key, value in GAINS.items()},
             "r128TrackGain": ["r128_track_gain"], "r128AlbumGain": ["r128_album_gain"]}
    found = {}
    for key in list(WRITTEN) + ["r128TrackGain", "r128AlbumGain"]:
        for name in names.get(key, [key]):
            if name in tags:
                found[key] = tags[name]
                break
    images = [s for s in answer["streams"] if s.get("disposition", {}).get("attached_pic")]
    if images:
        found["artwork"] = f"{len(images)} images"
    return found


def report(name, path, expected, mutagen):
    reports.append({"format": name, "file": path, "expected": expected, "mutagen": mutagen, "ffprobe": ffprobe(path)})


# ID3

def write_id3(tags):
    tags.add(TIT2(encoding=1, text=WRITTEN["title"]))
    tags.add(TPE1(encoding=1, text=WRITTEN["artist"]))
    tags.add(TALB(encoding=0, text=WRITTEN["album"]))
    tags.add(TPE2(encoding=3, text=WRITTEN["albumArtist"]))
    tags.add(TCOM(encoding=0, text=WRITTEN["composer"]))
    tags.add(TCON(encoding=0, text=WRITTEN["genre"]))
    tags.add(TDRC(encoding=0, text=WRITTEN["date"]))
    tags.add(TRCK(encoding=0, text=WRITTEN["track"]))
    tags.add(TPOS(encoding=0, text=WRITTEN["disc"]))
    tags.add(TCOP(encoding=0, text=WRITTEN["copyright"]))
    tags.add(COMM(encoding=1, lang="deu", desc="", text=WRITTEN["comment"]))
    tags.add(COMM(encoding=0, lang="eng", desc="other", text=["not this one"]))
    tags.add(USLT(encoding=1, lang="deu", desc="", text=WRITTEN["lyrics"][0]))
    tags.add(TXXX(encoding=1, desc="MOOD", text=WRITTEN["MOOD"]))
    for key, name in GAINS.items():
        tags.add(TXXX(encoding=0, desc=name.upper() if key.endswith("Peak") else name, text=WRITTEN[key]))
    tags.add(POPM(email="who@example.org", rating=196, count=7))
    tags.add(UFID(owner="http://musicbrainz.org", data=b"0123-abc"))
    tags.add(APIC(encoding=0, mime="image/png", type=3, desc="front", data=PNG))
    tags.add(APIC(encoding=1, mime="image/jpeg", type=4, desc="hinten ü", data=JPEG))


def read_id3(tags):
    found = {}

    def take(key, frame):
        if frame is not None:
            found[key] = [str(text) for text in frame.text]
    for key, frame in {"title": "TIT2", "artist": "TPE1", "album": "TALB", "albumArtist": "TPE2", "composer": "TCOM",
                       "date": "TDRC", "track": "TRCK", "disc": "TPOS", "copyright": "TCOP"}.items():
        take(key, tags.get(frame))
    if tags.get("TCON"):
        found["genre"] = tags["TCON"].genres
    comments = [frame for frame in tags.getall("COMM") if frame.desc == ""]
    take("comment", comments[0] if comments else None)
    if tags.getall("USLT"):
        found["lyrics"] = [tags.getall("USLT")[0].text]
    for frame in tags.getall("TXXX"):
        for key, name in {**GAINS, "MOOD": "mood"}.items():
            if frame.desc.lower() == name:
                found[key] = list(frame.text)
    for frame in tags.getall("POPM"):
        found["rating"] = [f"{frame.rating} by {frame.email} played {frame.count}"]
    for frame in tags.getall("UFID"):
        found["ufid"] = [f"{frame.data.decode()} of {frame.owner}"]
    images = [image_text(int(frame.type), frame.data) for frame in tags.getall("APIC")]
    if images:
        found["artwork"] = images
    return found


ID3_EXTRA = {"rating": ["196 by who@example.org played 7"], "ufid": ["0123-abc of http://musicbrainz.org"], "artwork": BOTH}

for version in (3, 4):
    path = make(f"v2{version}.mp3", "-c:a", "libmp3lame")
    tags = ID3()
    write_id3(tags)
    if version == 3:
        tags.update_to_v23()
    tags.save(path, v2_version=version, v1=0, v23_sep=None)
    report(f"mp3 ID3v2.{version}", path, {**WRITTEN, **ID3_EXTRA}, read_id3(ID3(path)))


# ID3v2.2, which nobody writes any more, by hand.
def v22(name, data):
    return name.encode() + struct.pack(">I", len(data))[1:] + data


path = make("v22.mp3", "-c:a", "libmp3lame", "-id3v2_version", "0")
frames = b"".join([
    v22("TT2", b"\x01" + WRITTEN["title"][0].encode("utf-16")), v22("TP1", b"\0" + b"Erste"), v22("TAL", b"\0Das Album\0"),
    v22("TRK", b"\0003/12"), v22("TPA", b"\0001/2"), v22("TYE", b"\0002003"), v22("TCO", b"\0(26)"), v22("TCM", b"\0Bach"),
    v22("COM", b"\0deu\0Ein Wort dazu"), v22("ULT", b"\0deu\0" + WRITTEN["lyrics"][0].encode()),
    v22("TXX", b"\0REPLAYGAIN_TRACK_GAIN\0-6.54 dB"), v22("PIC", b"\0PNG\x03front\0" + PNG), v22("PIC", b"\0JPG\x04back\0" + JPEG)])
size = len(frames)
header = b"ID3\x02\0\0" + bytes([size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127])
body = open(path, "rb").read()
open(path, "wb").write(header + frames + body)
report("mp3 ID3v2.2", path,
       {"title": WRITTEN["title"], "artist": ["Erste"], "album": WRITTEN["album"], "track": WRITTEN["track"], "disc": WRITTEN["disc"],
        "date": ["2003"], "genre": ["Ambient"], "composer": ["Bach"], "comment": WRITTEN["comment"], "lyrics": WRITTEN["lyrics"],
        "trackGain": WRITTEN["trackGain"], "artwork": BOTH}, read_id3(ID3(path)))

path = make("v1.mp3", "-c:a", "libmp3lame", "-id3v2_version", "0")


def latin(text, count):
    return text.encode("latin-1")[:count].ljust(count, b"\0")


open(path, "ab").write(b"TAG" + latin("Grüße", 30) + latin("Erste", 30) + latin("Das Album", 30) + b"2003" + latin("Ein Wort dazu", 28)
                       + b"\0\3" + bytes([26]))
report("mp3 ID3v1", path, {"title": ["Grüße"], "artist": ["Erste"], "album": ["Das Album"], "date": ["2003"],
                           "comment": ["Ein Wort dazu"], "track": ["3"], "genre": ["Ambient"]}, read_id3(ID3(path)))

# Both kinds: ID3v1 has the beginnings of the same, and what ID3v2 does not have.
path = make("both.mp3", "-c:a", "libmp3lame", "-id3v2_version", "0")
tags = ID3()
tags.add(TIT2(encoding=3, text=["A title of more than thirty letters"]))
tags.save(path, v1=0)
open(path, "ab").write(b"TAG" + latin("A title of more than thirty letters", 30) + latin("Erste", 30) + latin("", 30) + b"\0\0\0\0"
                       + latin("", 30) + bytes([255]))
report("mp3 ID3v2 and v1", path, {"title": ["A title of more than thirty letters"], "artist": ["Erste"]}, {})

for name, options, open_file in [("wav", ["-c:a", "pcm_s16le"], WAVE), ("aiff", ["-c:a", "pcm_s16be"], AIFF), ("tta", ["-c:a", "tta"], TrueAudio)]:
    path = make(f"id3.{name}", *options)
    file = open_file(path)
    file.add_tags()
    write_id3(file.tags)
    file.save()
    report(f"{name} ID3v2.4", path, {**WRITTEN, **ID3_EXTRA}, read_id3(open_file(path).tags))

path = make("id3.aac", "-c:a", "aac", "-f", "adts")
tags = ID3()
write_id3(tags)
tags.save(path, v1=0)
report("aac ID3v2.4", path, {**WRITTEN, **ID3_EXTRA}, read_id3(ID3(path)))


# APEv2

APE_NAMES = {"title": "Title", "artist": "Artist", "album": "Album", "albumArtist": "Album Artist", "composer": "Composer",
             "genre": "Genre", "date": "Year", "track": "Track", "disc": "Disc", "comment": "Comment", "lyrics": "Lyrics",
             "copyright": "Copyright", "MOOD": "Mood", **{key: name.upper() for key, name in GAINS.items()}}


def write_ape(tags):
    for key, name in APE_NAMES.items():
        tags[name] = APETextValue("\0".join(WRITTEN[key]), 0)
    tags["Cover Art (Front)"] = APEBinaryValue(b"front.png\0" + PNG, 1)
    tags["Cover Art (Back)"] = APEBinaryValue(b"back.jpg\0" + JPEG, 1)


def read_ape(tags):
    found = {key: list(tags[name]) for key, name in APE_NAMES.items() if name in tags}
    found["artwork"] = [image_text(kind, tags[name].value.split(b"\0", 1)[1])
                         for kind, name in ((3, "Cover Art (Front)"), (4, "Cover Art (Back)")) if name in tags]
    return found


path = make("ape.mp3", "-c:a", "libmp3lame", "-id3v2_version", "0")
tags = APEv2()
write_ape(tags)
tags.save(path)
report("mp3 APEv2", path, {**WRITTEN, "artwork": BOTH}, read_ape(APEv2(path)))

path = make("ape.wv", "-c:a", "wavpack")
file = WavPack(path)
file.add_tags()
write_ape(file.tags)
file.save()
report("wavpack APEv2", path, {**WRITTEN, "artwork": BOTH}, read_ape(WavPack(path).tags))

# A Musepack file needs an encoder that Debian has not: its tag is APEv2 at the end as above.


# Vorbis comments

VORBIS_NAMES = {"title": "TITLE", "artist": "ARTIST", "album": "ALBUM", "albumArtist": "ALBUMARTIST", "composer": "COMPOSER",
                "genre": "GENRE", "date": "DATE", "track": "TRACKNUMBER", "disc": "DISCNUMBER", "comment": "DESCRIPTION",
                "lyrics": "LYRICS", "copyright": "COPYRIGHT", "MOOD": "mood", **{key: name.upper() for key, name in GAINS.items()}}


def flac_artwork(kind, mime, data, text):
    image = Picture()
    image.type, image.mime, image.desc, image.data = kind, mime, text, data
    return image


IMAGES = [flac_artwork(3, "image/png", PNG, "vorn"), flac_artwork(4, "image/jpeg", JPEG, "hinten")]

for name, extension, options, open_file in [
        ("ogg vorbis", "ogg", ["-c:a", "libvorbis"], OggVorbis), ("ogg opus", "opus", ["-c:a", "libopus"], OggOpus),
        ("ogg flac", "oga", ["-c:a", "flac"], OggFLAC), ("flac", "flac", ["-c:a", "flac"], FLAC)]:
    path = make(f"vorbis.{extension}", *options)
    file = open_file(path)
    for key, comment in VORBIS_NAMES.items():
        file[comment] = WRITTEN[key]
    expected = {**WRITTEN, "artwork": BOTH}
    if name == "ogg opus":
        file["R128_TRACK_GAIN"], file["R128_ALBUM_GAIN"] = ["-1280"], ["333"]
        expected.update({"r128TrackGain": ["-1280"], "r128AlbumGain": ["333"]})
    if open_file is FLAC:
        for image in IMAGES:
            file.add_picture(image)
    else:
        file["METADATA_BLOCK_PICTURE"] = [base64.b64encode(image.write()).decode() for image in IMAGES]
    file.save()
    file = open_file(path)
    found = {key: list(file[comment]) for key, comment in VORBIS_NAMES.items() if comment in file}
    for key in ("r128_track_gain", "r128_album_gain"):
        if key in file:
            found["r128TrackGain" if "track" in key else "r128AlbumGain"] = list(file[key])
    images = file.pictures if open_file is FLAC else [Picture(base64.b64decode(text)) for text in file["METADATA_BLOCK_PICTURE"]]
    found["artwork"] = [image_text(int(image.type), image.data) for image in images]
    report(name, path, expected, found)


# MP4

path = make("itunes.m4a", "-c:a", "aac")
file = MP4(path)
MP4_NAMES = {"title": "\xa9nam", "artist": "\xa9ART", "album": "\xa9alb", "albumArtist": "aART", "composer": "\xa9wrt", "genre": "\xa9gen",
             "date": "\xa9day", "comment": "\xa9cmt", "lyrics": "\xa9lyr", "copyright": "cprt"}
for key, name in MP4_NAMES.items():
    file[name] = WRITTEN[key]
file["trkn"], file["disk"] = [(3, 12)], [(1, 2)]
file["covr"] = [MP4Cover(PNG, MP4Cover.FORMAT_PNG), MP4Cover(JPEG, MP4Cover.FORMAT_JPEG)]
FREE = {**GAINS, "MOOD": "MOOD"}
for key, name in FREE.items():
    file[f"----:com.apple.iTunes:{name}"] = [MP4FreeForm(value.encode()) for value in WRITTEN[key]]
file.save()
file = MP4(path)
found = {key: list(file[name]) for key, name in MP4_NAMES.items()}
found["track"], found["disc"] = ["%d/%d" % file["trkn"][0]], ["%d/%d" % file["disk"][0]]
for key, name in FREE.items():
    found[key] = [bytes(value).decode() for value in file[f"----:com.apple.iTunes:{name}"]]
found["artwork"] = [image_text(3, bytes(cover)) for cover in file["covr"]]
report("m4a iTunes", path, {**WRITTEN, "artwork": [image_text(3, PNG), image_text(3, JPEG)]}, found)


# ASF

path = make("asf.wma", "-c:a", "wmav2")
file = ASF(path)
ASF_NAMES = {"title": "Title", "artist": "Author", "album": "WM/AlbumTitle", "albumArtist": "WM/AlbumArtist", "composer": "WM/Composer",
             "genre": "WM/Genre", "date": "WM/Year", "track": "WM/TrackNumber", "disc": "WM/PartOfSet", "comment": "Description",
             "lyrics": "WM/Lyrics", "copyright": "Copyright", "MOOD": "MOOD", **GAINS}
for key, name in ASF_NAMES.items():
    file[name] = WRITTEN[key]
# The content description has one author.
file["Author"] = ["Erste"]


def asf_artwork(kind, mime, data):
    head = struct.pack("<BI", kind, len(data))
    return ASFByteArrayAttribute(head + mime.encode("utf-16-le") + b"\0\0" + b"\0\0" + data)


file["WM/Picture"] = [asf_artwork(3, "image/png", PNG), asf_artwork(4, "image/jpeg", JPEG)]
file.save()
file = ASF(path)
found = {key: [str(value) for value in file[name]] for key, name in ASF_NAMES.items()}
found["artwork"] = []
for value in file["WM/Picture"]:
    kind, size = struct.unpack_from("<BI", value.value)
    found["artwork"].append(image_text(kind, value.value[-size:]))
report("wma ASF", path, {**WRITTEN, "artist": ["Erste"], "artwork": BOTH}, found)


# What only FFmpeg writes: one value a key. mutagen reads none of these.

FFMPEG_NAMES = {"title": "title", "artist": "artist", "album": "album", "albumArtist": "album_artist", "composer": "composer", "genre": "genre",
                "date": "date", "track": "track", "disc": "disc", "comment": "comment", "lyrics": "lyrics", "copyright": "copyright",
                "MOOD": "MOOD", **GAINS}


def by_ffmpeg(name, path, keys, *options):
    plain = make("plain.wav", "-c:a", "pcm_s16le")
    words = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", plain]
    for key in keys:
        words += ["-metadata", f"{FFMPEG_NAMES[key]}={WRITTEN[key][0]}"]
    path = f"{folder}/{path}"
    subprocess.run(words + list(options) + [path], check=True)
    expected = {key: WRITTEN[key][:1] for key in keys}
    return path, expected


path, expected = by_ffmpeg("wav INFO", "info.wav", ["title", "artist", "album", "genre", "date", "track", "comment", "copyright"])
report("wav INFO", path, expected, {})
open(f"{folder}/cover.png", "wb").write(PNG)
open(f"{folder}/back.jpg", "wb").write(JPEG)
path, expected = by_ffmpeg("matroska", "matroska.mka", list(FFMPEG_NAMES), "-c:a", "flac",
                           "-attach", f"{folder}/cover.png", "-metadata:s:t:0", "mimetype=image/png", "-metadata:s:t:0", "filename=cover.png",
                           "-attach", f"{folder}/back.jpg", "-metadata:s:t:1", "mimetype=image/jpeg", "-metadata:s:t:1", "filename=back.jpg")
report("matroska", path, {**expected, "artwork": [image_text(3, PNG), image_text(0, JPEG)]}, {})
path, expected = by_ffmpeg("mov mdta", "mdta.mov", ["title", "artist", "album", "genre", "comment", "copyright", "MOOD", *GAINS], "-c:a", "aac",
                           "-movflags", "use_metadata_tags")
report("mov mdta", path, expected, {})
path, expected = by_ffmpeg("mov udta", "udta.mov", ["title", "artist", "album", "comment", "copyright"], "-c:a", "aac")
report("mov udta", path, expected, {})
path, expected = by_ffmpeg("aiff text", "text.aiff", ["title", "comment", "copyright"], "-c:a", "pcm_s16be")
report("aiff chunks", path, expected, {})

with open(f"{folder}/files.json", "w") as out:
    json.dump(reports, out)
