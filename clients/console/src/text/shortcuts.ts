/** Lists the shortcuts of the keyboard: what they do, how they are written, and what presses them. */

export const shortcuts = {
  filter: { title: 'Go to the filter of the keys', keys: '/', key: '/' },
  palette: { title: 'Go to a key, a page or an action', keys: 'Ctrl-K or Cmd-K', aria: 'Control+K Meta+K', key: 'k' },
  help: { title: 'Open the help', keys: '?', aria: '?', key: '?' },
} as const

export type ShortcutName = keyof typeof shortcuts

/** What a KeyboardEvent says. */
export type Pressed = { key: string } & Record<'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey', boolean>

/**
 * Reports whether a key presses the shortcut. Characters are needed for texts while somebody types, and Ctrl-K too, which deletes the rest
 * of the line on some systems. Cmd-K does nothing there.
 */
export function isPressed(name: ShortcutName, { key, ctrlKey, metaKey, altKey, shiftKey }: Pressed, isTyping: boolean) {
  if (key.toLowerCase() !== shortcuts[name].key || altKey || (isTyping && !metaKey)) return false
  return name === 'palette' ? !shiftKey && ctrlKey !== metaKey : !ctrlKey && !metaKey
}
