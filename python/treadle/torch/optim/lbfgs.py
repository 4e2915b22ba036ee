"""L-BFGS: steps along an estimate of Newton's direction, which it makes of the last gradients."""

from ... import torch
from ..._public import dir_of as _dir_of
from .._tensor._settle import settle
from .optimizer import Optimizer, number, options


def _cubic(x1, f1, g1, x2, f2, g2, bounds=None):
    """The minimum of the cubic through two points with given slopes, held between bounds."""
    low, high = bounds or (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2
    d2 = square**0.5
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, low), high)


def strong_wolfe(f, t, d, f0, g0, gtd0, c1=1e-4, c2=0.9, tolerance=1e-9, most=25):
    """(loss, gradient, step, number of calls) of a step along d that satisfies the strong Wolfe conditions.

    f(t) returns the loss and the flat gradient at step t. f0, g0, gtd0: loss, gradient and slope at 0.
    """
    width = d.abs().max().item()
    loss, grad = f(t)
    calls, slope = 1, grad.dot(d).item()
    before = (0.0, f0, g0, gtd0)
    done, tries, ends = False, 0, None
    while tries < most:
        now = (t, loss, grad, slope)
        if loss > f0 + c1 * t * gtd0 or (tries > 1 and loss >= before[1]):
            ends = [before, now]
            break
        if abs(slope) <= -c2 * gtd0:
            ends, done = [now], True
            break
        if slope >= 0:
            ends = [before, now]
            break
        low, high = t + 0.01 * (t - before[0]), t * 10
        t = _cubic(before[0], before[1], before[3], t, loss, slope, (low, high))
        before = now
        loss, grad = f(t)
        slope = grad.dot(d).item()
        calls, tries = calls + 1, tries + 1
    if tries == most:
        ends = [(0.0, f0, g0, gtd0), (t, loss, grad, slope)]
    stuck = False
    ends.sort(key=lambda e: e[1])  # the one with the lower loss first
    while not done and tries < most and abs(ends[1][0] - ends[0][0]) * width >= tolerance:
        (a, fa, _, sa), (b, fb, _, sb) = ends
        t = _cubic(a, fa, sa, b, fb, sb)
        low, high = min(a, b), max(a, b)
        near = 0.1 * (high - low)
        if min(high - t, t - low) < near:  # too close to an end
            if stuck or t >= high or t <= low:
                t = high - near if abs(t - high) < abs(t - low) else low + near
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        loss, grad = f(t)
        slope = grad.dot(d).item()
        calls, tries = calls + 1, tries + 1
        now = (t, loss, grad, slope)
        if loss > f0 + c1 * t * gtd0 or loss >= ends[0][1]:
            ends[1] = now
        else:
            if abs(slope) <= -c2 * gtd0:
                done = True
            elif slope * (ends[1][0] - ends[0][0]) >= 0:
                ends[1] = ends[0]
            ends[0] = now
        ends.sort(key=lambda e: e[1])
    t, loss, grad, _ = ends[0]
    return loss, grad, t, calls


def _line(p):
    """The values in one dimension. The parts of complex numbers are values of their own."""
    return (torch.view_as_real(p) if p.is_complex() else p).reshape(-1)


class LBFGS(Optimizer):
    """L-BFGS. ``step(closure)`` calls closure several times, which computes the loss and its gradients."""

    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
        *,
        maximize=False,
    ):
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, options(locals()))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gradient(self):
        flat = torch.cat([_line(torch.zeros_like(p) if p.grad is None else p.grad) for p in self._params])
        flat = -flat if self._sign() < 0 else flat
        settle([flat])
        return flat

    def _sign(self):
        """-1 where the loss is to grow: what is minimized is the negative loss."""
        return -1 if self.param_groups[0].get("maximize") else 1

    def _move(self, starts, t, d):
        at = 0
        for p, start in zip(self._params, starts):
            line = _line(start)
            moved = line + d[at : at + line.numel()] * t
            p.copy_((torch.view_as_complex(moved.reshape(-1, 2)) if p.is_complex() else moved).reshape(tuple(p.shape)))
            at += line.numel()
        settle(self._params)

    @staticmethod
    def _direction(grad, state):
        """-H grad, by the two-loop recursion over the last differences."""
        q, products = -grad, []
        for y, s, ro in zip(reversed(state["old_dirs"]), reversed(state["old_stps"]), reversed(state["ro"])):
            a = s.dot(q) * ro
            q = q - y * a
            products.append(a)
        r = q * state["H_diag"]
        for y, s, ro, a in zip(state["old_dirs"], state["old_stps"], state["ro"], reversed(products)):
            r = r + s * (a - y.dot(r) * ro)
        settle([r])
        return r

    @staticmethod
    def _remember(state, y, s, most):
        ys = y.dot(s).item()
        if ys <= 1e-10:
            return
        for name, value in (("old_dirs", y), ("old_stps", s), ("ro", 1 / ys)):
            if len(state[name]) == most:
                state[name].pop(0)
            state[name].append(value)
        state["H_diag"] = ys / y.dot(y).item()

    def step(self, closure):
        """Do one step of at most max_iter iterations. Returns the loss before it."""
        with torch.no_grad():
            return self._step(torch.enable_grad()(closure))

    def _step(self, closure):
        group, state = self.param_groups[0], self.state[self._params[0]]
        lr = number(group["lr"])
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss, calls = self._sign() * float(first), 1
        state["func_evals"] += 1
        grad = self._gradient()
        if grad.abs().max().item() <= group["tolerance_grad"]:
            return first
        d, t = state.get("d"), state.get("t")
        prev, prev_loss = state.get("prev_flat_grad"), state.get("prev_loss")
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                d = -grad
                state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            else:
                self._remember(state, grad - prev, d * t, group["history_size"])
                d = self._direction(grad, state)
            prev, prev_loss = grad, loss
            t = min(1.0, 1.0 / grad.abs().sum().item()) * lr if state["n_iter"] == 1 else lr
            slope = grad.dot(d).item()
            if slope > -group["tolerance_change"]:
                break
            starts = [p.detach().clone() for p in self._params]
            used = 0
            if group["line_search_fn"]:

                def at(t, starts=starts, d=d):
                    self._move(starts, t, d)
                    return self._sign() * float(closure()), self._gradient()

                loss, grad, t, used = strong_wolfe(at, t, d, loss, grad, slope)
                self._move(starts, t, d)
            else:
                self._move(starts, t, d)
                if n != group["max_iter"]:
                    loss, used = self._sign() * float(closure()), 1
                    grad = self._gradient()
            calls += used
            state["func_evals"] += used
            if (
                n == group["max_iter"]
                or calls >= group["max_eval"]
                or grad.abs().max().item() <= group["tolerance_grad"]
                or (d * t).abs().max().item() <= group["tolerance_change"]
                or abs(loss - prev_loss) < group["tolerance_change"]
            ):
                break
        state.update(d=d, t=t, prev_flat_grad=prev, prev_loss=prev_loss)
        return first


__dir__ = _dir_of(__name__)
