"""A newspaper in Spanish with noise inside the main content, and class names that differ at each request.

Written before it was measured; it was opened once, at the end, and used for nothing.
"""

# ruff: noqa: E501  markup is easier to read unbroken
from random import Random

from benchmarks.monitor.changing_site import ChangingSite

READ_ALSO = (
    "El puerto estrena un nuevo muelle para cruceros", "La biblioteca central abre también los domingos", "Suben las matrículas en la escuela de música",
    "Un faro centenario busca guardián", "Los vecinos plantan mil árboles junto al río", "El mercado cubierto cumple ochenta años",
    "Vuelve el tren turístico de la costa", "Tres panaderías compiten por el mejor pan",
)  # fmt: skip
INSERTS = (
    "Publicidad: muebles de jardín con envío gratis.", "Publicidad: cursos de inglés desde casa.", "Publicidad: seguros para el hogar sin letra pequeña.",
    "Publicidad: aceite de oliva de nuestra cooperativa.", "Publicidad: alquile su coche sin fianza.", "Publicidad: gafas nuevas en una hora.",
    "Publicidad: vuelos baratos a las islas.",
)  # fmt: skip
PROVERBS = (
    "A quien madruga, Dios le ayuda.",
    "Más vale tarde que nunca.",
    "En boca cerrada no entran moscas.",
    "Quien calla, otorga.",
    "No hay mal que por bien no venga.",
)
SKIES = ("despejado", "nublado", "lluvia débil", "niebla", "viento fuerte")
READERS = ("Lucía", "Mateo", "Sofía", "Hugo", "Martina", "Daniel", "Carmen", "Pablo", "Elena", "Javier")


class NewspaperSite(ChangingSite):
    """Articles, a live page of each section, and offers of the reader shop."""

    priced_pages = range(18, 24)

    def render_page(self, number: int) -> str:
        """Return the HTML of a page."""
        dice = self.noise
        names = {key: f"{key[0]}{dice.randrange(10**6):x}" for key in ("page", "main", "box", "text", "foot")}
        content = (
            self._render_article if number < 12 else self._render_section if number < 18 else self._render_offer
        )(number, dice, names)
        top = "".join(f"<li><a href=/page-{n}.html>Lo más leído {n}</a></li>" for n in dice.sample(range(12), 5))
        return (
            f'<html lang=es><head><title>El Faro {number}</title></head><body class="{names["page"]}">{self.banner}'
            f"<div>El tiempo: {dice.choice(SKIES)}, {dice.randrange(8, 31)} grados</div><nav><a href=/page-0.html>Portada</a> <a href=/page-12.html>Secciones</a></nav>"
            f'<div id="c{dice.randrange(10**5)}" class="{names["main"]}">{content}</div><div class="{names["box"]}"><h3>Lo más leído</h3><ol>{top}</ol></div>'
            f'<div class="{names["foot"]}">Refrán: {dice.choice(PROVERBS)}</div></body></html>'
        )

    def _render_article(self, number: int, dice: Random, names: dict[str, str]) -> str:
        parts = [f'<p class="{names["text"]}">{sentence}</p>' for sentence in self.texts[number]]
        parts.insert(3, f"<p>Lea también: <a href=/page-{dice.randrange(12)}.html>{dice.choice(READ_ALSO)}</a></p>")
        parts.insert(7, f"<p>{dice.choice(INSERTS)}</p>")
        yes = dice.randrange(40, 60)
        poll = f"<p>Encuesta: sí {yes} %, no {100 - yes} % ({dice.randrange(1000, 9000)} votos)</p>"
        return (
            f"<h1>Noticia {number}</h1><p>Redacción. {dice.randrange(2, 400)} comentarios, {dice.randrange(10, 999)} compartidos</p>"
            f"{''.join(parts)}{poll}<p>{dice.choice(READERS)} y {dice.randrange(3, 60)} lectores más recomiendan esta noticia.</p>"
        )

    def _render_section(self, number: int, dice: Random, names: dict[str, str]) -> str:
        items = [
            f'<li class="{names["text"]}"><h2>Tema {k}</h2><p>{sentence}</p><span>{dice.randrange(1, 99)} opiniones</span></li>'
            for k, sentence in enumerate(self.texts[number])
        ]
        items.insert(dice.randrange(len(items)), f"<li><p>{dice.choice(INSERTS)}</p></li>")
        return f"<h1>Sección {number}</h1><p>Ahora leen esta sección {dice.randrange(20, 900)} personas.</p><ul>{''.join(items)}</ul>"

    def _render_offer(self, number: int, dice: Random, names: dict[str, str]) -> str:
        text = "".join(f'<p class="{names["text"]}">{sentence}</p>' for sentence in self.texts[number])
        opinions = "".join(
            f"<p>{name}: {dice.choice(('muy bueno', 'correcto', 'lo recomiendo', 'tardó un poco'))}</p>"
            for name in dice.sample(READERS, 3)
        )
        stock = "Disponible" if self.stock[number] else "Agotado"
        return (
            f"<h1>Oferta {number}</h1><p>Precio: {self.prices[number]},00 EUR</p><p>{stock}</p><p>{dice.randrange(2, 40)} personas lo tienen en la cesta</p>"
            f"{text}<h3>Opiniones</h3>{opinions}<p>Código de hoy: {dice.choice('ABCDEFGH')}{dice.randrange(100, 999)}</p>"
        )
