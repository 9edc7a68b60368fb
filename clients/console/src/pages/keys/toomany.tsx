import { MAX_LISTED } from '../../api/lists.ts'
import { Foreign } from '../../components/foreign.tsx'
import { ownWords, type Search, searchWords } from '../../keylist/serversearch.ts'
import { hrefOf } from '../../text/routes.ts'

/** Says that there are more keys than were read. */
export const TooMany = () => (
  <p class="hint" role="status">
    These are the first {MAX_LISTED} of more keys. The filter also finds the others, by the beginning of a name,
    owner:NAME or maker:NAME.
  </p>
)

export interface SearchedProps {
  search: Search | undefined
  /** The name of a key that may be among those that were not read. */
  name: string | undefined
}

/** Says what is not known of the keys that the key of the session made. */
export function SearchedOwn({ search = {}, own }: { search: Search | undefined; own: string }) {
  const words = ownWords(own, search)
  if (words === undefined) return null
  return (
    <p class="hint" role="status">
      <Foreign text={words} />
    </p>
  )
}

/** Says how much the filter has searched. */
export const Searched = ({ search = {}, name }: SearchedProps) => (
  <p class="hint" role="status">
    <Foreign text={searchWords(search)} />{' '}
    {name !== undefined && !search.answer?.isKnown && (
      <a href={hrefOf('keys', [name])}>
        Look for the key <Foreign text={name} />
      </a>
    )}
  </p>
)
