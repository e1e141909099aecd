"""Loads wheels of Python alone. What they import now is what a strategy finds of them: later there are no files."""
import base64, csv, hashlib, importlib, io, sys, zipfile

FOLDER = "/wheels"


def load_wheels(wheels):
    """The modules of wheels, by name. Wheels are pairs of a file's name and its bytes."""
    sys.path.insert(0, FOLDER)
    found = {}
    for file, data in wheels:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check(file, archive)
            archive.extractall(FOLDER)
            found.update({name: file for name in names_of(archive) if name})
    importlib.invalidate_caches()
    modules = {}
    for name, file in sorted(found.items()):
        if name.partition(".")[0] in sys.stdlib_module_names:
            raise ValueError(f"{file}: {name} is a module of Python's own")
        try:
            modules[name] = importlib.import_module(name)
        except (Exception, SystemExit) as error:
            # A part that needs more than the wheels have is left out; the whole is not.
            if "." not in name:
                raise ValueError(f"{file}: {name} cannot be imported: {type(error).__name__}: {error}")
    return modules


def check(file, archive):
    """Compares each file of a wheel with the digest that its RECORD has of it."""
    if not file.endswith("-none-any.whl"):
        raise ValueError(f"{file}: its name does not end with -none-any.whl, so it has compiled parts: none can be loaded")
    records = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
    if len(records) != 1:
        raise ValueError(f"{file}: it has no RECORD")
    rows = csv.reader(io.StringIO(archive.read(records[0]).decode()))
    digests = {row[0]: row[1] for row in rows if len(row) > 1}
    for name in archive.namelist():
        digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
        if not name.endswith("/") and name not in records and digests.get(name) != f"sha256={digest}":
            raise ValueError(f"{file}: {name} does not have the digest of its RECORD")


def names_of(archive):
    """The names of the modules of a wheel."""
    for path in archive.namelist():
        parts = path.removesuffix(".py").split("/")
        if path.endswith(".py") and all(part.isidentifier() and part != "__main__" for part in parts):
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
