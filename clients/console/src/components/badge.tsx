export type Tone = 'good' | 'warn' | 'bad' | 'plain'

/** A word about a state. The word says it; the colour only helps. */
export function Badge({ tone, text }: { tone: Tone; text: string }) {
  return <span class={`badge ${tone}`}>{text}</span>
}
