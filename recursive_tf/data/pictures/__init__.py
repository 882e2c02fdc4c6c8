"""Pictures of trees: in a terminal, as SVG, in a notebook."""
