"""`rtf.learn_policy`: records runs, and learns from them what to launch when."""

import dataclasses
import itertools

import numpy as np
import pytest
import tensorflow as tf

import recursive_tf as rtf
from tests.helpers.failures import message_of
from tests.helpers.subgraphs import define_fib
from tests.policies.programs import (
    AABB,
    chains,
    define_kinds,
    random_chains,
    random_trees,
)


def learn(program, *batches, **choices):
    return rtf.learn_policy(program.run, batches, verbose=False, **choices)


def launches_of(program, batch):
    """Returns how many launches a run really takes."""
    explanation = rtf.explain(program.subgraph)
    program.run(*batch)
    return sum(explanation.launches.values())


@pytest.mark.parametrize("encoding", ["base", "max", "sort"])
def test_chains_that_nobody_told_wait_for_each_other(encoding):
    program = define_kinds(2)
    policy = learn(program, AABB, encoding=encoding)
    launches = policy.automata[0].launches
    assert launches["fsm"] < launches["critical_path"]
    taught = define_kinds(2, policy=policy)
    assert launches_of(taught, AABB) == launches["fsm"]
    assert launches_of(program, AABB) == launches["critical_path"]


def test_fsm_is_what_was_learned_last_for_the_program():
    program = define_kinds(2, name="taught", policy="fsm")
    before = launches_of(program, AABB)
    policy = learn(program, AABB)
    assert launches_of(program, AABB) == policy.automata[0].launches["fsm"] < before
    # Another definition of it is the same program, and one of another name is not.
    again = define_kinds(2, name="taught", policy="fsm")
    assert launches_of(again, AABB) < before
    other = define_kinds(2, name="other", policy="fsm")
    assert launches_of(other, AABB) == before


def test_values_and_gradients_are_those_of_the_dataflow_executor():
    policy = learn(define_kinds(2), AABB)
    results = []
    for choices in ({"policy": policy}, {"executor": "dataflow"}):
        program = define_kinds(2, **choices)
        with tf.GradientTape() as tape:
            states = program.run(*random_chains(9, 12, 2, seed=1))
            loss = tf.reduce_sum(states**2)
        results.append([states, *tape.gradient(loss, program.matrices)])
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def gradient_of_steepness(program, batch):
    # TensorFlow has no such gradient of a function that reads a variable of unknown
    # shape.
    run = program.run.python_function

    @tf.function
    def step():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_sum(run(*batch) ** 2)
            slope = inner.gradient(loss, program.matrices[0])
            steepness = tf.reduce_sum(slope**2)
        return outer.gradient(steepness, program.matrices[0])

    return step()


def test_a_gradient_of_a_gradient_does_not_take_the_table_of_other_blocks():
    policy = learn(define_kinds(2), AABB)
    results = []
    for choices in ({"policy": policy}, {"executor": "dataflow"}):
        program = define_kinds(2, **choices)
        results.append(gradient_of_steepness(program, chains([0, 1], [1])))
    np.testing.assert_allclose(*results, rtol=1e-10)


def test_one_seed_gives_one_policy():
    program = define_kinds(3)
    batches = [random_chains(8, 14, 3, seed) for seed in range(2)]
    one, same = (learn(program, *batches, seed=5) for _ in range(2))
    assert one == same


def test_a_step_may_train_and_call_several_programs():
    fib, program = define_fib(executor="batched"), define_kinds(2)

    @tf.function
    def step(batch, n):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(program.run(*batch))
        return tape.gradient(loss, program.matrices), fib(n)

    policy = rtf.learn_policy(step, [(AABB, 7), (AABB, 8)], verbose=False)
    names = {automaton.subgraph for automaton in policy.automata}
    assert names == {"tree", fib.name}


def test_the_only_argument_of_a_call_needs_no_tuple():
    policy = rtf.learn_policy(define_fib(executor="batched"), [6, 7], verbose=False)
    # Nothing can be saved, and no trial was made: each block waits alone.
    launches = policy.automata[0].launches
    assert launches["fsm"] == launches["least"]
    assert policy.automata[0].choices == {}


def test_a_definition_of_another_name_takes_it():
    policy = learn(define_kinds(2), AABB)
    again = define_kinds(2, name="tree_1", policy=policy)
    assert launches_of(again, AABB) == policy.automata[0].launches["fsm"]


def test_a_policy_of_another_program_is_refused_with_the_blocks_of_both():
    policy = learn(define_kinds(2), AABB)
    other = define_kinds(3, policy=policy)
    message = message_of(lambda: other.run(*AABB), rtf.SubGraphError)
    assert "SubGraph 'tree' has other blocks than the programs from which" in message
    assert "tree/inner/one_child/case 2 0" in message
    assert "rtf.learn_policy(step, batches)" in message


def test_without_a_batched_root_call_there_is_nothing_to_learn_from():
    program = define_kinds(2, executor="dataflow")
    message = message_of(lambda: learn(program, AABB), rtf.SubGraphError)
    assert "1 calls made no root call in the batched executor" in message
    assert "rtf.explain(...)" in message


def test_wrong_choices_are_refused():
    program = define_kinds(2)
    message = message_of(lambda: learn(program, AABB, encoding="best"), ValueError)
    assert "encoding='best': choose one of ('auto', 'base', 'max', 'sort')" in message
    message = message_of(lambda: learn(program, AABB, trials=0), ValueError)
    assert "trials=0: make at least 1" in message


def test_a_step_that_fails_fails_and_the_next_one_is_recorded():
    program = define_kinds(2)

    def fail(_):
        raise KeyError("no batch")

    with pytest.raises(KeyError):
        rtf.learn_policy(fail, [0], verbose=False)
    assert learn(program, AABB).automata


def test_progress_is_shown(capsys):
    rtf.learn_policy(define_kinds(2).run, [AABB])
    shown = capsys.readouterr().out
    assert "/300" in shown
    assert "critical_path" in shown


def test_structure_that_was_never_seen_falls_back():
    """A table of chains of two kinds is asked about trees of them."""
    policy = learn(define_kinds(2), chains([0, 0, 1], [1, 1, 0]))
    taught, plain = define_kinds(2, policy=policy), define_kinds(2)
    batch = random_chains(20, 9, 2, seed=3)
    np.testing.assert_allclose(taught.run(*batch), plain.run(*batch), rtol=1e-12)


def test_a_saved_model_has_the_policy(tmp_path):
    policy = learn(define_kinds(2), AABB)
    program = define_kinds(2, policy=policy)
    module = tf.Module()
    module.run, module.variables_of_run = program.run, program.variables
    expected = module.run(*AABB)
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    explanation = rtf.explain(loaded.run)
    np.testing.assert_allclose(loaded.run(*AABB), expected)
    assert "policy 'learned'" in str(explanation)
    launches = policy.automata[0].launches
    assert sum(explanation.launches.values()) == launches["fsm"]


def any_policy(program, seed):
    """Returns a policy that launches any block, in each state that there can be."""
    rng = np.random.default_rng(seed)
    [known] = learn(program, AABB, trials=1).automata
    blocks = range(len(known.blocks))
    states = [
        state
        for size in range(1, len(blocks) + 1)
        for state in itertools.combinations(blocks, size)
    ]
    choices = {state: int(rng.choice(state)) for state in states}
    automaton = dataclasses.replace(known, encoding="base", choices=choices)
    return rtf.LearnedPolicy((automaton,))


@pytest.mark.parametrize("seed", range(5))
def test_results_are_the_same_whatever_a_policy_does(seed):
    plain = define_kinds(3)
    other = define_kinds(3, policy=any_policy(plain, seed))
    batch = random_trees(8, 12, 3, seed)
    results = []
    for program in (plain, other):
        with tf.GradientTape() as tape:
            states = program.run(*batch)
        results.append([states, *tape.gradient(states, program.matrices)])
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("wrong", [(None, [()]), (print, 5)])
def test_it_takes_a_function_and_arguments(wrong):
    with pytest.raises(TypeError, match="a list of the arguments of its calls"):
        rtf.learn_policy(*wrong)
