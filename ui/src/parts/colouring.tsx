// Whether boxes and bars have the colour of their kind of time or of their function: in the address, and kept from view to view.
import { colourOf } from "../draw/functions";
import { amend, route } from "../state";

export type Colouring = "kind" | "function";

/** What the address says, else what a view does by itself. */
export const colouring = (own: Colouring): Colouring => {
  const { colour } = route.value.params;
  return colour === "kind" || colour === "function" ? colour : own;
};

export function ColourChoice({ own }: { own: Colouring }) {
  const now = colouring(own);
  const choices: [Colouring, string][] = [
    ["kind", "by kind"],
    ["function", "by function"],
  ];
  return (
    <div class="group" role="group" aria-label="Colours">
      {choices.map(([name, title]) => (
        <button type="button" key={name} aria-pressed={name === now} onClick={() => amend({ colour: name }, { replace: true })}>
          {title}
        </button>
      ))}
    </div>
  );
}

/** The colour of a function. */
export function FunctionSwatch({ name }: { name: string }) {
  return <span class="swatch" aria-hidden="true" style={{ background: `var(--f${colourOf(name)})` }} />;
}
