/** Moves the focus to a field when the person presses `/`, as on many pages with a search. */
import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

export function useSlash(field: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const { target } = event
      const isTyping = target instanceof Element && target.matches('input, textarea, select')
      if (isTyping || !field.current || document.querySelector('dialog[open]')) return
      event.preventDefault()
      field.current.focus()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [field])
}
