"""Classify lines that consist of a boilerplate phrase ("related articles", "was this helpful"), in many languages.

Only letters are compared, so counters and punctuation make no difference.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

MAX_PHRASE_LENGTH = 80  # characters; longer lines are not looked up
RELATED_LINKS, FEEDBACK_PROMPT, FEEDBACK_ANSWER = "related_links", "feedback_prompt", "feedback_answer"
SHARE_BUTTON, SOCIAL_NETWORK, CALL_TO_ACTION = "share_button", "social_network", "call_to_action"
TABLE_OF_CONTENTS, NAVIGATION = "table_of_contents", "navigation"
PHRASES_BY_KIND = {
    RELATED_LINKS: """
        related articles|related article|related posts|related post|related stories|related content|related topics|
        related pages|related reading|related news|related links|related resources|related questions|related guides|
        related information|related help topics|you may also like|you might also like|you may also be interested in|
        you might also be interested in|you may be interested in|people also read|people also viewed|
        also of interest|recommended for you|recommended articles|recommended reading|recommended content|
        recommended stories|recommended posts|more articles|more stories|more posts|more like this|
        more on this topic|more on this story|more to read|more to explore|read next|read also|up next|
        what to read next|keep reading|continue reading|further articles|latest articles|latest news|latest posts|
        latest stories|recent articles|recent posts|recent news|recently viewed|recently viewed articles|
        popular articles|popular posts|popular topics|most read|most viewed|trending now|trending articles|
        articles in this section|other articles in this section|suggested articles|suggested for you|
        suggestions for you|similar articles|related products|similar products|similar items|related items|
        recommended products|recommended items|recently viewed products|recently viewed items|
        customers also bought|customers also viewed|customers who bought this item also bought|
        customers who viewed this item also viewed|frequently bought together|you may also need|
        products you may like|customers who bought this product also bought|we found other products you might like|
        kunden die diesen artikel gekauft haben kauften auch|
        les clients qui ont acheté ce produit ont également acheté|
        los clientes que adquirieron este producto también compraron|
        i clienti che hanno acquistato questo prodotto hanno comprato anche|
        ähnliche produkte|passende produkte|kunden kauften auch|kunden interessierten sich auch für|
        wird oft zusammen gekauft|zuletzt angesehene produkte|
        produits similaires|produits associés|produits apparentés|les clients ont aussi acheté|
        productos relacionados|productos similares|los clientes también compraron|
        prodotti correlati|prodotti simili|produtos relacionados|produtos similares|
        gerelateerde producten|vergelijkbare producten|andere klanten kochten ook|
        podobne produkty|klienci kupili także|relaterade produkter|liknande produkter|podobné produkty|
        похожие товары|с этим товаром покупают|関連商品|この商品を買った人はこんな商品も買っています|
        相关产品|相關產品|관련 상품|
        verwandte artikel|verwandte beiträge|verwandte themen|ähnliche artikel|
        ähnliche beiträge|weitere artikel|weitere beiträge|weitere themen|mehr zum thema|mehr artikel|
        das könnte sie auch interessieren|das könnte dich auch interessieren|auch interessant|weiterlesen|
        lesen sie auch|empfohlene artikel|neueste beiträge|aktuelle beiträge|beliebte artikel|meistgelesen|
        zuletzt angesehene artikel|articles connexes|articles associés|articles similaires|articles liés|
        articles récents|articles populaires|articles recommandés|à lire aussi|lire aussi|à lire également|
        à découvrir aussi|sur le même sujet|sur le même thème|dans la même rubrique|vous aimerez aussi|
        vous aimerez peut-être aussi|vous pourriez aussi aimer|cela peut vous intéresser|
        ces articles pourraient vous intéresser|recommandé pour vous|les plus lus|consultés récemment|
        articles consultés récemment|artículos relacionados|artículo relacionado|entradas relacionadas|
        contenido relacionado|temas relacionados|noticias relacionadas|también te puede interesar|
        también le puede interesar|te puede interesar|le puede interesar|quizás te interese|artículos recomendados|
        recomendado para ti|más artículos|más noticias|más leídas|lo más leído|lo más visto|artículos recientes|
        vistos recientemente|sigue leyendo|articoli correlati|articoli simili|articoli recenti|articoli consigliati|
        potrebbe interessarti|potrebbe interessarti anche|ti potrebbe interessare|ti potrebbero interessare|
        leggi anche|contenuti correlati|altri articoli|i più letti|visualizzati di recente|artigos relacionados|
        posts relacionados|conteúdo relacionado|conteúdos relacionados|tópicos relacionados|notícias relacionadas|
        leia também|você também pode gostar|também pode gostar|você pode gostar|talvez você goste|
        artigos recomendados|recomendado para você|mais lidas|mais lidos|mais artigos|artigos recentes|
        vistos recentemente|artigos vistos recentemente|gerelateerde artikelen|gerelateerde berichten|
        meer artikelen|lees ook|lees verder|misschien vind je dit ook leuk|aanbevolen artikelen|aanbevolen voor jou|
        meest gelezen|recent bekeken|powiązane artykuły|podobne artykuły|przeczytaj także|przeczytaj też|
        czytaj także|czytaj też|polecane artykuły|najczęściej czytane|ostatnio oglądane|relaterade artiklar|
        relaterade inlägg|läs även|läs också|mest läst|rekommenderade artiklar|relaterede artikler|læs også|
        mest læste|relaterte artikler|les også|mest lest|aiheeseen liittyvää|lue myös|luetuimmat|související články|
        podobné články|přečtěte si také|nejčtenější|kapcsolódó cikkek|ajánlott cikkek|articole similare|
        articole recomandate|citește și|σχετικά άρθρα|διαβάστε επίσης|ilgili makaleler|ilgili yazılar|
        ilgili haberler|bunları da beğenebilirsiniz|похожие статьи|связанные статьи|статьи по теме|
        материалы по теме|читайте также|рекомендуемые статьи|популярные статьи|недавно просмотренные|схожі статті|
        читайте також|関連記事|関連リンク|関連ページ|関連コンテンツ|関連トピック|おすすめ記事|おすすめの記事|
        人気記事|最近の記事|最近表示した記事|あわせて読みたい|こちらもおすすめ|
        この記事を読んだ人はこちらも読んでいます|相关文章|相关内容|相关阅读|相关推荐|相关新闻|推荐阅读|推荐文章|
        猜你喜欢|热门文章|最近查看的文章|相關文章|相關內容|相關閱讀|推薦閱讀|推薦文章|你可能也喜歡|
        熱門文章|관련 문서|관련 글|관련 기사|관련 콘텐츠|추천 글|추천 기사|인기 글|최근 본 문서|مقالات ذات صلة|
        مواضيع ذات صلة|اقرأ أيضا|קראו גם|
        מאמרים קשורים|บทความที่เกี่ยวข้อง|bài viết liên quan|artikel terkait|baca juga
    """,
    FEEDBACK_PROMPT: """
        was this helpful|was this article helpful|was this page helpful|was this information helpful|
        was this answer helpful|was this content helpful|was this useful|was this page useful|
        was this article useful|is this helpful|is this page helpful|is this page useful|is this article helpful|
        did you find this helpful|did you find this article helpful|did you find this page helpful|
        did you find this page useful|did you find this useful|did you find what you were looking for|
        did you find this information helpful|did this answer your question|did this article help|did this help|
        did this page help you|did this help you|how helpful was this article|how helpful was this page|
        how would you rate this article|how would you rate this page|rate this article|rate this page|
        was this article helpful to you|was this post helpful|found this helpful|
        out of found this helpful|people found this helpful|people found this article helpful|
        people found this useful|users found this helpful|of people found this helpful|
        of people found this page helpful|of people told us that this article helped them|
        is there anything wrong with this page|have more questions submit a request|
        war dieser artikel hilfreich|war diese seite hilfreich|war das hilfreich|war dieser beitrag hilfreich|
        war diese information hilfreich|war diese antwort hilfreich|war der artikel hilfreich|
        hat ihnen dieser artikel geholfen|hat dir das geholfen|hat ihnen das weitergeholfen|
        haben sie gefunden wonach sie gesucht haben|fanden sie diesen artikel hilfreich|
        fanden dies hilfreich|von fanden dies hilfreich|
        haben sie fragen anfrage einreichen|artikel bewerten|seite bewerten|
        cet article vous a-t-il été utile|cette page vous a-t-elle été utile|cet article était-il utile|
        cette page était-elle utile|cette information vous a-t-elle été utile|cela vous a-t-il été utile|
        cela vous a-t-il aidé|ce contenu vous a-t-il été utile|cette réponse vous a-t-elle été utile|
        cette page vous a-t-elle aidé|avez-vous trouvé cet article utile|avez-vous trouvé cette page utile|
        utilisateurs qui ont trouvé cela utile sur|
        vous avez dautres questions envoyer une demande|
        fue útil este artículo|fue útil esta página|fue útil|te ha resultado útil|te resultó útil|
        te ha resultado útil este artículo|te resultó útil este artículo|le ha resultado útil este artículo|
        le resultó útil este artículo|ha sido útil este artículo|ha sido útil|ha sido útil esta página|
        le ha sido útil esta página|te ha sido útil|te ha sido de ayuda|te ha servido de ayuda|
        ha resultado útil esta página|ha sido útil esta información|usuarios a los que les pareció útil|
        a de les pareció útil|tiene más preguntas enviar una solicitud|
        questo articolo ti è stato utile|questo articolo è stato utile|questa pagina è stata utile|
        ti è stato utile|ti è stata utile questa pagina|questa pagina ti è stata utile|è stato utile|
        utenti che ritengono sia utile su|altre domande invia una richiesta|
        este artigo foi útil|esta página foi útil|isto foi útil|isso foi útil|este artigo ajudou|
        essas informações foram úteis|esta informação foi útil|usuários acharam isso útil|de acharam isso útil|
        tem mais dúvidas envie uma solicitação|
        was dit artikel nuttig|was dit nuttig|was deze pagina nuttig|was dit artikel behulpzaam|heeft dit geholpen|
        heb je gevonden wat je zocht|aantal gebruikers dat dit nuttig vond van|
        czy ten artykuł był pomocny|czy ta strona była pomocna|czy to było pomocne|czy te informacje były pomocne|
        liczba użytkowników którzy uważają ten artykuł za przydatny z|
        var den här artikeln till hjälp|var den här sidan till hjälp|var detta till hjälp|hjälpte det här dig|
        var denne artikel nyttig|var denne side nyttig|var denne artikkelen nyttig|var dette nyttig|
        fant du det du lette etter|oliko tästä artikkelista apua|oliko tästä apua|oliko sivusta apua|
        byl tento článek užitečný|pomohl vám tento článek|hasznos volt ez a cikk|a fost util acest articol|
        ήταν χρήσιμο αυτό το άρθρο|bu makale yardımcı oldu mu|bu sayfa yardımcı oldu mu|faydalı oldu mu|
        была ли эта статья полезной|была ли статья полезна|помогла ли вам эта статья|эта статья была полезна|
        была ли эта информация полезной|пользователи считающие этот материал полезным из|
        чи була ця стаття корисною|この記事は役に立ちましたか|このページは役に立ちましたか|役に立ちましたか|
        この情報は役に立ちましたか|参考になりましたか|お役に立ちましたか|この記事は参考になりましたか|
        这篇文章有帮助吗|这篇文章对您有帮助吗|此页面对您有帮助吗|该内容对您有帮助吗|本文是否有帮助|
        這篇文章對您有幫助嗎|這篇文章有幫助嗎|此頁面對您有幫助嗎|이 문서가 도움이 되었습니까|
        도움이 되었나요|이 페이지가 도움이 되었나요|هل كان هذا المقال مفيدا|هل كانت هذه المقالة مفيدة
    """,
    FEEDBACK_ANSWER: """
        yes|no|yes no|somewhat|helpful|not helpful|give feedback|send feedback|give us feedback|leave feedback|
        share your feedback|send feedback about this page|feedback on this page|report a problem with this page|
        help us improve this page|help us improve|how can we improve this page|how can we improve it|
        how can we improve|how can we improve this article|what can we improve|have more questions|
        submit a request|still have questions|still need help|feedback geben|feedback senden|haben sie fragen|
        donner votre avis|donnez votre avis|donnez-nous votre avis|vous avez dautres questions|tiene más preguntas|
        hai altre domande|tem mais dúvidas|submit|send|cancel|close|thanks|thank you|thanks for your feedback|
        thank you for your feedback|thanks for letting us know|ja|nein|danke|absenden|danke für ihr feedback|
        vielen dank für ihr feedback|oui|non|envoyer|merci|merci pour votre retour|merci de votre avis|sí|enviar|
        gracias|gracias por tus comentarios|gracias por sus comentarios|sì|invia|grazie|grazie per il feedback|sim|
        não|obrigado|obrigado pelo feedback|nee|verzenden|bedankt|bedankt voor je feedback|tak|nie|dziękujemy|nej|
        tack|tak for din feedback|kyllä|ei|ano|ne|evet|hayır|да|нет|спасибо|так|ні|はい|いいえ|送信|是|否|提交|예|
        아니요|نعم|لا
    """,
    SHARE_BUTTON: """
        share|share this|share this article|share this page|share this post|share this story|share this content|
        share article|share page|share via|share on|share with friends|share link|share options|
        copy link|copy url|copy the link|copy link to clipboard|
        print|print page|print this page|print article|print this article|print this|printer friendly|
        printer friendly version|print version|email this page|email this article|email this|email a link|
        email a link to this page|email link|send by email|share by email|share via email|tweet|
        tweet this|pin it|share or print|
        back to top|back to top of page|return to top|go to top|go to top of page|to the top|
        top of page|top of the page|scroll to top|jump to top|
        teilen|seite teilen|artikel teilen|diese seite teilen|diesen artikel teilen|link kopieren|drucken|
        seite drucken|artikel drucken|druckversion|seite empfehlen|weiterempfehlen|per email teilen|
        nach oben|zum seitenanfang|seitenanfang|zurück nach oben|zurück zum seitenanfang|
        partager|partager cette page|partager cet article|partager la page|partager larticle|partager sur|
        partager par email|copier le lien|copier dans le presse papiers|imprimer|imprimer la page|
        imprimer cette page|imprimer larticle|envoyer par email|haut de page|retour en haut|
        retour en haut de page|retour en haut de la page|revenir en haut|
        compartir|compartir esta página|compartir este artículo|compartir en|copiar enlace|copiar el enlace|imprimir|
        imprimir esta página|enviar por correo|volver arriba|ir arriba|volver al inicio|
        condividi|condividi questa pagina|condividi questo articolo|condividi su|copia link|copia il link|stampa|
        stampa la pagina|torna su|torna allinizio|inizio pagina|
        compartilhar|compartilhe|partilhar|compartilhar esta página|compartilhar no|copiar link|voltar ao topo|
        voltar ao início|delen|deel dit artikel|deel deze pagina|link kopiëren|afdrukken|printen|
        pagina afdrukken|naar boven|terug naar boven|udostępnij|udostępnij artykuł|kopiuj link|skopiuj link|
        drukuj|wydrukuj|do góry|powrót do góry|na górę|dela sidan|dela artikeln|kopiera länk|skriv ut|
        till toppen|tillbaka till toppen|del denne side|kopiér link|udskriv|til toppen|del artikkel|kopier lenke|
        til topps|kopioi linkki|tulosta|sivun alkuun|takaisin ylös|sdílet|kopírovat odkaz|vytisknout|
        zpět nahoru|megosztás|nyomtatás|distribuie|κοινοποίηση|εκτύπωση|paylaş|bağlantıyı kopyala|yazdır|
        yukarı çık|başa dön|поделиться|копировать ссылку|скопировать ссылку|распечатать|печать|версия для печати|
        наверх|вверх|поділитися|シェア|シェアする|共有|共有する|リンクをコピー|印刷|印刷する|このページを印刷|
        ページトップへ|ページの先頭へ|ページの先頭へ戻る|トップへ戻る|ページ上部へ|分享|分享到|复制链接|打印|
        打印本页|返回顶部|回到顶部|複製連結|列印|回到頁首|返回頂部|공유|공유하기|링크 복사|인쇄|맨 위로|
        مشاركة|نسخ الرابط|طباعة|שיתוף|הדפסה|แชร์|พิมพ์|chia sẻ|bagikan
    """,
    CALL_TO_ACTION: """
        get started|get started now|get started free|get started for free|get started today|sign up|sign up now|
        sign up free|sign up for free|sign up today|join now|join us|join free|join for free|join today|register now|
        create account|create an account|create free account|create your account|create a free account|
        open an account|
        start free trial|start your free trial|start a free trial|start trial|start free|start for free|start now|
        try it free|try for free|try it for free|try free|try now|try it now|free trial|book a demo|request a demo|
        request demo|get a demo|schedule a demo|see a demo|watch demo|watch a demo|contact sales|talk to sales|
        talk to an expert|talk to us|subscribe|subscribe now|download now|download the app|get the app|
        jetzt starten|jetzt registrieren|kostenlos testen|kostenlos registrieren|jetzt testen|jetzt anmelden|
        konto erstellen|demo anfragen|demo buchen|jetzt abonnieren|abonnieren|app herunterladen|
        commencer|commencer maintenant|essai gratuit|essayer gratuitement|créer un compte|sinscrire|
        inscrivez vous|demander une démo|réserver une démo|sabonner|je mabonne|télécharger lapplication|
        empezar|empieza ahora|comenzar|prueba gratis|pruébalo gratis|crear cuenta|crear una cuenta|regístrate|
        registrarse|solicitar una demo|suscribirse|suscríbete|descargar la aplicación|
        inizia ora|prova gratis|registrati|crea un account|richiedi una demo|iscriviti|abbonati|scarica lapp|
        comece agora|comece grátis|experimente grátis|criar conta|cadastre se|inscreva se|assine|assine já|
        aan de slag|probeer gratis|account aanmaken|meld je aan|vraag een demo aan|abonneren|
        zacznij teraz|wypróbuj za darmo|załóż konto|zarejestruj się|subskrybuj|kom igång|skapa konto|prova gratis|
        ücretsiz deneyin|kaydol|hemen başla|начать|попробовать бесплатно|зарегистрироваться|создать аккаунт|
        подписаться|無料で始める|無料登録|今すぐ登録|会員登録|新規登録|无料试用|免费试用|立即注册|免费注册|立即開始|
        免費試用|立即註冊|무료로 시작하기|회원가입|무료 체험
    """,
    TABLE_OF_CONTENTS: """
        contents|table of contents|on this page|in this article|in this page|in this section|in this guide|
        page contents|jump to|jump to section|sections|inhalt|inhaltsverzeichnis|auf dieser seite|in diesem artikel|
        sommaire|table des matières|sur cette page|dans cet article|contenido|contenidos|índice|tabla de contenido|
        tabla de contenidos|en esta página|en este artículo|indice|sommario|in questa pagina|in questo articolo|
        conteúdo|sumário|nesta página|neste artigo|inhoud|inhoudsopgave|op deze pagina|in dit artikel|spis treści|
        na tej stronie|w tym artykule|innehåll|på den här sidan|indhold|innhold|på denne siden|på denne side|
        sisällys|sisällysluettelo|obsah|tartalom|cuprins|περιεχόμενα|içindekiler|bu sayfada|содержание|оглавление|
        на этой странице|зміст|目次|このページの内容|この記事の内容|目录|本页内容|目錄|本頁內容|목차|이 페이지의 내용
    """,
}
RELATED_LINKS_PREFIXES = """
    more from|more in|more about|other articles|more stories from|latest from|popular in|mehr von|mehr aus|
    weitere artikel|plus darticles|autres articles|más de|más artículos|otros artículos|altri articoli|
    altro da|mais de|outros artigos|    meer van|meer uit|więcej z|mer från|mere fra|mer fra|еще по теме|другие статьи
"""
NETWORK_PHRASES = """
    facebook|facebook messenger|messenger|twitter|x|linkedin|whatsapp|telegram|reddit|pinterest|tumblr|xing|
    bluesky|mastodon|threads|line|pocket|flipboard|viber|vk|vkontakte|weibo|wechat|weixin|kakaotalk|hacker news|
    shares|post|save|top|merken|del|dela|jaa|tisk|copied|email|mail|courriel|correo|correo electrónico|posta|sms|rss|
    on|auf|sur|en|su|via|by|par|per|opens in a new tab|
    opens in a new window|open in new window|open in new tab|opens in new window|opens in new tab|new window
"""
NON_LETTER_BYTES = bytes(set(range(128)) - set(b"abcdefghijklmnopqrstuvwxyz\n"))
replace_symbols = re.compile(
    rb"\xc2[\x80-\xbf]|\xe2[\x80-\xbf][\x80-\xbf]|\xe3\x80[\x80-\x82]|\xef\xbc[\x80-\x8f\x9a-\xa0]|\xef\xb8\x8f|"
    rb"\xf0\x9f[\x80-\xbf][\x80-\xbf]"
).sub  # punctuation, arrows, and emoji


def compute_phrase_keys(lines: Sequence[str]) -> list[bytes]:
    """Return the lowercase letters of each line, UTF-8 encoded."""
    raw = "\n".join(lines).lower().encode("utf-8", "replace").translate(None, NON_LETTER_BYTES)
    return (raw if raw.isascii() else replace_symbols(b"", raw)).split(b"\n") if lines else []


def _parse_phrases(phrases: str) -> list[bytes]:
    return compute_phrase_keys([phrase for phrase in " ".join(phrases.split()).split("|") if phrase.strip()])


NAVIGATION_PREFIX_KEYS = tuple(
    _parse_phrases("""
        home|start|accueil|inicio|início|strona główna|hem|hjem|forside|etusivu|domů|главная|ホーム|首页|首頁|홈|
        next|prev|weiter|nächste|zurück|vorherige|suivant|précédent|siguiente|anterior|successiv|precedente|próxim|
        volgende|vorige|następn|poprzedni|nästa|föregående|следующая|предыдущая|次へ|次の|前へ|前の|下一|上一
    """)
)  # first words of breadcrumbs and pagination links
KIND_BY_PHRASE_KEY = {
    key: kind for kind, phrases in reversed(PHRASES_BY_KIND.items()) for key in _parse_phrases(phrases)
}
RELATED_LINKS_PREFIX_KEYS = tuple(_parse_phrases(RELATED_LINKS_PREFIXES))


def _build_alternation(*phrases: str) -> bytes:
    keys = sorted({key for phrase_list in phrases for key in _parse_phrases(phrase_list)}, key=len, reverse=True)
    return b"(?>" + b"|".join(map(re.escape, keys)) + b")"


is_feedback_row = re.compile(
    _build_alternation(PHRASES_BY_KIND[FEEDBACK_PROMPT]) + _build_alternation(PHRASES_BY_KIND[FEEDBACK_ANSWER]) + b"++"
).fullmatch  # a question and its answers on the same line
is_share_row = re.compile(_build_alternation(PHRASES_BY_KIND[SHARE_BUTTON], NETWORK_PHRASES) + b"++").fullmatch
has_share_phrase = re.compile(_build_alternation(PHRASES_BY_KIND[SHARE_BUTTON])).search
PHRASE_KEY_PREFIXES = {
    key[:2]
    for some in (PHRASES_BY_KIND[FEEDBACK_PROMPT], PHRASES_BY_KIND[SHARE_BUTTON], NETWORK_PHRASES)
    for key in _parse_phrases(some)
}
PHRASE_KEY_PREFIXES |= {key[:2] for key in NAVIGATION_PREFIX_KEYS} | {b"x%c" % letter for letter in range(256)}
"""First two bytes of link lines that may match, as a prefilter."""


@lru_cache(maxsize=4_096)  # menus are the same on every page
def classify_link_line(key: bytes, is_link_only: bool) -> str | None:
    """Return the kind of a line with several phrases in a row, such as share buttons; None for text. Cached."""
    if is_feedback_row(key):
        return FEEDBACK_PROMPT
    if key.startswith(NAVIGATION_PREFIX_KEYS):
        return NAVIGATION
    if not is_link_only or not is_share_row(key):
        return None
    return SHARE_BUTTON if has_share_phrase(key) else SOCIAL_NETWORK


def classify_phrase(line: str) -> str | None:
    """Return the phrase kind of a line, or None."""
    return KIND_BY_PHRASE_KEY.get(compute_phrase_keys([line])[0]) if 0 < len(line) <= MAX_PHRASE_LENGTH else None
