"""sbom.py WHEEL FILE - writes a bill of materials (CycloneDX 1.6, JSON) of a wheel: what it contains of others, from
tools/licences.toml, and what it needs. It is checked against CycloneDX's schema before it is written.

Its time is SOURCE_DATE_EPOCH's and its serial number a hash of the wheel, so that one wheel has one bill.
"""

import datetime
import email
import hashlib
import os
import pathlib
import sys
import tomllib
import uuid
import zipfile

import notices
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator


def component(name, version, licence, kind=ComponentType.LIBRARY, **more):
    terms = [LicenseExpression(licence)]
    return Component(name=name, version=version, type=kind, bom_ref=f"{name} {version}", licenses=terms, **more)


def needed(metadata):
    """Components for the wheel's requirements without an extra; which version is there is the installer's choice."""
    for line in metadata.get_all("Requires-Dist", []):
        if "extra ==" not in line:
            name = line.split(">")[0].strip()
            yield Component(name=name, version=line.removeprefix(name), type=ComponentType.LIBRARY, bom_ref=line)


def bill(wheel, table):
    with zipfile.ZipFile(wheel) as archive:
        info = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(info))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    own = HashType(alg=HashAlgorithm.SHA_256, content=digest)
    root = component(metadata["Name"], metadata["Version"], table["wheel"]["spdx"], hashes=[own])
    inside = [component(c["name"], str(c["version"]), c["spdx"]) for c in table["component"]]
    outside = list(needed(metadata))
    bom = Bom(components=[*inside, *outside], serial_number=uuid.UUID(digest[:32]))
    bom.metadata.component = root
    since = int(os.environ.get("SOURCE_DATE_EPOCH", 0))
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(since, datetime.UTC)
    bom.register_dependency(root, [*inside, *outside])
    return JsonV1Dot6(bom).output_as_string(indent=2)


def main(wheel, file):
    text = bill(pathlib.Path(wheel), tomllib.loads(notices.TABLE.read_text(encoding="utf-8")))
    if fault := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        return f"sbom: {fault}"
    pathlib.Path(file).write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
