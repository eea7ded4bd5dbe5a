"""Which stored pages are built like this one: a look-up, not a search.

Pages with the same signature are one *shape*. A shape is found by its signature, or by the keys of its bands when it is
only alike; the pages of a template are found by the template's number. Templates are learned per site when they are
asked for, and again when a site has grown by half; pages that come between are placed by the model at hand.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from sanderling.db.connection import Connection
from sanderling.fingerprint.structure import compute_feature_similarity, decode_features
from sanderling.templates.classifier import own_lists
from sanderling.templates.learn_templates import Model, learn_host_templates
from sanderling.templates.naming import Named, name
from sanderling.templates.structure_bands import compute_band_keys
from sanderling.templates.template_views import PageView

UNKNOWN = -1  # template of a page that was not placed yet
GROWTH = 1.5
PER_KEY = 400  # shapes taken of one band; a fuller band is chrome
CANDIDATES = 300  # shapes compared
STRAY_LIKENESS = 0.5  # strays of one template are like each other or they have nothing in common
CHUNK = 500


class IndexedPage(Struct, frozen=True):
    """A stored page: URL id, site (host id), URL, title, signature."""

    id: int
    site: int
    url: str
    title: str
    signature: bytes


class Match(Struct, frozen=True):
    """A stored page that is built like the sample."""

    id: int
    similarity: float


class Structures:
    """Writes and reads the structure index of a collection."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self._models: dict[int, Model | None] = {}

    # Writing

    def add(self, pages: Iterable[IndexedPage]) -> None:
        """Index pages, or index them again; the caller holds the transaction."""
        rows = []
        for page in pages:
            model = self._model(page.site)
            look = PageView(page.id, page.url, page.title, decode_features(page.signature))
            rows.append((page.id, page.site, self._shape(page.signature), model.place(look) if model else UNKNOWN))
        self.db.executemany("INSERT OR REPLACE INTO structure_pages VALUES (?, ?, ?, ?)", rows)

    def remove(self, pages: Iterable[int]) -> None:
        """Forget pages that are gone."""
        self.db.executemany("DELETE FROM structure_pages WHERE url = ?", [(page,) for page in pages])

    def _shape(self, signature: bytes) -> int:
        row = self.db.execute("SELECT id FROM structure_shapes WHERE signature = ?", (signature,)).fetchone()
        if row:
            return int(row[0])
        id_ = self.db.execute(
            "INSERT INTO structure_shapes (signature) VALUES (?) RETURNING id", (signature,)
        ).fetchone()[0]
        bands = [(key, id_) for key in compute_band_keys(decode_features(signature))]
        self.db.executemany("INSERT OR IGNORE INTO structure_bands VALUES (?, ?)", bands)
        return int(id_)

    # Templates

    def is_stale(self, site: int) -> bool:
        """A site's templates must be learned, for the first time or again."""
        model = self._model(site)
        return model is None or self.count(site) >= GROWTH * model.pages

    def count(self, site: int) -> int:
        """How many pages of a site are indexed."""
        return int(self.db.execute("SELECT count(*) FROM structure_pages WHERE site = ?", (site,)).fetchone()[0])

    def relearn(self, site: int, looks: Sequence[PageView]) -> Model:
        """Learn the templates of a site from all its pages and place them; the caller holds the transaction."""
        model = self._models[site] = learn_host_templates(looks)
        placed = [(model.place(look), look.id) for look in looks]
        self.db.executemany("UPDATE structure_pages SET template = ? WHERE url = ?", placed)
        self.db.execute("INSERT OR REPLACE INTO structure_sites VALUES (?, ?)", (site, msgspec.msgpack.encode(model)))
        return model

    def _model(self, site: int) -> Model | None:
        if site not in self._models:
            row = self.db.execute("SELECT model FROM structure_sites WHERE site = ?", (site,)).fetchone()
            self._models[site] = msgspec.msgpack.decode(row[0], type=Model) if row else None
        return self._models[site]

    def templates(self, looks: Sequence[PageView], numbers: Sequence[int]) -> list[Named]:
        """Name the templates these pages were placed in, the rarest first."""
        grouped: dict[int, list[PageView]] = {}
        for look, number in zip(looks, numbers, strict=True):
            grouped.setdefault(number, []).append(look)
        named = [name(number, members, len(looks)) for number, members in grouped.items()]
        return sorted(named, key=lambda template: (-template.rarity, template.pattern))

    def template_count(self, site: int) -> int:
        """How many templates are known of a site."""
        model = self._model(site)
        return model.count if model else 0

    def placed(self, site: int) -> dict[int, int]:
        """Template number of every page of a site."""
        return dict(self.db.execute("SELECT url, template FROM structure_pages WHERE site = ?", (site,)))

    # Looking up

    def signature(self, page: int) -> bytes | None:
        """Signature of a stored page; None if it is not indexed."""
        row = self.db.execute(
            "SELECT signature FROM structure_shapes JOIN structure_pages ON shape = id WHERE url = ?", (page,)
        ).fetchone()
        return bytes(row[0]) if row else None

    def features_of(self, pages: Iterable[int]) -> dict[int, frozenset[int]]:
        """Features of stored pages, of those that are indexed."""
        known: dict[bytes, frozenset[int]] = {}
        found = {}
        for page in pages:
            signature = self.signature(page)
            if signature is not None:
                found[page] = known.setdefault(signature, decode_features(signature))
        return found

    def find_same_template(self, site: int, sample: PageView) -> list[Match]:
        """Pages of a site on the same template as a page that may not be stored, the most alike first."""
        model = self._model(site)
        if model is None:
            return []
        template = model.place(sample)
        least = STRAY_LIKENESS if template >= model.count else 0.0
        found = self.db.execute(
            "SELECT url, signature FROM structure_pages JOIN structure_shapes ON shape = id"
            " WHERE site = ? AND template = ?",
            (site, template),
        )
        return _rank(sample.features, found.fetchall(), least)

    def like_signature(self, signature: bytes, least: float, limit: int) -> list[Match]:
        """Pages of any site whose signature is at least this much like the given one."""
        wanted = decode_features(signature)
        shapes: Counter[int] = Counter()
        for key in compute_band_keys(wanted):
            rows = self.db.execute("SELECT shape FROM structure_bands WHERE key = ? LIMIT ?", (key, PER_KEY))
            shapes.update(row[0] for row in rows)
        same = self.db.execute("SELECT id FROM structure_shapes WHERE signature = ?", (signature,)).fetchone()
        if same:
            shapes[same[0]] = len(shapes) + 1
        nearest = [shape for shape, _ in shapes.most_common(CANDIDATES)]
        rows = self.db.execute(
            f"SELECT signature, id FROM structure_shapes WHERE id IN ({','.join('?' * len(nearest))})", nearest
        )
        scored = [(compute_feature_similarity(wanted, decode_features(other)), shape) for other, shape in rows]
        found: list[Match] = []
        for similarity, shape in sorted(scored, reverse=True):
            if similarity < least or len(found) >= limit:
                break
            rows = self.db.execute(
                "SELECT url FROM structure_pages WHERE shape = ? LIMIT ?", (shape, limit - len(found))
            )
            found += [Match(url, similarity) for (url,) in rows]
        return found


def _rank(sample: frozenset[int], found: Sequence[tuple[int, bytes]], least: float) -> list[Match]:
    """Pages of a template, the most alike first; where the sample has a list that few have, those that have it."""
    shapes = {signature: decode_features(signature) for _, signature in found}
    members = Counter(shapes[signature] for _, signature in found)
    wanted = frozenset[int]() if least else own_lists(sample, members)
    known = {
        signature: compute_feature_similarity(sample, shape) for signature, shape in shapes.items() if wanted <= shape
    }
    matches = [Match(url, known[signature]) for url, signature in found if known.get(signature, -1.0) >= least]
    return sorted(matches, key=lambda match: (-match.similarity, match.id))
