#!/usr/bin/env python3
"""Prints the bill of materials of a release, CycloneDX 1.5 as JSON: Stet, and each source that it is built from.

Everything comes from CMakeLists.txt and tools/third-party.txt, so the same commit prints the same bytes."""

import datetime
import json
import os
import pathlib
import re
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = ("name", "version", "origin", "package", "archive", "licence", "sha256")
HEADERS_ONLY = {"curl"}  # libcurl itself is opened at run time and is not part of Stet


def sources():
    for line in (ROOT / "tools/third-party.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            yield dict(zip(COLUMNS, line.split(), strict=True))


def component(source):
    if source["origin"] == "npm":
        purl = f"pkg:npm/{source['package']}@{source['version']}"
    else:
        purl = f"pkg:generic/{source['name']}@{source['version']}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": source["name"],
        "version": source["version"],
        "scope": "excluded" if source["name"] in HEADERS_ONLY else "required",
        "hashes": [{"alg": "SHA-256", "content": source["sha256"]}],
        "licenses": [{"license": {"id": source["licence"]}}],
        "purl": purl,
        "properties": [
            {"name": "stet:archive", "value": source["archive"]},
            {"name": "stet:origin", "value": f"{source['origin']} {source['package']}"},
        ],
    }


def main():
    version = re.search(r"project\(stet VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    components = sorted((component(s) for s in sources()), key=lambda c: c["bom-ref"])
    stet = f"pkg:pypi/stet-cli@{version}"
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": stet,
                "name": "stet-cli",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "purl": stet,
            },
        },
        "components": components,
        "dependencies": [
            {"ref": stet, "dependsOn": [c["bom-ref"] for c in components if c["scope"] == "required"]},
            *({"ref": c["bom-ref"]} for c in components),
        ],
    }
    bom["serialNumber"] = "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bom, sort_keys=True)))
    print(json.dumps(bom, indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
