/** Binds a shortcut of the keyboard while a component is shown. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { isPressed, type ShortcutName } from '../../text/shortcuts.ts'

export function useShortcut(name: ShortcutName, run: () => void): void {
  const latest = useRef(run)
  latest.current = run
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { target } = event
      const isTyping = target instanceof Element && target.matches('input, textarea, select')
      if (!isPressed(name, event, isTyping) || event.defaultPrevented || document.querySelector('dialog[open]')) return
      event.preventDefault()
      latest.current()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [name])
}
