"""page.py - the HTML of a report: tables, and a page of sections and figures."""

import html
import re

import figures


def escape(text):
    return html.escape(str(text))


def row_name(name):
    """The name of a row, which a narrow column breaks at its slashes."""
    return f"<code>{escape(name).replace('/', '/<wbr>')}</code>"


def cell(content, tag="td", **attributes):
    extra = "".join(f' {key.rstrip("_")}="{value}"' for key, value in attributes.items())
    return f"<{tag}{extra}>{content}</{tag}>"


def table(caption, head, body, tall=False):
    """A table in a box of its own that scrolls. Cells are HTML; the first of each row is
    its heading."""
    heads = "".join(cell(escape(h), "th", scope="col") for h in head)
    lines = "\n".join(
        "<tr>" + cell(first, "th", scope="row") + "".join(cell(c) for c in rest) + "</tr>"
        for first, *rest in body
    )
    return (
        f'<div class="scroll{" tall" if tall else ""}" tabindex="0" role="region" '
        f'aria-label="{escape(caption)}"><table><caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>"
    )


def details(summary, content):
    return f"<details><summary>{escape(summary)}</summary>\n{content}\n</details>"


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


class Page:
    """Sections in order, and the figures that they show."""

    def __init__(self):
        self.sections = []  # (id, title, HTML)
        self.files = {}

    def figure(self, name, text):
        """A figure in the page, which is also a file of its own."""
        self.files[f"{name}.svg"] = figures.alone(text)
        return f"<figure>{text}</figure>"

    def draw(self, kind, name, title, *data, **options):
        """A figure of one of the kinds in figures.py."""
        name = slug(name)
        return self.figure(name, kind(name, title, *data, **options))

    def add(self, title, *content):
        content = [part for part in content if part]
        if content:
            self.sections.append((slug(title), title, "\n".join(content)))


def grid(parts):
    return f'<div class="figures">\n{"".join(parts)}\n</div>' if parts else ""
