"""Build a shop with django-oscar: run by `build_sites` with the Python of its own environment.

Arguments: output folder, number of products, file with words. Writes the pages as files, their types to FOLDER.json,
and the fields of the products to FOLDER-fields.
"""

import json
import logging
import random
import sys
from decimal import Decimal
from pathlib import Path

import django
from django.conf import settings
from django.urls import include, path

OUT, PRODUCTS = Path(sys.argv[1]), int(sys.argv[2])
WORDS = Path(sys.argv[3]).read_text().split()
CATALOG = "catalogue"  # an app of django-oscar
DASHBOARDS = f"reports users orders {CATALOG} offers partners pages ranges reviews vouchers communications shipping"
APPS = (
    *f"analytics checkout address shipping {CATALOG} {CATALOG}.reviews communication partner basket payment".split(),
    *("offer", "order", "customer", "search", "voucher", "wishlists", "dashboard"),
    *(f"dashboard.{name}" for name in DASHBOARDS.split()),
)
DJANGO = ["admin", "auth", "contenttypes", "sessions", "messages", "staticfiles", "sites", "flatpages"]
PROCESSORS = (
    "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
    "django.template.context_processors.i18n", "django.contrib.messages.context_processors.messages",
    "oscar.apps.search.context_processors.search_form", "oscar.apps.checkout.context_processors.checkout",
    "oscar.apps.communication.notifications.context_processors.notifications",
    "oscar.core.context_processors.metadata",
)  # fmt: skip


def name_app(app: str) -> str:
    parts = app.split(".")[::-1] if app.startswith("dashboard.") else app.split(".")
    return f"oscar.apps.{app}.apps.{''.join(part.capitalize() for part in parts)}Config"


def configure() -> None:
    import oscar.defaults

    values = {name: getattr(oscar.defaults, name) for name in dir(oscar.defaults) if name.startswith("OSCAR_")}
    settings.configure(
        **values,
        SECRET_KEY="x",  # noqa: S106 an empty shop in memory
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF=__name__,
        SITE_ID=1,
        USE_TZ=True,
        STATIC_URL="/static/",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        INSTALLED_APPS=[
            *(f"django.contrib.{app}" for app in DJANGO),
            "oscar.config.Shop",
            *map(name_app, APPS),
            "widget_tweaks",
            "haystack",
            "treebeard",
            "sorl.thumbnail",
            "django_tables2",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "oscar.apps.basket.middleware.BasketMiddleware",
        ],
        HAYSTACK_CONNECTIONS={"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}},
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": PROCESSORS},
            }
        ],
    )
    django.setup()
    logging.disable()  # images that are missing


def fill() -> dict[str, dict[str, str]]:
    """Create categories, products and reviews; return the fields of the products by path."""
    from oscar.core.loading import get_class, get_model
    from oscar.test.factories import create_product

    create_category = get_class(f"{CATALOG}.categories", "create_from_breadcrumbs")
    rng = random.Random(3)
    categories = [create_category(f"{a.capitalize()} > {b.capitalize()}") for a in WORDS[:4] for b in WORDS[4:8]]
    fields = {}
    for n in range(PRODUCTS):
        name, price = (
            " ".join(rng.sample(WORDS, rng.randint(2, 4))).capitalize(),
            Decimal(rng.randint(500, 99999)) / 100,
        )
        product = create_product(upc=f"UPC-{n:05}", title=name, price=price, num_in_stock=rng.choice((0, 3, 40)))
        product.description = f"<p>{' '.join(rng.choices(WORDS, k=rng.randint(10, 90)))}</p>"
        product.save()
        product.categories.set(rng.sample(categories, rng.randint(1, 2)))
        for _ in range(rng.choice((0, 0, 1, 3))):
            get_model("reviews", "ProductReview").objects.create(
                product=product, title=rng.choice(WORDS), body=" ".join(rng.choices(WORDS, k=12)),
                score=rng.randint(1, 5), name="x", email="x@example.org", status=1,
            )  # fmt: skip
        stock = product.stockrecords.first().num_in_stock
        fields[product.get_absolute_url()] = {
            "name": name,
            "upc": product.upc,
            "price": f"{price:.2f}",
            "stock": str(stock),
        }
    return fields


def crawl() -> dict[str, str]:
    """Write every page of the shop; return the type by path."""
    from django.test import Client
    from oscar.core.loading import get_model

    products = get_model(CATALOG, "Product").objects.all()
    pages = {f"/{CATALOG}/": "list", **{f"/{CATALOG}/?page={n}": "list" for n in range(2, 9)}}
    for product in products:
        url = product.get_absolute_url()
        pages |= {url: "product", f"{url}reviews/": "reviews"}
    for category in get_model(CATALOG, "Category").objects.all():
        pages |= {category.get_absolute_url(): "category", f"{category.get_absolute_url()}?page=2": "category"}
    pages |= {f"/search/?q={word}": "search" for word in WORDS[:20]}
    pages |= {"/basket/": "basket", "/accounts/login/": "login", "/offers/": "offers"}
    client, types = Client(), {}
    for url, kind in pages.items():
        answer = client.get(url)
        if answer.status_code == 200:
            name = url.strip("/").replace("/?", "?") + ("" if "?" in url else "/index.html")
            file = OUT / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.is_dir():
                continue
            file.write_bytes(answer.content)
            types[name] = kind
    return types


def main() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    fields = fill()
    OUT.mkdir(parents=True, exist_ok=True)
    types = crawl()
    OUT.with_suffix(".json").write_text(json.dumps({"package": OUT.name, "pages": types}, indent=0))
    known = {url.strip("/") + "/index.html": values for url, values in fields.items()}
    OUT.with_name(f"{OUT.name}-fields").write_text(json.dumps(known, indent=0))


configure()
from django.apps import apps  # noqa: E402

urlpatterns = [
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include(apps.get_app_config("oscar").urls[0])),
]
if __name__ == "__main__":
    main()
