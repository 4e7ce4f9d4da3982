/** Who uses the page, whose memory is shown, and the API bound to both. */

import { Client } from "../api/client";
import { Api, ifRouted } from "../api/routes";
import type { Identity, Scope } from "../api/types";

const TOKEN = "everlore.token";
const SCOPE = "everlore.scope";

class Session {
  token = $state(localStorage.getItem(TOKEN) ?? "");
  scope = $state<Partial<Scope>>(storedScope());
  identity = $state<Identity | null>(null);
  /** Set when the server refused the token that the page had. */
  refused = $state(false);

  readonly api = new Api(
    new Client(
      () => ({ token: this.token, scope: this.scope }),
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

  /** Exchanges the one-time code of a sign-in link, and removes it from the address bar. */
  async takeLink(): Promise<void> {
    const code = /^#sign-in=([\w-]+)$/.exec(location.hash)?.[1];
    if (!code) return;
    history.replaceState(null, "", `${location.pathname}#/`);
    const { token } = await this.api.signIn(code);
    this.keepToken(token);
  }

  /** Finds out who the token belongs to. Throws the problem that keeps the page from signing in. */
  async signIn(token = this.token): Promise<void> {
    this.token = token.trim();
    this.refused = false;
    this.identity = await this.identify();
    if (!this.identity.owner) this.scope = {};
    this.keepToken(this.token);
  }

  signOut(): void {
    this.identity = null;
    this.keepToken("");
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

  private keepToken(token: string): void {
    this.token = token;
    if (token) localStorage.setItem(TOKEN, token);
    else localStorage.removeItem(TOKEN);
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
