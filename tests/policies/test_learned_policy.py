"""`rtf.LearnedPolicy`: a value that prints, is drawn, saved and loaded."""

import json

import pytest

import recursive_tf as rtf
from recursive_tf.python.learned.automaton import Automaton
from tests.helpers.failures import message_of

AUTOMATON = Automaton(
    subgraph="tree",
    blocks=("tree 0", "tree/a 0", "tree/b 0"),
    encoding="sort",
    choices={(0,): 0, (1, 2): 2, (2, 1): 2, (1,): 1},
    steps={
        ((0,), 0, (0,)): 3,
        ((0,), 0, (1, 2)): 1,
        ((1, 2), 2, (1,)): 1,
        ((1,), 1, (1, 2)): 2,
        ((1,), 1, ()): 1,
    },
    launches={"fsm": 8, "critical_path": 9, "agenda": 9, "depth": 12, "least": 7},
)
POLICY = rtf.LearnedPolicy((AUTOMATON,))


def test_it_prints_as_the_automaton_that_it_is():
    assert str(POLICY).splitlines() == [
        "SubGraph 'tree': 8 launches; critical_path 9, agenda 9, depth 12, least 7",
        "  launch    when calls wait for",
        "  tree 0    tree 0",
        "  tree/b 0  tree/a 0, tree/b 0",
        "  tree/a 0  tree/a 0",
        "  and in 1 states that only trials were in",
    ]


def test_without_choices_it_says_what_it_does():
    nothing = Automaton(
        "f", ("f 0",), "sort", {}, {((0,), 0, ()): 1}, AUTOMATON.launches
    )
    assert "Does as the policy 'critical_path' does" in str(nothing)


def test_the_table_is_a_text_of_numbers():
    assert AUTOMATON.table() == "fsm sort 0:0 1:1 1,2:2 2,1:2"


def test_a_file_gives_it_back(tmp_path):
    POLICY.save(tmp_path / "policy.json")
    assert rtf.LearnedPolicy.load(tmp_path / "policy.json") == POLICY
    assert json.loads((tmp_path / "policy.json").read_text())["version"] == 1


@pytest.mark.parametrize("config", [{"version": 2, "automata": []}, {"automata": []}])
def test_a_file_of_another_version_is_refused(tmp_path, config):
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(config))
    message = message_of(lambda: rtf.LearnedPolicy.load(path), ValueError)
    assert f"a learned policy of version {config.get('version')}, or none" in message


def test_what_has_no_automata_is_refused(tmp_path):
    no_version = message_of(lambda: rtf.LearnedPolicy.from_config({}), ValueError)
    assert "a learned policy of version None, or none" in no_version
    config = json.loads(json.dumps(POLICY.config()))
    config.pop("automata")
    with pytest.raises(ValueError, match="This learned policy is damaged"):
        rtf.LearnedPolicy.from_config(config)
    (tmp_path / "policy.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="holds no learned policy, but dict"):
        rtf.LearnedPolicy.load(tmp_path / "policy.json")


@pytest.mark.parametrize(
    "damage",
    [
        lambda config: config.update(automata=7),
        lambda config: config["automata"].append(None),
        lambda config: config["automata"][0].pop("steps"),
        lambda config: config["automata"][0]["steps"].append([[0], 3, [0], 1]),
        lambda config: config["automata"][0]["steps"].append([[0], 0, 0, 1]),
        lambda config: config["automata"][0]["choices"].append([[1], 2]),
        lambda config: config["automata"][0]["choices"].append([[-1], -1]),
        lambda config: config["automata"][0]["blocks"].append(7),
        lambda config: config["automata"][0].update(encoding="first"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, damage):
    config = json.loads(json.dumps(POLICY.config()))
    damage(config)
    (tmp_path / "policy.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="This learned policy is damaged"):
        rtf.LearnedPolicy.load(tmp_path / "policy.json")


def test_options_with_it_come_back_from_their_config():
    options = rtf.Options(max_depth=7, policy=POLICY)
    config = json.loads(json.dumps(options.config()))
    assert rtf.Options.from_config(config) == options


def test_the_picture_has_each_state_with_what_is_launched():
    figure = rtf.LearnedPolicy((AUTOMATON, AUTOMATON)).picture()
    assert len(figure.axes) == 2
    texts = [text.get_text() for text in figure.axes[0].texts]
    states = [text for text in texts if text.startswith("{") or text == "end"]
    assert states == ["{A}\nA", "{B, C}\nC", "{B}\nB", "end"]
    assert "A  tree 0\nB  tree/a 0\nC  tree/b 0" in texts
    arrows = [
        text for text in figure.axes[0].texts if getattr(text, "arrow_patch", None)
    ]
    assert len(arrows) == len(AUTOMATON.steps)
