"""The spatial operators by their letters (Rodriguez, Jain and Kreutz-Delgado, 0.4-0.6, 0.17-0.18, 0.25-0.27, 0.34)."""

from __future__ import annotations

from .operator_expression import Identity, OperatorExpression, Symbol
from .spaces import EFFORT, FORCE, MOTION, RATE, TWIST, WHITE, WRENCH

I = Identity()
"""The identity, of whatever space it stands in."""
E_phi = Symbol("E_phi", FORCE, FORCE)
"""𝓔_φ (0.4, 0.10): a force on each body, carried to its parent."""
phi = Symbol("phi", FORCE, FORCE)
"""φ = (I − 𝓔_φ)⁻¹ (0.6, 0.12): the sum of all forces outward of each body. φ* carries motions outward."""
H = Symbol("H", FORCE, EFFORT)
"""H (0.5): the part of a force that is felt at the joint, Sᵀ of the book. H* is S."""
M = Symbol("M", MOTION, FORCE, symmetric=True)
"""M (0.5): the inertias of the bodies."""
R = Symbol("R", RATE, EFFORT, symmetric=True)
"""The rotor inertias felt at the joints, which the paper does not have."""
P = Symbol("P", MOTION, FORCE, symmetric=True)
"""P (0.25): the articulated-body inertias."""
D = Symbol("D", RATE, EFFORT, symmetric=True)
"""D = H P H* + R (0.26): one small matrix per joint."""
D_inverse = Symbol("D.inverse", EFFORT, RATE, symmetric=True)
"""D⁻¹."""
D_root = Symbol("D_root", WHITE, EFFORT)
"""D^½, a triangular matrix per joint: D = D^½ (D^½)*."""
D_root_inverse = Symbol("D_root.inverse", EFFORT, WHITE)
"""D^−½."""
G = Symbol("G", EFFORT, FORCE)
"""G = P H* D⁻¹ (0.26): Kalman's gain."""
tau = Symbol("tau", FORCE, FORCE, definition=G @ H)
"""τ = G H (0.26): the part of a force that the joint lets pass into motion."""
tau_bar = Symbol("tau_bar", FORCE, FORCE)
"""τ̄ = I − τ (0.26): the part that reaches the parent."""
K = Symbol("K", EFFORT, FORCE, definition=E_phi @ G)
"""K = 𝓔_φ G (0.26)."""
E_psi = Symbol("E_psi", FORCE, FORCE, definition=E_phi @ tau_bar)
"""𝓔_ψ = 𝓔_φ τ̄ (0.26)."""
psi = Symbol("psi", FORCE, FORCE)
"""ψ = (I − 𝓔_ψ)⁻¹ (0.27): φ of a mechanism whose joints are free."""
psi_tilde = Symbol("psi_tilde", FORCE, FORCE, definition=psi @ E_psi)
"""ψ̃ = ψ 𝓔_ψ = 𝓔_ψ ψ = ψ − I (.46)."""
Upsilon = Symbol("Upsilon", FORCE, MOTION, symmetric=True)
"""Υ (.43): how each body moves under a force on itself."""
Omega = Symbol("Omega", FORCE, MOTION, symmetric=True, definition=psi.T @ H.T @ D_inverse @ H @ psi)
"""Ω = ψ*H*D⁻¹Hψ (0.34): how each body moves under forces on all of them."""
B = Symbol("B", WRENCH, FORCE)
"""B (0.17): forces at the points, on the bodies that have them."""
J = Symbol("J", RATE, TWIST, definition=B.T @ phi.T @ H.T)
"""J = B*φ*H* (0.18): the motions of the points."""
Lambda = Symbol("Lambda", WRENCH, TWIST, symmetric=True, definition=B.T @ Omega @ B)
"""Λ = J 𝓜⁻¹ J* = B*ΩB (0.34): the admittance of the points."""
mass = Symbol("mass", RATE, EFFORT, symmetric=True, definition=H @ phi @ M @ phi.T @ H.T + R)
"""𝓜 = H φ M φ* H* + R (0.14): the mass matrix by its Newton-Euler factors."""

innovations: OperatorExpression = I + H @ phi @ K
"""I + HφK, the square factor of 𝓜 = [I + HφK] D [I + HφK]* (0.28)."""
whitening: OperatorExpression = I - H @ psi @ K
"""I − HψK, its inverse (0.29)."""
mass_inverse = Symbol("mass_inverse", EFFORT, RATE, symmetric=True, definition=whitening.T @ D_inverse @ whitening)
"""𝓜⁻¹ = [I − HψK]* D⁻¹ [I − HψK] (0.30)."""

SYMBOLS = {
    "E_phi": E_phi, "phi": phi, "H": H, "M": M, "R": R, "P": P, "D": D, "D_root": D_root, "G": G, "tau": tau,
    "tau_bar": tau_bar, "K": K, "E_psi": E_psi, "psi": psi, "psi_tilde": psi_tilde, "Upsilon": Upsilon,
    "Omega": Omega, "B": B, "J": J, "Lambda": Lambda, "mass": mass, "mass_inverse": mass_inverse, "I": I,
}  # fmt: skip
