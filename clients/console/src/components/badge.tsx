export type Tone = 'good' | 'warn' | 'bad' | 'plain'

/** Shows a state in a word. The colour adds nothing that the word does not say. */
export function Badge({ tone, text }: { tone: Tone; text: string }) {
  return <span class={`badge ${tone}`}>{text}</span>
}
