"""What learning a policy gives: a value that prints, is drawn, saved and loaded.

In: states, choices and counts of launches. Out: text, JSON, a picture, and the table
as the batched executor's ops take it. It knows nothing of programs.
"""
