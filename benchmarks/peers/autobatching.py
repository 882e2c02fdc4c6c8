"""DyNet with autobatching, as `dy`. It reads its configuration when it is imported."""

import dynet_config

# Megabytes, which grow where they have to.
dynet_config.set(mem=2048, autobatch=1, random_seed=1)
import dynet as dy  # noqa: E402

__all__ = ["dy"]
