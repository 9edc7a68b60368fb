import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { ApiError, errorWords } from '../../../api/status.ts'
import { Foreign } from '../../../components/foreign.tsx'
import type { Query } from '../../../session/usequery.ts'

export interface ReadCardProps<T> {
  title: string
  reading: Query<T>
  children(data: T): ComponentChildren
}

/** Shows a card of what is read besides the key. An older server, which does not know it, has no card. */
export function ReadCard<T>({ title, reading: { data, error }, children }: ReadCardProps<T>) {
  const id = useId()
  if (error instanceof ApiError && [404, 405].includes(error.code)) return null
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
    </section>
  )
}
