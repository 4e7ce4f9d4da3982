/** Pages of the navigation, in their order. A page that does not exist yet has no entry. */

import type { Component } from "svelte";

import type { MessageKey } from "../i18n/index.svelte";
import type { IconName } from "../parts/Icon.svelte";
import Agents from "../pages/Agents.svelte";
import Experiences from "../pages/Experiences.svelte";
import Health from "../pages/Health.svelte";
import Inbox from "../pages/Inbox.svelte";
import Inspector from "../pages/Inspector.svelte";
import Layers from "../pages/Layers.svelte";
import Memories from "../pages/Memories.svelte";
import MemoryMap from "../pages/MemoryMap.svelte";
import Overview from "../pages/Overview.svelte";
import Profile from "../pages/Profile.svelte";
import Schedules from "../pages/Schedules.svelte";
import Skills from "../pages/Skills.svelte";
import Timeline from "../pages/Timeline.svelte";
import Trajectories from "../pages/Trajectories.svelte";

export interface Page {
  path: string;
  route: string;
  key: string;
  icon: IconName;
  label: MessageKey;
  /** Pages of one group stand together in the navigation. */
  group: number;
  component: Component<any>;
}

export const PAGES: Page[] = [
  { path: "/", route: "/", key: "o", icon: "overview", label: "page.overview", group: 1, component: Overview },
  { path: "/memories", route: "/memories/:id?", key: "m", icon: "memories", label: "page.memories", group: 1, component: Memories },
  { path: "/inspector", route: "/inspector/:session?/:prompt?", key: "p", icon: "inspector", label: "page.inspector", group: 1, component: Inspector },
  { path: "/timeline", route: "/timeline/:session?", key: "t", icon: "timeline", label: "page.timeline", group: 1, component: Timeline },
  { path: "/map", route: "/map", key: "v", icon: "map", label: "page.map", group: 1, component: MemoryMap },
  { path: "/layers", route: "/layers/:layer?", key: "l", icon: "layers", label: "page.layers", group: 1, component: Layers },
  { path: "/inbox", route: "/inbox", key: "i", icon: "inbox", label: "page.inbox", group: 1, component: Inbox },
  { path: "/profile", route: "/profile", key: "u", icon: "profile", label: "page.profile", group: 2, component: Profile },
  { path: "/experiences", route: "/experiences", key: "e", icon: "experiences", label: "page.experiences", group: 2, component: Experiences },
  { path: "/skills", route: "/skills/:sort?", key: "s", icon: "skills", label: "page.skills", group: 2, component: Skills },
  { path: "/schedules", route: "/schedules", key: "c", icon: "schedules", label: "page.schedules", group: 2, component: Schedules },
  { path: "/trajectories", route: "/trajectories/:session?", key: "j", icon: "trajectories", label: "page.trajectories", group: 2, component: Trajectories },
  { path: "/agents", route: "/agents/:agent?", key: "a", icon: "agents", label: "page.agents", group: 3, component: Agents },
  { path: "/health", route: "/health", key: "h", icon: "health", label: "page.health", group: 3, component: Health },
];
