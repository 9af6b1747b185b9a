"""ItrSA++: self-attention repeated from a random state, which attends to the input at the start of every block.

Here rollouts [puzzles, candidates, cells, channels] become rows [cells, puzzles * candidates, channels] and back, as in
AKOrN; `layers` tells why.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from cvoting.models.attention import Attention
from cvoting.models.base import RecurrentModel, State
from cvoting.models.feed_forward import FeedForward, SwiGLU
from cvoting.models.input_mixing import input_mixing
from cvoting.models.layers import Linear, to_candidates, to_rows
from cvoting.params.itrsa import FeedForwardParams, ItrsaParams

#: What a block reads of the input: keys and values of cross-attention, or the input's part of a linear mix.
Memory = tuple[Float[Tensor, "puzzles 1 cells channels"], ...]


class ItrSA(RecurrentModel[Memory]):
    """A block of input mixing, S self-attentions with one set of weights, and a network per cell; T counts blocks.

        x   = Norm_attn(Embedding(question))
        z~  = Norm_attn(z_t) + CrossAttn(q = Norm_attn(z_t), k = x, v = x)             (cross)
        z_s+1 = Norm_attn(z_s) + SelfAttn(Norm_attn(z_s)),  s = 0..S-1,  z_0 = z~      (self)
        z_t+1 = Norm_mlp(z_S) + SwiGLU(Norm_mlp(z_S))                                  (mlp)
        logits = W_O Norm_out(z_T)

    Residuals carry the normalised state.  Norm is RMSNorm; no linear map has a bias.
    Source: Section 5 of the paper, by the labels of its equations; the ablations are those of Table 4.

    Args:
        params: sizes and switches.
        grid: rows and columns of the board.
        vocabulary: tokens of a question.
        classes: classes of a cell's answer.
    """

    Params = ItrsaParams
    step_modules = (Attention, SwiGLU, FeedForward)

    def __init__(self, params: ItrsaParams, grid: tuple[int, int], vocabulary: int, classes: int):
        super().__init__()
        self.params = params
        channels = params.channels
        self.noise_shape = (grid[0] * grid[1], channels)
        self.embedding = nn.Parameter(torch.empty(vocabulary, channels))
        self.norm_attn, self.norm_mlp, self.norm_out = (
            nn.RMSNorm(channels, params.norm_eps, params.norm_affine) for _ in range(3)
        )
        self.input_mixing = input_mixing(params, grid)
        self.self_attention = Attention(channels, params.heads, grid, params.gta == "learnable")
        block = params.feed_forward
        self.feed_forward = (
            FeedForward(channels, block.hidden, block.activation, bias=False)
            if isinstance(block, FeedForwardParams)
            else SwiGLU(channels, block.hidden)
        )
        self.classifier = Linear(channels, classes, bias=False)

    def initialise(self, rng: torch.Generator) -> None:
        """Embedding from N(0, 1), default linear maps, rotations, gains of 1; the paper states none of it."""
        with torch.no_grad():
            self.embedding.copy_(torch.empty(self.embedding.shape, device=rng.device).normal_(generator=rng))
        for norm in (self.norm_attn, self.norm_mlp, self.norm_out):
            norm.reset_parameters()
        self.input_mixing.initialise(rng)
        self.self_attention.initialise(rng)
        self.feed_forward.initialise(rng)
        self.classifier.initialise(rng)

    def embed(self, questions: Int[Tensor, "puzzles cells"]) -> Memory:
        """What every block reads of the normalised embedding."""
        x = self.norm_attn(nn.functional.embedding(questions.long().t(), self.embedding))
        return tuple(to_candidates(m, len(questions)) for m in self.input_mixing.memory(x))

    def initial_state(self, condition: Memory, noise: Float[Tensor, "puzzles candidates cells channels"]) -> State:
        """The noise, at every cell, givens too."""
        return State(noise)

    def trajectory(self, condition: Memory, state: State, steps: int) -> Iterator[State]:
        """The state after each block."""
        puzzles, candidates = state.latent.shape[:2]
        mix = self.input_mixing.mixer(*(to_rows(m.expand(-1, candidates, -1, -1)) for m in condition))
        attention, geometry = self.self_attention, self.self_attention.tables()
        z = to_rows(state.latent)
        for _ in range(steps):
            z = mix(self.norm_attn(z))
            for _ in range(self.params.self_attentions):
                z = self.norm_attn(z)
                z = z + attention(z, *attention.keys_values(z, geometry), geometry)
            z = self.norm_mlp(z)
            z = z + self.feed_forward(z)
            yield State(to_candidates(z, puzzles))

    def readout(self, state: State) -> Float[Tensor, "puzzles candidates cells classes"]:
        """Logits: a norm and a linear map."""
        return to_candidates(self.classifier(self.norm_out(to_rows(state.latent))), len(state.latent))
