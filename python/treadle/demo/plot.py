"""Curves as SVG: a logarithmic axis of values over steps, with a legend. No package is needed."""

import html
import math

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 60, 16, 30, 44
COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#8a5a9e")


def _ticks(low, high):
    """1, 2 and 5 times powers of ten from low to high. If there are many, the powers only."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    found = [m * 10.0**e for e in range(first, last + 1) for m in (1, 2, 5)]
    found = [v for v in found if low <= v <= high]
    return found if len(found) < 9 else [v for v in found if math.log10(v).is_integer()]


def curves(lines, across, up):
    """The text of an SVG file. lines: {name: values above 0, one for each step}; across, up: labels of the axes."""
    values = [v for line in lines.values() for v in line]
    low, high = min(values) / 1.2, max(values) * 1.2
    steps = max(max(map(len, lines.values())) - 1, 1)

    def x(step):
        return LEFT + (WIDTH - LEFT - RIGHT) * step / steps

    def y(value):
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - math.log(value / low) / math.log(high / low))

    parts = []
    for v in _ticks(low, high):
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(v):.1f}" y2="{y(v):.1f}" stroke="#ccd" />')
        parts.append(f'<text x="{LEFT - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{v:g}</text>')
    for step in range(0, steps + 1, max(1, math.ceil(steps / 6))):
        parts.append(f'<text x="{x(step):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{step}</text>')
    for i, (name, line) in enumerate(lines.items()):
        points = " ".join(f"{x(k):.1f},{y(v):.1f}" for k, v in enumerate(line))
        colour = COLOURS[i % len(COLOURS)]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" />')
        parts.append(f'<text x="{LEFT + 150 * i}" y="18" fill="{colour}">{html.escape(name)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{html.escape(across)}</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turn = f'transform="rotate(-90 14 {middle})"'
    parts.append(f'<text x="14" y="{middle}" text-anchor="middle" {turn}>{html.escape(up)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff" />{"".join(parts)}</svg>\n'
    )
