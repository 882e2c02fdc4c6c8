"""Models written with `recursive_tf`, each a script with its data and training loop."""

from models.greetings import import_tensorflow

import_tensorflow()
