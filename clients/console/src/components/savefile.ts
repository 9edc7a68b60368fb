/** Gives texts to the person as files, without keeping them. */

/** The browser may read the object URL a little later than the click. */
const READ_MS = 10_000

/** Saves a text as a file of the browser's download folder. */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), READ_MS)
}

/** Copies a text that arrives later. The browser demands that this begins while the person clicks. */
export async function copyLater(text: Promise<string>): Promise<void> {
  await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text })])
}
