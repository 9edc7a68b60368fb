import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { errorWords } from '../../../api/status.ts'
import { Foreign } from '../../../components/foreign.tsx'
import type { Reading } from '../../../components/hooks/usereading.ts'
import { Time } from '../../../components/time.tsx'

export interface ReadCardProps<T> {
  title: string
  reading: Reading<T>
  children(data: T): ComponentChildren
}

/** Shows a card of what is read once, with how old it is and a button that reads it again. */
export function ReadCard<T>({ title, reading: { data, at, error, isBusy, refresh }, children }: ReadCardProps<T>) {
  const id = useId()
  const words = error === undefined ? undefined : errorWords(error)
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {data === undefined && words === undefined && <p class="hint">Loading…</p>}
      {words && (
        <p class="hint" role="status">
          This could not be read. <Foreign text={[words.title, ...words.details].join(' ')} />
        </p>
      )}
      {data !== undefined && children(data)}
      <p class="reading muted">
        {at && (
          <span>
            As of <Time at={at.toISOString()} direction="past" />
          </span>
        )}
        <button type="button" class="quiet" aria-label={`Refresh: ${title}`} disabled={isBusy} onClick={refresh}>
          Refresh
        </button>
      </p>
    </section>
  )
}
