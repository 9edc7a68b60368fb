import type { AccessKey } from '../../../../core/src/objects.ts'
import { errorWords } from '../../api/status.ts'
import { askServer } from '../../keylist/serversearch.ts'
import { usePolled } from '../../session/usepolled.ts'
import { hrefOf } from '../../text/routes.ts'
import { madeWords, namesakeWords } from './made.ts'

const EVERY_MS = 60_000

/** Links to the list of the keys that the key made, if there are any. */
export function MadeCard({ accessKey }: { accessKey: AccessKey }) {
  const { name, uid } = accessKey.metadata
  const { data, error } = usePolled(
    `made/${name}`,
    ({ api, self }, signal) => askServer({ api, own: self.accessKey }, { kind: 'facts', maker: name }, signal),
    EVERY_MS,
  )
  const words = data && madeWords(data)
  const namesakes = data && namesakeWords(uid, data.keys)
  if (words === undefined && error === undefined) return null
  return (
    <section class="card" aria-labelledby="made">
      <h2 id="made">Made with this key</h2>
      {error !== undefined && <p class="hint">The keys that it made could not be read. {errorWords(error).title}</p>}
      {words !== undefined && <a href={hrefOf('keys', [], { filter: `maker:${name}` })}>{words}</a>}
      {namesakes && <p class="hint">{namesakes}</p>}
    </section>
  )
}
