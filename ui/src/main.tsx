// Where the pages begin: styles, the watch over the runs, and the frame of the application.
import "./style/tokens.css";
import "./style/base.css";
import "./style/frame.css";
import "./style/tables.css";
import "./style/parts.css";
import "./style/views.css";
import "./style/report.css";
import { options, render } from "preact";
import { App } from "./app";
import { recorded } from "./load";
import { print } from "./parts/canvas";
import { watchPes } from "./pes";
import { watchRuns } from "./runs";

const place = document.getElementById("app");
if (place) {
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  watchRuns();
  watchPes();
  // Without scripts, a report shows the text that stands there.
  place.replaceChildren();
  // A report has all that it shows, so it is whole before its `load` event: who prints it from a command line waits for that and no longer.
  if (recorded) options.requestAnimationFrame = queueMicrotask;
  render(<App />, place);
}
