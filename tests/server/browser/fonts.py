"""Fonts for Chromium that do not depend on the machine: one that is wide, tall or narrow."""

import os
from pathlib import Path

__all__ = ["environment_with_font"]

FONTS = {
    "wide": ("DejaVu Sans", "DejaVuSans.ttf", "fonts-dejavu-core"),
    "tall": ("Open Sans", "OpenSans-Regular.ttf", "fonts-open-sans"),
    "narrow": ("Liberation Sans", "LiberationSans-Regular.ttf", "fonts-liberation"),
}
"""Each with its family, a file of it, and Debian's package."""

_PLACES = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".fonts")
_SETTINGS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>{folder}</dir>
<cachedir>{cache}</cachedir>
<match target="pattern">
<edit name="family" mode="assign" binding="strong"><string>{family}</string></edit>
</match>
</fontconfig>
"""


def environment_with_font(font: str, folder: Path) -> dict[str, str | float | bool]:
    """Return the environment of a browser in which every text is in one family.

    The file of fontconfig that brings this about is written into the folder.

    Raises:
        FileNotFoundError: The font is not installed; the message says how to install it.
    """
    family, name, package = FONTS[font]
    files = (file for place in _PLACES if place.is_dir() for file in place.rglob(name))
    file = next(files, None)
    if file is None:
        raise FileNotFoundError(f"the browser tests need {family!r}: apt-get install {package}")
    settings = folder / f"{font}.conf"
    text = _SETTINGS.format(folder=file.parent, cache=folder / f"{font}-cache", family=family)
    settings.write_text(text, encoding="utf-8")
    return {**os.environ, "FONTCONFIG_FILE": str(settings), "LC_ALL": "C.UTF-8"}
