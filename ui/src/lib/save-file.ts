/** Hands a file to the reader. A link to it would lack the page's header, so the page reads it first. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name.replace(/[^\p{L}\p{N}._-]+/gu, "-");
  link.click();
  URL.revokeObjectURL(link.href);
}
