/* Pinocchio's derivatives of the dynamics of many states, in a loop that no Python is in: from the headers of its wheel.

   Compiled and called by pinocchio_in_cpp.py. */

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/multibody.hpp>

#include <string>

#define FACE extern "C" __attribute__((visibility("default")))

namespace pin = pinocchio;
using Vector3 = Eigen::Map<const Eigen::Vector3d>;
using Matrix3 = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>;
using States = Eigen::Map<const Eigen::MatrixXd>;

struct Robot {
  pin::Model model;
  pin::Data data;
};

static pin::JointModel joint_of(int kind, const double* axis) {
  switch (kind) {
    case 1: return pin::JointModelRX();
    case 2: return pin::JointModelRY();
    case 3: return pin::JointModelRZ();
    case 4: return pin::JointModelFreeFlyer();
    default: return pin::JointModelRevoluteUnaligned(Vector3(axis));
  }
}

/* A row for each joint: parent, kind, axis, rotation and place on the parent, mass, its centre, inertia about that. */
FACE void* robot_of(long joints, long width, const double* row, const double* gravity) {
  auto* robot = new Robot;
  auto& model = robot->model;
  for (long i = 0; i < joints; ++i, row += width) {
    const pin::SE3 place(Matrix3(row + 5), Vector3(row + 14));
    const auto id = model.addJoint(pin::JointIndex(row[0]), joint_of(int(row[1]), row + 2), place, std::to_string(i));
    model.appendBodyToJoint(id, pin::Inertia(row[17], Vector3(row + 18), Matrix3(row + 21)), pin::SE3::Identity());
  }
  model.gravity.linear() = Vector3(gravity);
  robot->data = pin::Data(model);
  return robot;
}

/* All states, one after the other. What comes back is that of the last state by v, column by column. */
FACE void derivatives(void* of, int inverse, long count, const double* q, const double* v, const double* x, double* by_v) {
  auto& [model, data] = *static_cast<Robot*>(of);
  const States qs(q, model.nq, count), vs(v, model.nv, count), xs(x, model.nv, count);
  for (long k = 0; k < count; ++k) {
    if (inverse)
      pin::computeRNEADerivatives(model, data, qs.col(k), vs.col(k), xs.col(k));
    else
      pin::computeABADerivatives(model, data, qs.col(k), vs.col(k), xs.col(k));
  }
  Eigen::Map<Eigen::MatrixXd>(by_v, model.nv, model.nv) = inverse ? data.dtau_dv : data.ddq_dv;
}
