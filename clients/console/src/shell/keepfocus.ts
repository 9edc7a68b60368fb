/**
 * Moves the focus to the heading of the page when the element that had it goes away, such as the button of an object that somebody
 * else has deleted. Without a focus, a keyboard begins anew and a screen reader is silent.
 */

/** Pages may move the focus themselves after they are drawn. */
const PATIENCE_MS = 100

/** Observes the part of the document, which lives as long as the page. */
export function keepFocus(part: HTMLElement): void {
  let last: Element | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const note = ({ target }: FocusEvent) => {
    last = target instanceof Element ? target : undefined
  }
  const move = () => {
    if (!last || last.isConnected || document.activeElement !== document.body) return
    last = undefined
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
  }
  const observer = new MutationObserver(() => {
    if (!last || last.isConnected) return
    clearTimeout(timer)
    timer = setTimeout(move, PATIENCE_MS)
  })
  part.addEventListener('focusin', note)
  observer.observe(part, { childList: true, subtree: true })
}
