"""Label documentation of four more generators, on which nothing was tuned: gi-docgen, QDoc, DocBook XSL, TypeDoc.

    python -m benchmarks.templates.package_sites [--data DIR]

The pages come from Debian's packages libgtk-4-doc, qtbase5-doc-html, and postgresql-doc-15, and from TypeDoc over the
types of RxJS (npm). The types follow from the file names that the generators choose; other pages have no label.
"""

import argparse
import json
import shutil
from pathlib import Path

from benchmarks.templates.build_sites import run, write_labels

DEBIAN_SITES = {
    "gi-docgen": ("libgtk-4-doc", "usr/share/doc/libgtk-4-doc/gtk4", (
        (r"^class\.", "class"), (r"^iface\.", "interface"), (r"^method\.", "method"), (r"^ctor\.", "constructor"),
        (r"^property\.", "property"), (r"^signal\.", "signal"), (r"^vfunc\.", "virtual method"), (r"^enum\.", "enum"),
        (r"^(type_)?func\.", "function"), (r"^struct\.", "struct"), (r"^callback\.", "callback"),
        (r"^flags\.", "flags"),
    )),
    "qdoc": ("qtbase5-doc-html", "usr/share/qt5/doc/qtwidgets", (
        (r"-members\.html$", "members"), (r"-obsolete\.html$", "obsolete"), (r"-(cpp|h|ui|pro|qrc)\.html$", "source"),
        (r"-example\.html$", "example"), (r"^q[a-z0-9]+\.html$", "class"),
    )),
    "docbook-xsl": ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", (
        (r"^sql-[a-z]+\.html$", "command"), (r"^catalog-pg-", "catalog"), (r"^view-pg-", "view"),
        (r"^app-", "program"), (r"^release-", "release"), (r"^spi-", "spi function"), (r"^infoschema-", "schema view"),
    )),
}  # fmt: skip
TYPEDOC_TYPES = (
    (r"^classes/", "class"), (r"^interfaces/", "interface"), (r"^functions/", "function"), (r"^types/", "type"),
    (r"^variables/", "variable"),
)  # fmt: skip


def unpack_site(package: str, folder: str, tools: Path, out: Path) -> None:
    """Download a Debian package and copy the pages of its documentation."""
    root = tools / package
    root.mkdir(exist_ok=True)
    run(["apt-get", "download", package], root)
    run(["dpkg-deb", "-x", *root.glob("*.deb"), root], root)
    shutil.copytree(root / folder, out, dirs_exist_ok=True)


def build_typedoc(tools: Path, out: Path) -> None:
    source = tools / "typedoc"
    source.mkdir(exist_ok=True)
    (source / "package.json").write_text('{"name": "types", "private": true}')
    run(["npm", "install", "--no-audit", "--no-fund", "--silent", "typedoc", "typescript", "rxjs@7"], source)
    entry = "node_modules/rxjs/dist/types/index.d.ts"
    (source / "tsconfig.json").write_text(json.dumps({"files": [entry], "compilerOptions": {"lib": ["esnext", "dom"]}}))
    run(["npx", "typedoc", "--skipErrorChecking", "--entryPoints", entry, "--out", out], source)


def main() -> None:
    """Unpack or build the sites, and label their pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("bench-data"))
    data = parser.parse_args().data.resolve()
    tools, built = data / "tools", data / "packages"
    tools.mkdir(parents=True, exist_ok=True)
    for name, (package, folder, rules) in DEBIAN_SITES.items():
        unpack_site(package, folder, tools, built / name)
        write_labels(name, built / name, rules)
    build_typedoc(tools, built / "typedoc")
    write_labels("typedoc", built / "typedoc", TYPEDOC_TYPES)


if __name__ == "__main__":
    main()
