export type Tone = 'good' | 'warn' | 'bad' | 'plain'

/** Shows a state in a word. The colour adds nothing that the word does not say. */
export const Badge = ({ tone, text, title }: { tone: Tone; text: string; title?: string }) => (
  <span class={`badge ${tone}`} title={title}>
    {text}
  </span>
)
