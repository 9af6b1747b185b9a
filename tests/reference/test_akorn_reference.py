"""AKOrN reproduces what the released code computed: one case per `akorn_*.npz` in the directory CVOTING_REFERENCE.

A file holds a configuration, weights by released name and what the released model made of them in float32; one with
`loss` is a training reference with the gradient of every parameter.  Agreement: max |ours - reference| <= 1e-4 max
|reference| for every array.  Run with `-s` to see the errors.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from cvoting.models.akorn import AKOrN
from cvoting.models.akorn_released import UNUSED, load_released, released_name
from cvoting.params.akorn import AkornParams

DIRECTORY = Path(os.environ.get("CVOTING_REFERENCE", Path(__file__).parent / "data"))
REFERENCES = sorted(DIRECTORY.glob("akorn_*.npz"))
TOLERANCE = 1e-4


def read(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a reference."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def model_of(reference: dict[str, np.ndarray], config: dict) -> AKOrN:
    """The model of a reference's configuration and weights."""
    weights = {n.removeprefix("weight/"): torch.from_numpy(a) for n, a in reference.items() if n.startswith("weight/")}
    params = AkornParams(
        architecture="akorn",
        channels=config["ch"],
        oscillator_dim=config["n"],
        heads=config["heads"],
        layers=config["L"],
        step_size=config["gamma"],
        omega="none" if not config["use_omega"] else "global" if config["global_omg"] else "per_pair",
        omega_initial=config["init_omg"],
        omega_learnable=config["learn_omg"],
    )
    side = round(reference["puzzle"].shape[1] ** 0.5)
    model = AKOrN(params, (side, side), len(weights["embedding.weight"]), len(weights["out.1.bias"]))
    load_released(model, weights)
    return model


def rollout(model: AKOrN, reference: dict[str, np.ndarray], steps: int) -> dict[str, Tensor]:
    """One candidate per puzzle, from the noise of the reference, in the axes of the reference."""
    condition = model.embed(torch.from_numpy(reference["puzzle"]))
    state = model.initial_state(condition, torch.from_numpy(reference["initial_noise"]).unsqueeze(1))
    states = list(model.trajectory(condition, state, steps))
    energies = torch.stack([s.energy for s in states])
    return {
        "logits": model.readout(states[-1]).squeeze(1),
        "final_state": states[-1].latent.squeeze(1),
        "energy": energies.squeeze(-1),
    }


def assert_agreement(found: dict[str, Tensor], expected: dict[str, np.ndarray]) -> None:
    """Every array agrees; all errors are printed."""
    assert found.keys() == expected.keys()
    worst = {}
    for name, reference in expected.items():
        ours = found[name].detach().double().numpy().reshape(reference.shape)
        difference, size = np.abs(ours - reference).max(), np.abs(reference).max()
        worst[name] = difference / size if size else difference
        print(f"  {name:<45} largest relative error {worst[name]:.1e}")
    failed = {name: f"{error:.1e}" for name, error in worst.items() if not error <= TOLERANCE}
    assert not failed, f"relative errors above {TOLERANCE:.0e}: the model no longer computes what was released"


def test_there_are_references() -> None:
    assert REFERENCES, f"no akorn_*.npz in {DIRECTORY}: set CVOTING_REFERENCE to the directory that holds them"


@pytest.mark.parametrize("path", REFERENCES, ids=lambda path: path.stem)
def test_akorn_reproduces_the_released_code(path: Path) -> None:
    reference = read(path)
    config = json.loads(str(reference["config_json"]))
    model = model_of(reference, config)
    print(f"\n{path.stem}: {config}")
    found = rollout(model, reference, config["T"])
    # A placeholder comes before the energies of a layer; the last T rows are those of the last layer.
    puzzles = len(reference["puzzle"])
    expected = {name: reference[name] for name in ("logits", "final_state") if name in reference}
    if "energy" in reference:
        expected["energy"] = reference["energy"].reshape(-1, puzzles)[-config["T"] :]
    if "loss" in reference:
        target = torch.from_numpy(reference["solution"]).long() - 1
        found["loss"] = torch.nn.functional.cross_entropy(found["logits"].flatten(0, 1), target.flatten())
        found["loss"].backward()
        learnt = {released_name(name): p for name, p in model.named_parameters() if p.requires_grad}
        found |= {f"grad/{name}": parameter.grad for name, parameter in learnt.items()}
        expected["loss"] = reference["loss"]
        expected |= {n: a for n, a in reference.items() if n.startswith("grad/") and n != f"grad/{UNUSED}"}
    recorded = {n: a for n, a in found.items() if n in expected or n.startswith("grad/")}
    assert_agreement(recorded, expected)
