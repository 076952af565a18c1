// Scaling of several runs.
export function Scaling() {
  return <h1>Scaling</h1>;
}
