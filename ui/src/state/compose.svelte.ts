/** Dialog for a new memory, which every page can open. */

class Compose {
  isOpen = $state(false);

  open(): void {
    this.isOpen = true;
  }

  close(): void {
    this.isOpen = false;
  }
}

export const compose = new Compose();
