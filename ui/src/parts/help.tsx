// The list of keys, as a dialog: `?` opens it, Esc closes it.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export const helpOpen = signal(false);

const KEYS: [string, [string, string][]][] = [
  [
    "Everywhere",
    [
      ["1 … 9", "one of the first nine views of the bar"],
      ["/", "search in this view"],
      ["t", "dark or light"],
      ["?", "this list"],
      ["Tab", "from one thing to the next"],
    ],
  ],
  [
    "Timeline",
    [
      ["← →  or  a d", "move the view; with Shift by whole views"],
      ["↑ ↓", "the cursor to another PE"],
      ["+ −  or  w s", "zoom at the cursor; the wheel zooms at the pointer"],
      ["0", "the whole run"],
      [", .", "the cursor to the last and next change on its PE"],
      ["Enter", "what is at the cursor"],
      ["n p", "next and previous instance of the finding, or of the region that was searched"],
      ["c", "to the cause of the wait that is selected"],
      ["m", "to the message that is selected, or the next one in view"],
      ["f", "zoom to the message or wait that is selected"],
      ["b e", "mark a corner at the cursor; select from there to the cursor"],
      ["v", "select all that is in view"],
      ["k", "a bookmark of the selection, or of the cursor"],
      ["z", "zoom to the selection"],
      ["Esc", "select nothing"],
    ],
  ],
  [
    "Maps and flame graph",
    [
      ["arrows", "move the cursor; its value is said below"],
      ["Enter", "open what is at the cursor"],
      ["Esc", "close the box of the flame graph that was opened last"],
    ],
  ],
];

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = helpOpen.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={() => (helpOpen.value = false)}>
      <h2 id="keys">Keys</h2>
      {KEYS.map(([where, rows]) => (
        <section key={where}>
          <h3>{where}</h3>
          <dl class="pairs">
            {rows.map(([key, what]) => (
              <>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </>
            ))}
          </dl>
        </section>
      ))}
      <p>
        <button type="button" onClick={() => (helpOpen.value = false)}>
          Close
        </button>
      </p>
    </dialog>
  );
}
