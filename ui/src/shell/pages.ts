/** Pages of the navigation, in their order. A page that does not exist yet has no entry. */

import type { Component } from "svelte";

import type { MessageKey } from "../i18n/index.svelte";
import type { IconName } from "../parts/Icon.svelte";
import Agents from "../pages/Agents.svelte";
import Health from "../pages/Health.svelte";
import Inbox from "../pages/Inbox.svelte";
import Inspector from "../pages/Inspector.svelte";
import Layers from "../pages/Layers.svelte";
import Memories from "../pages/Memories.svelte";
import MemoryMap from "../pages/MemoryMap.svelte";
import Overview from "../pages/Overview.svelte";
import Timeline from "../pages/Timeline.svelte";

export interface Page {
  path: string;
  route: string;
  key: string;
  icon: IconName;
  label: MessageKey;
  component: Component<any>;
}

export const PAGES: Page[] = [
  { path: "/", route: "/", key: "o", icon: "overview", label: "page.overview", component: Overview },
  { path: "/memories", route: "/memories/:id?", key: "m", icon: "memories", label: "page.memories", component: Memories },
  { path: "/inspector", route: "/inspector", key: "p", icon: "inspector", label: "page.inspector", component: Inspector },
  { path: "/timeline", route: "/timeline/:session?", key: "t", icon: "timeline", label: "page.timeline", component: Timeline },
  { path: "/map", route: "/map", key: "v", icon: "map", label: "page.map", component: MemoryMap },
  { path: "/layers", route: "/layers/:layer?", key: "l", icon: "layers", label: "page.layers", component: Layers },
  { path: "/inbox", route: "/inbox", key: "i", icon: "inbox", label: "page.inbox", component: Inbox },
  { path: "/agents", route: "/agents/:agent?", key: "a", icon: "agents", label: "page.agents", component: Agents },
  { path: "/health", route: "/health", key: "h", icon: "health", label: "page.health", component: Health },
];
