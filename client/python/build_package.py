"""Builds the wheel and the source archive (PEP 517), with the standard library alone: `python3 build_package.py FOLDER`."""

import base64
import hashlib
import io
import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
# Of all files, so that the same sources give the same bytes. ZIP's calendar begins here.
DATE = (1980, 1, 1, 0, 0, 0)


def _setting(name, file="pyproject.toml"):
    """A text that a file sets; Python 3.9 has no reader of TOML."""
    return re.search(rf'^{name} = "(.*)"$', (ROOT / file).read_text("utf-8"), re.MULTILINE).group(1)


NAME = _setting("name")
VERSION = _setting("VERSION", f"{NAME}/version.py")
METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: {_setting("description")}
License: MIT
Requires-Python: {_setting("requires-python")}
Provides-Extra: frames
Requires-Dist: pandas; extra == "frames"
Provides-Extra: plots
Requires-Dist: matplotlib; extra == "plots"
Description-Content-Type: text/markdown

""" + (ROOT / "README.md").read_text("utf-8")


def _sources():
    return {f"{NAME}/{path.name}": path.read_bytes() for path in sorted((ROOT / NAME).iterdir()) if path.is_file()}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into a folder and returns its name."""
    info = f"{NAME}-{VERSION}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {**_sources(), f"{info}/METADATA": METADATA.encode(), f"{info}/WHEEL": wheel.encode()}
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    name = f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, DATE)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Writes the archive of the sources into a folder and returns its name."""
    base = f"{NAME}-{VERSION}"
    own = {name: (ROOT / name).read_bytes() for name in ("README.md", "build_package.py", "pyproject.toml")}
    with tarfile.open(Path(sdist_directory, f"{base}.tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path, data in {**_sources(), **own, "PKG-INFO": METADATA.encode()}.items():
            entry = tarfile.TarInfo(f"{base}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return f"{base}.tar.gz"


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print(folder / build_wheel(folder))
    print(folder / build_sdist(folder))
