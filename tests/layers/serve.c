/* Serves a SavedModel with TensorFlow's C API.

   serve <ops library> <model> <output op> {<input op>=<integer>,<integer>,...}
   prints the numbers of the output, a float tensor; inputs are int32 vectors.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

enum { kMostInputs = 16 };

static void Fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static void Check(const TF_Status* status) {
  if (TF_GetCode(status) != TF_OK) Fail(TF_Message(status));
}

static TF_Output Port(TF_Graph* graph, const char* op) {
  TF_Output port = {TF_GraphOperationByName(graph, op), 0};
  if (port.oper == NULL) Fail(op);
  return port;
}

static TF_Tensor* Vector(char* numbers) {
  int64_t size = 1;
  for (const char* c = numbers; *c; ++c) size += *c == ',';
  TF_Tensor* tensor = TF_AllocateTensor(TF_INT32, &size, 1, size * sizeof(int));
  int* next = (int*)TF_TensorData(tensor);
  for (char* n = strtok(numbers, ","); n; n = strtok(NULL, ","))
    *next++ = atoi(n);
  return tensor;
}

int main(int argc, char** argv) {
  if (argc < 5 || argc > 4 + kMostInputs) Fail("usage: see the source");
  TF_Status* status = TF_NewStatus();
  TF_DeleteLibraryHandle(TF_LoadLibrary(argv[1], status));
  Check(status);
  const char* tag = "serve";
  TF_Graph* graph = TF_NewGraph();
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_LoadSessionFromSavedModel(
      options, NULL, argv[2], &tag, 1, graph, NULL, status);
  Check(status);

  TF_Output ports[kMostInputs];
  TF_Tensor* inputs[kMostInputs];
  int count = argc - 4;
  for (int i = 0; i < count; ++i) {
    char* numbers = strchr(argv[4 + i], '=');
    if (numbers == NULL) Fail(argv[4 + i]);
    *numbers = '\0';
    ports[i] = Port(graph, argv[4 + i]);
    inputs[i] = Vector(numbers + 1);
  }
  TF_Output output = Port(graph, argv[3]);
  TF_Tensor* found = NULL;
  TF_SessionRun(session, NULL, ports, inputs, count, &output, &found, 1, NULL,
                0, NULL, status);
  Check(status);

  size_t size = TF_TensorByteSize(found) / sizeof(float);
  for (size_t i = 0; i < size; ++i) {
    printf("%.9g\n", ((float*)TF_TensorData(found))[i]);
  }
  TF_DeleteTensor(found);
  for (int i = 0; i < count; ++i) TF_DeleteTensor(inputs[i]);
  TF_CloseSession(session, status);
  Check(status);
  TF_DeleteSession(session, status);
  Check(status);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return 0;
}
