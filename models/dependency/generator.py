"""Trees that a model makes: new ones, and given ones that it goes on with."""

from __future__ import annotations

import tensorflow as tf

from models.dependency.assembly import assemble
from models.dependency.choice import Choice, Greedy, Sampled
from models.dependency.growing import grow
from models.dependency.limits import Limits
from models.dependency.model import DependencyModel
from models.dependency.prefixes import Prefixes, no_prefixes, prefixes_of
from recursive_tf.data import Forest


class Generator:
    """Makes trees, by the model's own decisions over words and edges.

    A forest that it returns has words as integers, in the order of the sentence, and
    `children`. Its feature `cut` says how many edges each word was to have that the
    limits refused.

    Thread safety: none; seeds are set.
    """

    def __init__(
        self,
        model: DependencyModel,
        *,
        greedy: bool = False,
        limits: Limits | None = None,
        executor: str | None = None,
    ) -> None:
        """Makes a generator.

        Args:
            model: Whose weights are read whenever it generates.
            greedy: Whether to choose what is likeliest, and not to draw.
            limits: Where trees end; `Limits()` if not given.
            executor: What runs the recursion; the model's if not given.
        """
        self._model = model
        self._limits = limits or Limits()
        self._executor = executor or model.executor
        self._random = tf.random.Generator.from_seed(0)
        self._choice: Choice = Greedy() if greedy else Sampled(self._random)
        self._new = tf.function(self._new_trees)
        self._completed = tf.function(self._completed_trees)

    def generate(self, num_trees: int, seed: int = 0) -> Forest:
        """Returns new trees.

        Args:
            num_trees: How many.
            seed: With the same seed they are the same; and of another number of trees,
                the first ones are.

        Raises:
            ValueError: If there are no or too many trees for the limits.
        """
        self._limits.check(num_trees)
        self._random.reset_from_seed(seed)
        return self._new(tf.constant(num_trees))

    def complete(self, prefixes: Forest, seed: int = 0) -> Forest:
        """Returns trees that begin as given.

        The words of a prefix, and the edges between them, stay. Wherever it has no
        edge, the model decides whether there is one, and goes on from there: below
        words without dependents, and after the last dependent on either side. Where
        edges of a prefix cross, they stay, but the order of its words changes.

        Args:
            prefixes: A batch, words as integers, nodes in the order of the sentence.
            seed: As of `generate`.

        Raises:
            ValueError: As of `generate`.
        """
        self._limits.check(len(prefixes))
        self._random.reset_from_seed(seed)
        return self._completed(prefixes)

    def _new_trees(self, num_trees: tf.Tensor) -> Forest:
        return self._grow(no_prefixes(num_trees))

    def _completed_trees(self, forest: Forest) -> Forest:
        return self._grow(prefixes_of(forest, self._executor))

    def _grow(self, prefixes: Prefixes) -> Forest:
        rows = grow(self._model, prefixes, self._choice, self._limits, self._executor)
        return assemble(rows)
