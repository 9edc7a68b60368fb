import { useRef, useState } from 'preact/hooks'

export interface CopyProps {
  text: string
  label?: string
  /** Whether it is what most people want. */
  isMain?: boolean
  /** Called when the text is in the clipboard. */
  onCopied?(): void
}

/** Shows a button that copies a text, and says for 2.5 seconds whether that worked. */
export function Copy({ text, label = 'Copy', isMain = false, onCopied }: CopyProps) {
  const [said, say] = useState<string>()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const copy = async () => {
    clearTimeout(timer.current)
    try {
      await navigator.clipboard.writeText(text)
      say('Copied')
      onCopied?.()
    } catch {
      say('Select the text to copy it')
    }
    timer.current = setTimeout(() => say(undefined), 2500)
  }
  return (
    <button type="button" class={isMain ? undefined : 'quiet'} onClick={copy}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  )
}
