"""Adam-atan2: Adam without an epsilon, whose steps have a largest size whatever the gradient."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class AdamAtan2(torch.optim.Optimizer):
    """Adam with atan2(m, sqrt(v)) in the place of m / (sqrt(v) + eps), and decoupled weight decay.

        m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2
        p <- (1 - lr wd) p - lr atan2(m / (1 - b1^t), sqrt(v / (1 - b2^t)))

    Neither a factor before atan2 nor inside: with those of some libraries (a = 1.27) it is another optimiser.  A group
    with `sign: True` has p <- (1 - lr wd) p - lr sign(g) instead, as released HRM has it for the puzzle embedding.
    Source: Everett et al. (2024); released HRM.

    Args:
        params: parameters, or groups of them with options of their own.
        lr: learning rate.
        betas: b1 and b2.
        weight_decay: wd.
    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float,
        betas: tuple[float, float] = (0.9, 0.95),
        weight_decay: float = 0.0,
    ):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay, "sign": False})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update of every parameter that has a gradient."""
        with torch.enable_grad():
            loss = None if closure is None else closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    direction = parameter.grad.sign() if group["sign"] else self._direction(parameter, *group["betas"])
                    parameter.mul_(1 - group["lr"] * group["weight_decay"]).sub_(direction, alpha=group["lr"])
        return loss

    def _direction(self, parameter: Tensor, beta1: float, beta2: float) -> Tensor:
        """Take the gradient into the moments of a parameter, and say where to go."""
        state, gradient = self.state[parameter], parameter.grad
        if not state:
            state["step"] = torch.tensor(0.0)
            state["mean"], state["square"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        state["step"] += 1
        state["mean"].lerp_(gradient, 1 - beta1)
        state["square"].mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        mean = state["mean"] / (1 - beta1 ** state["step"].item())
        square = state["square"] / (1 - beta2 ** state["step"].item())
        return torch.atan2(mean, square.sqrt_())
