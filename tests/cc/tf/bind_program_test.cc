#include "recursive_tf/cc/tf/bind_program.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "recursive_tf/cc/tf/signature.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/function.pb.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

tf::FunctionDef Function(const std::string& name,
                         const tf::DataTypeVector& arguments,
                         const tf::DataTypeVector& results) {
  tf::FunctionDef function;
  function.mutable_signature()->set_name(name);
  for (const tf::DataType type : arguments) {
    function.mutable_signature()->add_input_arg()->set_type(type);
  }
  for (const tf::DataType type : results) {
    function.mutable_signature()->add_output_arg()->set_type(type);
  }
  return function;
}

// A program of two procedures: "f" takes a float, gives one, and reads capture
// 1, an integer; "g" takes nothing and gives an integer.
class BindProgramTest : public testing::Test {
 protected:
  BindProgramTest() {
    program_.functions = {"f", "g"};
    program_.names = std::make_shared<const std::vector<std::string>>(
        std::vector<std::string>{"tree", "leaf"});
    program_.captures = {{1}, {}};
    types_.arguments = {tf::DT_FLOAT};
    types_.results = {tf::DT_FLOAT};
    types_.captures = {tf::DT_DOUBLE, tf::DT_INT32};
    types_.tables = {tf::DT_FLOAT};
    types_.sinks = {{tf::DT_FLOAT, tf::DT_FLOAT}};
    f_ = Function("f", {tf::DT_VARIANT, tf::DT_FLOAT, tf::DT_INT32},
                  {tf::DT_FLOAT});
    g_ = Function("g", {tf::DT_VARIANT}, {tf::DT_INT32});
  }

  // Adds an op to the body of "f".
  tf::NodeDef* AddOp(const std::string& op) {
    tf::NodeDef* node = f_.add_node_def();
    node->set_name(absl::StrCat(op, f_.node_def_size()));
    node->set_op(op);
    return node;
  }

  // Adds a call of procedure `callee` to the body of "f".
  void AddCall(int callee, const tf::DataTypeVector& arguments,
               const tf::DataTypeVector& results) {
    tf::NodeDef* node = AddOp("RecursiveCall");
    tf::AddNodeAttr("callee", callee, node);
    tf::AddNodeAttr("Targs", arguments, node);
    tf::AddNodeAttr("Toutputs", results, node);
  }

  void AddPush(int slot, tf::DataType type) {
    SetPush(slot, type, AddOp("RecursivePush"));
  }

  void AddNestedPush(int slot) {
    tf::NodeDef* node = nested_.add_node_def();
    node->set_op("RecursivePush");
    SetPush(slot, tf::DT_FLOAT, node);
  }

  static void SetPush(int slot, tf::DataType type, tf::NodeDef* node) {
    tf::AddNodeAttr("slot", slot, node);
    tf::AddNodeAttr("T", type, node);
  }

  void AddSink(int slot, const tf::DataTypeVector& types) {
    tf::NodeDef* node = AddOp("RecursiveSink");
    tf::AddNodeAttr("slot", slot, node);
    tf::AddNodeAttr("T", types, node);
  }

  absl::Status Bind() {
    tf::FunctionDefLibrary functions;
    for (const tf::FunctionDef* function : {&f_, &g_, &nested_}) {
      *functions.add_function() = *function;
    }
    const tf::FunctionLibraryDefinition library(tf::OpRegistry::Global(),
                                                functions);
    return BindProgram(program_, types_, library);
  }

  void ExpectDamaged(const std::string& what) {
    const absl::Status status = Bind();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status, Damaged("tree", what));
  }

  ProgramSpec program_;
  RootTypes types_;
  tf::FunctionDef f_;
  tf::FunctionDef g_;
  tf::FunctionDef nested_ = Function("nested", {}, {});
};

TEST_F(BindProgramTest, AProgramThatFitsIsBound) {
  AddCall(0, {tf::DT_FLOAT}, {tf::DT_FLOAT});
  AddCall(1, {}, {tf::DT_INT32});
  AddPush(0, tf::DT_FLOAT);
  AddSink(0, {tf::DT_FLOAT, tf::DT_FLOAT});
  const absl::Status status = Bind();
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(BindProgramTest, AProcedureIsInTheLibrary) {
  program_.functions[1] = "h";
  EXPECT_TRUE(absl::StrContains(Bind().message(), "Function 'h'"));
}

TEST_F(BindProgramTest, TheFirstProcedureFitsTheRootCall) {
  types_.results = {tf::DT_DOUBLE};
  ExpectDamaged("its first procedure does not fit the call");
}

TEST_F(BindProgramTest, AProcedureTakesAHandle) {
  g_ = Function("g", {tf::DT_INT32}, {tf::DT_INT32});
  ExpectDamaged("a procedure takes too little");
}

TEST_F(BindProgramTest, AProcedureTakesItsCaptures) {
  program_.captures[1] = {0};
  ExpectDamaged("a procedure takes too little");
}

TEST_F(BindProgramTest, ACaptureIsOneOfTheRootCall) {
  program_.captures[0] = {2};
  ExpectDamaged("a procedure takes a capture that is not there");
  program_.captures[0] = {-1};
  ExpectDamaged("a procedure takes a capture that is not there");
}

TEST_F(BindProgramTest, ACaptureHasTheDtypeThatItIsTakenAs) {
  program_.captures[0] = {0};
  ExpectDamaged("a procedure takes a capture that is not there");
}

TEST_F(BindProgramTest, ACallIsOfAProcedureThatIsThere) {
  AddCall(2, {}, {tf::DT_INT32});
  ExpectDamaged("a call is of procedure 2 of 2");
}

TEST_F(BindProgramTest, ACallIsOfNoNegativeProcedure) {
  AddCall(-1, {}, {tf::DT_INT32});
  ExpectDamaged("a call is of procedure -1 of 2");
}

TEST_F(BindProgramTest, ACallTakesWhatItsCalleeTakes) {
  AddCall(1, {tf::DT_FLOAT}, {tf::DT_INT32});
  ExpectDamaged("a call of 'leaf' takes or gives other values than that");
}

TEST_F(BindProgramTest, ACallGivesWhatItsCalleeGives) {
  AddCall(1, {}, {});
  ExpectDamaged("a call of 'leaf' takes or gives other values than that");
}

TEST_F(BindProgramTest, APushIsToATableThatIsThere) {
  AddPush(1, tf::DT_FLOAT);
  ExpectDamaged("a push does not fit slot 1 of 1");
}

TEST_F(BindProgramTest, APushHasTheDtypeOfItsTable) {
  AddPush(0, tf::DT_INT32);
  ExpectDamaged("a push does not fit slot 0 of 1");
}

TEST_F(BindProgramTest, ASinkTakesThePartsOfItsSlot) {
  AddSink(0, {tf::DT_FLOAT});
  ExpectDamaged("a sink does not fit slot 0 of 1");
}

TEST_F(BindProgramTest, WhatABodyUsesAsAFunctionIsBoundToo) {
  AddNestedPush(3);
  tf::NameAttrList branch;
  branch.set_name("nested");
  tf::AddNodeAttr("then_branch", branch, AddOp("If"));
  ExpectDamaged("a push does not fit slot 3 of 1");
}

TEST_F(BindProgramTest, AProgramWithinAProgramIsBoundByItsOwnKernel) {
  AddNestedPush(3);
  tf::NameAttrList procedure;
  procedure.set_name("nested");
  tf::AddNodeAttr("procedures", std::vector<tf::NameAttrList>{procedure},
                  AddOp("RecursiveInvoke"));
  EXPECT_TRUE(Bind().ok());
}

TEST(SignatureTest, AFunctionTakesAndGives) {
  tf::FunctionDefLibrary functions;
  *functions.add_function() =
      Function("f", {tf::DT_VARIANT, tf::DT_FLOAT}, {tf::DT_INT32});
  const tf::FunctionLibraryDefinition library(tf::OpRegistry::Global(),
                                              functions);
  Signature signature;
  signature.arguments = {tf::DT_STRING};
  ASSERT_TRUE(Signature::Of("f", library, &signature).ok());
  EXPECT_EQ(signature.arguments,
            (tf::DataTypeVector{tf::DT_VARIANT, tf::DT_FLOAT}));
  EXPECT_EQ(signature.results, tf::DataTypeVector{tf::DT_INT32});
}

TEST(SignatureTest, AFunctionThatIsNotThereIsAnError) {
  const tf::FunctionLibraryDefinition library(tf::OpRegistry::Global(),
                                              tf::FunctionDefLibrary());
  Signature signature;
  EXPECT_TRUE(absl::StrContains(
      Signature::Of("f", library, &signature).message(),
      "Function 'f' of a program is not in the function library."));
}

}  // namespace
}  // namespace recursive_tf
