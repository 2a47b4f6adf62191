"""Image files of every type for the differential test of read_image_header(): made by Pillow, and made by hand to have
what Pillow never writes. Every function yields (name, bytes)."""
import io
import random
import struct
import zlib

from PIL import Image, PngImagePlugin, TiffImagePlugin


def picture(mode, size=(31, 17)):
    gradient = Image.linear_gradient("L").resize(size)
    if mode in ("P", "PA"):
        return Image.merge("RGB", [gradient, gradient.rotate(90), gradient.rotate(180)]).convert(
            "P", palette=Image.Palette.ADAPTIVE).convert(mode)
    if Image.getmodebands(mode) == 1:
        return gradient.convert(mode)
    return Image.merge(mode, [gradient] * Image.getmodebands(mode))


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def segment(marker, body):
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def jpeg_parts():
    whole = saved(picture("RGB"), "JPEG")
    return whole[:2], whole[2:]  # SOI, the rest


def exif_directory(entries, order="<"):
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "L", 8)
    out = head + struct.pack(order + "H", len(entries))
    data = b""
    for tag, kind, count, value in entries:
        if len(value) > 4:
            offset = 8 + 2 + 12 * len(entries) + 4 + len(data)
            data += value
            value = struct.pack(order + "L", offset)
        out += struct.pack(order + "HHL", tag, kind, count) + value.ljust(4, b"\0")
    return out + b"\0\0\0\0" + data


def handmade_jpegs():
    soi, rest = jpeg_parts()
    bare = rest[struct.unpack(">H", rest[2:4])[0] + 2:]  # without JFIF
    def with_segments(*segments, tail=bare):
        return soi + b"".join(segments) + tail

    exif = lambda entries, order="<": segment(0xE1, b"Exif\0\0" + exif_directory(entries, order))
    unit = (0x128, 3, 1, struct.pack("<H", 3))
    rational = struct.pack("<LL", 72, 1)
    yield "jpeg-bare", with_segments()
    yield "jpeg-fill", with_segments(b"\xff" * 9 + segment(0xFE, b"hello"))
    yield "jpeg-junk", with_segments(segment(0xFE, b"hello"), b"junk\xff\0junk")
    yield "jpeg-parameterless", with_segments(b"\xff\xd0\xff\xf0\xff\xc8\xff\xd9")
    yield "jpeg-empty-segments", with_segments(b"\xff\xfe\0\0" * 4, b"\xff\xe5\0\x01" * 3)
    yield "jpeg-exif", with_segments(exif([(0x11A, 5, 1, rational), unit]))
    yield "jpeg-exif-big", with_segments(exif([(0x11A, 5, 1, struct.pack(">LL", 72, 1)),
                                              (0x128, 3, 1, b"\0\x02\0\0")], ">"))
    yield "jpeg-exif-empty-text", with_segments(exif([(0x11A, 2, 1, b"\0"), unit]))
    yield "jpeg-exif-one-digit", with_segments(exif([(0x11A, 2, 2, b"7\0"), unit]))
    yield "jpeg-exif-text", with_segments(exif([(0x11A, 2, 3, b"7x\0"), unit]))
    yield "jpeg-exif-one-byte", with_segments(exif([(0x11A, 1, 1, b"7"), unit]))
    yield "jpeg-exif-two-bytes", with_segments(exif([(0x11A, 7, 2, b"\x07\0"), unit]))
    yield "jpeg-exif-after-jfif", soi + segment(0xE0, b"JFIF\0\1\1\1\0\1\0\1\0\0") + segment(
        0xE1, b"Exif\0\0II*\0") + bare
    for length in range(9):
        yield f"jpeg-exif-cut-{length}", with_segments(segment(0xE1, b"Exif\0\0" + b"MM\0*\0\0\0\x08\0"[:length]))
    yield "jpeg-exif-bigtiff", with_segments(segment(0xE1, b"Exif\0\0II+\0\x08\0\0\0" + b"\0" * 20))
    yield "jpeg-jfif-short", with_segments(segment(0xE0, b"JFIF\0\1"))
    yield "jpeg-adobe-short", with_segments(segment(0xEE, b"Adobe\0"))
    yield "jpeg-icc", with_segments(segment(0xE2, b"ICC_PROFILE\0\1\1profile"))
    yield "jpeg-icc-short", with_segments(segment(0xE2, b"ICC_PROFILE\0\1\2profile"), segment(0xE2, b"ICC_PROFILE\0\1"))
    yield "jpeg-icc-second-short", with_segments(segment(0xE2, b"ICC_PROFILE\0\1\2profile"),
                                                 segment(0xE2, b"ICC_PROFILE\0\2"))
    block = b"8BIM\x03\xed\0\0\0\0\0\x10" + b"\0\x48\0\0\0\1\0\1" * 2
    yield "jpeg-photoshop", with_segments(segment(0xED, b"Photoshop 3.0\0" + block * 2 + b"8BIM\4\4\0\0\0\0\0\0"))
    yield "jpeg-photoshop-cut", with_segments(segment(0xED, b"Photoshop 3.0\0" + block + b"8BIM\4\4"))
    yield "jpeg-photoshop-short-resolution", with_segments(
        segment(0xED, b"Photoshop 3.0\0" + b"8BIM\x03\xed\0\0\0\0\0\x02\0\0" + b"8BIM\4\4"))
    entry = struct.pack("<LLLHH", 0x030000, 100, 0, 0, 0)
    for name, images, entries in (("two", 2, entry * 2), ("one", 1, entry), ("cut", 2, entry), ("none", 0, entry),
                                  ("odd-kind", 9, struct.pack("<L", 1 << 24) + entry[4:])):
        index = exif_directory([(0xB000, 7, 4, b"0100"), (0xB001, 4, 1, struct.pack("<L", images)),
                                (0xB002, 7, len(entries), entries)])
        yield f"jpeg-mpf-{name}", with_segments(segment(0xE2, b"MPF\0" + index))
    for marker in list(range(0xC0, 0xD0)) + [0xDE]:
        at = bare.index(b"\xff\xc0")
        yield f"jpeg-sof-{marker:x}", soi + bare[:at] + bytes([0xFF, marker]) + bare[at + 2:]
    at = bare.index(b"\xff\xc0") + 2
    for name, body in (("2-components", b"\x08\0\x11\0\x1f\2\1\x11\0\2\x11\1"),
    ("12-bit", b"\x0c\0\x11\0\x1f\1\1\x11\0"),
                       ("no-height", b"\x08\0\0\0\x1f\1\1\x11\0"), ("no-width", b"\x08\0\x11\0\0\1\1\x11\0"),
                       ("odd-length", b"\x08\0\x11\0\x1f\1\1\x11"), ("short", b"\x08\0\x11\0\x1f")):
        yield f"jpeg-frame-{name}", soi + segment(0xC0, body) + bare[bare.index(b"\xff\xda"):]
    yield "jpeg-scan-first", soi + bare[bare.index(b"\xff\xda"):]
    yield "jpeg-two-frames", soi + segment(0xC0, b"\x08\0\x11\0\x1f\1\1\x11\0") + bare
    yield "jpeg-all-ff", b"\xff\xd8" + b"\xff" * 3000
    yield "jpeg-too-large", soi + segment(0xC0, b"\x08\xff\xdc\xff\xdc\1\1\x11\0") + bare[bare.index(b"\xff\xda"):]


def chunk(name, body, crc=None):
    crc = zlib.crc32(name + body) if crc is None else crc
    return struct.pack(">L", len(body)) + name + body + struct.pack(">L", crc)


def handmade_pngs():
    magic = b"\x89PNG\r\n\x1a\n"
    def header(bits=8, colour=2, size=(31, 17), rest=b"\0\0\0"):
        return chunk(b"IHDR", struct.pack(">LLBB", *size, bits, colour) + rest)
    pixels = chunk(b"IDAT", zlib.compress(b"\0" * 2000)) + chunk(b"IEND", b"")
    for bits in (0, 1, 2, 3, 4, 8, 16, 32):
        for colour in range(8):
            yield f"png-{bits}-{colour}", magic + header(bits, colour) + pixels
            yield f"png-{bits}-{colour}-trns", magic + header(bits, colour) + chunk(b"tRNS", b"\0\1\0") + pixels
    for name, *chunks in (
        ("filter", header(rest=b"\0\1\0")), ("compression", header(rest=b"\1\0\1")), ("no-width", header(size=(0, 17))),
        ("huge", header(size=(1 << 31, 1 << 31))), ("short-header", chunk(b"IHDR", b"\0" * 12)),
        ("long-header", chunk(b"IHDR", struct.pack(">LLBB", 31, 17, 8, 2) + b"\0" * 9)), ("no-header",),
        ("two-headers", header(), header(1, 0, (5, 6))), ("late-known-mode", header(), header(9, 9, (5, 6))),
        ("bad-crc", chunk(b"tEXt", b"a\0b", 1)), ("unknown-chunk", header(), chunk(b"abCd", b"xyz")),
        ("odd-name", header(), chunk(b"a-cd", b"xyz")), ("underscore", header(), chunk(b"a_9d", b"xyz")),
        ("end-only", header(), chunk(b"IEND", b"")), ("end-without-header", chunk(b"IEND", b"")),
        ("pixels-first", chunk(b"IDAT", b"abc"), header()),
        ("pixels-first-bad-crc", chunk(b"IDAT", b"abc", 3), header()),
        ("gama", header(), chunk(b"gAMA", b"\0\0\1")), ("gama-ok", header(), chunk(b"gAMA", b"\0\0\1\1")),
        ("chrm", header(), chunk(b"cHRM", b"\0\0\1")), ("chrm-ok", header(), chunk(b"cHRM", b"\0" * 8)),
        ("srgb", header(), chunk(b"sRGB", b"")), ("phys", header(), chunk(b"pHYs", b"\0" * 8)),
        ("phys-ok", header(), chunk(b"pHYs", b"\0" * 9)), ("exif", header(), chunk(b"eXIf", b"II*\0")),
        ("text", header(), chunk(b"tEXt", b"key\0value")), ("text-bare", header(), chunk(b"tEXt", b"key")),
        ("iccp", header(), chunk(b"iCCP", b"name\0\0" + zlib.compress(b"profile"))),
        ("iccp-bad", header(), chunk(b"iCCP", b"name\0\0garbage")), ("iccp-no-name", header(), chunk(b"iCCP", b"name")),
        ("iccp-empty", header(), chunk(b"iCCP", b"")), ("iccp-end", header(), chunk(b"iCCP", b"n\0")),
        ("iccp-large", header(), chunk(b"iCCP", b"n\0\0" + zlib.compress(b"a" * (1 << 20)))),
        ("iccp-too-large", header(), chunk(b"iCCP", b"n\0\0" + zlib.compress(b"a" * ((1 << 20) + 1)))),
        ("ztxt", header(), chunk(b"zTXt", b"key\0\0" + zlib.compress(b"text"))),
        ("ztxt-method", header(), chunk(b"zTXt", b"key\0\1" + zlib.compress(b"text"))),
        ("ztxt-bare", header(), chunk(b"zTXt", b"key")), ("ztxt-cut", header(), chunk(b"zTXt", b"k\0\0x\x9c")),
        ("ztxt-too-large", header(), chunk(b"zTXt", b"k\0\0" + zlib.compress(b"a" * ((1 << 20) + 1)))),
        ("itxt", header(), chunk(b"iTXt", b"key\0\0\0de\0Wort\0text")),
        ("itxt-short", header(), chunk(b"iTXt", b"key\0\1\0de\0Wort")),
        ("itxt-z", header(), chunk(b"iTXt", b"key\0\1\0de\0Wort\0" + zlib.compress(b"text"))),
        ("itxt-too-large", header(), chunk(b"iTXt", b"k\0\1\0\0\0" + zlib.compress(b"a" * ((1 << 20) + 1)))),
        ("itxt-method", header(), chunk(b"iTXt", b"k\0\1\1\0\0" + zlib.compress(b"a" * ((1 << 20) + 1)))),
        ("text-total", header(), *[chunk(b"zTXt", b"k\0\0" + zlib.compress(b"a" * (1 << 20)))] * 64),
        ("text-total-too-large", header(), *[chunk(b"zTXt", b"k\0\0" + zlib.compress(b"a" * (1 << 20)))] * 64,
         chunk(b"tEXt", b"k\0v")),
    ):
        yield f"png-{name}", magic + b"".join(chunks) + pixels
    frame = lambda number, width=31, x=0: chunk(b"fcTL", struct.pack(">LLLLLHHBB", number, width, 17, x, 0, 1, 1, 1, 0))
    control = chunk(b"acTL", struct.pack(">LL", 2, 0))
    data = lambda number: chunk(b"fdAT", struct.pack(">L", number) + zlib.compress(b"\0" * 2000))
    for name, *chunks in (
        ("plain", control, frame(0)), ("no-frame", control), ("two-controls", control, control, frame(0)),
        ("short-control", chunk(b"acTL", b"\0" * 7)), ("no-frames", chunk(b"acTL", b"\0" * 8), frame(0)),
        ("first-number", control, frame(1)), ("second-number", control, frame(0), frame(2)),
        ("two-frames", control, frame(0), frame(1)), ("outside", control, frame(0, 31, 1)),
        ("wide", control, frame(0, 32)),
        ("data-first", control, frame(0), data(1)), ("data-number", control, frame(0), data(2)),
        ("data-only", data(0)), ("data-short", control, frame(0), chunk(b"fdAT", b"\0\0\1")),
        ("short-frame", control, chunk(b"fcTL", b"\0" * 25)),
    ):
        yield f"apng-{name}", magic + header() + b"".join(chunks) + pixels


def riff(*chunks):
    padded = [name + struct.pack("<L", len(data)) + data + b"\0" * (len(data) & 1) for name, data in chunks]
    body = b"WEBP" + b"".join(padded)
    return b"RIFF" + struct.pack("<L", len(body)) + body


def handmade_webps():
    lossy = saved(picture("RGB"), "WEBP")
    lossless = saved(picture("RGBA"), "WEBP", lossless=True)
    with_alpha = saved(picture("RGBA"), "WEBP")
    def image(name, whole):
        at = whole.index(name, 12)
        return name, whole[at + 8:at + 8 + struct.unpack("<L", whole[at + 4:at + 8])[0]]
    vp8, vp8l = image(b"VP8 ", lossy), image(b"VP8L", lossless)
    alph = image(b"ALPH", with_alpha)
    extended = lambda flags, size=(31, 17), extra=b"": (b"VP8X", struct.pack("<L", flags) + struct.pack(
        "<L", size[0] - 1)[:3] + struct.pack("<L", size[1] - 1)[:3] + extra)
    anim = (b"ANIM", b"\0" * 6)
    def frame(*chunks, at=(0, 0), size=(31, 17)):
        inner = riff(*chunks)[12:]
        fields = (at[0], at[1], size[0] - 1, size[1] - 1, 100)
        return b"ANMF", b"".join(struct.pack("<L", n)[:3] for n in fields) + b"\0" + inner
    junk = (b"JUNK", b"abc")
    for name, *chunks in (
        ("vp8", vp8), ("vp8l", vp8l), ("vp8-alph", vp8, alph), ("alph-vp8l", alph, vp8l), ("vp8-junk", vp8, junk),
        ("junk-vp8", junk, vp8), ("two", vp8, vp8), ("x", extended(0), vp8), ("x-l", extended(0), vp8l),
        ("x-l-flag", extended(16), vp8l), ("x-flag", extended(16), vp8), ("x-alph", extended(0), alph, vp8),
        ("x-alph-flag", extended(16), alph, vp8), ("x-vp8-alph", extended(0), vp8, alph),
        ("x-vp8-alph-flag", extended(16), vp8, alph), ("x-alph-junk", extended(16), alph, junk, vp8),
        ("x-alph-l", extended(16), alph, vp8l), ("x-alph-only", extended(16), alph), ("x-empty", extended(0)),
        ("x-junk", extended(0), junk, vp8, junk), ("x-two", extended(0), vp8, vp8),
        ("x-x", extended(0), extended(0), vp8),
        ("x-size", extended(0, (32, 17)), vp8), ("x-long", extended(0, (31, 17), b"ab"), vp8),
        ("x-odd", extended(0, (31, 17), b"a"), vp8), ("x-short", (b"VP8X", b"\0" * 9), vp8),
        ("x-unknown-flag", extended(1), vp8), ("x-unknown-flag-6", extended(64), vp8),
        ("x-area", extended(0, (1 << 16, 1 << 16)), vp8),
        ("x-icc", extended(32), (b"ICCP", b"profile"), vp8), ("x-anim", extended(0), anim, vp8),
        ("x-anim-flag", extended(2), vp8), ("a", extended(2), anim, frame(vp8), frame(vp8l)),
        ("a-alpha", extended(18), anim, frame(alph, vp8)), ("a-alpha-behind", extended(18), anim, frame(vp8, alph)),
        ("a-no-anim", extended(2), frame(vp8)), ("a-no-flag", extended(0), anim, frame(vp8)),
        ("a-outside", extended(2), anim, frame(vp8, at=(1, 0))), ("a-empty", extended(2), anim, frame()),
        ("a-empty-then", extended(2), anim, frame(), frame(vp8)),
        ("a-junk", extended(2), anim, frame(vp8, junk), frame(vp8)),
        ("a-alone", extended(2), anim), ("a-short-anim", extended(2), (b"ANIM", b"\0" * 4), frame(vp8)),
        ("a-two-anims", extended(2), anim, anim, frame(vp8)),
        ("a-short-frame", extended(2), anim, (b"ANMF", b"\0" * 15)),
        ("a-small-frame", extended(2, (64, 64)), anim, frame(vp8, at=(3, 4))),
        ("a-big", extended(2), anim, frame(vp8, size=(1 << 16, 1 << 16))),
        ("vp8-short", (b"VP8 ", vp8[1][:9])), ("vp8-inter", (b"VP8 ", bytes([vp8[1][0] | 1]) + vp8[1][1:])),
        ("vp8-hidden", (b"VP8 ", bytes([vp8[1][0] & ~16]) + vp8[1][1:])), ("vp8l-short", (b"VP8L", vp8l[1][:5])),
        ("vp8l-shorter", (b"VP8L", vp8l[1][:4])),
    ):
        yield f"webp-{name}", riff(*chunks)
    yield "webp-trailing", lossy + b"trailing"
    yield "webp-loose-end", lossy[:4] + struct.pack("<L", struct.unpack("<L", lossy[4:8])[0] + 4) + lossy[8:] + b"loos"
    for size in (0, 4, 8, 11, 12, 0xFFFFFFF6, 0xFFFFFFF7, 0xFFFFFFFF):
        yield f"webp-riff-{size}", lossy[:4] + struct.pack("<L", size) + lossy[8:]


def bmp(header, body=b"", offset=0):
    return b"BM" + struct.pack("<LLL", 14 + len(header) + len(body), 0, offset) + header + body


def handmade_bmps():
    yield "bmp-core", bmp(struct.pack("<LHHHH", 12, 31, 17, 1, 24), b"\0" * 2000)
    yield "bmp-core-8", bmp(struct.pack("<LHHHH", 12, 31, 17, 1, 8), b"\0" * 2000)
    for size in (4, 11, 12, 16, 40, 52, 56, 64, 108, 124, 1 << 30):
        yield f"bmp-header-{size}", bmp(struct.pack("<LllHHLLllLL", size, 31, 17, 1, 24, 0, 0, 0, 0, 0, 0) + b"\0" * 84)
    info = lambda width=31, height=17, bits=24, compression=0, colours=0: struct.pack(
        "<LllHHLLllLL", 40, width, height, 1, bits, compression, 0, 0, 0, colours, 0)
    for bits in (0, 1, 2, 4, 8, 15, 16, 24, 32, 48, 65535):
        for compression in range(7):
            yield f"bmp-{bits}-{compression}", bmp(info(bits=bits, compression=compression), b"\0" * 64)
    for height in (-17, 0, -1, -(1 << 31), -(1 << 24), -(1 << 24) - 1):
        yield f"bmp-height-{height}", bmp(info(height=height), b"\0" * 64)
    for colours in (1, 2, 65536, 65537, (1 << 32) - 1):
        yield f"bmp-colours-{colours}", bmp(info(bits=8, colours=colours), b"\0" * 64)
        yield f"bmp-24-colours-{colours}", bmp(info(bits=24, colours=colours), b"\0" * 64)
    masks = [(0xFF0000, 0xFF00, 0xFF, 0), (0xFF000000, 0xFF0000, 0xFF00, 0), (0xFF000000, 0xFF0000, 0xFF00, 0xFF),
             (0xFF, 0xFF00, 0xFF0000, 0xFF000000), (0xFF0000, 0xFF00, 0xFF, 0xFF000000), (0, 0, 0, 0), (1, 2, 3, 4),
             (0xF800, 0x7E0, 0x1F, 0), (0x7C00, 0x3E0, 0x1F, 9)]
    for bits in (8, 16, 24, 32):
        for i, mask in enumerate(masks):
            yield f"bmp-masks-{bits}-{i}", bmp(info(bits=bits, compression=3), struct.pack("<LLLL", *mask) + b"\0" * 64)
            for size in (64, 108, 124):
                header = struct.pack("<L", size) + info(bits=bits, compression=3)[4:]
                yield f"bmp-masks-{bits}-{i}-{size}", bmp(header + struct.pack("<LLLL", *mask) + b"\0" * 68)


def handmade_gifs():
    screen = lambda flags=0, size=(31, 17): b"GIF89a" + struct.pack("<HHBBB", *size, flags, 0, 0)
    image = lambda flags=0, box=(0, 0, 31, 17): b"," + struct.pack("<HHHHB", *box, flags) + (
        b"\0" * (3 << ((flags & 7) + 1)) if flags & 128 else b"") + b"\x08\x01\0\0;"
    control = lambda body: b"!\xf9" + bytes([len(body)]) + body + b"\0"
    for name, content in (
        ("plain", screen() + image()), ("palettes", screen(0x81) + b"\1" * 12 + image(0x82)),
        ("larger-image", screen() + image(box=(5, 6, 40, 50))),
        ("no-size", screen(size=(0, 0)) + image(box=(0, 0, 0, 9))),
        ("size-from-image", screen(size=(0, 0)) + image()), ("end", screen() + b";" + image()),
        ("junk", screen() + b"abc" + image()),
        ("control", screen() + control(b"\0\0\0\0") + image()), ("control-3", screen() + control(b"\0\0\0") + image()),
        ("control-3-transparent", screen() + control(b"\1\0\0") + image()),
        ("control-2", screen() + control(b"\0\0") + image()),
        ("control-0", screen() + b"!\xf9\0" + image()),
        ("control-dispose", screen() + control(b"\x0d\0\0\1") + image()),
        ("comment", screen() + b"!\xfe\x03abc\x02de\0" + image()), ("comment-empty", screen() + b"!\xfe\0" + image()),
        ("application", screen() + b"!\xff\x0bNETSCAPE2.0\3\1\0\0\0" + image()),
        ("application-empty", screen() + b"!\xff\0" + image()),
        ("application-bare", screen() + b"!\xff\x0bNETSCAPE2.0\0" + image()),
        ("application-short", screen() + b"!\xff\x0bNETSCAPE2.0\1\1\0" + image()),
        ("other", screen() + b"!\1\3abc\0" + image()),
        ("other-empty", screen() + b"!\1\0" + image() + b"\0" * 300), ("no-image", screen()),
        ("too-large", screen(size=(65535, 65535)) + image()),
        ("too-large-image", screen() + image(box=(0, 0, 65535, 65535))),
    ):
        yield f"gif-{name}", content


def tiff(entries, order="<", big=False):
    if not big:
        return exif_directory(entries, order)
    out = b"II+\0\x08\0\0\0" + struct.pack("<Q", 16) + struct.pack("<Q", len(entries))
    data = b""
    for tag, kind, count, value in entries:
        if len(value) > 8:
            offset = 16 + 8 + 20 * len(entries) + 8 + len(data)
            data += value
            value = struct.pack("<Q", offset)
        out += struct.pack("<HHQ", tag, kind, count) + value.ljust(8, b"\0")
    return out + b"\0" * 8 + data


def handmade_tiffs():
    rand = random.Random(5)
    def entry(order, tag, values, kind=None):
        kind = kind or 3
        formats = {1: "B", 3: "H", 4: "L", 5: "LL", 6: "b", 7: "B", 8: "h", 9: "l", 10: "ll", 11: "f", 12: "d", 13: "L",
                   16: "Q"}
        if kind == 2:
            body = b"".join(b"%d" % v for v in values) + b"\0"
            return tag, kind, len(body), body
        size = struct.calcsize("<" + formats[kind])
        body = b"".join(struct.pack(order + formats[kind], *((v, 1) if kind in (5, 10) else (v,))) for v in values)
        return tag, kind, len(body) // size, body
    def make(order="<", big=False, kinds={}, drop=(), **changes):
        values = {256: [31], 257: [17], 258: [8, 8, 8], 259: [1], 262: [2], 273: [8], 277: [3], 278: [17]}
        values.update({int(k[1:]): v for k, v in changes.items()})
        entries = [entry(order, tag, v, kinds.get(tag)) for tag, v in sorted(values.items()) if tag not in drop]
        return tiff(entries, order, big) + b"\0" * 64
    yield "tiff-plain", make()
    yield "tiff-motorola", make(">")
    yield "tiff-big", make(big=True)
    plain = make()
    for i, magic in enumerate((b"II\0*", b"MM*\0", b"MM\0+", b"II+\0", b"II*\1", b"IM*\0")):
        yield f"tiff-magic-{i}", magic + plain[4:]
    yield "tiff-magic-motorola", b"MM*\0" + make(">")[4:]
    yield "tiff-bigtiff-motorola", b"MM\0+\0\x08\0\0" + struct.pack(">Q", 16) + make(">")[8:]
    yield "tiff-photo", make(t48129=[1])
    for tag in (256, 257, 258, 259, 262, 273, 277, 278):
        yield f"tiff-without-{tag}", make(drop=(tag,))
        for kind in (1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16):
            yield f"tiff-{tag}-kind-{kind}", make(kinds={tag: kind})
            yield f"tiff-gray-{tag}-kind-{kind}", make(kinds={tag: kind}, t258=[8], t262=[1], t277=[1])
    for compression in (0, 1, 2, 5, 6, 7, 8, 9, 32773, 34712, 50000, 50001):
        yield f"tiff-compression-{compression}", make(t259=[compression])
        yield f"tiff-compression-{compression}-no-strips", make(t259=[compression], drop=(273,))
        yield f"tiff-compression-{compression}-no-samples", make(t259=[compression], drop=(277, 262))
    for order in "<>":
        for photometric in range(10):
            for bits in [[n] for n in (1, 2, 4, 8, 12, 16, 32)] + [[8] * n for n in range(2, 7)] + [[16] * 3, [16] * 4]:
                for extra in ((), (0,), (1,), (2,), (999,), (0, 0), (1, 0), (2, 0), (1, 0, 0), (0, 0, 0)):
                    if extra and rand.random() < 0.6:
                        continue
                    more = {"t338": list(extra)} if extra else {}
                    if rand.random() < 0.2:
                        more["t339"] = [rand.choice((1, 2, 3))] * rand.choice((1, len(bits)))
                    if rand.random() < 0.2:
                        more["t266"] = [rand.choice((1, 2, 3))]
                    if photometric == 3:
                        more["t320"] = [0] * 768
                    yield f"tiff-{order}-{photometric}-{bits}-{more}", make(
                        order, t262=[photometric], t258=bits, t277=[len(bits)], **more)
    for samples in (0, 1, 2, 3, 4, 6, 7):
        for bits in ([8], [8, 8], [8] * 3, [8] * 7):
            yield f"tiff-samples-{samples}-{len(bits)}", make(t277=[samples], t258=bits)
    for kind in (1, 2, 3, 4, 5, 6, 7, 11, 12):
        yield f"tiff-palette-{kind}", make(t262=[3], t258=[8], t277=[1], t320=[1] * 8, kinds={320: kind})
        yield f"tiff-formats-{kind}", make(t339=[1, 1, 1], kinds={339: kind})
        yield f"tiff-resolution-{kind}", make(t282=[3], t283=[3], t296=[3], kinds={282: kind})
        yield f"tiff-tile-{kind}", make(t322=[16], t323=[16], t324=[8, 8], drop=(273,), kinds={322: kind})
    yield "tiff-no-palette", make(t262=[3], t258=[8], t277=[1])
    for planes in range(1, 8):
        yield f"tiff-planes-{planes}", make(t284=[2], t273=[8] * planes)
        yield f"tiff-planes-{planes}-rows", make(t284=[2], t273=[8] * planes, t278=[9])
        yield f"tiff-planes-{planes}-tiles", make(t284=[2], t322=[16], t323=[16], t324=[8] * planes, drop=(273,))
    for orientation in range(10):
        yield f"tiff-orientation-{orientation}", make(t274=[orientation])
    for kind in (1, 2, 4, 5, 12):
        yield f"tiff-orientation-kind-{kind}", make(t274=[6], kinds={274: kind})
    yield "tiff-no-tile-size", make(t324=[8], drop=(273,))
    yield "tiff-huge", make(t256=[1 << 20], t257=[1 << 20], kinds={256: 4, 257: 4})
    rest = [(257, 3, 1, b"\6\0"), (258, 3, 1, b"\x08\0"), (262, 3, 1, b"\1\0"), (273, 3, 1, b"\x08\0")]
    yield "tiff-repeated", tiff([(256, 3, 1, b"\5\0"), (256, 3, 1, b"\6\0")] + rest)
    yield "tiff-count-0", tiff([(256, 3, 1, b"\5\0"), (256, 3, 0, b"\6\0")] + rest + [(300, 99, 1, b"\0")])


def random_directories(rand, count):
    """TIFF files of random tags, plausible for the most part; the same directories as Exif data and picture index."""
    plausible = {256: (31,), 257: (17,), 258: (1, 8, 16), 259: (1, 1, 1, 5, 6, 7), 262: (0, 1, 2, 3, 5, 6, 8), 266: (1, 2),
                 273: (8,), 277: (1, 2, 3, 4), 278: (17, 5), 282: (72,), 283: (72,), 284: (1, 2), 296: (1, 2, 3),
                 320: (0,), 322: (16,), 323: (16,), 324: (8,), 338: (0, 1, 2), 339: (1, 2, 3)}
    sizes = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}

    def values(order, kind, tag):
        many = tag in (258, 273, 324, 338, 339) and rand.random() < 0.5 or rand.random() < 0.05
        out = b""
        same = rand.choice(plausible.get(tag, (1, 2, 3)))
        for _ in range(rand.choice((2, 3, 3, 4, 6)) if many else 768 if tag == 320 else 1):
            number = rand.choice((0, 1, 2, 48, 255, 65535)) if rand.random() < 0.02 else same
            if kind in (5, 10):
                out += struct.pack(order + "LL", number, rand.choice((1, 1, 1, 0)))
            elif kind in (11, 12):
                out += struct.pack(order + ("f" if kind == 11 else "d"), number)
            else:
                out += (number % 256 ** sizes[kind]).to_bytes(sizes[kind], "big" if order == ">" else "little")
        return tag, kind, len(out) // sizes[kind], out

    def directory(tags, order, odd_kinds):
        chosen = [tag for tag in tags if rand.random() < (0.35 if tag in (266, 296, 322, 323, 324, 338, 339) else 0.93)]
        return [values(order, rand.choice(list(sizes)) if rand.random() < odd_kinds else rand.choice((3, 4)), tag)
                for tag in chosen]

    soi, rest = jpeg_parts()
    bare = rest[struct.unpack(">H", rest[2:4])[0] + 2:]
    for i in range(count):
        order = rand.choice("<>")
        big = order == "<" and rand.random() < 0.2
        yield f"random-tiff-{i}", tiff(directory(plausible, order, 0.05), order, big) + b"\0" * 64
        exif = exif_directory(directory((0x11A, 0x128), order, 0.6), order)
        yield f"random-exif-{i}", soi + segment(0xE1, b"Exif\0\0" + exif) + bare
        entries = struct.pack(order + "LLLHH", rand.choice((0, 0, 1 << 24, 1 << 29)), 1, 1, 0, 0) * rand.randrange(4)
        index = [(0xB001, 4, 1, struct.pack(order + "L", rand.randrange(4))), (0xB002, 7, len(entries), entries)]
        if rand.random() < 0.4:
            index[rand.randrange(2)] = values(order, rand.choice(list(sizes)), rand.choice((0xB001, 0xB002)))
        yield f"random-index-{i}", soi + segment(0xE2, b"MPF\0" + exif_directory(index, order)) + bare


def base_files():
    for mode in ("L", "RGB", "CMYK"):
        yield f"jpeg-{mode}", saved(picture(mode), "JPEG", dpi=(72, 72), comment=b"text", icc_profile=b"profile" * 9)
    yield "jpeg-progressive", saved(picture("RGB"), "JPEG", progressive=True)
    yield "jpeg-mpo", saved(picture("RGB"), "MPO", save_all=True, append_images=[picture("RGB")])
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I"):
        text = PngImagePlugin.PngInfo()
        text.add_text("key", "value", zip=True)
        text.add_itxt("key", "value", zip=True)
        yield f"png-{mode}", saved(picture(mode), "PNG", pnginfo=text, dpi=(72, 72))
    yield "apng", saved(picture("RGB"), "PNG", save_all=True, append_images=[picture("RGB").rotate(9)])
    for mode in ("1", "L", "P", "RGB", "RGBA"):
        yield f"bmp-{mode}", saved(picture(mode), "BMP")
    for mode in ("RGB", "RGBA"):
        yield f"webp-{mode}", saved(picture(mode), "WEBP")
        yield f"webp-{mode}-lossless", saved(picture(mode), "WEBP", lossless=True)
        yield f"webp-{mode}-exif", saved(picture(mode), "WEBP", exif=b"Exif\0\0II*\0", icc_profile=b"profile")
    yield "webp-animated", saved(picture("RGBA"), "WEBP", save_all=True, append_images=[picture("RGBA").rotate(9)])
    for mode in ("L", "P"):
        yield f"gif-{mode}", saved(picture(mode), "GIF", comment=b"comment", transparency=1)
    yield "gif-animated", saved(picture("P"), "GIF", save_all=True, append_images=[picture("P").rotate(9)], loop=0)
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I", "F", "I;16", "LAB"):
        if mode == "I;16":
            yield "tiff-I;16", saved(picture("I").convert("I;16"), "TIFF")
            continue
        yield f"tiff-{mode}", saved(Image.new(mode, (31, 17)) if mode == "LAB" else picture(mode), "TIFF", dpi=(72, 72))
    for compression in ("tiff_lzw", "jpeg", "packbits", "tiff_adobe_deflate"):
        yield f"tiff-{compression}", saved(picture("RGB"), "TIFF", compression=compression)
    yield "tiff-tiled", saved(picture("RGB"), "TIFF", tiffinfo={TiffImagePlugin.ROWSPERSTRIP: 4})
    for make in (handmade_jpegs, handmade_pngs, handmade_webps, handmade_bmps, handmade_gifs, handmade_tiffs):
        yield from make()
    yield "empty", b""
    yield "text", b"<html>not found</html>\n" * 3
    yield "signatures", b"\xff\xd8"
