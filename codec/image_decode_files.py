"""Image files of every type for the differential test of decoding: made by Pillow, cjpeg and jpegtran, and made by hand
to have what those never write. Every function yields (name, bytes)."""
import io
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import zlib

from PIL import Image, TiffImagePlugin

from image_header_files import exif_directory, segment


def picture(mode, size, rand):
    """Smooth colours with noise, so that every filter and every coefficient is used."""
    width, height = size
    if mode in ("1", "P", "PA"):
        image = picture("RGB", size, rand)
        return image.convert(mode) if mode == "1" else image.quantize(rand.choice((2, 5, 200))).convert(mode)
    bands = []
    for _ in range(Image.getmodebands(mode)):
        small = Image.frombytes("L", (4, 4), rand.randbytes(16)).resize(size, Image.Resampling.BICUBIC)
        noise = Image.frombytes("L", size, rand.randbytes(width * height))
        bands.append(Image.blend(small, noise, 0.15))
    return bands[0] if len(bands) == 1 else Image.merge(mode, bands)


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def run(*command, feed):
    return subprocess.run(command, input=feed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout


SIZES = [(1, 1), (1, 9), (9, 1), (7, 5), (8, 8), (16, 16), (17, 33), (31, 64), (70, 67)]
SAMPLINGS = ["1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x1,1x2", "1x1,2x2,1x1", "3x1", "2x2,2x1,1x1"]


def jpegs(rand):
    for size in SIZES:
        source = saved(picture("RGB", size, rand), "PPM")
        gray = saved(picture("L", size, rand), "PPM")
        name = f"{size[0]}x{size[1]}"
        for sampling in SAMPLINGS:
            plain = run("cjpeg", "-quality", str(rand.choice((30, 75, 95, 100))), "-sample", sampling, feed=source)
            yield f"jpeg {name} {sampling}", plain
            try:
                yield f"jpeg {name} {sampling} progressive", run("jpegtran", "-progressive", "-copy", "all", feed=plain)
                yield f"jpeg {name} {sampling} arithmetic", run("jpegtran", "-arithmetic", "-copy", "all", feed=plain)
                yield f"jpeg {name} {sampling} restart", run("jpegtran", "-restart", "1B", feed=plain)
            except subprocess.CalledProcessError:
                continue
        yield f"jpeg {name} rgb", run("cjpeg", "-rgb", feed=source)
        yield f"jpeg {name} gray", run("cjpeg", "-grayscale", feed=gray)
        yield f"jpeg {name} gray progressive", run("cjpeg", "-grayscale", "-progressive", feed=gray)
        yield f"jpeg {name} arithmetic progressive", run("cjpeg", "-arithmetic", "-progressive", feed=source)
        yield f"jpeg {name} 16-bit tables", run("cjpeg", "-quality", "1", feed=source)
        yield f"jpeg {name} separate scans", with_scans(source, "0;\n1;\n2;\n")
        yield f"jpeg {name} cmyk", saved(picture("CMYK", size, rand), "JPEG")
        yield f"jpeg {name} cmyk progressive", saved(picture("CMYK", size, rand), "JPEG", progressive=True)
        yield f"jpeg {name} ycck", as_ycck(saved(picture("CMYK", size, rand), "JPEG", quality=95))
        yield f"jpeg {name} exif", saved(picture("RGB", size, rand), "JPEG", exif=orientation_exif(rand.randrange(10)))


def with_scans(ppm, script):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scans"
        path.write_text(script)
        return run("cjpeg", "-scans", str(path), feed=ppm)


def as_ycck(data):
    at = data.index(b"Adobe")
    return data[:at + 11] + b"\2" + data[at + 12:]


def orientation_exif(value):
    exif = Image.Exif()
    exif[0x0112] = value
    return exif.tobytes()


def odd_jpegs(rand):
    """What a reader that suspends makes of ends and of junk."""
    large = picture("RGB", (640, 610), rand)
    for kind, data in (("", saved(large, "JPEG", quality=97)),
                       ("progressive ", saved(large, "JPEG", quality=97, progressive=True)),
                       ("restart ", run("cjpeg", "-restart", "1", "-quality", "97", feed=saved(large, "PPM")))):
        assert len(data) > 2 * 65536
        yield f"large {kind}jpeg", data
        end = data[:-2]
        yield f"large {kind}jpeg without end", end
        for cut in (0, 1, 2, 3, 5, 9, 100, len(data) // 2):
            yield f"large {kind}jpeg cut by {cut}", end[:len(end) - cut]
        for junk in (b"\xff\xc0\0\x0bjunk", b"\xff\xd8", b"\xff\x03", b"junk", b"\xff\xda\0\x02", b"\xff\xc4\0\x05abc"):
            yield f"large {kind}jpeg, {junk} before its end", end + junk + data[-2:]
            for length in (4, 30, 3000):
                pad = -(len(end) + 4 + len(junk)) % 65536 + length - 30
                comment = b"\xff\xfe" + struct.pack(">H", min(65535, max(2, pad))) + bytes(min(65533, max(0, pad - 2)))
                yield f"large {kind}jpeg, comment and {junk} before its end", end + comment + junk + data[-2:]
        for _ in range(20):
            changed = bytearray(data)
            for _ in range(rand.randrange(1, 4)):
                changed[rand.randrange(700, len(data))] ^= 1 << rand.randrange(8)
            yield f"large {kind}jpeg with changed bits", bytes(changed)
    small = run("cjpeg", "-quality", "90", feed=saved(picture("RGB", (33, 21), rand), "PPM"))
    for cut in range(1, 60):
        yield f"small jpeg cut by {cut}", small[:-cut]
    yield "large arithmetic jpeg", run("cjpeg", "-arithmetic", "-quality", "99", feed=saved(large, "PPM"))
    tables = small[:small.index(b"\xff\xc0")] + b"\xff\xd9"
    yield "jpeg behind a stream of tables", tables + small


def oriented_jpegs(rand):
    """Orientations of every type and in every place that Exif readers may meet."""
    plain = saved(picture("RGB", (12, 8), rand), "JPEG")
    exif = lambda *entries, order="<": segment(0xE1, b"Exif\0\0" + exif_directory(entries, order))
    with_segments = lambda *segments: plain[:2] + b"".join(segments) + plain[2:]
    for value in range(12):
        for order in "<>":
            short, long = struct.pack(order + "H", value), struct.pack(order + "L", value)
            byte = bytes([value])
            for kind, count, packed in (
                    (3, 1, short), (4, 1, long), (1, 1, byte), (6, 1, byte), (2, 2, b"%d\0" % (value % 10)),
                    (3, 2, short * 2), (3, 0, short), (8, 1, short), (5, 1, struct.pack(order + "LL", value * 2, 2)),
                    (9, 1, long), (11, 1, struct.pack(order + "f", value)), (12, 1, struct.pack(order + "d", value)),
                    (7, 1, byte), (13, 1, long), (5, 1, struct.pack(order + "LL", value, 0))):
                yield (f"jpeg orientation {value} type {kind} x {count} {order}",
                       with_segments(exif((0x112, kind, count, packed), order=order)))
    six, three = (0x112, 3, 1, b"\6\0"), (0x112, 3, 1, b"\3\0")
    yield "jpeg two orientations", with_segments(exif(six, three))
    yield "jpeg two Exif segments", with_segments(exif(six), exif(three))
    yield "jpeg Exif without orientation first", with_segments(exif((0x100, 3, 1, b"\1\0")), exif(three))
    yield "jpeg Exif behind XMP", with_segments(segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x/>"), exif(six))
    yield "jpeg XMP alone", with_segments(segment(0xE1, b'http://ns.adobe.com/xap/1.0/\0<x tiff:Orientation="6"/>'))
    yield "jpeg Exif that is no TIFF", with_segments(segment(0xE1, b"Exif\0\0hello, world"), exif(six))


def chunk(name, body):
    return struct.pack(">L", len(body)) + name + body + struct.pack(">L", zlib.crc32(name + body))


def png(size, bits, colour, rows, interlace=0, before=b"", after=b"", pieces=1):
    packed = zlib.compress(rows)
    step = -(-len(packed) // pieces)
    data = b"".join(chunk(b"IDAT", packed[i:i + step]) for i in range(0, len(packed), step))
    head = struct.pack(">LLBBBBB", *size, bits, colour, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + before + data + after + chunk(b"IEND", b"")


def png_rows(size, pixel_bits, interlace, rand):
    width, height = size
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    for x, y, step_x, step_y in passes if interlace else [(0, 0, 1, 1)]:
        if x < width:
            row = ((width - x + step_x - 1) // step_x * pixel_bits + 7) // 8
            for _ in range(y, height, step_y):
                yield bytes([rand.randrange(5)]) + rand.randbytes(row)


def pngs(rand):
    depths = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
    for size in SIZES:
        for colour, bits in ((c, b) for c in depths for b in depths[c]):
            for interlace in (0, 1):
                rows = b"".join(png_rows(size, bits * channels[colour], interlace, rand))
                before = b""
                if colour == 3:
                    before = chunk(b"PLTE", rand.randbytes(3 * rand.randrange(1, (1 << bits) + 1)))
                    before += rand.choice((b"", chunk(b"tRNS", rand.randbytes(rand.randrange(1, 3)))))
                elif colour in (0, 2) and rand.randrange(2):
                    before = chunk(b"tRNS", bytes(2 * channels[colour]))
                name = f"png {size} colour {colour} bits {bits} interlace {interlace}"
                yield name, png(size, bits, colour, rows, interlace, before, pieces=rand.choice((1, 2, 9)))
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I"):
        yield f"png by Pillow {mode}", saved(picture(mode, (41, 23), rand), "PNG")
    rows = b"".join(png_rows((40, 30), 24, 0, rand))
    whole = png((40, 30), 8, 2, rows)
    for cut in list(range(1, 40)) + [200, 900]:
        yield f"png cut by {cut}", whole[:-cut]
    at = whole.index(b"IDAT")
    for offset in (4, 9, 100, 700, 2000, len(whole) - at - 17, len(whole) - at - 14):
        changed = bytes([whole[at + offset] ^ 0x41])
        yield f"png with a changed byte {offset}", whole[:at + offset] + changed + whole[at + offset + 1:]
    for count in (0, 1, 121, 121 * 3, 121 * 30 - 1):
        yield f"png with {count} bytes of pixels", png((40, 30), 8, 2, rows[:count])
    yield "png with too many pixels", png((40, 30), 8, 2, rows + rows)
    yield "png with an unknown filter", png((40, 30), 8, 2, rows[:121] + b"\7" + rows[122:])
    yield "png palette without PLTE", png((40, 30), 8, 3, b"".join(png_rows((40, 30), 8, 0, rand)))
    yield "png palette of 300", png((40, 30), 8, 3, rows[:30 * 41], before=chunk(b"PLTE", bytes(900)))
    yield "png with text behind", png((40, 30), 8, 2, rows, after=chunk(b"tEXt", b"a\0b"))
    broken = png((40, 30), 8, 2, rows, after=struct.pack(">L", 999999) + b"tEXt")
    yield "png with a broken text behind", broken
    for value in range(10):
        yield f"png eXIf {value}", png((40, 30), 8, 2, rows, before=chunk(b"eXIf", orientation_exif(value)[6:]))
        yield f"png eXIf behind {value}", png((40, 30), 8, 2, rows, after=chunk(b"eXIf", orientation_exif(value)[6:]))
        for text in (f'<x tiff:Orientation="{value}"/>', f"<tiff:Orientation>{value}</tiff:Orientation>"):
            body = b"XML:com.adobe.xmp\0\0\0\0\0" + text.encode()
            yield f"png XMP {value}", png((40, 30), 8, 2, rows, before=chunk(b"iTXt", body))
    frames = [picture("RGB", (20, 10), rand) for _ in range(3)]
    yield "animated png", saved(frames[0], "PNG", save_all=True, append_images=frames[1:])
    yield "animated png with still image", saved(frames[0], "PNG", save_all=True, append_images=frames[1:],
                                                 default_image=True)


def webps(rand):
    for size in SIZES:
        for mode in ("RGB", "RGBA", "L"):
            image = picture(mode, size, rand)
            yield f"webp {size} {mode} lossy", saved(image, "WEBP", quality=rand.choice((20, 90)))
            yield f"webp {size} {mode} lossless", saved(image, "WEBP", lossless=True)
            yield f"webp {size} {mode} exact", saved(image, "WEBP", lossless=True, exact=True)
    frames = [picture("RGBA", (30, 20), rand) for _ in range(3)]
    yield "animated webp", saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], background=(9, 8, 7, 255))
    for value in range(1, 9):
        yield f"webp exif {value}", saved(frames[0], "WEBP", exif=orientation_exif(value))
    whole = saved(frames[0], "WEBP", quality=80)
    for at in list(range(40, len(whole), max(1, len(whole) // 30))):
        yield f"webp with a changed byte {at}", whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:]


def gif(size, screen_palette, frames, before=b"", end=b";"):
    flags = 0x80 | (len(screen_palette) // 3).bit_length() - 2 if screen_palette else 0
    return b"GIF89a" + struct.pack("<HHBBB", *size, flags, 0, 0) + screen_palette + before + b"".join(frames) + end


def gif_frame(image_gif, box, palette=b"", interlace=False):
    """A frame with the pixel data of another GIF, which has no local palette."""
    at = image_gif.index(b",", 13 + 3 * 256)
    flags = (0x80 | (len(palette) // 3).bit_length() - 2 if palette else 0) | (0x40 if interlace else 0)
    return b"," + struct.pack("<HHHHB", *box, flags) + palette + image_gif[at + 10:-1]


def gifs(rand):
    for size in SIZES:
        for mode in ("P", "L", "1", "RGB"):
            for interlace in (0, 1):
                yield f"gif {size} {mode} {interlace}", saved(picture(mode, size, rand), "GIF", interlace=interlace)
    noise = Image.frombytes("P", (20, 12), rand.randbytes(240))
    noise.putpalette(rand.randbytes(768))
    data = saved(noise, "GIF", interlace=0)
    colours, ramp = rand.randbytes(768), bytes(v for i in range(256) for v in (i, i, i))
    control = lambda index: b"!\xf9\4" + bytes([1, 0, 0, index]) + b"\0"
    for box in ((0, 0, 20, 12), (5, 3, 20, 12)):
        for interlace in (False, True):
            for screen in (b"", colours, ramp, colours[:6], colours[:96]):
                for local in (b"", rand.randbytes(768), ramp, colours[:12]):
                    for before in (b"", control(7), control(200)):
                        yield (f"gif {box} {interlace} {len(screen)} {len(local)} {before}",
                               gif((30, 20), screen, [gif_frame(data, box, local, interlace)], before))
    yield "gif larger than its screen", gif((3, 3), colours, [gif_frame(data, (5, 3, 20, 12))])
    yield "gif of no width", gif((30, 20), colours, [gif_frame(data, (5, 3, 0, 12))])
    yield "gif with too many pixels", gif((30, 20), colours, [gif_frame(data, (5, 3, 20, 5))])
    yield "gif with too few pixels", gif((30, 20), colours, [gif_frame(data, (5, 3, 20, 15))])
    yield "gif without end", gif((30, 20), colours, [gif_frame(data, (5, 3, 20, 12))], end=b"")
    yield "gif with junk", gif((30, 20), colours, [gif_frame(data, (5, 3, 20, 12))], before=b"!\xfe\3abc\0")
    for cut in list(range(1, 12)) + [50, 150]:
        yield f"gif cut by {cut}", data[:-cut]
    frames = [picture("P", (20, 10), rand) for _ in range(3)]
    yield "animated gif", saved(frames[0], "GIF", save_all=True, append_images=frames[1:])


def bmp(size, bits, palette=b"", compression=0, colours=0, masks=b"", rows=None, rand=None, header=40, flip=False):
    width, height = size
    stride = (width * bits + 31) // 32 * 4
    rows = rand.randbytes(stride * height) if rows is None else rows
    if header == 12:
        head = struct.pack("<LHHHH", 12, width, height, 1, bits)
    else:
        head = struct.pack("<LllHHLLllLL", header, width, -height if flip else height, 1, bits,
                           compression, len(rows), 2835, 2835, colours, 0)
        head = (head + (masks if header > 40 else b"")).ljust(header, b"\0") + (masks if header == 40 else b"")
    offset = 14 + len(head) + len(palette)
    return b"BM" + struct.pack("<LLL", offset + len(rows), 0, offset) + head + palette + rows


def bmps(rand):
    ramp = bytes(v for i in range(256) for v in (i, i, i, 0))
    black_white = b"\0\0\0\0\xff\xff\xff\0"
    for size in SIZES:
        for bits in (1, 4, 8):
            full = rand.randbytes(4 << bits)
            for palette, colours in ((full, 0), (full[:8], 2), (ramp[:4 << bits], 0), (black_white, 2)):
                yield (f"bmp {size} {bits} bits, palette of {len(palette)} bytes",
                       bmp(size, bits, palette, colours=colours, rand=rand, flip=rand.randrange(2)))
            yield f"bmp {size} {bits} bits, OS/2", bmp(size, bits, rand.randbytes(3 << bits), rand=rand, header=12)
        for bits in (16, 24, 32):
            yield f"bmp {size} {bits} bits", bmp(size, bits, rand=rand, flip=rand.randrange(2))
        for bits, masks in ((16, (0xF800, 0x7E0, 0x1F)), (16, (0x7C00, 0x3E0, 0x1F)), (24, (0xFF0000, 0xFF00, 0xFF)),
                            (32, (0xFF0000, 0xFF00, 0xFF)), (32, (0xFF000000, 0xFF0000, 0xFF00)),
                            (32, (0xFF000000, 0xFF0000, 0xFF00, 0xFF)), (32, (0xFF, 0xFF00, 0xFF0000, 0xFF000000)),
                            (32, (0xFF0000, 0xFF00, 0xFF, 0xFF000000)), (32, (0, 0, 0, 0))):
            packed = struct.pack(f"<{len(masks)}L", *masks)
            for header in (40, 108, 124):
                yield (f"bmp {size} {bits} bits, masks {masks}, header {header}",
                       bmp(size, bits, compression=3, masks=packed, rand=rand, header=header))
    for bits, compression in ((8, 1), (4, 2), (8, 2), (4, 1), (24, 1), (1, 1)):
        for palette in (rand.randbytes(4 << min(bits, 8)), ramp[:4 << min(bits, 8)], black_white):
            for _ in range(12):
                yield f"bmp run lengths {bits} {compression}", bmp(
                    (13, 9), bits, palette, compression, len(palette) // 4, rows=run_lengths(rand))
    whole = bmp((13, 9), 24, rand=rand)
    for cut in range(1, 12):
        yield f"bmp cut by {cut}", whole[:-cut]


def run_lengths(rand):
    out = b""
    for _ in range(40):
        kind = rand.randrange(12)
        if kind < 7:
            out += bytes([rand.randrange(1, 16), rand.randrange(256)])
        elif kind < 9:
            out += b"\0\0"
        elif kind < 11:
            count = rand.randrange(3, 9)
            out += bytes([0, count]) + rand.randbytes(count + count % 2)
        else:
            out += b"\0\2" + bytes([rand.randrange(3), rand.randrange(2)])
    return out + b"\0\1"


def tiffs(rand):
    for size in SIZES:
        for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I", "YCbCr", "LAB"):
            image = (Image.frombytes("I;16", size, rand.randbytes(2 * size[0] * size[1])) if mode == "I;16"
                     else picture("L", size, rand).convert("I") if mode == "I" else picture(mode, size, rand))
            for compression in (None, "tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg", "group4"):
                try:
                    data = saved(image, "TIFF", compression=compression)
                except Exception:
                    continue
                yield f"tiff {size} {mode} {compression}", data
    with_tags = TiffImagePlugin.ImageFileDirectory_v2()
    for value in range(1, 9):
        with_tags[274] = value
        yield f"tiff orientation {value}", saved(picture("RGB", (20, 10), rand), "TIFF", tiffinfo=with_tags)
    whole = saved(picture("RGB", (40, 30), rand), "TIFF", compression="tiff_lzw")
    for at in range(8, len(whole), len(whole) // 40):
        yield f"tiff with a changed byte {at}", whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:]
    yield from handmade_tiffs(rand)


def handmade_tiffs(rand):
    size = (19, 11)
    for bits, samples, photometric, extra in (
            (1, 1, 0, ()), (1, 1, 1, ()), (2, 1, 0, ()), (2, 1, 1, ()), (4, 1, 0, ()), (4, 1, 1, ()), (8, 1, 0, ()),
            (8, 1, 1, ()), (16, 1, 0, ()), (16, 1, 1, ()), (8, 2, 1, (2,)), (8, 3, 2, ()), (8, 4, 2, ()),
            (8, 4, 2, (0,)), (8, 4, 2, (1,)), (8, 4, 2, (2,)), (8, 5, 2, (2, 0)), (16, 3, 2, ()), (16, 4, 2, (0,)),
            (16, 4, 2, (2,)),
            (1, 1, 3, ()), (2, 1, 3, ()), (4, 1, 3, ()), (8, 1, 3, ()), (8, 2, 3, (2,)), (12, 1, 1, ()), (8, 3, 6, ()),
            (8, 3, 8, ()), (32, 1, 1, ())):
        for order in "<>":
            for rows_per_strip in (size[1], 4):
                for deflate in (False, True):
                    for fill_order in (1, 2):
                        name = (f"tiff by hand {order} {bits}x{samples} photometric {photometric} extra {extra} "
                                f"{rows_per_strip} {deflate} {fill_order}")
                        yield name, tiff(size, order, bits, samples, photometric, extra, rows_per_strip, deflate,
                                         fill_order, rand)


def tiff(size, order, bits, samples, photometric, extra, rows_per_strip, deflate, fill_order, rand):
    width, height = size
    row = (width * bits * samples + 7) // 8
    strips = [rand.randbytes(row * min(rows_per_strip, height - y)) for y in range(0, height, rows_per_strip)]
    strips = [zlib.compress(strip) if deflate else strip for strip in strips]
    data, offsets = b"", []
    for strip in strips:
        offsets.append(8 + len(data))
        data += strip + b"\0" * (len(strip) % 2)
    tags = {256: [width], 257: [height], 258: [bits] * samples, 259: [8 if deflate else 1], 262: [photometric],
            273: offsets, 277: [samples], 278: [rows_per_strip], 279: [len(strip) for strip in strips], 284: [1]}
    if fill_order == 2:
        tags[266] = [2]
    if extra:
        tags[338] = list(extra)
    if photometric == 3:
        tags[320] = [rand.randrange(65536) for _ in range(3 << bits)]
    long_tags = (273, 279)
    entries, behind = b"", b""
    start = 8 + len(data)
    for tag, values in sorted(tags.items()):
        kind = "L" if tag in long_tags else "H"
        packed = struct.pack(f"{order}{len(values)}{kind}", *values)
        if len(packed) > 4:
            at = start + 2 + 12 * len(tags) + 4 + len(behind)
            behind += packed + b"\0" * (len(packed) % 2)
            packed = struct.pack(order + "L", at)
        entries += struct.pack(order + "HHL", tag, 4 if kind == "L" else 3, len(values)) + packed.ljust(4, b"\0")
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "L", start)
    return head + data + struct.pack(order + "H", len(tags)) + entries + bytes(4) + behind


def all_files(rand):
    for make in (jpegs, odd_jpegs, oriented_jpegs, pngs, webps, gifs, bmps, tiffs):
        yield from make(rand)


def outside_files():
    folder = os.environ.get("IMGPACK_TEST_DATA")
    if not folder:
        return
    for part in ("odd", "imagenet-sample"):
        for path in sorted((pathlib.Path(folder) / part).rglob("*")):
            if path.is_file():
                yield f"{part}/{path.name}", path.read_bytes()
