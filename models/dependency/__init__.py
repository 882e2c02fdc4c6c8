"""TD-TreeLSTM: a model of dependency trees, which it scores and generates.

Zhang, Lu, Lapata. Top-down Tree Long Short-Term Memory Networks. NAACL 2016.
"""
