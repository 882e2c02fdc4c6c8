"""How often the models of sentiment are right, with the spread of several seeds.

See docs/models.md, section "Accuracy".
"""
