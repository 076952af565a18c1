// Compare of several runs.
export function Compare() {
  return <h1>Compare</h1>;
}
