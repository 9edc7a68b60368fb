import { visible } from '../text/visible.ts'

/** Shows a text of somebody else: in a direction of its own, with hidden characters as escapes. */
export function Foreign({ text }: { text: string }) {
  return <bdi class="foreign">{visible(text)}</bdi>
}
