"""An arm in the plane with six muscles over a shoulder and an elbow, and a fixed tendon, as MJCF."""

from __future__ import annotations

MUSCLE_ARM = """
<mujoco model="planar arm">
  <compiler angle="radian"/>
  <option timestep="0.002" integrator="RK4" gravity="0 -9.81 0"><flag limit="disable"/></option>
  <default><muscle ctrllimited="true" ctrlrange="0 1" force="400" vmax="5" fpmax="1.2" lmin="0.4"/></default>
  <worldbody>
    <site name="chest" pos="-0.12 -0.07 0"/><site name="blade" pos="-0.09 0.04 0"/><site name="top" pos="0.02 0.05 0"/><site name="under" pos="0.03 -0.05 0"/>
    <geom name="shoulder ball" type="sphere" pos="0 0 0" size="0.045" contype="0" conaffinity="0"/>
    <site name="above" pos="0 0.09 0"/><site name="below" pos="0 -0.09 0"/>
    <body name="upper arm">
      <joint name="shoulder" type="hinge" axis="0 0 1" range="-1.4 1.6" damping="0.05"/>
      <geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0" contype="0" conaffinity="0"/>
      <site name="u1" pos="0.14 0.035 0"/><site name="u2" pos="0.13 -0.035 0"/><site name="u3" pos="0.2 0.04 0"/><site name="u4" pos="0.2 -0.04 0"/>
      <body name="forearm" pos="0.3 0 0">
        <joint name="elbow" type="hinge" axis="0 0 1" range="0 2.4" damping="0.05"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.28 0 0" contype="0" conaffinity="0"/>
        <geom name="elbow roll" type="cylinder" size="0.028 0.05" contype="0" conaffinity="0"/>
        <site name="e above" pos="-0.01 0.06 0"/><site name="e below" pos="0 -0.06 0"/>
        <site name="f1" pos="0.08 0.02 0"/><site name="f2" pos="0.05 -0.025 0"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="SF"><site site="top"/><geom geom="shoulder ball" sidesite="above"/><site site="u1"/></spatial>
    <spatial name="SE"><site site="under"/><geom geom="shoulder ball" sidesite="below"/><site site="u2"/></spatial>
    <spatial name="EF"><site site="u3"/><geom geom="elbow roll" sidesite="e above"/><site site="f1"/></spatial>
    <spatial name="EE" stiffness="20" springlength="0.1" damping="0.4"><site site="u4"/><geom geom="elbow roll" sidesite="e below"/><site site="f2"/></spatial>
    <spatial name="BF"><site site="blade"/><geom geom="shoulder ball" sidesite="above"/><site site="u1"/><site site="u3"/><geom geom="elbow roll" sidesite="e above"/><site site="f1"/></spatial>
    <spatial name="BE"><site site="chest"/><geom geom="shoulder ball" sidesite="below"/><site site="u2"/><site site="u4"/><geom geom="elbow roll" sidesite="e below"/><site site="f2"/></spatial>
    <fixed name="link" stiffness="3" damping="0.2" springlength="0.3"><joint joint="shoulder" coef="0.5"/><joint joint="elbow" coef="-1"/></fixed>
  </tendon>
  <actuator>
    <muscle name="SF" tendon="SF" lengthrange="0.09 0.19"/><muscle name="SE" tendon="SE" lengthrange="0.08 0.2" tausmooth="0.2"/>
    <muscle name="EF" tendon="EF" lengthrange="0.12 0.22" timeconst="0.015 0.06"/><muscle name="EE" tendon="EE" lengthrange="0.1 0.25"/>
    <muscle name="BF" tendon="BF" lengthrange="0.3 0.45" gear="1.5" force="300"/><muscle name="BE" tendon="BE" lengthrange="0.3 0.5" force="-1" scale="150"/>
  </actuator>
</mujoco>"""
