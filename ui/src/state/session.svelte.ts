/** Who uses the page, whose memory is shown, and the API bound to both. */

import { Client, Problem } from "../api/client";
import { Api, ifRouted } from "../api/routes";
import type { Identity, Scope } from "../api/types";

/** Set while this browser has a cookie; the cookie itself cannot be read by scripts. */
const SIGNED_IN = "everlore.signed_in";
const SCOPE = "everlore.scope";

class Session {
  /** Counts sign-ins: each needs a stream of its own. */
  signIns = $state(0);
  scope = $state<Partial<Scope>>(storedScope());
  identity = $state<Identity | null>(null);
  /** Set when the server refused the cookie that the browser had. */
  refused = $state(false);

  readonly api = new Api(
    new Client(
      () => this.scope,
      () => this.onRefused(),
    ),
  );

  get signedIn(): boolean {
    return this.identity !== null && !this.refused;
  }

  get mayWrite(): boolean {
    return this.identity?.role !== "read";
  }

  get mayErase(): boolean {
    return this.identity?.role === "admin";
  }

  get isOwner(): boolean {
    return this.identity?.owner ?? false;
  }

  /** The browser was signed in when it was here last. */
  get hasCookie(): boolean {
    return localStorage.getItem(SIGNED_IN) !== null;
  }

  /** Exchanges the one-time code of a sign-in link, and removes it from the address bar. */
  async takeLink(): Promise<void> {
    const code = /^#sign-in=([\w-]+)$/.exec(location.hash)?.[1];
    if (!code) return;
    history.replaceState(null, "", `${location.pathname}#/`);
    try {
      await this.api.signIn({ code });
      localStorage.setItem(SIGNED_IN, "yes");
    } catch (error) {
      // An old link opened again by someone who is signed in changes nothing.
      if (!(error instanceof Problem && error.code === "used_link" && this.hasCookie)) throw error;
    }
  }

  /** Signs in with the owner's token or a key, or with the cookie. Throws the problem that keeps the page from it. */
  async signIn(secret?: string): Promise<void> {
    if (secret) await this.api.signIn({ secret: secret.trim() });
    this.refused = false;
    this.identity = await this.identify();
    if (!this.identity.owner) this.scope = {};
    this.signIns += 1;
    localStorage.setItem(SIGNED_IN, "yes");
  }

  async signOut(): Promise<void> {
    await this.api.signOut();
    this.identity = null;
    localStorage.removeItem(SIGNED_IN);
  }

  setScope(scope: Scope): void {
    this.scope = scope;
    localStorage.setItem(SCOPE, JSON.stringify(scope));
  }

  private async identify(): Promise<Identity> {
    const known = await ifRouted(this.api.identity());
    if (known) return known;
    const { agent, user } = await this.api.stats();
    return { name: "token", role: "admin", owner: true, agent, user, version: "" };
  }

  private onRefused(): void {
    this.refused = true;
  }
}

function storedScope(): Partial<Scope> {
  try {
    return JSON.parse(localStorage.getItem(SCOPE) ?? "{}") as Partial<Scope>;
  } catch {
    return {};
  }
}

export const session = new Session();
