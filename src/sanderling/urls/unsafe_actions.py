"""Recognize URLs, labels and forms that change something on a server: delete, log out, add to cart.

A crawl that fills in forms does not request them. A page *about* deleting is recognized by its form: a word inside a
longer name (`how-to-delete-a-branch`) and a static file (`delete.html`) are no actions.
"""

import re
from functools import lru_cache
from urllib.parse import unquote_plus

ACTION_NAMES = """
    accept activate addcart addtobag addtobasket addtocart addtowishlist approve archive ban basketadd block buy buynow
    cancel cartadd checkout clear clone confirm deactivate delete destroy disable dislike donate downvote drop duplicate
    empty enable erase flag follow install join kick kill leave like lock logoff logout markread merge move order
    placeorder publish purchase purge reboot remove rename report reset restart restore revert revoke rollback save
    shutdown signoff signout star start stop subscribe terminate trash truncate undo unfollow uninstall unlike unlock
    unpublish unstar unsubscribe update upgrade upload upvote vote wipe
    abmelden ausloggen abbestellen aktivieren bestellen kaufen kündigen löschen loeschen entfernen speichern stornieren
    warenkorb indenwarenkorb
    acheter ajouteraupanier annuler commander deconnexion déconnexion desabonner effacer enregistrer sedeconnecter
    supprimer
    agregaralcarrito añadiralcarrito borrar cancelar cerrarsesion comprar eliminar guardar pagar salir
    acquista aggiungialcarrello annulla cancella elimina esci rimuovi salva
    adicionaraocarrinho apagar excluir remover sair verwijderen uitloggen afmelden opslaan usuń wyloguj
    """
ACTIONS = frozenset(ACTION_NAMES.split())
# Also names of pages, fields and sort orders: only as the value of a parameter that names an action.
WEAK_NAMES = """
    archive block clear clone confirm drop empty flag follow install join kill leave like lock merge move order publish
    report reset restore save star stop update upgrade warenkorb start
    """
WEAK_ACTIONS = frozenset(WEAK_NAMES.split())
PARAMETER_NAMES = "a act action cmd command do event func function mode op operation task todo"
ACTION_PARAMETERS = frozenset(PARAMETER_NAMES.split())
PROGRAM_SUFFIX = re.compile(r"\.(?:php\d?|aspx?|do|cgi|pl|jsp|cfm|action)$", re.IGNORECASE)
STATIC_SUFFIX = re.compile(r"\.\w{1,6}$")
NOT_WORD = re.compile(r"[\W_]+")
MAX_URL = 2_000
POST_MARK = "__wb_method=POST"  # in the key of a POST request, as pywb and other archives write it


def join_words(text: str) -> str:
    """Return a name without separators, in lower case: `Add-to-Cart` gives `addtocart`."""
    return NOT_WORD.sub("", text).lower()


@lru_cache(50_000)
def find_unsafe_action(url: str) -> str:
    """Return the part of a URL that looks like an action, or ""."""
    path, _, query = url[:MAX_URL].partition("?")
    segments = unquote_plus(path).split("/")[3:]
    names = [join_words(PROGRAM_SUFFIX.sub("", part)) for part in segments]
    for number, (part, name) in enumerate(zip(segments, names, strict=True)):
        is_static = STATIC_SUFFIX.search(part) and not PROGRAM_SUFFIX.search(part)
        pair = name + names[number + 1] if number + 1 < len(names) else ""
        if (not is_static and name in ACTIONS - WEAK_ACTIONS) or pair in ("cartadd", "basketadd", "cartremove"):
            return part
    for parameter in query.split("&") if query else ():
        name, _, value = (join_words(unquote_plus(part)) for part in parameter.partition("="))
        if name in ACTIONS - WEAK_ACTIONS or (name in ACTION_PARAMETERS and value in ACTIONS):
            return parameter[:60]
    return ""


def is_action_label(text: str) -> bool:
    """Return whether a link text or a button is only the name of an action, such as "Log out"."""
    return len(text) < 40 and join_words(text) in ACTIONS - WEAK_ACTIONS


def is_post_url(url: str) -> bool:
    """Return whether a URL is the key of a POST request, which only a recipe may make."""
    return POST_MARK in url


def split_post_url(url: str) -> tuple[str, bytes]:
    """Return the address and the body of the POST request that a key stands for."""
    address, _, body = url.partition(POST_MARK)
    return address.rstrip("?&"), body.removeprefix("&").encode()
