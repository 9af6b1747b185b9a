"""The GPU that costs are stated for, unless another rate is."""

#: Operations per second of an H100 SXM in float32 (NVIDIA's data sheet: 67 TFLOP/s).  TF32 stays off, see `devices`.
PEAK = 6.7e13
#: The share of it that a job is taken to reach: a goal, measured on no GPU.
SHARE = 0.6
#: Operations per second of one job.
RATE = SHARE * PEAK
#: Its memory, in GB.
MEMORY = 80.0
