// Links LibTorch, uses none of it: the least that any program on LibTorch takes to start and end.
// scripts/bench.sh start runs it.
int main() {}
