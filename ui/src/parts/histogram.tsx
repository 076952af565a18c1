// How many there are of each class: a bar a class, as a table that is read like one.
import { count, duration } from "../format";
import { Bar } from "./table";

export interface Class {
  name: string;
  count: number;
}

/** Those of the server's classes of durations. */
export const durationClasses = (of: { from: number[]; to: number[]; count: number[] }): Class[] =>
  of.count.map((it, at) => ({ name: `${duration(of.from[at])} – ${duration(of.to[at])}`, count: it }));

export function Histogram({ id, caption, classes }: { id: string; caption: string; classes: Class[] }) {
  const most = Math.max(1, ...classes.map((it) => it.count));
  if (classes.length === 0) return <p class="dim small">There are none.</p>;
  return (
    <table class="histogram" id={id}>
      <caption class="hidden">{caption}</caption>
      <tbody>
        {classes.map((it) => (
          <tr key={it.name}>
            <th scope="row">{it.name}</th>
            <td>
              <Bar share={it.count / most}>{count(it.count)}</Bar>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
