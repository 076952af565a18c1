/* A static function right after an exported one, and one a hundred kilobytes later. */
int first(int n) { return n + 1; }

__attribute__((used)) static int near(int n) { return n + 2; }

__asm__(".pushsection .text\n.skip 100000\n.popsection");

__attribute__((used)) static int far_away(int n) { return n + 3; }
