// The pages' modules expect a browser; the logic under test needs only these of it.

const kept = new Map<string, string>();
const storage = {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, value: string) => void kept.set(name, value),
  removeItem: (name: string) => void kept.delete(name),
};
Object.assign(globalThis, { localStorage: storage, sessionStorage: storage });
Object.defineProperty(globalThis, "navigator", { value: { language: "en-GB" }, configurable: true });
