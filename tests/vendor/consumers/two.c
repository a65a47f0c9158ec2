/* Two bundles with different prefixes in one program: FIRST and SECOND are the main functions of their examples. */
int FIRST(int argc, char **argv);
int SECOND(int argc, char **argv);

int main(int argc, char **argv) { return FIRST(argc, argv) + SECOND(argc, argv); }
