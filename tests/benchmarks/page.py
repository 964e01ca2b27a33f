"""Pages of the docs that programs fill in."""
import sys


def table(head, rows):
    lines = [head, ["---"] + ["--:"] * (len(head) - 1)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def fill(path, texts):
    """Puts each text between its marks, <!-- NAME --> and <!-- end -->."""
    page = path.read_text(encoding="utf-8")
    for name, text in texts.items():
        before, mark, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        if not end:
            sys.exit(f"{path}: there is no <!-- {name} --> with its <!-- end -->")
        page = before + mark + text + "\n" + end + after
    path.write_text(page, encoding="utf-8")
