/** Choices of this browser: language and theme. Kept in local storage; nothing is sent to the server. */

export type Language = "en" | "zh";
export type Theme = "auto" | "light" | "dark";

const darkMedia = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : null;

function stored<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
  const value = localStorage.getItem(`everlore.${name}`) as T | null;
  return value && allowed.includes(value) ? value : fallback;
}

function browserLanguage(): Language {
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

class Preferences {
  language = $state<Language>(stored("language", ["en", "zh"], browserLanguage()));
  theme = $state<Theme>(stored("theme", ["auto", "light", "dark"], "auto"));
  private systemDark = $state(darkMedia?.matches ?? false);

  constructor() {
    darkMedia?.addEventListener("change", (event) => (this.systemDark = event.matches));
  }

  get shownTheme(): "light" | "dark" {
    if (this.theme !== "auto") return this.theme;
    return this.systemDark ? "dark" : "light";
  }

  setLanguage(language: Language): void {
    this.language = language;
    localStorage.setItem("everlore.language", language);
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    localStorage.setItem("everlore.theme", theme);
  }
}

export const preferences = new Preferences();
