"""Primes: two functions that call each other.

A number is prime if no prime divides it, and to know which are the primes to try, one
asks the same of them. Every number of a range is asked about at once.

    python -m examples.primes
"""

import tensorflow as tf

import recursive_tf as rtf


@rtf.subgraph
def is_prime(n):
    """Tells whether a number is prime."""
    return n > 1 and not has_prime_divisor(n, 2)


@rtf.subgraph
def has_prime_divisor(n, start):
    """Tells whether a prime from `start` on, and up to the root of n, divides n."""
    if start * start > n:
        return False
    if n % start == 0 and is_prime(start):
        return True
    return has_prime_divisor(n, start + 1)


def main() -> None:
    """Prints the primes below 100."""
    numbers = tf.range(100)
    print(tf.boolean_mask(numbers, is_prime.map(numbers)).numpy())


if __name__ == "__main__":
    main()
