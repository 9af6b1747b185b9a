"""How a picture is written: as PNG of few colours, for a third of the bytes."""

from pathlib import Path

from PIL import Image

from cvoting.atomic import atomic_path

#: A figure has fewer, but for the blends at edges.
COLOURS = 256


def write_picture(picture: Image.Image, path: Path) -> None:
    """Write a picture as PNG, its transparency dropped."""
    # By octree: a median cut, the default, gives rare colours, those of curves, to their neighbours.
    few = picture.convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE)
    with atomic_path(path) as temporary:
        few.save(temporary, format="PNG", optimize=True)
