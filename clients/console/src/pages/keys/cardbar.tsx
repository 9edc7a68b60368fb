import { type CardName, cards } from '../../keylist/attention.ts'

export interface CardBarProps {
  counts: ReadonlyMap<CardName, number>
  /** Whether there are keys that were not read. */
  more: boolean
  chosen: CardName | undefined
  choose(card: CardName | undefined): void
}

/** Shows what needs attention, as buttons that filter. A card without keys is left out, unless it is the chosen one. */
export function CardBar({ counts, more, chosen, choose }: CardBarProps) {
  const shown = [...cards].filter(([name]) => (counts.get(name) ?? 0) > 0 || name === chosen)
  if (shown.length === 0) {
    return <p class="muted">{more ? 'No key that was read needs attention.' : 'No key needs attention.'}</p>
  }
  return (
    <section class="attention" aria-label="Needs attention">
      <ul>
        {shown.map(([name, { title }]) => (
          <li key={name}>
            <button
              type="button"
              aria-pressed={name === chosen}
              onClick={() => choose(name === chosen ? undefined : name)}
            >
              <strong>{counts.get(name) ?? 0}</strong> {title}
            </button>
          </li>
        ))}
      </ul>
      {chosen && <p>{cards.get(chosen)?.about}</p>}
    </section>
  )
}
