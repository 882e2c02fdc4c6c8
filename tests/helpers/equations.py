"""The cells' equations in NumPy, as the papers have them: a matrix for each gate.

They share no code with the library, with `docs/from_scratch.py`, nor with
`benchmarks/works`. Each function takes weights by name and returns a function of x and
of the children's states, which returns a state whose first element is what the cell
shows; that of sequences, `LSTM`, says what it takes. `activation` stands for tanh, and
`gating` for the logistic function in gates.
"""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gates(kernel, bias, *names):
    """Returns a function x -> W x + b for each gate, from one matrix for all."""
    rows = np.split(kernel.T, len(names))
    offsets = np.split(bias, len(names))
    return {
        name: (lambda x, w=w, b=b: w @ x + b)
        for name, w, b in zip(names, rows, offsets, strict=True)
    }


def LSTM(kernel, bias, names="ifou", activation=np.tanh, gating=sigmoid):  # noqa: N802
    """Returns a step of a sequence: from vectors, e.g. x and h, and c, to h and c.

    Args:
        kernel: Of the vectors, one after the other.
        bias: Of the gates.
        names: Of the gates, in their order in both: input, forget, output, update.
        activation: What stands for tanh.
        gating: What stands for the logistic function.
    """
    gate = gates(kernel, bias, *names)

    def step(vectors, c):
        q = np.concatenate(vectors)
        c = gating(gate["i"](q)) * activation(gate["u"](q)) + gating(gate["f"](q)) * c
        return gating(gate["o"](q)) * activation(c), c

    return step


def TreeRNN(weights, activation=np.tanh, gating=None):  # noqa: N802
    w, b = weights["recurrent_kernel"].T, weights["recurrent_bias"]

    def cell(x, children):
        if not children:
            return (x,)
        return (activation(w @ np.concatenate([children[0][0], children[1][0]]) + b),)

    return cell


def RNTN(weights, activation=np.tanh, gating=None):  # noqa: N802
    w, b = weights["recurrent_kernel"].T, weights["recurrent_bias"]
    units = len(b)
    tensor = weights["tensor"].reshape([2 * units, 2 * units, units])

    def cell(x, children):
        if not children:
            return (x,)
        q = np.concatenate([children[0][0], children[1][0]])
        quadratic = [q @ tensor[:, :, k] @ q for k in range(units)]
        return (activation(quadratic + w @ q + b),)

    return cell


def MVRNN(weights, activation=np.tanh, gating=None):  # noqa: N802
    w, bias = weights["vector_kernel"].T, weights["vector_bias"]
    w_m = weights["matrix_kernel"].T
    units = len(bias)

    def cell(x, children):
        if not children:
            return x[:units], np.eye(units) + x[units:].reshape([units, units]).T
        (a, a_matrix), (b, b_matrix) = children
        p = activation(w @ np.concatenate([b_matrix @ a, a_matrix @ b]) + bias)
        return p, w_m @ np.concatenate([a_matrix, b_matrix])

    return cell


def TreeLSTM(weights, activation=np.tanh, gating=sigmoid):  # noqa: N802
    at_leaf = gates(weights["leaf_kernel"], weights["leaf_bias"], *"iou")
    inside = gates(weights["recurrent_kernel"], weights["recurrent_bias"], *"ilrou")

    def cell(x, children):
        if not children:
            c = gating(at_leaf["i"](x)) * activation(at_leaf["u"](x))
            return gating(at_leaf["o"](x)) * activation(c), c
        (h_l, c_l), (h_r, c_r) = children
        q = np.concatenate([h_l, h_r])
        c = gating(inside["i"](q)) * activation(inside["u"](q))
        c += gating(inside["l"](q)) * c_l + gating(inside["r"](q)) * c_r
        return gating(inside["o"](q)) * activation(c), c

    return cell


def TreeGRU(weights, activation=np.tanh, gating=sigmoid):  # noqa: N802
    u, b = weights["candidate_kernel"].T, weights["candidate_bias"]
    names = ("reset_l", "reset_r", "l", "r", "new")
    gate = gates(weights["gate_kernel"], weights["gate_bias"], *names)

    def cell(x, children):
        if not children:
            return (activation(weights["leaf_kernel"].T @ x + weights["leaf_bias"]),)
        (left,), (right,) = children
        q = np.concatenate([left, right])
        reset = [
            gating(gate["reset_l"](q)) * left,
            gating(gate["reset_r"](q)) * right,
        ]
        new = activation(u @ np.concatenate(reset) + b)
        scores = [np.exp(gate[name](q)) for name in ("l", "r", "new")]
        mixed = scores[0] * left + scores[1] * right + scores[2] * new
        return (mixed / sum(scores),)

    return cell


def Nary(weights, activation=np.tanh, gating=sigmoid):  # noqa: N802
    of_x = gates(weights["input_kernel"], weights["gate_bias"], *"iouf")
    u = weights["recurrent_kernel"].T
    units = len(weights["gate_bias"]) // 4
    count = u.shape[1] // units
    # U[gate][l] is the matrix of child l.
    by_gate = dict(
        zip(["i", "o", "u", *range(count)], np.split(u, 3 + count), strict=1)
    )
    by_gate = {gate: np.split(rows, count, axis=1) for gate, rows in by_gate.items()}

    def cell(x, children):
        def of_children(gate):
            pairs = zip(by_gate[gate], children, strict=False)
            return sum((u_l @ h for u_l, (h, _) in pairs), np.zeros(units))

        i = gating(of_x["i"](x) + of_children("i"))
        o = gating(of_x["o"](x) + of_children("o"))
        c = i * activation(of_x["u"](x) + of_children("u"))
        for k, (_, c_k) in enumerate(children):
            c = c + gating(of_x["f"](x) + of_children(k)) * c_k
        return o * activation(c), c

    return cell


def ChildSum(weights, activation=np.tanh, gating=sigmoid):  # noqa: N802
    of_x = gates(weights["input_kernel"], weights["gate_bias"], *"iouf")
    u_i, u_o, u_u = np.split(weights["recurrent_kernel"].T, 3)
    u_f = weights["forget_kernel"].T

    def cell(x, children):
        h = sum((h_k for h_k, _ in children), np.zeros(len(u_f)))
        i = gating(of_x["i"](x) + u_i @ h)
        o = gating(of_x["o"](x) + u_o @ h)
        c = i * activation(of_x["u"](x) + u_u @ h)
        for h_k, c_k in children:
            c = c + gating(of_x["f"](x) + u_f @ h_k) * c_k
        return o * activation(c), c

    return cell


def states_of(cell, left, right, x):
    """Returns the states of the nodes of binary trees, whose leaves have no child: -1.

    Args:
        cell: One of the above.
        left: The left child of each node, which comes before it.
        right: The right one.
        x: What each node takes.
    """
    states = []
    for own, *links in zip(x, left, right, strict=True):
        states.append(cell(own, [states[child] for child in links if child >= 0]))
    return states
