"""Charts as inline SVG: a frozen dataclass in, a string out; the same data, the same bytes.

Colours are custom properties of the page's style sheet, so that a chart follows light, dark and print.
"""
