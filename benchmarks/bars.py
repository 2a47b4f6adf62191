"""A figure of bars with spread, as an SVG that needs nothing else."""
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

COLOURS = ("#3b6ea5", "#c8703a", "#5f9460", "#8a6aa8", "#a84b57", "#6d6d6d")
LABELS, BARS, VALUES = 330, 420, 130  # widths in pixels
ROW, HEADING, MARGIN = 22, 34, 16     # heights


@dataclass(frozen=True)
class Bar:
    """kind chooses the colour. low and high are the ends of the whisker."""

    label: str
    kind: str
    value: float
    low: float
    high: float


def write_svg(path, title, groups, unit):
    """groups: a list of (heading, [Bar, ...]); each group has a scale of its own, from 0."""
    kinds = list(dict.fromkeys(bar.kind for _, bars in groups for bar in bars))
    colours = {kind: COLOURS[number % len(COLOURS)] for number, kind in enumerate(kinds)}
    parts, y = [_text(MARGIN, 24, title, size=16, weight="bold")], 40
    for heading, bars in groups:
        parts.append(_text(MARGIN, y + HEADING - 12, heading, weight="bold"))
        y += HEADING
        largest = max((bar.high for bar in bars), default=0) or 1
        for bar in bars:
            parts += _row(bar, y, BARS / largest, colours[bar.kind], unit)
            y += ROW
    width, height = MARGIN + LABELS + BARS + VALUES, y + MARGIN
    Path(path).write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                          f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">\n'
                          f'<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n")


def _row(bar, y, scale, colour, unit):
    left, middle = MARGIN + LABELS, y + ROW / 2 - 2
    low, high = left + bar.low * scale, left + bar.high * scale
    yield _text(left - 8, y + 14, bar.label, anchor="end")
    yield f'<rect x="{left}" y="{y}" width="{bar.value * scale:.1f}" height="{ROW - 4}" fill="{colour}"/>'
    yield f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8M{high:.1f} {middle - 4}v8" stroke="black"/>'
    yield _text(high + 6, y + 14, f"{bar.value:.4g} {unit}")


def _text(x, y, text, size=13, weight="normal", anchor="start"):
    return (f'<text x="{x:.1f}" y="{y}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}">'
            f"{escape(text)}</text>")
