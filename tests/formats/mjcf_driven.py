"""A mechanism with actuators of MuJoCo's that have states, or act at ball and free joints and between sites."""

DRIVEN = """
<mujoco model="driven"><compiler angle="radian"/><option timestep="0.002"><flag contact="disable"/></option><worldbody>
  <site name="fixed" pos="0.3 0.2 0.5" euler="0.2 0.3 0.1"/>
  <body name="torso" pos="0 0 1"><freejoint name="root"/><geom type="capsule" size="0.07 0.15" mass="8"/>
    <site name="nose" pos="0.1 0 0.2" euler="0.3 0.1 0"/>
    <body name="arm" pos="0 0.1 -0.2" euler="0.1 0.4 0.2"><joint name="ball" type="ball" pos="0.01 0.02 0.03"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04" mass="3"/>
      <body name="hand" pos="0 0 -0.3"><joint name="wrist" axis="0 1 0.3"/><geom size="0.04" mass="1"/>
        <site name="tip" pos="0.02 0 -0.1" euler="0.4 0 0.1"/></body></body>
    <body name="leg" pos="0 -0.15 0.1"><joint name="hip" axis="1 0 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04" mass="3"/>
      <body name="shin" pos="0 0 -0.3"><joint name="knee" axis="0 1 0"/><geom size="0.04" mass="1"/>
        <site name="foot" pos="0.02 0 -0.1" euler="0.1 0.2 0.3"/></body></body>
  </body></worldbody>
  <actuator>
    <position name="ball" joint="ball" gear="0.3 0.5 -0.2" kp="7"/>
    <position name="ball_in_parent" jointinparent="ball" gear="0.3 0.5 -0.2" kp="7" kv="0.3"/>
    <general name="ball_general" joint="ball" gear="0.3 0.5 -0.2" gainprm="7" biastype="affine" biasprm="0.5 -6 0.2"/>
    <motor name="free" joint="root" gear="1 2 3 0.1 0.2 0.3"/>
    <velocity name="free_in_parent" jointinparent="root" gear="1 2 3 0.1 0.2 0.3" kv="0.5"/>
    <position name="place" site="tip" refsite="nose" gear="1 2 3 0 0 0" kp="5" kv="0.2"/>
    <position name="turn" site="tip" refsite="foot" gear="0 0 0 0.3 0.2 0.1" kp="5"/>
    <position name="both" site="tip" refsite="foot" gear="1 -1 0.5 0.3 0.2 0.1" kp="5" kv="0.7"/>
    <position name="from_world" site="tip" refsite="fixed" gear="1 -1 0.5 0.3 0.2 0.1" kp="5" kv="0.4"/>
    <position name="from_tip" site="nose" refsite="tip" gear="1 -1 0.5 0.3 0.2 0.1" kp="5" kv="0.4"/>
    <position name="of_world" site="fixed" refsite="tip" gear="1 -1 0.5 0.3 0.2 0.1" kp="5" kv="0.4"/>
    <general name="integrator" joint="knee" dyntype="integrator" gainprm="2" actlimited="true" actrange="-0.9 0.9"/>
    <general name="filter" joint="hip" dyntype="filter" dynprm="0.1" gainprm="2" ctrlrange="-1 1" ctrllimited="true"/>
    <general name="exact" joint="hip" dyntype="filterexact" dynprm="0.03" gainprm="3" biastype="affine"
      biasprm="0.1 -2 -0.1"/>
    <general name="early" joint="knee" dyntype="filterexact" dynprm="0.03" gainprm="3" actearly="true"/>
    <intvelocity name="intvelocity" joint="wrist" kp="4" kv="0.3" actrange="-1 1"/>
    <position name="slow" joint="wrist" kp="4" timeconst="0.05"/>
    <cylinder name="cylinder" joint="knee" timeconst="0.2" area="0.3" bias="0.1 -0.2 -0.001"/>
    <position name="slow_ball" joint="ball" gear="0 0.5 -0.2" kp="7" timeconst="0.3"/>
  </actuator>
</mujoco>"""
