// The views, in the order of the bar: a view is one file here and one line.
import type { ComponentType } from "preact";
import { Balance } from "./balance";
import { Compare } from "./compare";
import { Environment } from "./environment";
import { Figures } from "./figures";
import { Findings } from "./findings";
import { Flame } from "./flame";
import { History } from "./history";
import { Matrix } from "./matrix";
import { Profile } from "./profile";
import { Scaling } from "./scaling";
import { Source } from "./source";
import { Summary } from "./summary";
import { Timeline } from "./timeline";

export interface View {
  /** Its name in addresses. */
  name: string;
  title: string;
  Show: ComponentType;
  /** It uses the whole width of the window. */
  wide?: boolean;
  /** It is about several runs, and shown only where there are. */
  several?: boolean;
}

export const VIEWS: View[] = [
  { name: "summary", title: "Summary", Show: Summary },
  { name: "findings", title: "Findings", Show: Findings },
  { name: "timeline", title: "Timeline", Show: Timeline, wide: true },
  { name: "profile", title: "Profile", Show: Profile },
  { name: "flame", title: "Flame graph", Show: Flame, wide: true },
  { name: "balance", title: "Load balance", Show: Balance },
  { name: "matrix", title: "Communication", Show: Matrix },
  { name: "compare", title: "Compare runs", Show: Compare, several: true },
  { name: "scaling", title: "Scaling", Show: Scaling, several: true },
  { name: "history", title: "History", Show: History },
  { name: "source", title: "Source", Show: Source },
  { name: "environment", title: "Environment", Show: Environment },
  { name: "figures", title: "All figures", Show: Figures },
];
