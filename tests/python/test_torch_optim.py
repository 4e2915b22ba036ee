"""treadle.torch.optim: steps by NumPy's formulas, what a step launches, state that is saved and goes on."""

import copy
import inspect
import threading
import warnings

import numpy as np
import pytest

import treadle as td
import treadle.torch as torch
from treadle.torch import nn, optim

RNG = np.random.default_rng(5)
START, GRADS = RNG.standard_normal((3, 4)), RNG.standard_normal((6, 3, 4))


def sgd(p, g, s, t):
    s["b"] = g + 0.9 * s.get("b", 0)
    return p - 0.1 * (g + 0.9 * s["b"])


def adam(p, g, s, t, decay=0.0):
    g = g + decay * p
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.99 * s.get("v", 0) + 0.01 * g * g
    return p - 0.1 * (s["m"] / (1 - 0.9**t)) / (np.sqrt(s["v"] / (1 - 0.99**t)) + 1e-8)


def adamw(p, g, s, t):
    return adam(p * (1 - 0.1 * 0.05), g, s, t)


def rmsprop(p, g, s, t):
    s["v"] = 0.9 * s.get("v", 0) + 0.1 * g * g
    return p - 0.1 * g / (np.sqrt(s["v"]) + 1e-8)


def adagrad(p, g, s, t):
    s["v"] = s.get("v", 0) + g * g
    return p - 0.1 * g / (np.sqrt(s["v"]) + 1e-10)


ADAM = {"lr": 0.1, "betas": (0.9, 0.99)}
REFERENCES = {
    "SGD": (sgd, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    "Adam": (adam, ADAM),
    "Adam, decay": (lambda p, g, s, t: adam(p, g, s, t, 0.05), {**ADAM, "weight_decay": 0.05}),
    "AdamW": (adamw, {**ADAM, "weight_decay": 0.05}),
    "RMSprop": (rmsprop, {"lr": 0.1, "alpha": 0.9}),
    "Adagrad": (adagrad, {"lr": 0.1}),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_steps_by_numpy(name):
    reference, options = REFERENCES[name]
    p = nn.Parameter(torch.from_numpy(START.copy()))
    optimizer = getattr(optim, name.split(",")[0])([p], **options)
    want, state = START, {}
    for t, g in enumerate(GRADS, 1):
        p.grad = torch.from_numpy(g)
        optimizer.step()
        want = reference(want, g, state, t)
        np.testing.assert_allclose(p.detach().numpy(), want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "options"), [("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adam", {}), ("AdamW", {"amsgrad": True}),
                                               ("RMSprop", {"momentum": 0.5}), ("NAdam", {}), ("Adamax", {})])
def test_a_step_is_one_kernel_for_each_parameter(name, options):
    """It writes the parameter and all of its state."""
    params = [nn.Parameter(torch.ones(n, 3)) for n in (40, 50, 60)]
    optimizer = getattr(optim, name)(params, **options)
    for _ in range(3):
        for i, p in enumerate(params):
            p.grad = torch.full((40 + 10 * i, 3), 0.5 + i)
        td.evaluate(*(p.grad._array for p in params))
        with td.profile() as profile:
            optimizer.step()
        launched = sum(row["calls"] for row in profile.rows() if row["kind"] == "kernel")
    assert launched == len(params)
    with td.profile() as profile:  # nothing is left over
        [t.numpy() for s in optimizer.state.values() for t in s.values() if t.dim()]
    assert not [row for row in profile.rows() if row["kind"] == "kernel"]


def test_values_read_before_a_step_stay():
    p = nn.Parameter(torch.ones(5))
    kept, view = p.detach() * 2, p.detach()
    p.grad = torch.ones(5)
    optim.SGD([p], lr=1.0).step()
    assert kept.tolist() == [2] * 5 and view.tolist() == [0] * 5 == p.tolist()


def gradients(step, dev):
    """Of three parameters: whole, by columns, and one that is still an expression in every other step."""
    rng = np.random.default_rng(step)
    a, b, c = (torch.from_numpy(rng.standard_normal(s).astype("float32")).to(dev) for s in ((7, 9), (9, 7), (5,)))
    return a, b.T, c * 0.5 if step % 2 else c


FORMULAS = [("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
            ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}), ("Adam", {"weight_decay": 0.1}),
            ("Adam", {"amsgrad": True, "maximize": True}), ("AdamW", {"weight_decay": 0.1, "lr": torch.tensor(0.01)})]  # fmt: skip


@pytest.mark.parametrize("device", ["cpu", "null"])
@pytest.mark.parametrize(("name", "options"), FORMULAS)
def test_formulas_give_what_recording_gives(name, options, device, monkeypatch):
    def run():
        params = [nn.Parameter(torch.ones(s, device=device)) for s in ((7, 9), (7, 9), (5,))]
        optimizer = getattr(optim, name)(params, **options)
        for step in range(4):
            for p, g in zip(params, gradients(step, device)):
                p.grad = g
            optimizer.step()
        return [t.detach().cpu().numpy().tobytes() for t in params + [v for s in optimizer.state.values() for v in s.values()
                                                               if isinstance(v, torch.Tensor)]]  # fmt: skip

    in_place, asked = run(), []
    monkeypatch.setattr(optim.optimizer.Each, "run", lambda self, numbers, rows: asked.append(rows) or rows)
    assert run() == in_place and asked


def test_a_formula_writes_what_is_the_parameters_alone():
    """Copies that are recorded or share memory keep their values; views follow; a captured step is recorded."""
    p = nn.Parameter(torch.ones(6))
    optimizer = optim.SGD([p], lr=1.0, momentum=0.5)
    again = p.detach()._array + 0
    for _ in range(2):
        p.grad = torch.ones(6)
        version, kept, view = p._version, p.detach().clone(), p.detach()[::2]
        before = p.tolist()
        optimizer.step()
        assert kept.tolist() == before and view.tolist() == p.tolist()[::2] and p._version > version
    assert again.get().tolist() == [1] * 6 and p.tolist() == [-1.5] * 6
    frozen = torch.zeros(6).expand(6)
    p.grad = p.detach()  # on the parameter's own storage
    optimizer.step()
    assert frozen.tolist() == [0] * 6 and p.tolist() == [-0.75] * 6


def test_threads_share_a_formula():
    def run(seed, out):
        params = [nn.Parameter(torch.full((50 + i,), float(seed))) for i in range(3)]
        optimizer = optim.Adam(params, lr=0.1 * seed)
        for step in range(30):
            for p in params:
                p.grad = p.detach() * 0.5 + step
                td.evaluate(p.grad._array)
            optimizer.step()
        out[seed] = [p.tolist() for p in params]

    want, got = {}, {}
    for seed in (1, 2, 3):
        run(seed, want)
    threads = [threading.Thread(target=run, args=(seed, got)) for seed in want]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == want


def test_state_goes_on_where_it_was():
    def run(steps, optimizer, p):
        for g in GRADS[steps]:
            p.grad = torch.from_numpy(g)
            optimizer.step()

    p = nn.Parameter(torch.from_numpy(START.copy()))
    optimizer = optim.Adam([p], lr=0.1)
    run(slice(0, 3), optimizer, p)
    q = nn.Parameter(p.detach().clone())
    other = optim.Adam([q], lr=0.5)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert other.param_groups[0]["lr"] == 0.1 and other.state_dict()["state"][0]["step"] == 3
    run(slice(3, 6), optimizer, p)
    run(slice(3, 6), other, q)
    np.testing.assert_array_equal(p.detach().numpy(), q.detach().numpy())
    with pytest.raises(ValueError, match="different number of parameter groups"):
        other.load_state_dict({"state": {}, "param_groups": []})


def test_groups_hooks_and_tensors_as_options():
    a, b, c = (nn.Parameter(torch.zeros(2)) for _ in range(3))
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 2.0}], lr=torch.tensor(1.0))
    optimizer.add_param_group({"params": [c], "lr": 3.0})
    calls = []
    optimizer.register_step_pre_hook(lambda o, args, kwargs: calls.append("before"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: calls.append("after"))
    for p in (a, b, c):
        p.grad = torch.ones(2)
    optimizer.step()
    assert [p.tolist() for p in (a, b, c)] == [[-1, -1], [-2, -2], [-3, -3]] and calls == ["before", "after"]
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [a]})
    optimizer.zero_grad()
    assert a.grad is None
    optimizer.step()  # nothing has a gradient


def test_lbfgs_finds_the_minimum():
    p = nn.Parameter(torch.tensor([-1.2, 1.0], dtype=torch.float64))
    optimizer = optim.LBFGS([p], line_search_fn="strong_wolfe", max_iter=60)

    def closure():
        optimizer.zero_grad()
        loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
        loss.backward()
        return loss

    first = optimizer.step(closure)
    assert first.item() == pytest.approx(24.2)
    np.testing.assert_allclose(p.detach().numpy(), [1, 1], atol=1e-4)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_grows_what_it_is_to_maximize(search):
    """As many steps over the negative loss give the same."""

    def found(sign):
        p = nn.Parameter(torch.tensor([2.0, -1.0], dtype=torch.float64))
        optimizer = optim.LBFGS([p], lr=0.3, max_iter=3, line_search_fn=search, maximize=sign < 0)
        losses = []
        for _ in range(3):

            def closure():
                optimizer.zero_grad()
                loss = sign * ((p * torch.tensor([1.0, 3.0]) - 1) ** 2).sum()
                loss.backward()
                return loss

            losses.append(sign * float(optimizer.step(closure)))
        return losses, p.tolist()

    assert found(1) == found(-1) and found(1)[0][2] < found(1)[0][0]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_fused_excludes(name):
    p = [nn.Parameter(torch.ones(2))]
    with pytest.raises(RuntimeError, match="`fused` and `foreach` cannot be `True` together"):
        getattr(optim, name)(p, lr=0.1, fused=True, foreach=True)
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        getattr(optim, name)(p, lr=0.1, fused=True, differentiable=True)


def test_schedule_state_and_plateau():
    p = nn.Parameter(torch.zeros(1))
    optimizer = optim.SGD([p], lr=1.0)
    schedule = optim.lr_scheduler.StepLR(optimizer, 2, 0.1)
    for _ in range(3):
        optimizer.step()
        schedule.step()
    other = optim.lr_scheduler.StepLR(optim.SGD([p], lr=1.0), 7)
    other.load_state_dict(schedule.state_dict())
    assert other.last_epoch == 3 and other.step_size == 2 and other.get_last_lr() == pytest.approx([0.1])
    plateau = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
    for metric in (1.0, 1.0, 1.0):
        plateau.step(metric)
    assert plateau.get_last_lr() == pytest.approx([0.05])


def test_adamw_names_its_options():
    names = "params lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused".split()
    assert list(inspect.signature(torch.optim.AdamW).parameters) == names
    with pytest.raises(TypeError):
        torch.optim.AdamW([torch.ones(1)], fused_=True)


def test_a_schedule_that_steps_first_is_told():
    def made():
        p = nn.Parameter(torch.ones(1))
        p.grad = torch.ones(1)
        optimizer = torch.optim.SGD([p], lr=0.1)
        return optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 1)

    optimizer, schedule = made()
    with pytest.warns(UserWarning, match=r"`lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        schedule.step()
    optimizer, schedule = made()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        schedule.step()
        kinds = torch.optim.lr_scheduler
        kinds.SequentialLR(optimizer, [kinds.ConstantLR(optimizer), kinds.ExponentialLR(optimizer, 0.9)], [2]).step()
    assert schedule._step_count == 2 and schedule.state_dict()["_step_count"] == 2


def test_hooks_of_a_programs_own_optimizer():
    calls = []

    class Own(torch.optim.SGD):
        def step(self, closure=None):
            calls.append("step")
            return super().step(closure)

    p = nn.Parameter(torch.ones(1))
    p.grad = torch.ones(1)
    optimizer = Own([p], lr=0.5)
    optimizer.register_step_pre_hook(lambda *_: calls.append("before"))
    optimizer.register_step_post_hook(lambda *_: calls.append("after"))
    optimizer.step()
    assert calls == ["before", "step", "after"] and p.item() == 0.5


@pytest.mark.parametrize(
    ("kind", "options", "error", "message"),
    [
        ("OneCycleLR", {"max_lr": 0.1, "total_steps": -5}, ValueError, "Expected positive integer total_steps, but got -5"),
        ("OneCycleLR", {"max_lr": 0.1, "epochs": 2, "steps_per_epoch": 1.5}, ValueError, "positive integer steps_per_epoch"),
        ("OneCycleLR", {"max_lr": 0.1, "total_steps": 5, "pct_start": 2}, ValueError, "Expected float between 0 and 1 pct_"),
        ("SequentialLR", {"schedulers": [], "milestones": [1]}, ValueError, "expects at least one scheduler"),
        ("StepLR", {"step_size": 1, "last_epoch": 3}, KeyError, "when resuming scheduler with last_epoch >= 0"),
    ],
)
def test_schedules_refuse(kind, options, error, message):
    optimizer = optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1, momentum=0.9)
    with pytest.raises(error, match=message):
        getattr(optim.lr_scheduler, kind)(optimizer, **options)


def test_an_optimizer_that_holds_another_may_leave_its_base_alone():
    class Lookahead(torch.optim.Optimizer):
        def __init__(self, inner):
            self.inner, self.param_groups, self.state = inner, inner.param_groups, inner.state

        def step(self, closure=None):
            return self.inner.step(closure)

    p = torch.ones(2, requires_grad=True)
    held = Lookahead(torch.optim.SGD([p], 0.5))
    p.sum().backward()
    held.step()
    held.zero_grad()
    assert p.tolist() == [0.5, 0.5] and p.grad is None


def test_adagrad_has_its_state_before_the_first_step():
    p = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.Adagrad([p], initial_accumulator_value=0.5)
    assert optimizer.state[p]["sum"].tolist() == [0.5, 0.5] and optimizer.state[p]["step"] == 0
    assert optimizer.state_dict()["state"][0]["step"].item() == 0
    optimizer.share_memory()
    assert optimizer.state[p]["sum"].is_shared()


def test_subclasses_complete_what_was_copied_or_loaded():
    class Own(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 0.1})

        def __setstate__(self, state):
            super().__setstate__(state)
            for group in self.param_groups:
                group.setdefault("added", 5)

    optimizer = Own([torch.ones(2, requires_grad=True)])
    other = copy.deepcopy(optimizer)
    assert other.param_groups[0]["added"] == 5 and "added" not in optimizer.param_groups[0]
    optimizer.load_state_dict(optimizer.state_dict())
    assert optimizer.param_groups[0]["added"] == 5
