import type { ComponentChildren } from 'preact'
import { Empty } from '../../components/empty.tsx'
import { Paragraph } from '../../components/foreign.tsx'
import { unknownWords } from '../../keylist/unknown.ts'

/** Says what a key is, and how to make one, when there are none to see but `exchanges` keys of exchanges, such as that of the session. */
export const NoKeys = ({
  action,
  exchanges,
  onShow,
}: {
  action: ComponentChildren
  exchanges: number
  onShow(): void
}) => (
  <Empty title="There are no keys yet">
    <p>
      An access key lets a CI job or another program use this API and its clusters. You decide what it may do, from
      where, and for how long.
    </p>
    {action}
    {exchanges > 0 && (
      <p class="muted">
        Signing in with an identity provider, and CI jobs that do, make keys that end within a day.{' '}
        <button type="button" class="quiet" onClick={onShow}>
          Show {exchanges === 1 ? 'the key of an exchange' : `the ${exchanges} keys of exchanges`}
        </button>
      </p>
    )}
  </Empty>
)

export interface NoMatchProps {
  filter: string
  /** Keys of exchanges that match and are not shown. */
  hidden: number
  /** Whether it is not known yet, or not at all, that no other key matches. */
  isOpen: boolean
  onClear(): void
  onShow(): void
}

/** Offers ways out when no key matches the filter. */
export const NoMatch = ({ filter, hidden, isOpen, onClear, onShow }: NoMatchProps) => (
  <Empty title={isOpen ? 'No key matches so far' : 'No key matches'}>
    {unknownWords(filter) && <Paragraph text={unknownWords(filter) ?? ''} />}
    {hidden > 0 && (
      <button type="button" onClick={onShow}>
        Show {hidden === 1 ? 'the key of an exchange that matches' : `the ${hidden} keys of exchanges that match`}
      </button>
    )}
    <button type="button" onClick={onClear}>
      Show all keys
    </button>
  </Empty>
)
