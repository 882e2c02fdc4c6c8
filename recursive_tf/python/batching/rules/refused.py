"""Ops that have no rule, for a reason that needs to be told."""

from recursive_tf.python.batching.rules.table import refusing, register_vectorization

_SEEDED = (
    *("StatelessMultinomial", "StatelessParameterizedTruncatedNormal"),
    *("StatelessRandomBinomial", "StatelessRandomGammaV2", "StatelessRandomGammaV3"),
    *("StatelessRandomGetKeyCounter", "StatelessRandomNormal"),
    *("StatelessRandomNormalV2", "StatelessRandomPoisson", "StatelessRandomUniform"),
    *("StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2"),
    *("StatelessRandomUniformInt", "StatelessRandomUniformIntV2"),
    *("StatelessRandomUniformV2", "StatelessShuffle", "StatelessTruncatedNormal"),
    "StatelessTruncatedNormalV2",
)


# TensorFlow's kernels take one seed.
register_vectorization(*_SEEDED)(
    refusing(
        "activations may differ in its seed, or in what it draws. Draw for all of them "
        "outside of the SubGraph and look it up, or use the dataflow executor."
    )
)
register_vectorization("StringFormat")(
    refusing(
        "it makes one text for each activation, e.g. for tf.print. Take it out of the "
        "SubGraph, or use the dataflow executor."
    )
)
