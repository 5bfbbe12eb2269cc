"""The page, in Chromium: on a phone and on a desk, in light and in dark, on paper, by keyboard."""

import functools
import http.server
import os
import subprocess
import threading
from collections import Counter
from html.parser import HTMLParser

import webdriver
from harness import Skip, test
from tool import CHECKOUT

GOLDEN = os.path.join(CHECKOUT, "tests", "golden")
SCREENS = [(width, dark) for width in (360, 1440) for dark in (False, True)]
TAB = "\ue004"

# Boxes of the texts of each picture that are shown.
LABELS = """
return [...document.querySelectorAll('svg.chart')].map(svg => {
    const frame = svg.getBoundingClientRect();
    const labels = [...svg.querySelectorAll('text')]
        .filter(text => getComputedStyle(text).display != 'none' && text.textContent.trim())
        .map(text => {
            const box = text.getBoundingClientRect();
            return [text.textContent, box.left, box.top, box.right, box.bottom];
        });
    return [svg.querySelector('title').textContent,
            [frame.left, frame.top, frame.right, frame.bottom], labels];
});
"""

# Every text with its colour against what is behind it, as the contrast that WCAG 2 defines.
CONTRASTS = """
const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const parse = text => text.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const behind = element => {
    for (; element; element = element.parentElement) {
        const colour = parse(getComputedStyle(element).backgroundColor);
        if (colour.length == 3 || colour[3] == 1)
            return colour;
    }
    return [255, 255, 255];
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const found = {};
while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest('title, desc, defs'))
        continue;
    const style = getComputedStyle(element);
    const back = light(behind(element)), svg = element.closest('svg');
    const front = light(parse(svg ? style.fill : style.color));
    const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    const name = element.tagName + '.' + element.getAttribute('class');
    found[name] = Math.min(found[name] ?? 99, contrast);
}
return found;
"""

# Colours of lines and areas against the page.
FIGURES = """
const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const light = text => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
};
const back = light(getComputedStyle(document.body).backgroundColor);
const found = {};
for (const element of document.querySelectorAll('svg.chart use, svg.chart rect, .f path, .l path')) {
    const style = getComputedStyle(element);
    const front = light(style.fill == 'none' ? style.stroke : style.fill);
    found[style.fill + style.stroke] =
        (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
}
return found;
"""


class Tags(HTMLParser):
    """Elements as they are written, and the ends that match none."""

    EMPTY = {"meta", "link"}

    def __init__(self, text):
        super().__init__()
        self.counts, self.open, self.wrong = Counter(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.counts[tag] += 1
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.counts[tag] += 1

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Pages:
    """A server of a directory, which knows what it was asked for."""

    def __init__(self, directory):
        self.asked = []
        pages = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def end_headers(self):
                # One name, another page: the last one's must not be shown again.
                self.send_header("Cache-Control", "no-store")
                super().end_headers()

            def log_request(self, code="-", size="-"):
                pages.asked.append(self.path)

            def log_message(self, format, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=directory))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server.server_address[1]}/{name}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def browse(t):
    reason = webdriver.missing()
    if reason:
        raise Skip(reason)
    browser = webdriver.Browser()
    t.cleanup(browser.close)
    pages = Pages(t.root)
    t.cleanup(pages.close)
    return browser, pages


def render(t, name, *recordings):
    """The page of recordings, and its bytes. What is not to be trusted gives status 5."""
    path = t.path(name)
    done = subprocess.run([t.tool.public, "report", "-q", "-o", path, *recordings],
                          capture_output=True, text=True, timeout=60)
    t.check(done.returncode in (0, 5), f"report -o {name}: {done.returncode}, {done.stderr}")
    with open(path, encoding="utf-8") as file:
        return file.read()


def golden(name):
    return os.path.join(GOLDEN, name)


def overlap(a, b):
    return (min(a[3], b[3]) - max(a[1], b[1]) > 1 and min(a[4], b[4]) - max(a[2], b[2]) > 2)


def check_labels(t, browser, screen):
    for title, frame, labels in browser.ask(LABELS):
        for label in labels:
            t.check(label[1] >= frame[0] - 1 and label[2] >= frame[1] - 1 and
                    label[3] <= frame[2] + 1 and label[4] <= frame[3] + 1,
                    f"{screen}: '{label[0]}' {label[1:]} is not within {frame} of '{title}'")
        for i, label in enumerate(labels):
            for other in labels[:i]:
                t.check(not overlap(label, other),
                        f"{screen}: '{label[0]}' lies over '{other[0]}' in '{title}'")


def check_screen(t, browser, screen):
    width, seen = browser.ask("return [document.documentElement.scrollWidth, innerWidth];")
    t.check(width <= seen, f"{screen}: the page is {width} wide, the screen {seen}")
    check_labels(t, browser, screen)
    for name, contrast in browser.ask(CONTRASTS).items():
        t.check(contrast >= 4.5, f"{screen}: contrast of {name} is {contrast:.2f}")
    for name, contrast in browser.ask(FIGURES).items():
        t.check(contrast >= 3, f"{screen}: contrast of a figure in {name} is {contrast:.2f}")


@test(needs_bpf=False)
def a_page_fits_a_phone_and_a_desk_in_light_and_in_dark(t):
    browser, pages = browse(t)
    text = render(t, "page.html", golden("why.wkw"))
    charts = text.count("<figure ")
    t.check(charts >= 10, f"{charts} charts: too few to show anything")
    for width, dark in SCREENS:
        screen = f"{width} {'dark' if dark else 'light'}"
        browser.look(width, dark=dark)
        browser.open(pages.url("page.html"))
        t.equal(f"{screen}: pictures", browser.ask(
            "return document.querySelectorAll('svg.chart[role=img]').length;"), charts)
        t.check((sum(browser.ask("return getComputedStyle(document.body).backgroundColor"
                                 ".match(/\\d+/g).map(Number);")) < 200) == dark,
                f"{screen}: wrong background")
        check_screen(t, browser, screen)
        browser.ask("document.querySelectorAll('details').forEach(d => d.open = true);")
        check_screen(t, browser, f"{screen}, tables open")
        t.equal(f"{screen}: what the console says", browser.log(), [])
        t.equal(f"{screen}: requests", [u for u in browser.requests() if not u.startswith("data:")],
                [pages.url("page.html")])
    t.equal("what the server was asked for", pages.asked, ["/page.html"] * len(SCREENS))


# Boxes of a picture of stacks: what hovering says, and where they lie.
BOXES = """
return [...document.querySelectorAll('svg.chart')].map(svg =>
    [...svg.querySelectorAll('rect.fb')].filter(rect => rect.querySelector('title')).map(rect => {
        const box = rect.getBoundingClientRect(), frame = svg.getBoundingClientRect();
        return [rect.querySelector('title').textContent, box.left - frame.left, box.top - frame.top,
                box.width, frame.width];
    })).filter(boxes => boxes.length);
"""


def check_boxes(t, screen, boxes):
    """Each box within one of the row above, as wide as the figure that it tells."""
    whole = int(boxes[0][0].rsplit(": ", 1)[1].split()[0].replace(",", ""))
    rows = {}
    for title, left, top, width, frame in boxes:
        figure = int(title.rsplit(": ", 1)[1].split()[0].replace(",", ""))
        t.check(abs(width - frame * figure / whole) < 1.5,
                f"{screen}: '{title}' is {width} of {frame} wide")
        rows.setdefault(round(top), []).append((left, left + width))
    tops = sorted(rows)
    for above, below in zip(tops, tops[1:]):
        for left, right in rows[below]:
            t.check(any(a <= left + 1.5 and right <= b + 1.5 for a, b in rows[above]),
                    f"{screen}: a box from {left} to {right} hangs below none")


@test(needs_bpf=False)
def stacks_are_boxes_within_boxes(t):
    browser, pages = browse(t)
    text = render(t, "page.html", golden("stacks.wkw"))
    t.equal("pictures of stacks", text.count(" by stack</title>"), 2)
    for width, dark in SCREENS:
        screen = f"{width} {'dark' if dark else 'light'}"
        browser.look(width, dark=dark)
        browser.open(pages.url("page.html"))
        check_screen(t, browser, screen)
        pictures = browser.ask(BOXES)
        t.equal(f"{screen}: pictures", len(pictures), 2)
        for boxes in pictures:
            check_boxes(t, screen, boxes)
        browser.ask("document.querySelectorAll('details').forEach(d => d.open = true);")
        check_screen(t, browser, f"{screen}, tables open")
        t.equal(f"{screen}: scripts", browser.ask(
            "return document.querySelectorAll('script, img, iframe, b b').length;"), 0)
        t.check("</title>\\x1b[31m;\\xff&amp;: 20 wakeups" in "\n".join(b[0] for b in pictures[0]),
                f"{screen}: a hostile name is not told as it is")
        t.check(browser.ask("return document.body.innerText.includes("
                            "'schedule ← [jit] 0x7f5430 ← </title>\\\\x1b[31m;');"),
                f"{screen}: a hostile name is not shown as it is")
        t.equal(f"{screen}: what the console says", browser.log(), [])
    t.equal("what the server was asked for", set(pages.asked), {"/page.html"})


@test(needs_bpf=False)
def a_page_is_what_a_browser_makes_of_it(t):
    browser, pages = browse(t)
    browser.look(1440)
    for name in ("idle.wkw", "machine.wkw", "why.wkw", "stacks.wkw"):
        written = Tags(render(t, "page.html", golden(name)))
        t.equal(f"{name}: ends without a beginning", written.wrong, [])
        t.equal(f"{name}: elements left open", written.open, [])
        browser.open(pages.url("page.html"))
        made = Counter(browser.ask(
            "return [...document.querySelectorAll('*')].map(e => e.tagName.toLowerCase());"))
        t.equal(f"{name}: elements that the browser added or took", made - written.counts, Counter())
        t.equal(f"{name}: elements that it left out", written.counts - made, Counter())
        t.equal(f"{name}: links to nothing", browser.ask(
            "return [...document.querySelectorAll('a')].map(a => a.getAttribute('href'))"
            ".filter(href => !document.querySelector(href));"), [])
        t.equal(f"{name}: headings in order", browser.ask(
            "return [...document.querySelectorAll('h1,h2,h3')].filter((h, i, all) =>"
            " h.tagName[1] - (i ? all[i - 1].tagName[1] : 0) > 1).length;"), 0)
        t.equal(f"{name}: names that are there twice", browser.ask(
            "const ids = [...document.querySelectorAll('[id]')].map(e => e.id);"
            "return ids.filter((id, i) => ids.indexOf(id) != i);"), [])


@test(needs_bpf=False)
def a_page_is_read_by_keyboard(t):
    browser, pages = browse(t)
    render(t, "page.html", golden("idle.wkw"))
    browser.look(1440)
    browser.open(pages.url("page.html"))
    stops = []
    wanted = browser.ask(
        "return document.querySelectorAll('a, summary, [tabindex=\"0\"]').length -"
        " document.querySelectorAll('details:not([open]) .scroll').length;")
    for _ in range(wanted):
        browser.key(TAB)
        stops.append(browser.ask(
            "const e = document.activeElement, b = e.getBoundingClientRect();"
            "return [e.tagName, e.className, b.left >= 0 && b.width > 0,"
            " getComputedStyle(e).outlineStyle != 'none'];"))
    t.equal("first stop", stops[0][:2], ["A", "skip"])
    t.check("SUMMARY" in [s[0] for s in stops], "no table can be opened")
    for kind in ("A", "SUMMARY", "DIV"):
        t.equal(f"stops at {kind}", sum(s[0] == kind for s in stops), browser.ask(
            "return [...document.querySelectorAll('a, summary, div[tabindex]')].filter(e =>"
            " e.tagName == arguments[0] && !e.closest('details:not([open]) .scroll')).length;", kind))
    for stop in stops:
        t.check(stop[2] and stop[3], f"{stop[:2]} has the focus and does not show it")


@test(needs_bpf=False)
def a_page_on_paper_is_light_and_whole(t):
    browser, pages = browse(t)
    render(t, "page.html", golden("why.wkw"))
    browser.look(700, dark=True, media="print")
    browser.open(pages.url("page.html"))
    t.equal("colour of the paper", browser.ask("return getComputedStyle(document.body).backgroundColor;"),
            "rgb(255, 255, 255)")
    for what in ("nav", "details", ".skip"):
        t.equal(f"{what} on paper", browser.ask(
            "return getComputedStyle(document.querySelector(arguments[0])).display;", what), "none")
    t.check(browser.ask("return [...document.querySelectorAll('svg.chart')].every(s =>"
                        " s.getBoundingClientRect().height > 20);"), "a picture is not there")
    for name, contrast in browser.ask(CONTRASTS).items():
        t.check(contrast >= 4.5, f"on paper: contrast of {name} is {contrast:.2f}")


@test
def a_page_of_hostile_names_does_no_harm(t):
    browser, pages = browse(t)
    # What a thread can be called has 15 bytes; a command's arguments have no such limit.
    names = ("<script>alert(1)</script>", "\"'><svg onload=alert(1)>", "<img src=//x.invalid onerror=alert(1)>",
             "\x1b[31m\u202egnitide", "</style></title><b>")
    for name in names:
        path = t.path("page.html")
        done = t.tool.call("run", "-o", path, "-o", t.path("page.wkw"), "--", t.tool.subject("renamed"), name, "3")
        t.equal(f"status of a thread called {name!r}", done.status, 0)
        with open(path, encoding="utf-8") as file:
            written = Tags(file.read())
        browser.look(360)
        browser.open(pages.url("page.html"))
        t.equal(f"{name!r}: elements", Counter(browser.ask(
            "return [...document.querySelectorAll('*')].map(e => e.tagName.toLowerCase());")),
            written.counts)
        t.equal(f"{name!r}: scripts, images, frames", browser.ask(
            "return document.querySelectorAll('script, img, iframe, object, embed, form').length;"), 0)
        t.equal(f"{name!r}: what the console says", browser.log(), [])
        t.check(browser.ask("return document.body.innerText.includes(arguments[0]);",
                            name[:15] if name.isprintable() else "\\x1b[31m\\u{202e}gn"),
                f"{name!r} is not shown as it is")
        check_screen(t, browser, f"{name!r}")
    t.equal("what the server was asked for", set(pages.asked), {"/page.html"})


@test(needs_bpf=False)
def the_policy_of_a_page_stops_what_would_get_in(t):
    browser, pages = browse(t)
    text = render(t, "page.html", golden("idle.wkw"))
    evil = ("<script>document.title = 'owned'</script><img src='/image.png' onerror=\"document.title = 'owned'\">"
            "<style>@import '/more.css'; body { background: url(/paper.png) }</style>")
    with open(t.path("evil.html"), "w", encoding="utf-8") as file:
        file.write(text.replace("</main>", evil + "</main>"))
    browser.open(pages.url("evil.html"))
    t.check("owned" not in browser.ask("return document.title;"), "a script ran")
    t.equal("what the server was asked for", pages.asked, ["/evil.html"])
    t.check(len(browser.log()) >= 3, "the browser has not said what it refused")
