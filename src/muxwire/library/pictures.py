"""A picture of a screen as PNG: drawn by Pillow, with the fonts that are named here; the extra `muxwire[image]`.

Each character stands in the middle of its cell, whatever font has it.
"""

from __future__ import annotations

import io
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, cast, final

from muxwire.errors import InvalidArgument
from muxwire.library import can_draw
from muxwire.vt.cells import PLAIN, Style
from muxwire.vt.svg import DARK, LIGHT, colours, placed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

    from muxwire.results import Snapshot
    from muxwire.vt.svg import Theme

# Pixels: 200 columns are 1,620 then, about the width above which models are given a smaller picture.
_FONT_SIZE: Final = 13
_MARGIN: Final = 10
# Font files, which Pillow finds in the system's directories: normal, bold, italic, both. The first row that is there
# is used.
_FONTS: Final = (
    ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf", "DejaVuSansMono-Oblique.ttf", "DejaVuSansMono-BoldOblique.ttf"),
    ("LiberationMono-Regular.ttf", "LiberationMono-Bold.ttf",
     "LiberationMono-Italic.ttf", "LiberationMono-BoldItalic.ttf"),
    ("NotoSansMono-Regular.ttf", "NotoSansMono-Bold.ttf", "NotoSansMono-Regular.ttf", "NotoSansMono-Bold.ttf"),
    ("Menlo.ttc",) * 4,
)  # fmt: skip
# For characters that those lack.
_FURTHER: Final = (
    "NotoSansCJK-Regular.ttc", "wqy-zenhei.ttc", "wqy-microhei.ttc", "DroidSansFallback.ttf", "PingFang.ttc",
    "Hiragino Sans GB.ttc", "DejaVuSans.ttf", "NotoSansSymbols2-Regular.ttf", "NotoEmoji-Regular.ttf",
)  # fmt: skip
# What no font has a character for.
_MISSING: Final = "\U0010ffff"
_DIM: Final = 0.6
_COLOURS: Final = 128


def check_can_draw() -> None:
    """Raise InvalidArgument if Pillow is not installed."""
    if not can_draw():
        raise InvalidArgument(
            "a picture needs Pillow, which is not installed",
            remedy="install it where muxwire is: pip install 'pillow>=11'",
        )


def png(taken: Snapshot, *, light: bool = False) -> bytes:
    """Draw a snapshot that was taken with its cells, on a dark background or a `light` one; InvalidArgument."""
    check_can_draw()
    from PIL import Image, ImageDraw

    theme, fonts = LIGHT if light else DARK, _Fonts()
    size = taken.cols * fonts.width + 2 * _MARGIN, taken.rows * fonts.height + 2 * _MARGIN
    image = Image.new("RGB", size, theme.background)
    draw = ImageDraw.Draw(image)
    rows = placed(taken.lines, taken.cols, taken.rows)
    styles = [[PLAIN] * taken.cols for _ in rows]
    for run in taken.cells or ():
        styles[run.y][run.x : run.x + run.length] = [run.style] * min(run.length, taken.cols - run.x)
    if taken.cursor.visible:
        at = styles[taken.cursor.y][taken.cursor.x]
        styles[taken.cursor.y][taken.cursor.x] = Style(fg=at.fg, bg=at.bg, bold=at.bold, reverse=not at.reverse)
    for y, row in enumerate(rows):
        for x, text in enumerate(row):
            wide = 2 if x + 1 < len(row) and not row[x + 1] else 1
            if text:
                _draw_cell(draw, fonts, theme, (x, y), text, wide, styles[y][x])
    written = io.BytesIO()
    # Few colours: a third of the bytes.
    image.quantize(_COLOURS, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return written.getvalue()


@final
class _Fonts:
    """The fonts that there are, and the size of a cell, in pixels."""

    def __init__(self) -> None:
        from PIL import ImageFont

        # Pillow contains a font, for a machine that has none of these.
        own = cast("FreeTypeFont", ImageFont.load_default(_FONT_SIZE))
        self._faces = next(filter(None, map(_faces, _FONTS)), (own,) * 4)
        self.ascent, descent = self._faces[0].getmetrics()
        self.width, self.height = round(self._faces[0].getlength("M")), self.ascent + descent

    def of(self, text: str, style: Style) -> FreeTypeFont:
        """The font to draw `text` with: the first that has its first character."""
        face = self._faces[style.bold + 2 * style.italic]
        if text.isascii() or _has(self._faces[0], text[0]):
            return face
        return _further(text[0]) or face


def _faces(names: Sequence[str]) -> tuple[FreeTypeFont, ...] | None:
    normal = _font(names[0])
    return None if normal is None else (normal, *(_font(name) or normal for name in names[1:]))


@cache
def _font(name: str) -> FreeTypeFont | None:
    from PIL import ImageFont

    try:
        return ImageFont.truetype(name, _FONT_SIZE)
    except OSError:
        return None


@cache
def _further(character: str) -> FreeTypeFont | None:
    """The first of the further fonts that has it."""
    return next((font for name in _FURTHER if (font := _font(name)) is not None and _has(font, character)), None)


@lru_cache(1024)
def _has(font: FreeTypeFont, character: str) -> bool:
    return bytes(font.getmask(character)) != bytes(font.getmask(_MISSING))


def _draw_cell(
    draw: ImageDraw, fonts: _Fonts, theme: Theme, at: tuple[int, int], text: str, wide: int, style: Style
) -> None:
    """Draw what stands in a cell; `wide` is how many cells it takes, 1 or 2."""
    fore, back = colours(style, theme)
    left, top = _MARGIN + at[0] * fonts.width, _MARGIN + at[1] * fonts.height
    right, bottom = left + wide * fonts.width, top + fonts.height
    if back:
        draw.rectangle((left, top, right - 1, bottom - 1), fill=back)
    if style.dim:
        fore = _mixed(fore, back or theme.background, _DIM)
    if text != " " and not style.hidden:
        font = fonts.of(text, style)
        middle = left + (wide * fonts.width - font.getlength(text)) / 2
        draw.text((middle, top + fonts.ascent), text, fill=fore, font=font, anchor="ls")
    for on, line in ((style.underline, top + fonts.ascent + 2), (style.strike, top + fonts.ascent * 2 // 3)):
        if on:
            draw.line((left, line, right - 1, line), fill=fore)


def _mixed(fore: str, back: str, share: float) -> str:
    """A colour between two, `#rrggbb`."""
    pairs = zip(bytes.fromhex(fore[1:]), bytes.fromhex(back[1:]), strict=True)
    return "#" + "".join(f"{round(one * share + other * (1 - share)):02x}" for one, other in pairs)
