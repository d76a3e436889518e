"""The algorithms of RBDA chapters 4 to 7, each as it stands in its table, over scalars of any kind.

Arguments are per body: `q[i]`, `v[i]`, `a[i]`, `tau[i]` hold joint i's variables, `f_ext[i]` the force on body i in
its own coordinates. `ROOT` is the base: an entry like any other.
"""
