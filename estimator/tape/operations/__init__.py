"""Operations by family: for each its result, what it keeps for backward, and what its backward allocates."""

from estimator.tape.operations import (
    attention,
    choosing,
    comparison,
    composites,
    conversion,
    convolution,
    creation,
    ctc,
    dropout,
    einsum,
    embedding,
    foreach,
    gradients,
    grouped,
    indexing,
    losses,
    matmul,
    norms,
    padding,
    pointwise,
    pooling,
    properties,
    rearranging,
    recurrent,
    reductions,
    sampling,
    scattering,
    softmax,
    ternary,
    unary,
    views,
    windows,
)

#: Importing them enters their operations in the registry.
FAMILIES = (
    attention, choosing, comparison, composites, conversion, convolution, creation, ctc, dropout, einsum, embedding, foreach, gradients, grouped, indexing,
    losses, matmul, norms, padding, pointwise, pooling, properties, rearranging, recurrent, reductions, sampling, scattering,
    softmax, ternary, unary, views, windows,
)  # fmt: skip
