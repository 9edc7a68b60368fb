import { type CardName, cards } from '../../keylist/attention.ts'
import { countText } from '../../keylist/searched.ts'

export interface CardBarProps {
  counts: ReadonlyMap<CardName, number>
  /** Whether there are keys that were not read. */
  more: boolean
  /** Whether they stay unread. */
  isCut: boolean
  chosen: CardName | undefined
  choose(card: CardName | undefined): void
}

/**
 * Shows what needs attention, as buttons that filter. A card without keys is left out, unless it is the chosen one, or a key that was
 * not read may belong to it.
 */
export function CardBar({ counts, more, isCut, chosen, choose }: CardBarProps) {
  const shown = [...cards].filter(([name]) => isCut || (counts.get(name) ?? 0) > 0 || name === chosen)
  if (shown.length === 0) return more ? null : <p class="muted">No key needs attention.</p>
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
              <strong>{countText(counts.get(name) ?? 0, more)}</strong> {title}
            </button>
          </li>
        ))}
      </ul>
      {chosen && <p>{cards.get(chosen)?.about}</p>}
    </section>
  )
}
