"""Derivatives of the dynamics by their own equations (Singh, Russell, Wensing 2022), along the velocity variables."""
