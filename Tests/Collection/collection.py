"""The collection of scripts/make-collection: which files there are, and how each one is made.

A recipe names the file that it begins with (a signal, or another recipe's file) and the steps from there. Folders:

- `matrix/`: containers and codecs that FFmpeg writes
- `encoders/`: files of the encoders and muxers that people use
- `causes/`: files with the causes of reported defects: timestamps, edges, chains, seek tables, wrong headers
- `damage/`: files with damage
- `hls/`: playlists, with their segments
"""

import matrix
import mediapatch as patch
from recipe import SIGNALS, Edit, Recipe, Run, edit, ffmpeg, recipe, tool, with_video

# MARK: - Files that FFmpeg writes


def _matrix() -> list[Recipe]:
    found = []
    for codec, muxer, extension, signal, options in matrix.ROWS:
        text = f"-vn -c:a {codec} {options} -strict -2 -f {muxer}"
        found.append(recipe(f"matrix/{codec}-{muxer}.{extension}", signal, ffmpeg(text, extension)))
    return found


# MARK: - Encoders


def _encoders() -> list[Recipe]:
    found = []

    def add(name: str, source: str, *steps: Run | Edit) -> None:
        found.append(recipe(f"encoders/{name}", source, *steps))

    for signal in ("m8", "s22", "s44", "m44", "s48", "s32", "t44"):
        for quality in ("-V2", "-V7", "-b128"):
            if signal == "m8" and quality == "-b128":
                quality = "-b32"
            add(f"lame{quality}-{signal}.mp3", signal, tool(f"lame --quiet {quality} {{in}} {{out}}", "mp3"))
    add("lame-abr-crc-id3.mp3", "s44", tool("lame --quiet --abr 140 -p --tt title --add-id3v2 {in} {out}", "mp3"))
    add("lame-no-reservoir.mp3", "s44", tool("lame --quiet -b 128 --nores {in} {out}", "mp3"))
    add("lame-no-info.mp3", "s44", tool("lame --quiet -t -b 128 {in} {out}", "mp3"))
    add("lame-vbr-no-info.mp3", "l44", tool("lame --quiet -t -V 4 {in} {out}", "mp3"))
    add("lame-free-format.mp3", "s44", tool("lame --quiet --freeformat -b 160 {in} {out}", "mp3"))
    for signal in ("s32", "s44", "m44", "s48"):
        add(f"twolame-{signal}.mp2", signal, tool("twolame --quiet -b 160 {in} {out}", "mp2"))
    for signal in ("m8", "s22", "s44", "m44", "s48", "h96", "x48"):
        for quality in ("-1", "3", "8"):
            add(
                f"oggenc-q{quality}-{signal}.ogg",
                signal,
                tool(f"oggenc -Q -s 1 -q {quality} {{in}} -o {{out}}", "ogg"),
            )
    add("oggenc-managed.ogg", "s44", tool("oggenc -Q -s 1 --managed -b 96 {in} -o {out}", "ogg"))
    for signal in ("m8", "m16", "s48", "m48", "x48", "s44"):
        for frame in ("2.5", "20", "60"):
            add(
                f"opusenc-{frame}-{signal}.opus",
                signal,
                tool(f"opusenc --quiet --serial 1 --framesize {frame} {{in}} {{out}}", "opus"),
            )
    add("opusenc-6k.opus", "m16", tool("opusenc --quiet --serial 1 --bitrate 6 --speech {in} {out}", "opus"))
    add("opusenc-delay.opus", "s48", tool("opusenc --quiet --serial 1 --max-delay 0 {in} {out}", "opus"))
    for level in ("-0", "-5", "-8"):
        for signal in ("m8", "s44", "h96", "x48"):
            add(f"flac{level}-{signal}.flac", signal, tool(f"flac -s -f {level} -o {{out}} {{in}}", "flac"))
    add("flac-seek-table.flac", "l44", tool("flac -s -f -S 0.2s -o {out} {in}", "flac"))
    add("flac-small-blocks.flac", "s44", tool("flac -s -f -b 192 --no-seektable -o {out} {in}", "flac"))
    add("flac-large-blocks.flac", "h96", tool("flac -s -f -b 16384 --lax -o {out} {in}", "flac"))
    add("flac.oga", "s44", tool("flac -s -f --ogg --serial-number=1 -o {out} {in}", "oga"))
    add("flac-tiny-blocks.oga", "s44", tool("flac -s -f --ogg --serial-number=1 -b 256 -o {out} {in}", "oga"))
    for options in ("-f", "-hx3", "-b256", "-b384x"):
        for signal in ("m44", "s44", "h96", "x48", "f44"):
            add(f"wavpack{options}-{signal}.wv", signal, tool(f"wavpack -q -y {options} {{in}} -o {{out}}", "wv"))
    for mode in ("-n", "-w", "-u"):
        signal = {"-n": "m8", "-w": "m16", "-u": "s32"}[mode]
        add(f"speexenc{mode}.spx", signal, tool(f"speexenc --quiet {mode} {{in}} {{out}}", "spx"))
        add(
            f"speexenc{mode}-frames.spx",
            signal,
            tool(f"speexenc --quiet {mode} --nframes 4 --vbr {{in}} {{out}}", "spx"),
        )
    for signal in ("s32", "s44", "m44", "s48"):
        for quality in ("--thumb", "--standard", "--insane"):
            add(
                f"mpcenc{quality}-{signal}.mpc",
                signal,
                tool(f"mpcenc --silent {quality} {{in}} {{out}}", "mpc"),
            )
    add("mpcenc-long.mpc", "l44", tool("mpcenc --silent {in} {out}", "mpc"))
    for signal in ("m8", "s22", "s44", "m44"):
        for frames in (4_608, 9_216, 73_728):
            add(f"monkeys-audio-{frames}-{signal}.ape", signal, edit(patch.monkeys_audio, frames))
    add("monkeys-audio-long.ape", "l44", edit(patch.monkeys_audio))
    for extension in ("aiff", "au", "w64", "voc", "caf", "wav"):
        add(f"sox.{extension}", "s44", tool("sox {in} {out}", extension))
    add("sox-24.wav", "d44", tool("sox {in} {out}", "wav"))
    add("sox-ima.wav", "s44", tool("sox {in} -e ima-adpcm {out}", "wav"))
    add("sox-ms.wav", "s44", tool("sox {in} -e ms-adpcm {out}", "wav"))
    add("sox-gsm.wav", "m8", tool("sox {in} -e gsm-full-rate {out}", "wav"))
    for name, step in (
        ("mp3", tool("lame --quiet -V2 {in} {out}", "mp3")),
        ("flac", ffmpeg("-c:a flac", "flac")),
        ("opus", tool("opusenc --quiet --serial 1 {in} {out}", "opus")),
        ("vorbis", tool("oggenc -Q -s 1 {in} -o {out}", "ogg")),
        ("pcm", ffmpeg("-c:a pcm_s16le", "wav")),
        ("ac3", ffmpeg("-c:a ac3", "ac3")),
        ("aac", ffmpeg("-c:a aac -aac_pns 0", "m4a")),
        ("adts", ffmpeg("-c:a aac -aac_pns 0", "aac")),
        ("wavpack", ffmpeg("-c:a wavpack", "wv")),
        ("tta", ffmpeg("-c:a tta", "tta")),
        ("alac", ffmpeg("-c:a alac", "m4a")),
    ):
        add(f"mkvmerge-{name}.mka", "s48", step, tool("mkvmerge --quiet --deterministic 1 -o {out} {in}", "mka"))
    return found


# MARK: - Causes of defects


def _bases() -> list[Recipe]:
    made = {
        "cbr.mp3": ("l44", tool("lame --quiet -b 128 {in} {out}", "mp3")),
        "vbr.mp3": ("l44", tool("lame --quiet -V 4 {in} {out}", "mp3")),
        "other.mp3": ("s48", tool("lame --quiet -b 128 {in} {out}", "mp3")),
        "adts.aac": ("l44", ffmpeg("-c:a aac -aac_pns 0 -b:a 128k", "aac")),
        "other.aac": ("s48", ffmpeg("-c:a aac -aac_pns 0 -b:a 128k", "aac")),
        "aac.m4a": ("l44", ffmpeg("-c:a aac -aac_pns 0 -b:a 128k", "m4a")),
        "alac.m4a": ("l44", ffmpeg("-c:a alac", "m4a")),
        "faststart.m4a": ("l44", ffmpeg("-c:a aac -aac_pns 0 -movflags +faststart", "m4a")),
        "vorbis.ogg": ("l44", tool("oggenc -Q -s 1 -q 4 {in} -o {out}", "ogg")),
        "other.ogg": ("s44", tool("oggenc -Q -s 2 -q 2 {in} -o {out}", "ogg")),
        "mono.ogg": ("m22", tool("oggenc -Q -s 3 -q 2 {in} -o {out}", "ogg")),
        "voice.opus": ("l48", tool("opusenc --quiet --serial 1 {in} {out}", "opus")),
        "other.opus": ("s48", tool("opusenc --quiet --serial 2 --framesize 60 {in} {out}", "opus")),
        "plain.flac": ("l44", tool("flac -s -f --no-padding --no-seektable -b 4096 -o {out} {in}", "flac")),
        "blocks.flac": ("l44", tool("flac -s -f --no-padding --no-seektable -b 1152 -o {out} {in}", "flac")),
        "table.flac": ("l44", tool("flac -s -f -S 0.3s -o {out} {in}", "flac")),
        "flac.oga": ("l44", tool("flac -s -f --ogg --serial-number=1 -o {out} {in}", "oga")),
        "pcm.wav": ("s44", ffmpeg("-c:a pcm_s16le", "wav")),
        "ima.wav": ("s44", ffmpeg("-c:a adpcm_ima_wav", "wav")),
        "pcm.aiff": ("s44", ffmpeg("-c:a pcm_s16be", "aiff")),
        "plain.wv": ("s44", tool("wavpack -q -y {in} -o {out}", "wv")),
        "plain.tta": ("s44", ffmpeg("-c:a tta", "tta")),
        "wma.wma": ("l44", ffmpeg("-c:a wmav2 -b:a 64k", "wma")),
        "wma1.wma": ("l44", ffmpeg("-c:a wmav1 -b:a 96k", "wma")),
        "opus.mka": ("l48", ffmpeg("-c:a libopus -b:a 96k", "mka")),
        "aac.mka": ("l44", ffmpeg("-c:a aac -aac_pns 0", "mka")),
        "alac.mka": ("l44", ffmpeg("-c:a alac", "mka")),
        "vorbis.webm": ("l44", ffmpeg("-c:a libvorbis", "webm")),
        "opus.webm": ("l48", ffmpeg("-c:a libopus", "webm")),
        "aac.ts": ("l48", ffmpeg("-c:a aac -aac_pns 0 -f mpegts", "ts")),
        "mp3.ts": ("l48", ffmpeg("-c:a libmp3lame -f mpegts", "ts")),
        "ac3.ts": ("l48", ffmpeg("-c:a ac3 -f mpegts", "ts")),
        "mp2.mpg": ("l48", with_video("-c:v mpeg1video -c:a mp2 -f mpeg", "mpg")),
        "mp3.avi": ("l44", with_video("-c:v mpeg4 -c:a libmp3lame -q:a 5", "avi")),
        "pcm.avi": ("s44", with_video("-c:v mpeg4 -c:a pcm_s16le", "avi")),
        "ac3.ac3": ("l48", ffmpeg("-c:a ac3 -b:a 192k", "ac3")),
        "dts.dts": ("l48", ffmpeg("-c:a dca -strict -2 -b:a 768k", "dts")),
        "mp2.mp2": ("l48", tool("twolame --quiet -b 192 {in} {out}", "mp2")),
        "aac.flv": ("l44", ffmpeg("-c:a aac -aac_pns 0", "flv")),
        "pcm.caf": ("s44", ffmpeg("-c:a pcm_s16le", "caf")),
        "speex.spx": ("m16", tool("speexenc --quiet -w {in} {out}", "spx")),
    }
    return [recipe(f"base/{name}", source, step, is_intermediate=True) for name, (source, step) in made.items()]


def _causes() -> list[Recipe]:
    found = []

    def add(name: str, base: str, *steps: Run | Edit) -> None:
        found.append(recipe(f"causes/{name}", base if base in SIGNALS else f"base/{base}", *steps))

    # Timestamps of the container: of packets, jittered, rounded, irregular.
    for base in ("wma", "wma1"):
        add(f"asf-packet-times-{base}.wma", f"{base}.wma", edit(patch.asf_packet_times))
    for rate in ("32k", "48k", "128k", "192k"):
        add(
            f"asf-packet-times-{rate}.wma",
            "l44",
            ffmpeg(f"-c:a wmav2 -b:a {rate}", "wma"),
            edit(patch.asf_packet_times),
        )
    for quality in (0, 3, 6, 9):
        add(f"avi-vbr-mp3-q{quality}.avi", "l44", with_video(f"-c:v mpeg4 -c:a libmp3lame -q:a {quality}", "avi"))
        add(f"avi-vbr-mp3-audio-only-q{quality}.avi", "l44", ffmpeg(f"-c:a libmp3lame -q:a {quality}", "avi"))
    add("avi-mp3-sample-size-1.avi", "mp3.avi", edit(patch.avi_stream_header, 1, 16_000, 1))
    add("avi-mp3-wrong-rate.avi", "mp3.avi", edit(patch.avi_stream_header, 1_152, 48_000, 0))
    add("avi-mp3-no-index.avi", "mp3.avi", edit(patch.avi_without_index))
    for name in ("opus.mka", "aac.mka", "alac.mka", "vorbis.webm", "opus.webm"):
        for reach in (1, 4, 12):
            add(f"jitter-{reach}-{name}", name, edit(patch.matroska_jitter, reach, reach))
    add("gap-200ms.mka", "aac.mka", edit(patch.matroska_gap, 200))
    for name in ("vorbis.webm", "opus.webm", "aac.mka"):
        add(f"step-back-300ms-{name}", name, edit(patch.matroska_gap, -300))
        options = {"vorbis.webm": "-c:a libvorbis", "opus.webm": "-c:a libopus", "aac.mka": "-c:a aac"}[name]
        for ticks in (-1_000, 2_000, 12_000):
            make = ffmpeg(f"{options} -cluster_time_limit 500", name.split(".")[1])
            add(f"cluster-step-{ticks}-{name}", "l48", make, edit(patch.matroska_step, 0.4, ticks))
        for count in (1, 4):
            add(f"lost-blocks-{count}-{name}", name, edit(patch.matroska_without_blocks, 0.4, count))
    for duration in ("2.5", "10"):
        add(
            f"lost-block-opus-{duration}ms.webm",
            "l48",
            ffmpeg(f"-c:a libopus -frame_duration {duration}", "webm"),
            edit(patch.matroska_without_blocks, 0.4, 1),
        )
    for reach in (1, 11, 300, 900):
        add(f"jitter-{reach}.m4a", "aac.m4a", edit(patch.mp4_jitter, reach, reach))
    add("jitter-11-alac.m4a", "alac.m4a", edit(patch.mp4_jitter, 11, 11))
    for delta in (1, 259, 765, 1_023):
        add(f"first-delta-{delta}.m4a", "aac.m4a", edit(patch.mp4_first_delta, delta))
        add(
            f"first-delta-{delta}-no-edits.m4a",
            "aac.m4a",
            edit(patch.mp4_first_delta, delta),
            edit(patch.mp4_without_edits),
        )
    add("gap.m4a", "aac.m4a", edit(patch.mp4_gap, 60, 22_050))
    add("no-edits.m4a", "aac.m4a", edit(patch.mp4_without_edits))
    add("no-media.m4a", "faststart.m4a", edit(patch.mp4_without_media))
    add("no-media-alac.m4a", "alac.m4a", edit(patch.mp4_without_media))
    for options, name in (
        ("+frag_keyframe+empty_moov", "keyframe"),
        ("+frag_every_frame+empty_moov", "every-frame"),
        ("+dash+delay_moov", "dash"),
        ("+frag_keyframe+separate_moof", "separate"),
        ("+cmaf+frag_keyframe+empty_moov+default_base_moof", "cmaf"),
        ("+frag_keyframe+empty_moov+negative_cts_offsets", "negative-cts"),
    ):
        add(
            f"fragmented-{name}.mp4",
            "l44",
            ffmpeg(f"-c:a aac -aac_pns 0 -movflags {options} -frag_duration 400000", "mp4"),
        )
    add(
        "fragmented-opus.mp4",
        "l48",
        ffmpeg("-c:a libopus -movflags +frag_keyframe+empty_moov -frag_duration 400000", "mp4"),
    )
    add(
        "fragmented-flac.mp4",
        "l44",
        ffmpeg("-c:a flac -strict -2 -movflags +frag_keyframe+empty_moov -frag_duration 400000", "mp4"),
    )

    # MPEG audio.
    add("mp3-no-info.mp3", "vbr.mp3", edit(patch.mp3_without_info_frame))
    for count in (1, 20, 100_000):
        add(f"mp3-info-{count}-frames.mp3", "vbr.mp3", edit(patch.mp3_info_frame_count, count))
        add(f"mp3-vbri-{count}-frames.mp3", "vbr.mp3", edit(patch.mp3_with_vbri, count))
    add("mp3-vbri.mp3", "vbr.mp3", edit(patch.mp3_with_vbri))
    add("mp3-rate-changes.mp3", "cbr.mp3", edit(patch.chain, other="base/other.mp3"))
    add("mp3-twice.mp3", "cbr.mp3", edit(patch.chain, other="base/vbr.mp3"))
    add("adts-rate-changes.aac", "adts.aac", edit(patch.chain, other="base/other.aac"))
    for name in ("cbr.mp3", "vbr.mp3", "adts.aac"):
        stem, extension = name.split(".")
        for label, step in (
            ("id3v1", edit(patch.append_id3v1)),
            ("apev2", edit(patch.append_apev2)),
            ("zeros", edit(patch.append, zeros=700)),
            ("garbage", edit(patch.append, random_count=900)),
            ("text", edit(patch.append, b"<html>end of the show</html>\n" * 9)),
            ("one-byte", edit(patch.append, b"\xff")),
            ("half-frame", edit(patch.drop_last, 150)),
        ):
            add(f"trailing-{label}-{stem}.{extension}", name, step)
        add(f"leading-garbage-{stem}.{extension}", name, edit(patch.prepend, 777, 7))

    # FLAC.
    for count in (1, 7, 20):
        add(f"flac-from-frame-{count}.flac", "plain.flac", edit(patch.flac_without_first_frames, count))
    add("flac-from-frame-3-table.flac", "table.flac", edit(patch.flac_without_first_frames, 3))
    add("flac-variable-blocks.flac", "plain.flac", edit(patch.flac_with_variable_blocks, other="base/blocks.flac"))
    add(
        "flac-variable-blocks-unflagged.flac",
        "plain.flac",
        edit(patch.flac_with_variable_blocks, other="base/blocks.flac", is_flagged=False),
    )
    add("flac-unknown-length.flac", "plain.flac", edit(patch.flac_sample_count, 0))
    add("flac-short-length.flac", "plain.flac", edit(patch.flac_sample_count, 50_000))
    add("flac-long-length.flac", "plain.flac", edit(patch.flac_sample_count, 5_000_000))
    add("flac-with-id3v1.flac", "plain.flac", edit(patch.append_id3v1))
    add("flac-by-ffmpeg.oga", "l44", ffmpeg("-c:a flac", "oga"))
    add("flac-small-blocks-by-ffmpeg.oga", "l44", ffmpeg("-c:a flac -frame_size 576", "oga"))
    add("flac-large-pages.oga", "l44", ffmpeg("-c:a flac -page_duration 4000000", "oga"))

    # Ogg: the end, the beginning, chains.
    for delta in (-1, -127, -300, -1_500, 400):
        add(f"ogg-end{delta:+}.ogg", "vorbis.ogg", edit(patch.ogg_end_granule, delta))
        add(f"ogg-end{delta:+}.opus", "voice.opus", edit(patch.ogg_end_granule, delta))
    for name in ("vorbis.ogg", "voice.opus", "flac.oga"):
        stem, extension = name.split(".")
        add(f"ogg-late-start-{stem}.{extension}", name, edit(patch.ogg_granules, 40_000))
        add(f"ogg-missing-page-{stem}.{extension}", name, edit(patch.ogg_without_pages, -3, 1))
        add(f"ogg-no-last-page-{stem}.{extension}", name, edit(patch.ogg_without_pages, -1, 1))
        add(f"ogg-no-end-flag-{stem}.{extension}", name, edit(patch.ogg_without_end_flag))
        add(f"ogg-low-granule-{stem}.{extension}", name, edit(patch.ogg_granule, -3, 1_000))
        add(f"ogg-low-end-{stem}.{extension}", name, edit(patch.ogg_granule, -1, 1_000))
    add("ogg-chain.ogg", "vorbis.ogg", edit(patch.chain, other="base/other.ogg"))
    add(
        "ogg-chain-same-serial.ogg",
        "vorbis.ogg",
        edit(patch.ogg_serial, 2),
        edit(patch.chain, other="base/other.ogg"),
    )
    add("ogg-chain-rates.ogg", "vorbis.ogg", edit(patch.chain, other="base/mono.ogg"))
    add("ogg-chain.opus", "voice.opus", edit(patch.chain, other="base/other.opus"))
    add("ogg-chain-codecs.ogg", "vorbis.ogg", edit(patch.chain, other="base/other.opus"))
    for duration in (1, 20_000, 4_000_000):
        add(f"ogg-pages-{duration}us.ogg", "l44", ffmpeg(f"-c:a libvorbis -page_duration {duration}", "ogg"))
        add(f"ogg-pages-{duration}us.opus", "l48", ffmpeg(f"-c:a libopus -page_duration {duration}", "opus"))
    add("vorbis-by-ffmpeg.ogg", "l44", ffmpeg("-c:a vorbis -strict -2", "ogg"))

    # MPEG transport streams.
    for name in ("aac.ts", "mp3.ts", "ac3.ts"):
        stem = name.split(".")[0]
        add(f"ts-wrap-{stem}.ts", name, edit(patch.ts_wrap, 1.7))
        add(f"ts-irregular-{stem}.ts", name, edit(patch.ts_irregular, 2, -1_920))
        add(f"ts-jitter-{stem}.ts", name, edit(patch.ts_jitter, 600, 5))
        add(f"ts-step-{stem}.ts", name, edit(patch.ts_step, 4, 900_000))
        add(f"ts-step-back-{stem}.ts", name, edit(patch.ts_step, 4, -90_000))

    # WAV and its family.
    add("wav-no-lengths.wav", "pcm.wav", edit(patch.wav_lengths, 0, 0))
    add("wav-open-lengths.wav", "pcm.wav", edit(patch.wav_lengths, 0xFFFFFFFF, 0xFFFFFFFF))
    add("wav-short-length.wav", "pcm.wav", edit(patch.wav_lengths, 100_036, 100_000))
    add("wav-odd-length.wav", "pcm.wav", edit(patch.wav_lengths, 100_039, 100_003))
    add("aiff-long-length.aiff", "pcm.aiff", edit(patch.replace_first, b"SSND", 0, b"\x7f\0\0\0"))
    add("noise-substitution.m4a", "l44", ffmpeg("-c:a aac -b:a 64k", "m4a"))
    add("noise-substitution-tonal.m4a", "t44", ffmpeg("-c:a aac -b:a 48k", "m4a"))
    for name, options in (
        ("late-audio.mkv", "-c:v mpeg4 -c:a aac -aac_pns 0"),
        ("late-audio.mp4", "-c:v mpeg4 -c:a aac -aac_pns 0"),
        ("late-audio.mov", "-c:v mpeg4 -c:a pcm_s16le"),
        ("late-audio.ts", "-c:v mpeg2video -c:a mp2"),
    ):
        extension = name.split(".")[1]
        words = (
            "ffmpeg",
            "-f",
            "lavfi",
            "-i",
            "testsrc=duration=2:size=64x48:rate=25",
            "-itsoffset",
            "0.5",
            "-i",
            "{in}",
            "-fflags",
            "+bitexact",
            *options.split(),
            "{out}",
        )
        add(name, "s48", Run(words, extension))
    return found + _tags() + _video()


def _tags() -> list[Recipe]:
    """Files with unusual tags, which must not change their audio."""
    found = []

    def add(name: str, source: str, *steps: Run | Edit) -> None:
        found.append(recipe(f"causes/tags-{name}", source, *steps))

    title = ("TIT2", b"\0A")
    mark_less = edit(patch.prepend_id3v2, ("TIT2", b"\x01" + "Gr\u00fcn".encode("utf-16-le")), ("TPE1", b"\x01A\0B\0"))
    for name in ("cbr.mp3", "adts.aac", "plain.flac", "plain.tta"):
        stem, extension = name.split(".")
        add(f"utf16-without-mark-{stem}.{extension}", f"base/{name}", mark_less)
    for signal in ("p44", "m11"):
        add(f"dsdiff-{signal}.dff", signal, edit(patch.dsdiff, patch.id3v2(title)))
    # Two kinds of tags in one file.
    ape = edit(patch.append_ape_items, ("Title", "B"), ("Artist", "C"))
    id3 = edit(patch.prepend_id3v2, title)
    for extension, step in (
        ("mp3", tool("lame --quiet -V 4 {in} {out}", "mp3")),
        ("mpc", tool("mpcenc --silent {in} {out}", "mpc")),
        ("ape", edit(patch.monkeys_audio, 9_216)),
    ):
        add(f"id3v2-and-apev2.{extension}", "s44", step, id3, ape)
    comments = ffmpeg("-c:a flac -metadata TITLE=B -metadata COMMENTS=C", "flac")
    add("id3v2-and-comments.flac", "s44", comments, id3)
    info = edit(patch.append_chunk, b"LIST", b"INFOINAM\x02\0\0\0B\0")
    add("info-and-id3v2.wav", "base/pcm.wav", info, edit(patch.append_chunk, b"id3 ", patch.id3v2(title)))
    add(
        "name-and-id3v2.aiff",
        "base/pcm.aiff",
        edit(patch.append_chunk, b"NAME", b"B\0\0\0"),
        edit(patch.append_chunk, b"ANNO", bytes(4)),
        edit(patch.append_chunk, b"ID3 ", patch.id3v2(title)),
    )
    keys = ("DISCNUMBER", "1"), ("TRACKTOTAL", "9"), ("DISCTOTAL", "2"), ("DATE", "2003")
    add("ape-keys.mp3", "base/cbr.mp3", edit(patch.append_ape_items, *keys))
    add("ape-keys.wv", "base/plain.wv", edit(patch.append_ape_items, *keys))
    add("ape-keys.ape", "s44", edit(patch.monkeys_audio, 9_216), edit(patch.append_ape_items, *keys))
    for extension in ("mka", "webm"):
        add(f"of-the-track.{extension}", "s48", ffmpeg("-c:a libopus -metadata:s:a:0 TITLE=A", extension))
    return found


def _video() -> list[Recipe]:
    """Files whose video is stored in unusual ways, or whose audio cannot be decoded."""
    found = []

    def add(name: str, source: str, *steps: Run | Edit) -> None:
        found.append(recipe(f"causes/video-{name}", source, *steps))

    x264 = "-c:v libx264 -g 12 -bf 3 -c:a aac -aac_pns 0"
    for extension in ("mov", "mp4"):
        add(
            f"negative-offsets.{extension}",
            "s48",
            with_video(f"{x264} -movflags +negative_cts_offsets", extension),
        )
    add(
        "undecodable-audio.mp4",
        "s48",
        with_video(x264, "mp4"),
        edit(patch.replace_first, b"mp4a", -4, b"zzzz"),
        edit(patch.replace_first, b"esds", -4, b"free"),
    )
    without_packets = tool("ffmpeg -i {in} -fflags +bitexact -c copy -bsf:a noise=drop=1 {out}", "ts")
    add("audio-without-packets.ts", "s48", with_video(x264, "mkv"), without_packets)
    vp9 = "-c:v libvpx-vp9 -deadline good -cpu-used 5 -auto-alt-ref 1 -lag-in-frames 25 -g 60 -b:v 100k -c:a libopus"
    for extension in ("webm", "mp4"):
        add(f"hidden-frames.{extension}", "s48", with_video(vp9, extension))
    return found


# MARK: - Damage

# Each kind is applied to a file of each kind of container that damage meets in a way of its own.
_DAMAGE: dict[str, Edit] = {
    "cut-02": edit(patch.truncate, 0.02),
    "cut-10": edit(patch.truncate, 0.1),
    "cut-33": edit(patch.truncate, 0.333),
    "cut-50": edit(patch.truncate, 0.5),
    "cut-77": edit(patch.truncate, 0.77),
    "cut-95": edit(patch.truncate, 0.95),
    "cut-1-byte": edit(patch.drop_last, 1),
    "cut-100-bytes": edit(patch.drop_last, 100),
    "zeros-start": edit(patch.zero_range, 0, 16),
    "zeros-start-4k": edit(patch.zero_range, 0, 4_096),
    "zeros-10": edit(patch.zero_range, 0.1, 64),
    "zeros-30-1k": edit(patch.zero_range, 0.3, 1_024),
    "zeros-50": edit(patch.zero_range, 0.5, 100),
    "zeros-50-8k": edit(patch.zero_range, 0.5, 8_192),
    "zeros-80-2k": edit(patch.zero_range, 0.8, 2_048),
    "zeros-end": edit(patch.zero_range, 0.97, 1 << 20),
    "bits-1": edit(patch.flip_bits, 1, 1, 2_000),
    "bits-5": edit(patch.flip_bits, 5, 2, 2_000),
    "bits-50": edit(patch.flip_bits, 50, 3, 2_000),
    "bits-500": edit(patch.flip_bits, 500, 4, 2_000),
    "bits-head": edit(patch.flip_bits, 3, 5),
    "bits-all-20": edit(patch.flip_bits, 20, 6),
    "removed-1": edit(patch.remove_range, 0.4, 1),
    "removed-3": edit(patch.remove_range, 0.6, 3),
    "removed-100": edit(patch.remove_range, 0.3, 100),
    "removed-1k": edit(patch.remove_range, 0.5, 1_024),
    "removed-5k": edit(patch.remove_range, 0.7, 5_000),
    "removed-start": edit(patch.remove_range, 0, 40),
    "removed-start-3k": edit(patch.remove_range, 0, 3_000),
    "removed-188": edit(patch.remove_range, 0.45, 188),
    "inserted-1": edit(patch.insert_garbage, 0.4, 1, 11),
    "inserted-10": edit(patch.insert_garbage, 0.2, 10, 12),
    "inserted-700": edit(patch.insert_garbage, 0.5, 700, 13),
    "inserted-4k": edit(patch.insert_garbage, 0.6, 4_096, 14),
    "inserted-start": edit(patch.insert_garbage, 0, 64, 15),
    "inserted-end": edit(patch.append, random_count=3_000, seed=16),
    "garbage-10": edit(patch.overwrite_garbage, 0.1, 40, 17),
    "garbage-25-1k": edit(patch.overwrite_garbage, 0.25, 1_000, 18),
    "garbage-50": edit(patch.overwrite_garbage, 0.5, 300, 19),
    "garbage-50-6k": edit(patch.overwrite_garbage, 0.5, 6_000, 20),
    "garbage-90-2k": edit(patch.overwrite_garbage, 0.9, 2_000, 21),
    "swapped-512": edit(patch.swap_blocks, 0.3, 0.7, 512),
    "swapped-3000": edit(patch.swap_blocks, 0.4, 0.6, 3_000),
    "swapped-2-percent": edit(patch.swap_blocks, 0.2, 0.5, 1_500),
    "repeated-512": edit(patch.repeat_block, 0.3, 512),
    "repeated-4k": edit(patch.repeat_block, 0.5, 4_000),
    "repeated-start": edit(patch.repeat_block, 0, 400),
    "zeros-appended": edit(patch.append, zeros=5_000),
    "text-appended": edit(patch.append, b"The end.\n" * 50),
    "id3v1-appended": edit(patch.append_id3v1),
    "apev2-appended": edit(patch.append_apev2),
}
# Wrong lengths and counts in headers: (base, label, edit).
_HEADERS: list[tuple[str, str, Edit]] = [
    ("aac.m4a", "long-mdat", edit(patch.mp4_box_length, b"mdat", 1 << 30)),
    ("aac.m4a", "short-mdat", edit(patch.mp4_box_length, b"mdat", 5_000)),
    ("aac.m4a", "long-stsz", edit(patch.mp4_box_length, b"stsz", 1 << 24)),
    ("aac.m4a", "many-stts", edit(patch.replace_first, b"stts", 4, b"\x7f\xff\xff\xff")),
    ("aac.m4a", "zero-timescale", edit(patch.replace_first, b"mdhd", 12, bytes(4))),
    ("plain.flac", "block-size", edit(patch.set_bytes, 8, b"\0\x10\0\x10")),
    ("plain.flac", "no-rate", edit(patch.set_bytes, 18, bytes(2))),
    ("pcm.wav", "no-channels", edit(patch.replace_first, b"fmt ", 6, bytes(2))),
    ("pcm.wav", "block-align", edit(patch.replace_first, b"fmt ", 16, b"\x07\0")),
    ("pcm.wav", "long-fmt", edit(patch.replace_first, b"fmt ", 0, b"\xff\0\0\0")),
    ("ima.wav", "no-block-align", edit(patch.replace_first, b"fmt ", 16, bytes(2))),
    ("vorbis.ogg", "no-rate", edit(patch.replace_first, b"\x01vorbis", 5, bytes(4))),
    ("voice.opus", "large-preskip", edit(patch.replace_first, b"OpusHead", 2, b"\xff\xff")),
    ("cbr.mp3", "no-bytes", edit(patch.replace_first, b"Info", 8, bytes(4))),
    ("plain.wv", "many-samples", edit(patch.set_bytes, 12, b"\xff\xff\xff\x0f")),
    ("plain.tta", "many-samples", edit(patch.set_bytes, 14, b"\xff\xff\xff\x0f")),
    ("pcm.caf", "long-data", edit(patch.replace_first, b"data", 0, b"\0\0\0\x7f\xff\xff\xff\xff")),
    (
        "wma.wma",
        "packet-size",
        edit(patch.replace_first, bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365"), 76, b"\xff\xff\0\0"),
    ),
    ("mp3.avi", "scale", edit(patch.avi_stream_header, 0, 0, 0)),
]
_DAMAGED = ("cbr.mp3", "adts.aac", "aac.m4a", "vorbis.ogg", "voice.opus", "plain.flac", "aac.ts")
# Other files get some kinds of damage only: a turn of the list, so that every kind of damage meets many formats.
_DAMAGED_SOME = (
    "vbr.mp3",
    "alac.m4a",
    "flac.oga",
    "pcm.wav",
    "ima.wav",
    "pcm.aiff",
    "plain.wv",
    "plain.tta",
    "wma.wma",
    "opus.mka",
    "alac.mka",
    "vorbis.webm",
    "mp2.mpg",
    "mp3.avi",
    "ac3.ac3",
    "dts.dts",
    "mp2.mp2",
    "aac.flv",
    "pcm.caf",
    "speex.spx",
    "table.flac",
    "ac3.ts",
)


def _damage() -> list[Recipe]:
    found = []
    kinds = list(_DAMAGE)
    for number, name in enumerate(_DAMAGED):
        for index, kind in enumerate(kinds):
            if (index + number) % 2 == 0:
                found.append((name, kind, _DAMAGE[kind]))
    for number, name in enumerate(_DAMAGED_SOME):
        for index, kind in enumerate(kinds):
            if (index + number) % 13 == 0:
                found.append((name, kind, _DAMAGE[kind]))
    found += _HEADERS
    return [recipe(f"damage/{kind}-{name}", f"base/{name}", step) for name, kind, step in found]


# MARK: - HLS


def _hls() -> list[Recipe]:
    found = []

    def add(name: str, source: str, codec: str, options: str) -> None:
        words = (
            "ffmpeg",
            "-i",
            "{in}",
            "-fflags",
            "+bitexact",
            *codec.split(),
            "-f",
            "hls",
            "-hls_time",
            "1",
            "-hls_list_size",
            "0",
            *options.split(),
            "{out}",
        )
        found.append(Recipe(f"hls/{name}", source, (Run(words, "m3u8"),), is_folder=True))

    aac, mp3 = "-c:a aac -aac_pns 0", "-c:a libmp3lame"
    add("ts-aac", "l48", aac, "")
    add("ts-mp3", "l48", mp3, "")
    add("ts-ac3", "l48", "-c:a ac3", "")
    add("ts-wrap", "l48", aac, "-output_ts_offset 95441.5")
    add("ts-late", "l48", aac, "-output_ts_offset 10")
    add("ts-discontinuities", "l48", aac, "-hls_flags discont_start+split_by_time")
    add("fmp4-aac", "l48", aac, "-hls_segment_type fmp4")
    add("fmp4-44100", "l44", aac, "-hls_segment_type fmp4")
    add("fmp4-alac", "l44", "-c:a alac", "-hls_segment_type fmp4")
    add("fmp4-flac", "l44", "-c:a flac -strict -2", "-hls_segment_type fmp4")
    add("single-file", "l48", aac, "-hls_flags single_file")
    add("fmp4-single-file", "l48", aac, "-hls_segment_type fmp4 -hls_flags single_file")
    return found


def recipes() -> list[Recipe]:
    """Every recipe; the source of each one comes before it."""
    everything = _bases() + _matrix() + _encoders() + _causes() + _damage() + _hls()
    names = [recipe.name for recipe in everything]
    assert len(names) == len(set(names)), "two recipes have one name"
    return everything
